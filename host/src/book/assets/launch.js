// A launch of one's own: what the machine says of it, in a table.

import { count, explore, html, say } from "./explorer.js";

explore((answer) => {
  say("headline", `${answer.kernel} on the ${answer.device}: ${answer.time}, modelled`);
  say("hint", `${count(answer.blocks)} blocks, ${count(answer.threads)} threads, of which ${count(answer.idle)} have no element.`
    + (answer.fault ? ` The launch ends with a fault: ${answer.fault}` : ""));
  document.querySelector("#found tbody").replaceChildren(...answer.rows.map(([what, value, note]) =>
    html("tr", {}, html("th", { scope: "row" }, what), html("td", { "data-fact": what }, value), html("td", {}, note))));
});
