// A block as rows and columns, its warps as colours, and the sectors of one warp's store.

import { count, explore, fill, html, limit, map, say, set, tint, field } from "./explorer.js";

for (const button of document.querySelectorAll("[data-sets=shape]")) {
  button.addEventListener("click", () => {
    const [x, y, z] = button.dataset.value.split("×");
    set("x", x);
    set("y", y);
    set("z", z ?? 1);
  });
}

explore((answer) => {
  const threads = answer.threads.length;
  limit("thread", threads - 1);
  const [x, y, z] = answer.block;
  const rows = answer.rows === 1 ? "one row" : `${answer.rows} rows`;
  say("headline", `${x}×${y}${z > 1 ? `×${z}` : ""}: ${answer.warps} warps, each over ${rows}; a store touches ${answer.sectors.length} sectors`);
  const extra = answer.sectors.length - answer.least_sectors;
  say("hint", `Thread (${answer.thread.join(", ")}) has tid ${answer.linear_tid}: warp ${answer.warp}, lane ${answer.lane}. `
    + `${answer.storing_lanes} lanes store; ${answer.least_sectors} sectors would hold their bytes${extra > 0 ? `, ${extra} more are touched` : ", and no more are touched"}. `
    + `The image takes ${count(answer.grid[0])}×${count(answer.grid[1])} blocks.`);
  const cells = answer.threads.map(([warp, lane]) => ({ ground: tint(warp), warp, lane, faint: warp !== answer.warp }));
  map("shape", cells, x, (cell, index) => `thread ${index}: warp ${cell.warp}, lane ${cell.lane}`, (index) => set("thread", index), Number(field("thread")));
  fill("sectors", html("ol", { class: "sectors" }, answer.sectors.map(({ sector, lanes }) => {
    const box = html("li", { class: "sector" },
      html("span", { class: "sector-name" }, `sector ${count(sector)}`),
      html("span", { class: "sector-lanes" }, lanes.length > 1 ? `lanes ${spans(lanes)}` : `lane ${lanes[0]}`));
    return box;
  })));
});

// `0–7, 16`.
function spans(lanes) {
  const found = [];
  for (const lane of lanes) {
    const last = found[found.length - 1];
    if (last && last[1] === lane - 1) last[1] = lane;
    else found.push([lane, lane]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}
