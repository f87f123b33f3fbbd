// Curves over time on a log scale. Each has its own curveDashes and marks beside its colour.
import { el, formatNumber, svg } from "./dom.js";
import { decadesOf, piecesOf } from "./flow_numbers.js";
import { rowHeader, scrollingTable } from "./table.js";

const chartFrame = { width: 760, height: 300, left: 64, right: 746, top: 10, bottom: 266 };

const curveDashes = ["none", "7 4", "2 3", "10 3 2 3", "14 4", "5 2 1 2 1 2"];
const curveColours = [
  "--accent", "--array-positive", "--array-one", "--quiet", "--good", "--array-odd", "--doubt", "--array-negative",
];
const markShapes = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
  "M-3.5-3.5h7v7h-7z",
  "M0-4.5l4.5 8h-9z",
  "M0-5l5 5l-5 5l-5-5z",
  "M-4-4l8 8m0-8l-8 8",
  "M-5 0h10m-5-5v10",
];

const curveStyle = (n) => ({
  stroke: `var(${curveColours[n % curveColours.length]})`,
  "stroke-dasharray": curveDashes[n % curveDashes.length],
});

// The k of "every k-th of `count`", so that at most `most` are left.
const tickEvery = (count, most) => Math.max(1, Math.ceil(count / most));

// Marks of the second round are filled: 24 curves differ in colour and mark.
const markFill = (n) => (Math.floor(n / markShapes.length) % 2 === 1 ? curveStyle(n).stroke : "var(--paper)");

const curveMark = (n, x, y, title) =>
  svg(
    "path",
    {
      d: markShapes[n % markShapes.length],
      transform: `translate(${x} ${y})`,
      stroke: curveStyle(n).stroke,
      fill: markFill(n),
      class: "flow-mark",
    },
    title && svg("title", {}, title),
  );

const curveLine = (n, places) =>
  svg("polyline", { points: places.map(({ x, y }) => `${x},${y}`).join(" "), ...curveStyle(n), class: "flow-line" });

const curveView = (curve, n, decades, xOf, yOf) =>
  piecesOf(curve, decades).map((piece) => {
    const places = piece.map(({ t, level }) => ({ t, x: xOf(t), y: yOf(level) }));
    const marks = places
      .filter(({ t }) => t % tickEvery(curve.values.length, 40) === 0)
      .map(({ t, x, y }) => curveMark(n, x, y, `${curve.name}, step ${t}: ${formatNumber(curve.values[t])}`));
    return [curveLine(n, places), marks];
  });

const chartAxes = (times, { low, high }, xOf, yOf) => {
  const steps = Array.from({ length: times }, (_, t) => t), powers = Array.from({ length: high - low + 1 }, (_, k) => low + k);
  return [
    powers
      .filter((_, k) => k % tickEvery(powers.length, 8) === 0)
      .map((power) => {
        const y = yOf((power - low) / (high - low));
        return [
          svg("line", { x1: chartFrame.left, x2: chartFrame.right, y1: y, y2: y, class: "flow-grid" }),
          svg("text", { x: chartFrame.left - 8, y: y + 4, "text-anchor": "end" }, formatNumber(10 ** power)),
        ];
      }),
    steps
      .filter((t) => t % tickEvery(times, 20) === 0)
      .map((t) => svg("text", { x: xOf(t), y: chartFrame.bottom + 18, "text-anchor": "middle" }, String(t))),
    svg("text", { x: chartFrame.right, y: chartFrame.height - 2, "text-anchor": "end" }, "step t →"),
  ];
};

// One curve among many: a pointer or the focus on its name makes the others faint, a click keeps it so.
const curveChoice = (lines) => {
  let chosen = null;
  const keys = lines.map(() => null);
  const mark = (shown) =>
    lines.forEach((line, n) => line.setAttribute("class", shown === null || shown === n ? "flow-curve" : "flow-curve faint"));
  const choose = (n) => {
    chosen = chosen === n ? null : n;
    keys.forEach((key, k) => key.setAttribute("aria-pressed", String(k === chosen)));
    mark(chosen);
  };
  return (n, ...contents) =>
    (keys[n] = el("button", {
      type: "button", "aria-pressed": "false", onclick: () => choose(n), onpointerenter: () => mark(n), onfocus: () => mark(n),
      onpointerleave: () => mark(chosen), onblur: () => mark(chosen),
    }, contents));
};

const curveLegend = ({ name }, n, choice) =>
  el("li", {}, choice(n,
    svg(
      "svg",
      { viewBox: "0 0 44 12", width: 44, height: 12, "aria-hidden": "true" },
      curveLine(n, [{ x: 1, y: 6 }, { x: 43, y: 6 }]),
      curveMark(n, 22, 6),
    ),
    ` ${name}`,
  ));

const tableOfCurves = (curves, times) =>
  scrollingTable(
    "the norms as a table",
    ["step", ...curves.map(({ name }) => name)],
    Array.from({ length: times }, (_, t) =>
      el("tr", {}, rowHeader(String(t)), curves.map(({ values }) => el("td", {}, formatNumber(values[t])))),
    ),
  );

// A figure of [{name, values by step}], of `times` steps.
export const flowChart = (curves, times, label) => {
  const decades = decadesOf(curves);
  const { left, right, top, bottom } = chartFrame;
  const xOf = (t) => left + 12 + ((right - left - 24) * t) / Math.max(1, times - 1),
    yOf = (level) => bottom - (bottom - top) * level;
  const lines = curves.map((curve, n) => svg("g", { class: "flow-curve" }, curveView(curve, n, decades, xOf, yOf)));
  const choice = curveChoice(lines);
  return el(
    "figure",
    { class: "flow-chart" },
    el("figcaption", { class: "quiet" }, label),
    svg(
      "svg",
      { viewBox: `0 0 ${chartFrame.width} ${chartFrame.height}`, role: "img", "aria-label": `${label}; the table below has its numbers` },
      chartAxes(times, decades, xOf, yOf),
      lines,
    ),
    el("ul", { class: "flow-legend" }, curves.map((curve, n) => curveLegend(curve, n, choice))),
    el("details", { class: "array-table" }, el("summary", {}, "as a table"), tableOfCurves(curves, times)),
  );
};
