// One warp's walk: lanes, code, what changed, what it cost.

import { count, explore, fill, html, limit, say, svg, field } from "./explorer.js";
import { lanes, player } from "./player.js";

let walk = null;
const walker = player({ show, extra: { part: nextChange } });

explore((answer) => {
  limit("warp", Math.ceil((field("block_x") * field("block_y")) / 32) - 1);
  limit("of_block", field("blocks") - 1);
  walk = answer;
  drawCode();
  drawCost();
  // The first picture: lanes have just parted, if they ever do.
  const parted = answer.steps.findIndex((step) => step.active !== answer.steps[0].active);
  walker.load(Math.max(0, answer.steps.length - 1), Math.max(0, parted));
});

const hex = (mask) => (mask >>> 0).toString(16).padStart(8, "0");
const bits = (mask) => { let sum = 0; for (let rest = mask >>> 0; rest; rest &= rest - 1) sum += 1; return sum; };

function show(at) {
  if (!walk) return;
  const step = walk.steps[at];
  if (!step) return say("headline", "This warp executes nothing.");
  const line = walk.code[step.pc];
  say("headline", `Step ${at + 1} of ${count(walk.executed)}: ${bits(step.active)} of ${bits(walk.steps[0].active)} lanes active`);
  const ended = at + 1 === walk.executed && walk.fault ? ` It ends with a fault: ${walk.fault}` : "";
  const cut = walk.executed > walk.steps.length ? ` Only the first ${count(walk.steps.length)} steps are recorded.` : "";
  say("hint", `${count(at + 1)} instructions issued so far; the longest way of one lane alone is ${count(step.longest)}.${cut}${ended}`);
  const others = step.splits.filter(([, mask]) => (mask & step.active) === 0);
  lanes("lanes", { active: step.active, on: step.on, waiting: others.map(([, mask]) => mask), live: step.live | step.active }, html);
  for (const row of document.querySelectorAll(".code-line.here")) row.classList.remove("here");
  const row = document.getElementById(`pc-${step.pc}`);
  if (row) {
    row.classList.add("here");
    const box = document.getElementById("code");
    const top = row.offsetTop;
    if (top < box.scrollTop + 40 || top > box.scrollTop + box.clientHeight - 60) box.scrollTop = top - box.clientHeight / 2;
  }
  fill("state", html("dl", { class: "state" },
    html("dt", {}, "Source"), html("dd", {}, line.rust ? html("code", {}, line.rust) : "the compiler's own", html("small", {}, line.place ?? "")),
    html("dt", {}, "Lanes"), html("dd", {}, html("code", {}, hex(step.active)), step.on !== step.active ? ` guard true in ${hex(step.on)}` : ""),
    html("dt", {}, "Changed"), html("dd", {}, step.changes.length ? step.changes.map((change) => html("code", { class: "change" }, change)) : "no register"),
    html("dt", {}, "Elsewhere"), html("dd", {}, others.length
      ? others.map(([pc, mask, waits]) => html("p", {}, html("code", {}, hex(mask)), ` ${waits ? "waits at" : "goes on at"} `, html("code", {}, walk.code[pc]?.text ?? "the end")))
      : "nobody")));
  const cursor = document.getElementById("cost-cursor");
  if (cursor) cursor.setAttribute("transform", `translate(${costX(at)} 0)`);
}

// The next step at which other lanes are active than now.
function nextChange(at) {
  const now = walk.steps[at]?.active;
  const next = walk.steps.findIndex((step, index) => index > at && step.active !== now);
  return next < 0 ? walk.steps.length - 1 : next;
}

function drawCode() {
  let place = null;
  fill("code", walk.code.map((line, pc) => {
    const isNew = line.place && line.place !== place;
    place = line.place ?? place;
    return [
      isNew ? html("div", { class: "code-source" }, html("span", {}, line.place), line.rust ? html("code", {}, line.rust) : null) : null,
      html("div", { class: "code-line", id: `pc-${pc}` }, html("code", {}, line.text)),
    ];
  }).flat().filter(Boolean));
}

const WIDTH = 1000;
const HEIGHT = 120;
const costX = (at) => 4 + (at / Math.max(1, walk.steps.length - 1)) * (WIDTH - 8);

function drawCost() {
  const most = Math.max(1, walk.steps.length);
  const y = (value) => HEIGHT - 6 - (value / most) * (HEIGHT - 14);
  const line = (value) => walk.steps.map((step, at) => `${at ? "L" : "M"}${costX(at).toFixed(1)} ${y(value(step, at)).toFixed(1)}`).join("");
  const last = walk.steps[walk.steps.length - 1];
  fill("cost",
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", preserveAspectRatio: "none",
      "aria-label": `${walk.steps.length} instructions issued, ${last?.longest ?? 0} on the longest way of one lane` },
      svg("path", { d: line((_, at) => at + 1), class: "curve warm" }),
      svg("path", { d: line((step) => step.longest), class: "curve" }),
      svg("line", { id: "cost-cursor", x1: 0, x2: 0, y1: 0, y2: HEIGHT, class: "cursor" })),
    html("p", { class: "legend" }, html("span", { class: "warm" }, `issued: ${count(walk.executed)}`), html("span", {}, `longest way of a lane: ${count(walk.longest)}`)));
}
