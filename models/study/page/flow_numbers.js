// How gradients flow through time, in numbers: curves on a log scale, and where they vanish.
import { formatNumber } from "./dom.js";
import { numberOf } from "./trace.js";

const vanishedPart = 1e-3; // of the largest

// [{name, values}] of all flows.
export const curvesOf = (flows) =>
  flows.flatMap(({ norms }) => norms.map(({ name, values }) => ({ name, values: values.map(numberOf) })));

// "h vanishes: at step 2 it is below 1/1000 of its largest, 0.5 at step 3". Steps count from 0, as rows, heads and records do.
export const flowSentence = ({ name, values }) => {
  const wrong = values.findIndex((x) => !Number.isFinite(x));
  if (wrong >= 0) return `${name} is ${formatNumber(values[wrong])} at step ${wrong}`;
  const largest = values.reduce((best, x, t) => (x > values[best] ? t : best), 0);
  if (!(values[largest] > 0)) return `${name}: nothing flows back`;
  if (largest === 0) return `${name} is largest at the first step: ${formatNumber(values[0], 3)}`;
  const size = `${formatNumber(values[largest], 3)} at step ${largest}`;
  let step = largest;
  while (step > 0 && values[step - 1] >= vanishedPart * values[largest]) --step;
  // Nothing has vanished where the loss does not read a step: of an attention it may read only the last one.
  if (step > 0 && values.slice(0, step).every((x) => x === 0))
    return `${name} is largest, ${size}, and exactly 0 before step ${step}`;
  if (step > 0) return `${name} vanishes: at step ${step - 1} it is below 1/1000 of its largest, ${size}`;
  return `${name} is largest, ${size}; at the first step it is ${formatNumber(values[0] / values[largest], 3)} of that`;
};

const mostDecades = 12;

// The powers of ten {low, high} between which the numbers lie that a log scale can show, at least one decade apart;
// those that are far smaller than the others fall below it.
export const decadesOf = (curves) => {
  const shown = curves.flatMap(({ values }) => values).filter((x) => x > 0 && Number.isFinite(x));
  if (shown.length === 0) return { low: -1, high: 0 };
  const high = Math.ceil(Math.log10(Math.max(...shown))), low = Math.floor(Math.log10(Math.min(...shown)));
  return { low: Math.max(Math.min(low, high - 1), high - mostDecades), high };
};

// The places of a curve that can be drawn, in pieces without gaps: [[{t, level from 0 to 1}]].
export const piecesOf = ({ values }, { low, high }) => {
  const pieces = [[]];
  values.forEach((x, t) => {
    const level = (Math.log10(x) - low) / (high - low);
    if (level >= 0 && level <= 1) pieces.at(-1).push({ t, level });
    else if (pieces.at(-1).length > 0) pieces.push([]);
  });
  return pieces.filter((piece) => piece.length > 0);
};

// log10 of a matrix, as an array of [t][s].
export const logMatrix = (matrix) => ({
  dtype: "",
  shape: [matrix.length, matrix.length],
  data: Float64Array.from(matrix.flat(), (x) => Math.log10(numberOf(x))),
});
