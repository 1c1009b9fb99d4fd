// A kernel's branches as a table; a condition that can be typed leads to the uniformity check.

import { count, explore, field, html, say } from "./explorer.js";

const isStatic = document.documentElement.classList.contains("static");

explore((answer) => {
  const parted = answer.branches.filter((branch) => branch.parted > 0).length;
  const all = answer.branches.length;
  say("headline", all === 0 ? "This kernel has no branch on a condition" : `${field("kernel")}: warps part at ${parted} of ${all} ${all === 1 ? "branch" : "branches"}`);
  say("hint", "A branch known to be uniform never parts a warp. At one that may vary, the run says whether it did."
    + (answer.fault ? ` The launch ends with a fault: ${answer.fault}` : ""));
  document.querySelector("#branches tbody").replaceChildren(...answer.branches.map((branch) => {
    const query = new URLSearchParams({ condition: branch.condition ?? "", block_x: field("block_x"), block_y: field("block_y"), grid_x: field("blocks"), n: field("n") });
    return html("tr", {},
      html("td", {}, branch.rust ? html("code", {}, branch.rust) : "the compiler's own", html("small", {}, branch.place ?? "")),
      html("td", {}, html("code", {}, branch.text)),
      html("td", {}, branch.known),
      html("td", {}, count(branch.executed)),
      html("td", { class: branch.parted ? "parts" : branch.executed ? "agrees" : undefined }, !branch.executed ? "not reached" : branch.parted ? (branch.parted === 1 ? "once" : `${count(branch.parted)} times`) : "never"),
      html("td", {}, branch.condition && !isStatic ? html("a", { href: `/explore/uniform?${query}` }, "try it") : "data, or a loop"));
  }));
});
