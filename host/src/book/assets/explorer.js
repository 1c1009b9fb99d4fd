// What every explorer shares: knobs that ask the server when they are turned, and elements to draw with.

const form = document.getElementById("controls");
// Turns of a knob that come together are asked about once.
const GATHER_MS = 15;

const problem = document.getElementById("problem");

// Knobs keep their places in the address, so that a figure can be sent to someone.
export function explore(render) {
  // In a page that is about something else the form keeps no place in the address and waits to be asked.
  const isEmbedded = form.closest(".embedded") !== null;
  const fields = new URLSearchParams(isEmbedded ? "" : location.search);
  for (const [name, value] of fields) {
    const field = form.elements[name];
    if (field) field.value = value;
  }
  let asked = 0;
  let waiting = false;

  async function ask() {
    waiting = false;
    const number = ++asked;
    const query = new URLSearchParams(new FormData(form));
    try {
      const answer = await fetchJson(form.dataset.recorded ?? `${form.dataset.api}?${query}`);
      // An answer that a later question has overtaken is of no interest.
      if (number !== asked) return;
      problem.hidden = true;
      if (!form.dataset.recorded && !isEmbedded) history.replaceState(null, "", `?${query}`);
      render(answer);
    } catch (error) {
      if (number !== asked) return;
      problem.textContent = error.message;
      problem.hidden = false;
    }
    if (number !== asked) return;
    document.body.dataset.answered = String(number);
    document.body.dataset.answeredAt ??= String(performance.now());
  }

  function turned() {
    delete document.body.dataset.answered;
    if (waiting) return;
    waiting = true;
    setTimeout(ask, GATHER_MS);
  }

  for (const slider of form.querySelectorAll("input[data-for]")) {
    const number = form.elements[slider.dataset.for];
    slider.value = number.value;
    slider.addEventListener("input", () => { number.value = slider.value; });
    number.addEventListener("input", () => { slider.value = number.value; });
  }
  for (const button of form.querySelectorAll("button[data-sets]")) {
    button.addEventListener("click", () => { if (form.elements[button.dataset.sets]) set(button.dataset.sets, button.dataset.value); });
  }
  if (!isEmbedded) form.addEventListener("input", turned);
  if (form.dataset.recorded) for (const field of form.elements) field.disabled = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    turned();
  });
  if (isEmbedded) document.body.dataset.answered = "0";
  else turned();
  return turned;
}

export async function fetchJson(address, options) {
  const response = await fetch(address, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// Sets a knob as if it had been turned by hand.
export function set(name, value) {
  const field = form.elements[name];
  field.value = value;
  const slider = form.querySelector(`input[data-for="${name}"]`);
  if (slider) slider.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// A knob's upper limit follows another.
export function limit(name, most) {
  for (const field of [form.elements[name], form.querySelector(`input[data-for="${name}"]`)]) {
    if (field) field.max = most;
  }
  if (Number(form.elements[name].value) > most) set(name, most);
}

export const field = (name) => form.elements[name].value;

export function say(id, text) {
  document.getElementById(id).textContent = text;
}

export const count = (value) => Number(value).toLocaleString("en-US");

// `html("p", { class: "x" }, "text", child)`, and the same for SVG.
export const html = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  make(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function make(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// An instruction of SASS whose opcode has its words about it: `words` has them by opcode.
export function instruction(text, opcode, words, tabindex = "0") {
  if (!opcode || !words[opcode]) return [text];
  const at = text.indexOf(opcode);
  return [text.slice(0, at), html("abbr", { class: "word", tabindex, title: words[opcode] }, opcode), text.slice(at + opcode.length)];
}

export function fill(id, ...children) {
  document.getElementById(id).replaceChildren(...children.flat());
}

// Twelve grounds on which dark ink can be read; neighbours differ.
const HUES = [174, 30, 262, 95, 340, 205, 50, 300, 130, 12, 232, 70];
export const strong = (index) => `hsl(${HUES[index % HUES.length]} 62% 46%)`;
export const tint = (index) => `hsl(${HUES[index % HUES.length]} 52% ${index % 24 < 12 ? 78 : 66}%)`;

// A grid of small squares, one of which has the focus: arrows move, Enter or a click chooses.
export function map(id, cells, columns, describe, choose, chosen) {
  const place = document.getElementById(id);
  const had = place.contains(document.activeElement);
  const squares = cells.map((cell, index) =>
    html("button", {
      type: "button", class: index === chosen ? "cell chosen" : "cell", tabindex: index === chosen ? "0" : "-1",
      "aria-label": describe(cell, index), title: describe(cell, index), "aria-pressed": String(index === chosen),
      onclick: () => choose(index),
      onkeydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
        const next = index + (step ?? 0);
        if (!step || next < 0 || next >= cells.length) return;
        event.preventDefault();
        choose(next);
      },
    }, cell.text ?? ""));
  squares.forEach((square, index) => {
    square.style.background = cells[index].ground;
    if (cells[index].faint) square.classList.add("faint");
  });
  place.style.setProperty("--columns", columns);
  place.replaceChildren(...squares);
  if (had && squares[chosen]) squares[chosen].focus();
}
