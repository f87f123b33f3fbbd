// Small figures that move: a slider, a drawing, and the same in words.
import { el, formatNumber, svg } from "./dom.js";
import { keptByGate, lessonScores, scaledSaturation, scoresOfSize } from "./lesson_numbers.js";
import { logistic } from "./scalar_functions.js";

const chartWidth = 340, chartHeight = 150, chartLeft = 52, chartTop = 12;

// A place in a chart, from x and y between 0 and 1.
const chartPoint = ([x, y]) => [chartLeft + x * chartWidth, chartTop + (1 - y) * chartHeight];

const linePath = (points) => `M${points.map((point) => chartPoint(point).map((x) => x.toFixed(1)).join(" ")).join("L")}`;

const chartText = (words, [x, y], attributes) => svg("text", { x, y, ...attributes }, words);

// Lines {points, kind} in a frame, with ticks [[at, words], ...] below and beside it, and notes in it.
const chartOf = (label, { lines, marker, below, beside, notes = [] }) => {
  const [left, bottom] = chartPoint([0, 0]), [right, top] = chartPoint([1, 1]);
  return svg("svg", {
    class: "lesson-chart", role: "img", "aria-label": label, width: right + 24, height: bottom + 36,
    viewBox: `0 0 ${right + 24} ${bottom + 36}`,
  },
    svg("path", { class: "frame", d: `M${left} ${top}V${bottom}H${right}` }),
    beside.map(([at, words]) => chartText(words, [left - 6, chartPoint([0, at])[1] + 4], { "text-anchor": "end" })),
    below.map(([at, words]) => chartText(words, [chartPoint([at, 0])[0], bottom + 18], { "text-anchor": "middle" })),
    notes.map(([at, words]) => chartText(words, chartPoint(at))),
    lines.map(({ points, kind }) => svg("path", { class: kind, d: linePath(points) })),
    marker && svg("circle", { class: "marker", cx: chartPoint(marker)[0], cy: chartPoint(marker)[1], r: 5 }));
};

const barOf = (share, words) =>
  el("div", { class: "lesson-bar" },
    el("span", { "aria-hidden": "true", style: `width:${(5 * share).toFixed(2)}em` }), words);

// A figure with one slider: draw(value) gives its contents and what they say.
const movingFigure = (label, { id, min, max, step, start, draw }) => {
  const drawing = el("div", { class: "lesson-drawing" }), words = el("p", { "aria-live": "polite" });
  const show = (value) => {
    const { contents, says, value: said } = draw(value);
    drawing.replaceChildren(...contents);
    words.textContent = says;
    slider.setAttribute("aria-valuetext", said);
  };
  const slider = el("input", {
    type: "range", id, min, max, step, value: start, oninput: (event) => show(Number(event.target.value)),
  });
  show(start);
  return el("figure", { class: "lesson-figure" }, el("label", { for: id }, label), slider, drawing, words);
};

const lowestScale = -1, highestScale = 1.5;

const saturationFigure = () => {
  const xOf = (power) => (power - lowestScale) / (highestScale - lowestScale);
  const points = Array.from({ length: 101 }, (_, n) => {
    const power = lowestScale + (n / 100) * (highestScale - lowestScale);
    return [xOf(power), scaledSaturation(10 ** power).stretch / 0.5];
  });
  return movingFigure("Scale of the scores c", {
    id: "figure-scale", min: lowestScale, max: highestScale, step: 0.05, start: 0, draw: (power) => {
      const { weights, stretch } = scaledSaturation(10 ** power), scale = formatNumber(10 ** power, 2);
      const says = `c = ${scale}: the largest weight is ${formatNumber(Math.max(...weights), 3)}, and |J| = ${formatNumber(stretch, 2)}.`;
      const bars = weights.map((y, n) => barOf(y, `${formatNumber(lessonScores[n], 2)} → ${formatNumber(y, 2)}`));
      const chart = chartOf(`|J| against the scale of the scores, a curve that rises to 0.32 and falls to 0. ${says}`, {
        lines: [{ points, kind: "curve" }], marker: [xOf(power), stretch / 0.5],
        below: [[0, "c = 0.1"], [xOf(0), "1"], [xOf(1), "10"], [1, "32"]], beside: [[0, "0"], [1, "|J| 0.5"]],
      });
      return { contents: [el("div", { class: "lesson-bars" }, bars), chart], says, value: `c = ${scale}` };
    },
  });
};

const gateSteps = 100, lowestPower = -12;

const gateFigure = () => {
  const lineOf = (bias) =>
    keptByGate(bias, gateSteps)
      .map((kept, t) => [t / gateSteps, 1 - Math.log10(kept) / lowestPower])
      .filter(([, y]) => y >= 0);
  return movingFigure("Bias b of the gate f = sigmoid(b)", {
    id: "figure-gate", min: -2, max: 6, step: 0.1, start: 1, draw: (bias) => {
      const f = logistic(bias), after = [10, 100].map((t) => formatNumber(f ** t, 2));
      const says = `b = ${formatNumber(bias, 2)}, f = ${formatNumber(f, 4)}: after 10 steps ${after[0]} of the gradient is left, after 100 steps ${after[1]}.`;
      const chart = chartOf(`What is left of a gradient, on a logarithmic scale against steps; dashed for f = 0.5. ${says}`, {
        lines: [{ points: lineOf(0), kind: "other" }, { points: lineOf(bias), kind: "curve" }],
        below: [[0, "0 steps"], [0.5, "50"], [1, "100"]], beside: [[1, "1"], [0.5, "1e−6"], [0, "1e−12"]],
        notes: [[[0.19, 0.06], "f = 0.5"]],
      });
      return { contents: [chart], says, value: `b = ${formatNumber(bias, 2)}, f = ${formatNumber(f, 4)}` };
    },
  });
};

const divisions = [["q k / √d", -0.5], ["q k", 0], ["q k · √d", 0.5]];

const percentOf = (share) => `${formatNumber(100 * share, 2)} %`;

const divisionFigure = () =>
  movingFigure("Numbers d in a query and in a key", {
    id: "figure-size", min: 0, max: 8, step: 1, start: 4, draw: (power) => {
      const d = 2 ** power, each = divisions.map(([name, exponent]) => ({ name, ...scoresOfSize(d, exponent) }));
      const says = `d = ${d}: with ${each.map(({ name, saturated }) => `${name} ${percentOf(saturated)}`).join(", with ")} ` +
        "of the rows have a weight above 0.99.";
      const bars = ({ largest, saturated, stretch }) => [
        barOf(largest, formatNumber(largest, 2)), barOf(saturated, percentOf(saturated)), barOf(2 * stretch, formatNumber(stretch, 2))];
      const rows = each.map((one) =>
        el("tr", {}, el("th", { scope: "row" }, one.name), bars(one).map((bar) => el("td", {}, bar))));
      const head = ["scores", "largest weight", "rows above 0.99", "|J| of the middle row"].map((name) =>
        el("th", { scope: "col" }, name));
      const table = el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows));
      return { contents: [table], says, value: `d = ${d}` };
    },
  });

export const lessonFigures = { saturation: saturationFigure, gate: gateFigure, division: divisionFigure };
