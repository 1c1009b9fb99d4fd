// A plot of steps with a mark where one stands, and points with names: drawn as SVG in the page's colours.

import { svg } from "./explorer.js";

const WIDTH = 640;
const HEIGHT = 260;
const LEFT = 50;
const BOTTOM = 34;
const TOP = 12;
const RIGHT = 26;

export function steps({ points, x, y, at, marks = [], label, choose }) {
  const most = points[points.length - 1][0];
  const least = points[0][0];
  const px = (value) => LEFT + ((value - least) / (most - least)) * (WIDTH - LEFT - RIGHT);
  const py = (percent) => TOP + (1 - percent / 100) * (HEIGHT - TOP - BOTTOM);
  const line = points.map(([value, percent], index) =>
    index === 0 ? `M${px(value)} ${py(percent)}` : `H${px(value)}V${py(percent)}`).join("");
  const here = points.reduce((best, point) => (point[0] <= at ? point : best), points[0]);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, class: "chart" },
    [0, 25, 50, 75, 100].map((percent) => [
      svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: py(percent), y2: py(percent), class: "rule" }),
      svg("text", { x: LEFT - 8, y: py(percent) + 4, "text-anchor": "end" }, `${percent}%`),
    ]).flat(),
    ticks(least, most).map((value) =>
      svg("text", { x: px(value), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, String(value))),
    svg("text", { x: WIDTH - RIGHT, y: HEIGHT - 2, "text-anchor": "end", class: "axis" }, x),
    svg("path", { d: `${line}V${py(0)}H${px(least)}Z`, class: "area" }),
    svg("path", { d: line, class: "curve" }),
    marks.map(({ at: value, percent, name }) =>
      svg("circle", { cx: px(value), cy: py(percent), r: 4, class: "mark" }, svg("title", {}, name))),
    svg("line", { x1: px(at), x2: px(at), y1: py(0), y2: py(here[1]), class: "cursor" }),
    svg("circle", { cx: px(at), cy: py(here[1]), r: 6, class: "here" }),
  );
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    const value = least + (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT) * (most - least);
    choose(Math.round(Math.min(most, Math.max(least, value))));
  });
  return drawing;
}

function ticks(least, most) {
  const step = most > 512 ? 256 : 32;
  const values = [];
  for (let value = Math.ceil(least / step) * step; value <= most; value += step) values.push(value);
  return values;
}
