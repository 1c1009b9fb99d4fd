// Who is who: the grid as squares, the block as rows of warps, and what the chosen thread knows.

import { count, explore, field, html, limit, map, say, set, tint } from "./explorer.js";

const GRID_SHOWN = 512;

explore((answer) => {
  limit("block", answer.blocks - 1);
  limit("thread", answer.lanes.length - 1);
  const [bx, by] = answer.block;
  say("headline", `Thread ${answer.linear_tid} of block ${field("block")}: warp ${answer.warp}, lane ${answer.lane}`);
  say("hint", `${count(answer.blocks)} blocks of ${count(answer.lanes.length)} threads make ${answer.warps_per_block} warps each; they ran on ${answer.sms_used} of ${answer.sm_count} SMs.`);
  const blocks = answer.sms.slice(0, GRID_SHOWN).map((sm) => ({ ground: tint(sm), sm }));
  map("grid", blocks, Math.min(answer.grid[0], 32), (cell, index) => `block ${index}, on SM ${cell.sm}`, (index) => set("block", index), Number(field("block")));
  const threads = answer.lanes.map(([warp, lane]) => ({ ground: tint(warp), warp, lane }));
  map("block-map", threads, 32, (cell, index) => `thread ${index}: warp ${cell.warp}, lane ${cell.lane}`, (index) => set("thread", index), Number(field("thread")));
  facts([
    ["threadIdx", `(${answer.thread.join(", ")})`, `${count(answer.same_thread_x)} threads of the grid have this x`],
    ["linear tid", answer.linear_tid, "one thread of each block"],
    ["lane", answer.lane, "one thread of each warp"],
    ["warp in the block", answer.warp, "the warp"],
    ["blockIdx", `(${bx}, ${by}, ${answer.block[2]})`, "the block"],
    ["blockDim", `(${answer.block_dim.join(", ")})`, "the grid"],
    ["gridDim", `(${answer.grid.join(", ")})`, "the grid"],
    ["SM", answer.sm, "the block; another run may choose another"],
    ["blockIdx.x · blockDim.x + threadIdx.x", answer.index_1d, answer.is_line ? "this thread alone" : "several: block or grid has more than one dimension"],
    ["threadIdx.x % 32", answer.thread[0] % 32, answer.lane_is_x_mod_32 ? "it is the lane here" : "not the lane: the warp is cut from the linear tid"],
    ["atomic ticket", count(answer.ticket), "this thread alone, in the order in which threads came"],
  ]);
});

function facts(rows) {
  const body = document.querySelector("#facts tbody");
  body.replaceChildren(...rows.map(([what, value, same]) =>
    html("tr", {}, html("th", { scope: "row" }, what), html("td", { "data-fact": what }, String(value)), html("td", {}, same))));
}
