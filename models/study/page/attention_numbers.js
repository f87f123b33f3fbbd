// The numbers of one head of an attention: scores, weights and the gradients of both.
import { oncePer } from "./once.js";
import { attentionOf } from "./rules_attention.js";
import { gradientOfSoftmax } from "./rules_rows.js";
import { NdArray } from "./tensor.js";
import { callOf } from "./trace.js";

// A mask adds -infinity to a score or, in older programs, a large negative number such as -1e9.
const isHiddenScore = (score, weight) => weight === 0 && score <= -1e4;

// Above this weight a row is saturated.
export const saturatedFrom = 0.99;

const matrixOf = (array, { shape, heads, queries, keys }, sample, head) => {
  if (!array) return null;
  const size = queries * keys,
    start = (sample * heads + head) * size;
  return new NdArray(array.dtype, shape.slice(-2), array.data.slice(start, start + size));
};

// dS = A (dA - sum of A dA along the row).
export const gradientOfScores = (weights, dWeights) =>
  new NdArray(weights.dtype, weights.shape, gradientOfSoftmax(weights, dWeights, -1).data);

const composedArrays = (trace, { record, scores, weights }) => {
  const { output_gradients: arrived, contributions } = trace.records[record];
  return {
    scores: trace.tensor(trace.nodes[scores].value),
    weights: trace.tensor(trace.nodes[weights].value),
    dWeights: trace.tensor(arrived[0]),
    dScores: trace.tensor(contributions[0]?.contribution),
  };
};

// A fused record does not list a mask whose traces its weights show: it hides where these are 0.
const withHidden = (scores, weights) =>
  new NdArray(
    scores.dtype,
    scores.shape,
    scores.data.map((s, n) => (weights.data[n] === 0 ? -Infinity : s)),
  );

const openFused = (trace, { record }) => {
  const call = callOf(trace, record);
  if ([...call.inputs, ...call.outputs].some((array) => array === null)) return {};
  const opened = attentionOf(call),
    isMasked = trace.records[record].forward.includes("+ mask");
  return isMasked ? { ...opened, scores: withHidden(opened.scores, opened.weights) } : opened;
};

// The arrays of all heads: {scores, weights, dWeights, dScores}, null or undefined where nothing is held.
const arraysOfHeads = oncePer((attention, trace) =>
  attention.kind === "fused" ? openFused(trace, attention) : composedArrays(trace, attention),
);

// The weights of all heads, in the shape of the attention; null where they are not held.
export const allWeights = (trace, attention) => arraysOfHeads(attention, trace).weights ?? null;

// {scores, weights, dWeights, dScores: matrices of queries and keys, or null; hidden(n): whether element n is masked}.
// A gradient of the scores that the tape has not kept is computed from the others.
export const numbersOf = (trace, attention, { sample, head }) => {
  const arrays = arraysOfHeads(attention, trace);
  const of = (array) => matrixOf(array, attention, sample, head);
  const scores = of(arrays.scores),
    weights = of(arrays.weights),
    dWeights = of(arrays.dWeights);
  const dScores = of(arrays.dScores) ?? (weights && dWeights && gradientOfScores(weights, dWeights));
  const hidden = (n) => Boolean(scores && weights) && isHiddenScore(scores.data[n], weights.data[n]);
  return { scores, weights, dWeights, dScores, hidden };
};

// The facts of one row: {seen (keys that are not masked), top (the key of the largest weight), weight (that
// one), mean (the sum of A dA), strongest (the key of the largest |dS|), passed (|dS| / |dA| of the seen keys),
// arrived (that |dA|)}.
export const rowOf = ({ weights, dWeights, dScores, hidden }, row) => {
  const keys = weights.shape[1],
    at = row * keys;
  const seen = Array.from({ length: keys }, (_, key) => key).filter((key) => !hidden(at + key));
  const largestBy = (size) => seen.reduce((best, key) => (size(key) > size(best) ? key : best), seen[0] ?? 0);
  const norm = (array) => Math.hypot(...seen.map((key) => array.data[at + key]));
  const top = largestBy((key) => weights.data[at + key]);
  const told = { seen, top, weight: weights.data[at + top] };
  if (!dWeights || !dScores) return { ...told, mean: null, strongest: null, passed: null, arrived: 0 };
  return {
    ...told,
    mean: seen.reduce((sum, key) => sum + weights.data[at + key] * dWeights.data[at + key], 0),
    strongest: largestBy((key) => Math.abs(dScores.data[at + key])),
    passed: norm(dScores) / norm(dWeights),
    arrived: norm(dWeights),
  };
};

// "hidden" (every key is masked), "single" (one key is left), "saturated" or "open".
export const stateOfRow = ({ seen, weight }) => {
  if (seen.length === 0) return "hidden";
  if (seen.length === 1) return "single";
  return weight > saturatedFrom ? "saturated" : "open";
};

// The row whose scores have the largest gradient: where there is most to see.
export const strongestRow = ({ dScores, weights: { shape } }) => {
  const sizes = Array.from({ length: shape[0] }, (_, row) =>
    dScores ? Math.hypot(...dScores.data.slice(row * shape[1], (row + 1) * shape[1])) : 0,
  );
  return Math.max(0, sizes.indexOf(Math.max(...sizes)));
};
