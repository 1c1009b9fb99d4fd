// A condition: who agrees on it, and what a warp pays that does not.

import { count, explore, field, fill, html, say } from "./explorer.js";

explore((answer) => {
  const condition = field("condition").trim();
  const share = answer.parted === answer.warps ? (answer.warps === 1 ? "parts the only warp" : `parts every one of the ${count(answer.warps)} warps`)
    : answer.parted === 0 ? (answer.warps === 1 ? "parts no warp: all its lanes agree" : `parts none of the ${count(answer.warps)} warps`)
    : `parts ${count(answer.parted)} of ${count(answer.warps)} warps`;
  say("headline", `${condition} ${share}`);
  const more = answer.issued - answer.alone;
  const cost = more ? `The warps issue ${count(answer.issued)} instructions, where ${count(answer.alone)} would do if no lane waited for another: ${Math.round((100 * more) / answer.alone)}% more.`
    : `The warps issue ${count(answer.issued)} instructions, and none of them for the sake of other lanes.`;
  const known = answer.known === "uniform" ? "It is known to be uniform before it runs, in any launch of such blocks."
    : answer.parted ? "It could not be known to be uniform, and is not."
    : "That cannot be known beforehand: another launch might part.";
  say("hint", `It holds for ${count(answer.holding)} of ${count(answer.threads)} threads. ${known} ${cost}${answer.fault ? ` The launch ends with a fault: ${answer.fault}` : ""}`);
  const units = { warp: ["warp", "warps"], block: ["block", "blocks"], grid: ["grid", "grids"] };
  const verdict = (level, good) => {
    const [one, many] = units[level.level];
    if (level.of === 1) return good === 1 ? `yes, the ${one} does` : `no, the ${one} does not`;
    return good === level.of ? `yes, all ${count(level.of)} ${many}` : good === 0 ? `no, none of ${count(level.of)} ${many}` : `${count(good)} of ${count(level.of)} ${many}`;
  };
  document.querySelector("#levels tbody").replaceChildren(...answer.levels.map((level) => html("tr", { "data-level": level.level },
    html("th", { scope: "row" }, `the threads of a ${level.level}`),
    html("td", { class: level.agree === level.of ? "agrees" : "parts" }, verdict(level, level.agree)),
    html("td", {}, verdict(level, level.same)))));
  fill("warps", answer.shown.map((warp) => row(warp)));
  const left = answer.warps - answer.shown.length;
  say("more", left > 0 ? `${count(left)} warps more are not shown.` : "");
});

function row(warp) {
  const bit = (mask, lane) => ((mask >>> lane) & 1) === 1;
  const isParted = warp.holds !== 0 && warp.holds !== warp.lanes;
  const word = isParted ? "parts" : warp.holds ? "all true" : "all false";
  return html("li", { class: isParted ? "parted" : undefined },
    html("span", { class: "warp-name" }, `block ${warp.block}, warp ${warp.warp}`),
    html("span", { class: "warp-lanes", role: "img", "aria-label": word }, Array.from({ length: 32 }, (_, lane) => {
      const state = !bit(warp.lanes, lane) ? "gone" : bit(warp.holds, lane) ? "on" : "waits";
      return html("i", { class: state, title: `lane ${lane}` });
    })),
    html("span", { class: "warp-cost" }, `${word}, ${warp.issued} issued`));
}
