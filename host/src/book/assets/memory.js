// Sectors as strips of 32 bytes, banks as columns of words.

import { count, explore, fill, html, say } from "./explorer.js";

explore((answer) => {
  const share = Math.round((100 * answer.bytes_used) / answer.bytes_fetched);
  say("headline", `Global: ${answer.sector_count} sectors, ${share}% of them used. Shared: ${answer.passes} ${answer.passes === 1 ? "pass" : "passes"}`);
  say("hint", `${answer.bytes_used} bytes wanted, ${count(answer.bytes_fetched)} fetched. In shared memory ${answer.passes_ideal} ${answer.passes_ideal === 1 ? "pass" : "passes"} would be the least for this width.`);
  fill("sectors", html("ol", { class: "strips" }, answer.sectors.map(({ sector, bytes }) => {
    const used = new Set(bytes);
    return html("li", { "aria-label": `sector ${sector}: ${bytes.length} of 32 bytes used` },
      html("span", { class: "sector-name" }, String(sector)),
      html("span", { class: "strip" }, Array.from({ length: 32 }, (_, byte) => html("i", { class: used.has(byte) ? "used" : undefined }))));
  })));
  const tallest = Math.max(...answer.banks.map((words) => words.length));
  fill("banks", html("ol", { class: "banks" }, answer.banks.map((words, bank) =>
    html("li", { class: words.length === tallest && tallest > 1 ? "queue" : undefined, "aria-label": `bank ${bank}: ${words.length} words` },
      html("span", { class: "stack" }, words.map(() => html("i", {}))), html("span", { class: "bank-name" }, String(bank))))));
  document.querySelector("#lane-table tbody").replaceChildren(...answer.lanes.map(([address, sector, bank], lane) =>
    html("tr", {}, [lane, address, sector, bank].map((value) => html("td", {}, count(value))))));
});
