// The calculator: bars for the limits, places for warps, curves with cliffs.

import { count, explore, fetchJson, field, fill, html, say, set } from "./explorer.js";
import { steps } from "./chart.js";

let kernels = { device: null, list: [] };
let shown = null;

explore((answer) => {
  shown = answer;
  say("headline", `${answer.blocks_per_sm} blocks of ${answer.warps_per_block} warps: ${answer.warps_per_sm} of ${answer.max_warps_per_sm} warps, ${Math.round(answer.percent)}%`);
  const deciding = answer.limits.filter((limit) => limit.decides).map((limit) => limit.name);
  say("hint", `Decided by ${deciding.join(" and ") || "nothing: no block fits"}. ${answer.steps.map((step) => `${step[0].toUpperCase()}${step.slice(1)}.`).join(" ")}`);
  bars(answer);
  places(answer);
  curves(answer);
  if (!document.getElementById("controls").dataset.recorded) load();
});

function bars(answer) {
  const most = Math.max(...answer.limits.map((limit) => Math.min(limit.blocks, 32)), 1);
  fill("bars", html("dl", { class: "bars" }, answer.limits.map((limit) => {
    const bar = html("span", { class: limit.decides ? "bar decides" : "bar" });
    bar.style.width = `${(100 * Math.min(limit.blocks, most)) / most}%`;
    return [
      html("dt", { class: limit.decides ? "decides" : undefined }, limit.name),
      html("dd", { "data-limit": limit.name, "data-blocks": limit.blocks },
        html("span", { class: "track" }, bar), html("b", {}, count(limit.blocks)), html("small", {}, limit.because)),
    ];
  }).flat()));
}

function places(answer) {
  const cells = Array.from({ length: answer.max_warps_per_sm }, (_, place) => {
    const block = Math.floor(place / answer.warps_per_block);
    const cell = html("span", { class: "place" });
    if (place < answer.warps_per_sm) cell.classList.add(block % 2 ? "odd" : "even");
    return cell;
  });
  fill("places", html("div", { class: "places", role: "img", "aria-label": `${answer.warps_per_sm} of ${answer.max_warps_per_sm} places taken` }, cells));
}

function curves(answer) {
  const shared = Number(field("shared"));
  const marks = kernels.device === answer.device
    ? kernels.list.filter((kernel) => kernel.shared <= shared || kernel.shared === 0).map((kernel) => ({
        at: kernel.registers, percent: at(answer.by_registers, kernel.registers), name: `${kernel.kernel}: ${kernel.registers} registers (${kernel.source})`,
      }))
    : [];
  fill("by-registers", steps({
    points: answer.by_registers, x: "registers a thread", at: Number(field("registers")), marks,
    label: "Occupancy by registers a thread", choose: (value) => set("registers", value),
  }));
  fill("by-block", steps({
    points: answer.by_block, x: "threads a block", at: Number(field("block")),
    label: "Occupancy by threads a block", choose: (value) => set("block", Math.max(32, Math.round(value / 32) * 32)),
  }));
}

const at = (points, x) => (points.find(([value]) => value === x) ?? [0, 0])[1];

// The kernels' registers take ptxas the first time: the rest of the page does not wait for them.
async function load() {
  const device = field("device");
  if (kernels.device === device || kernels.asked === device) return;
  kernels.asked = device;
  try {
    const answer = await fetchJson(`/api/explore/occupancy/kernels?${new URLSearchParams({ device })}`);
    kernels = { device, list: answer.kernels };
    if (shown?.device === device) curves(shown);
  } catch (error) {
    say("hint", `${document.getElementById("hint").textContent} The kernels are missing: ${error.message}`);
  }
}
