// Up and down go from line to line, opening each.

for (const walk of document.querySelectorAll(".walk")) {
  const lines = [...walk.querySelectorAll("details")];
  walk.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = lines.indexOf(event.target.closest("details"));
    const next = lines[at + step];
    if (!step || !next) return;
    event.preventDefault();
    next.open = true;
    next.querySelector("summary").focus();
  });
}
// The first picture: the line that this is about.
const launch = [...document.querySelectorAll("#host ~ .walk-lines details")].find((line) => line.textContent.includes("launch_shaped"));
if (launch) launch.open = true;
