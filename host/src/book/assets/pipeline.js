// Three listings whose lines point at each other.

import { count, explore, fill, html, say } from "./explorer.js";

explore((answer) => {
  const spills = answer.spill_store_bytes + answer.spill_load_bytes;
  say("headline", `${answer.kernel} for ${answer.arch}: ${answer.registers} registers (${answer.source}), ${spills ? `${answer.spill_store_bytes} B of spills out, ${answer.spill_load_bytes} B in` : "no spills"}`);
  say("hint", answer.missing ?? `${answer.ptx.length} lines of PTX, ${answer.sass.length} of SASS. Point at a line, or click it to hold it.`);
  let file = null;
  fill("rust", answer.rust.map((line) => {
    const isNew = line.file !== file;
    file = line.file;
    return [isNew ? html("div", { class: "code-source" }, line.file) : null, row(line.place, html("span", { class: "number" }, String(line.line)), line.text)];
  }).flat().filter(Boolean));
  fill("ptx", answer.ptx.map((line) => row(line.place, null, line.text)));
  const most = Math.max(1, ...answer.sass.map((line) => line.live ?? 0));
  fill("sass", answer.sass.map((line) => {
    const bar = html("span", { class: "live", title: line.live === null ? "" : `${line.live} registers alive` });
    bar.style.setProperty("--share", (line.live ?? 0) / most);
    return row(line.place, bar, line.text);
  }));
  held = null;
});

let held = null;

function row(place, before, text) {
  return html("div", {
    class: "code-line", "data-place": place ?? undefined,
    onpointerenter: () => mark(held ?? place),
    onpointerleave: () => mark(held),
    onclick: () => { held = held === place ? null : place; mark(held, true); },
  }, before, html("code", {}, text));
}

// Marks every line of the place; of the other listings the first one is brought into view.
function mark(place, isHeld = false) {
  for (const line of document.querySelectorAll(".code-line.here")) line.classList.remove("here");
  if (!place) return say("hint", "Point at a line, or click it to hold it.");
  const counts = {};
  for (const id of ["rust", "ptx", "sass"]) {
    const box = document.getElementById(id);
    const lines = [...box.querySelectorAll(".code-line")].filter((line) => line.dataset.place === place);
    counts[id] = lines.length;
    lines.forEach((line) => line.classList.add("here"));
    if (isHeld && lines.length) {
      const top = lines[0].offsetTop;
      if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40) box.scrollTop = top - box.clientHeight / 3;
    }
  }
  say("hint", `${place}: ${count(counts.ptx)} lines of PTX, ${count(counts.sass)} of SASS${isHeld ? "; click again to let go" : ""}.`);
}
