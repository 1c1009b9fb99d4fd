// The film: blocks land on SMs and leave them, and one thread tells its story.

import { count, explore, fill, html, say, svg } from "./explorer.js";
import { lanes, player } from "./player.js";

let film = null;
const canvas = document.getElementById("chip");
const pen = canvas.getContext("2d");
let pointed = null;

const screen = player({
  show,
  speed: () => Number(document.getElementById("speed").value),
  before: (at) => [...film.moments].reverse().find((cycle) => cycle < at) ?? 0,
  after: (at) => film.moments.find((cycle) => cycle > at) ?? film.cycles,
});

explore((answer) => {
  const same = film && film.cycles === answer.cycles && film.sm_count === answer.sm_count;
  film = answer;
  film.moments = [...new Set(answer.story.map((event) => event.cycle))].sort((a, b) => a - b);
  film.starts = answer.blocks.map((block) => block[3]).sort((a, b) => a - b);
  film.ends = answer.blocks.map((block) => block[4]).sort((a, b) => a - b);
  film.home = answer.blocks.find((block) => block[0] === answer.block);
  say("headline", `${count(answer.blocks.length)} blocks, ${count(answer.slots)} slots, ${answer.waves.toFixed(2)} waves`);
  say("hint", `Element ${count(answer.element)} is block ${count(answer.block)}, thread ${answer.thread}: warp ${answer.warp}, lane ${answer.lane}. `
    + `The launch is modelled at ${answer.launch_us.toFixed(1)} µs, its start included; ${count(answer.at_once)} blocks start before the first one ends.`);
  drawStory();
  drawCurve();
  // The first picture: all slots are taken, and the thread begins to wait.
  screen.load(answer.cycles, same ? screen.at : Math.max(film.moments[4] ?? 0, film.starts[Math.min(film.at_once, film.starts.length) - 1] ?? 0));
});

// How many of a sorted list are at or below a value.
function upTo(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function show(cycle) {
  if (!film) return;
  const us = cycle / film.clock_mhz;
  say("cycle", `Cycle ${count(cycle)}`);
  const speed = Number(document.getElementById("speed").value);
  say("slower", `${us.toFixed(2)} µs of the GPU's time; playing is ${count(Math.round((film.clock_mhz * 1e6) / speed / 1000) * 1000)} times slower than life`);
  const started = upTo(film.starts, cycle);
  const ended = upTo(film.ends, cycle);
  say("waiting", count(film.blocks.length - started));
  say("resident", count(started - ended));
  say("done", count(ended));
  drawChip(cycle);
  tellStory(cycle);
  document.getElementById("curve-cursor")?.setAttribute("transform", `translate(${curveX(cycle)} 0)`);
  document.getElementById("at").setAttribute("aria-valuetext", `cycle ${cycle}`);
}

// SMs in rows, as wide as the canvas allows; places of an SM in two rows.
function layout() {
  const columns = Math.ceil(Math.sqrt(film.sm_count * 1.33));
  const rows = Math.ceil(film.sm_count / columns);
  const [width, height] = [canvas.width / columns, canvas.height / rows];
  const across = Math.ceil(film.blocks_per_sm / 2);
  return { columns, width, height, across };
}

function drawChip(cycle) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const { columns, width, height, across } = layout();
  const place = (sm, slot) => {
    const [left, top] = [(sm % columns) * width + 4, Math.floor(sm / columns) * height + 4];
    const [w, h] = [(width - 14) / across, (height - 30) / 2];
    return [left + 3 + (slot % across) * w, top + 19 + Math.floor(slot / across) * h, w - 3, h - 3];
  };
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.font = "12px system-ui, sans-serif";
  for (let sm = 0; sm < film.sm_count; sm += 1) {
    const [left, top] = [(sm % columns) * width + 4, Math.floor(sm / columns) * height + 4];
    pen.fillStyle = colour(sm === pointed ? "--accent-soft" : "--sunken");
    pen.beginPath();
    pen.roundRect(left, top, width - 8, height - 8, 5);
    pen.fill();
    pen.fillStyle = colour("--soft");
    pen.fillText(`SM ${sm}`, left + 5, top + 14);
  }
  for (const [block, sm, slot, start, end] of film.blocks) {
    if (cycle < start || cycle >= end) continue;
    const [left, top, w, h] = place(sm, slot);
    pen.globalAlpha = 1 - 0.6 * ((cycle - start) / Math.max(1, end - start));
    pen.fillStyle = colour(block === film.block ? "--warm" : "--accent");
    pen.beginPath();
    pen.roundRect(left, top, w, h, 3);
    pen.fill();
    pen.globalAlpha = 1;
    if (block === film.block) {
      pen.lineWidth = 3;
      pen.strokeStyle = colour("--ink");
      pen.stroke();
    }
  }
  tellSm(cycle);
}

canvas.addEventListener("pointermove", (event) => {
  if (!film) return;
  const box = canvas.getBoundingClientRect();
  const { columns, width, height } = layout();
  const sm = Math.floor(((event.clientX - box.left) / box.width) * canvas.width / width) + columns * Math.floor(((event.clientY - box.top) / box.height) * canvas.height / height);
  pointed = sm < film.sm_count ? sm : null;
  drawChip(screen.at);
});

function tellSm(cycle) {
  const sm = pointed ?? film.home?.[1] ?? 0;
  const here = film.blocks.filter((block) => block[1] === sm && block[3] <= cycle && cycle < block[4]).map((block) => block[0]);
  say("sm", `SM ${sm}: ${here.length ? `blocks ${here.join(", ")}` : "no block"}`);
}

function drawStory() {
  fill("story", film.story.map((event) => {
    event.row = html("li", {}, html("button", { type: "button", onclick: () => screen.go(event.cycle) }, html("b", {}, count(event.cycle)), html("span", {}, event.text)));
    return event.row;
  }));
}

function tellStory(cycle) {
  let now = null;
  for (const event of film.story) {
    event.row.className = event.cycle <= cycle ? "told" : "";
    if (event.cycle <= cycle) now = event;
  }
  if (now) {
    now.row.className = "told now";
    now.row.setAttribute("aria-current", "step");
    const list = document.getElementById("story");
    const top = now.row.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40) list.scrollTop = top - list.clientHeight / 2;
  }
  for (const event of film.story) if (event !== now) event.row.removeAttribute("aria-current");
  const issue = film.issues.filter(([at]) => at <= cycle).pop();
  const alive = film.home && film.home[3] <= cycle && cycle < film.home[4];
  lanes("lanes", { active: issue && alive ? issue[1] : 0, live: alive ? 0xffffffff : 0 }, html, film.lane);
}

const WIDTH = 1000;
const HEIGHT = 130;
const curveX = (cycle) => (cycle / Math.max(1, film.cycles)) * WIDTH;

function drawCurve() {
  const most = Math.max(film.slots, 1);
  const y = (value) => HEIGHT - 4 - (value / most) * (HEIGHT - 12);
  const line = film.residents.map(([cycle, value], index) => (index ? `H${curveX(cycle).toFixed(1)}V${y(value).toFixed(1)}` : `M${curveX(cycle)} ${y(value)}`)).join("");
  fill("curve", svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", preserveAspectRatio: "none", "aria-label": `Resident blocks by cycle, at most ${film.slots}` },
    svg("path", { d: `${line}V${y(0)}H0Z`, class: "area" }), svg("path", { d: line, class: "curve" }),
    svg("line", { id: "curve-cursor", x1: 0, x2: 0, y1: 0, y2: HEIGHT, class: "cursor" })));
}

document.getElementById("speed").addEventListener("change", () => show(screen.at));
