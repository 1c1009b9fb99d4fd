// Three listings whose lines point at each other.

import { count, explore, fill, html, instruction, say } from "./explorer.js";

const LISTINGS = ["rust", "ptx", "sass"];
let held = null;
let words = {};

explore((answer) => {
  const spills = answer.spill_store_bytes + answer.spill_load_bytes;
  say("headline", `${answer.kernel} for ${answer.arch}: ${answer.registers} registers (${answer.source}), ${spills ? `${answer.spill_store_bytes} B of spills out, ${answer.spill_load_bytes} B in` : "no spills"}`);
  say("hint", answer.missing ?? `${answer.ptx.length} lines of PTX, ${answer.sass.length} of SASS. ${USE}`);
  words = answer.words;
  let file = null;
  fill("rust", answer.rust.map((line) => {
    const isNew = line.file !== file;
    file = line.file;
    return [isNew ? html("div", { class: "code-source" }, line.file) : null, row(line.place, html("span", { class: "number" }, String(line.line)), line.text)];
  }).flat().filter(Boolean));
  fill("ptx", answer.ptx.map((line) => row(line.place, null, line.text)));
  const most = Math.max(1, ...answer.sass.map((line) => line.live ?? 0));
  fill("sass", answer.sass.map((line) => {
    const bar = html("span", { class: "live", title: line.live == null ? "" : `${line.live} registers alive` });
    bar.style.setProperty("--share", (line.live ?? 0) / most);
    return row(line.place, bar, line.text, line.opcode);
  }));
  held = null;
  tell(null);
});

const USE = "Point at a line, or click it to hold it; up and down go from line to line.";

function row(place, before, text, opcode) {
  return html("div", {
    class: "code-line", tabindex: "-1", "data-place": place ?? undefined, "data-opcode": opcode ?? undefined,
    onpointerenter: (event) => { if (hasMoved(event)) { mark(held ?? place); tell(event.currentTarget); } },
    onpointerleave: (event) => { if (hasMoved(event)) mark(held); },
    onfocus: (event) => { mark(held ?? place); tell(event.currentTarget); },
    onclick: () => { held = held === place ? null : place; mark(held, true); },
  }, before, html("code", {}, instruction(text, opcode, words, "-1")));
}

// Lines that scroll under a pointer which stands still are not pointed at.
let pointer = [];
document.addEventListener("pointermove", (event) => { pointer = [event.screenX, event.screenY]; });
const hasMoved = (event) => event.screenX !== pointer[0] || event.screenY !== pointer[1];

// What the opcode of a line of SASS means; how many registers live there.
function tell(line) {
  const opcode = line?.dataset.opcode;
  const alive = line?.querySelector(".live")?.title;
  if (opcode) say("words", `${words[opcode] ?? `${opcode}: there are no words for it here.`}${alive ? ` Here: ${alive}.` : ""}`);
  else if (!line) say("words", "Point at an instruction to read what it does.");
}

// In a listing, up and down go from line to line, Enter holds one.
for (const id of LISTINGS) {
  const box = document.getElementById(id);
  box.addEventListener("keydown", (event) => {
    const lines = [...box.querySelectorAll(".code-line")];
    const at = lines.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && lines[at + step]) lines[at + step].focus();
    else if (event.key === "Enter" && at >= 0) lines[at].click();
    else return;
    event.preventDefault();
  });
}

// Marks every line of the place; of the other listings the first one is brought into view.
function mark(place, isHeld = false) {
  for (const line of document.querySelectorAll(".code-line.here")) line.classList.remove("here");
  if (!place) return say("hint", USE);
  const counts = {};
  for (const id of LISTINGS) {
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
