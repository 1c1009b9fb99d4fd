// Four schedulers of one SM, cycle by cycle.

import { count, explore, fill, html, instruction, say, strong } from "./explorer.js";
import { player } from "./player.js";

let trace = null;
const cursor = player({
  show, speed: () => 20,
  extra: { next: (at) => trace.busy.find((cycle) => cycle > at) ?? at },
});

explore((answer) => {
  trace = answer;
  trace.busy = [...new Set(answer.warps.flatMap((warp) => warp.issues.map(([cycle]) => cycle)))].sort((a, b) => a - b);
  const isa = answer.isa;
  say("headline", `${answer.warps.length} warps on SM 0: schedulers issue in ${Math.round(100 * answer.utilisation)}% of their cycles`);
  say("hint", `${count(answer.cycles)} cycles of ${isa} on this SM; the whole launch is modelled at ${answer.us.toFixed(1)} µs.`
    + (answer.dropped ? " These are the first cycles; the rest is not recorded." : "") + (answer.fault ? ` The launch ends with a fault: ${answer.fault}` : ""));
  drawSchedulers();
  // The first picture: in the midst of it, when most have come to wait.
  cursor.load(answer.cycles, trace.busy[Math.floor(trace.busy.length / 3)] ?? 0);
});

const WAITS = {
  selected: "nothing", long_scoreboard: "memory", short_scoreboard: "a short load", wait: "a result", not_selected: "its turn", barrier: "the barrier", no_instruction: "its code",
  math_pipe_throttle: "a pipe", lg_throttle: "the queue to memory", mio_throttle: "a queue", branch_resolving: "a branch", dispatch_stall: "a port", membar: "a fence", drain: "its stores", sleeping: "asleep",
};

function drawSchedulers() {
  fill("schedulers", [0, 1, 2, 3].map((scheduler) => {
    const own = trace.warps.filter((warp) => warp.scheduler === scheduler);
    return html("section", { class: "scheduler", "aria-label": `Scheduler ${scheduler}` },
      html("h3", {}, `Scheduler ${scheduler}`),
      html("p", { class: "issues", id: `issues-${scheduler}` }),
      html("ul", {}, own.map((warp) => {
        warp.row = html("li", { class: "warp" }, html("span", { class: "warp-name" }, `${warp.block}.${warp.warp}`), html("span", { class: "warp-state" }));
        return warp.row;
      })));
  }));
}

// The last issue or wait that begins at or before a cycle, by halving; its place in the list.
function lastOf(list, cycle) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle][0] <= cycle) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// What a warp does in a cycle: its kind, in words, and the instruction that it stands before.
function state(warp, cycle) {
  const issue = warp.issues[lastOf(warp.issues, cycle)];
  if (issue && issue[0] === cycle) return ["issues", trace.code[issue[1]] ?? "", ""];
  const wait = warp.waits?.[lastOf(warp.waits ?? [], cycle)];
  if (!wait) return ["unborn", "not there yet", ""];
  if (cycle >= wait[1]) return issue && warp.issues[warp.issues.length - 1] === issue ? ["ended", "has ended", ""] : ["unborn", "not there yet", ""];
  const reason = trace.reasons[wait[3]];
  const left = wait[1] - cycle;
  const text = reason === "not_selected" ? "ready, another issues" : `${WAITS[reason] ?? reason}, ${left} more`;
  const kind = reason === "long_scoreboard" ? "memory" : reason === "not_selected" ? "ready" : "waits";
  return [kind, text, `${left} ${left === 1 ? "cycle" : "cycles"} more of ${reason}, before ${trace.code[wait[2]] ?? ""}`];
}

function show(cycle) {
  if (!trace) return;
  const issuing = [null, null, null, null];
  for (const warp of trace.warps) {
    const [kind, text, title] = state(warp, cycle);
    if (kind === "issues") issuing[warp.scheduler] = warp.issues[lastOf(warp.issues, cycle)][1];
    warp.row.title = title;
    warp.row.className = `warp ${kind}`;
    warp.row.lastChild.textContent = text;
  }
  issuing.forEach((pc, scheduler) => {
    const line = document.getElementById(`issues-${scheduler}`);
    line.replaceChildren(...(pc === null ? ["nobody is ready"] : instruction(trace.code[pc] ?? "", trace.opcodes[pc], trace.words)));
    line.classList.toggle("idle", pc === null);
  });
  document.getElementById("at").setAttribute("aria-valuetext", `cycle ${cycle}`);
  drawTimeline(cycle);
}

function drawTimeline(cycle) {
  const canvas = document.getElementById("timeline");
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const pen = canvas.getContext("2d");
  const [width, height] = [canvas.width, canvas.height];
  pen.clearRect(0, 0, width, height);
  const x = (at) => 70 + (at / Math.max(1, trace.cycles)) * (width - 80);
  const row = height / Math.max(1, trace.warps.length);
  trace.warps.forEach((warp, index) => {
    const y = index * row;
    pen.fillStyle = colour("--accent-soft");
    for (const [from, until] of warp.loads) pen.fillRect(x(from), y + row * 0.25, Math.max(1, x(until) - x(from)), row * 0.5);
    pen.fillStyle = strong([0, 1, 2, 5][warp.scheduler]);
    for (const [at] of warp.issues) pen.fillRect(x(at), y + row * 0.08, Math.max(1.2, x(1) - x(0)), row * 0.84);
  });
  pen.fillStyle = colour("--soft");
  pen.font = "14px system-ui, sans-serif";
  for (let scheduler = 0; scheduler < 4; scheduler += 1) {
    const first = trace.warps.findIndex((warp) => warp.scheduler === scheduler);
    if (first >= 0) pen.fillText(`sched. ${scheduler}`, 0, first * row + 14);
  }
  pen.fillStyle = colour("--warm");
  pen.fillRect(x(cycle) - 1, 0, 2, height);
}

document.getElementById("timeline").addEventListener("click", (event) => {
  const box = event.target.getBoundingClientRect();
  const at = (((event.clientX - box.left) / box.width) * event.target.width - 70) / (event.target.width - 80);
  if (trace) cursor.go(at * trace.cycles);
});
