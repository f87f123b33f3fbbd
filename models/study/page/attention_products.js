// The product of queries and keys that the scores of an attention come from.
import { makerOf } from "./tape_graph.js";
import { sizeOf } from "./tensor.js";
import { numberOf } from "./trace.js";

const isShapedLike = (a, b) => a.length === b.length && a.every((size, axis) => size === b[axis]);

// A constant of one element, by which scores may be divided or multiplied; null for anything else.
const constantIn = (trace, node) => {
  if (node === undefined || sizeOf(trace.nodes[node].shape) !== 1) return null;
  return trace.tensor(trace.nodes[node].value)?.data[0] ?? null;
};

const orNull = (x, change) => (x === null || x === undefined ? null : change(numberOf(x)));

// [{from: an input of a record, factor: how many times this input its output is, whatever it adds or hides}]
const keptBy = {
  scale: (trace, { inputs: [x], attributes }) => [{ from: x, factor: numberOf(attributes.factor) }],
  mul: (trace, { inputs: [a, b] }) => [
    { from: a, factor: constantIn(trace, b) },
    { from: b, factor: constantIn(trace, a) },
  ],
  div: (trace, { inputs: [a, b], attributes }) => [
    { from: a, factor: orNull(attributes?.divisor ?? constantIn(trace, b), (divisor) => 1 / divisor) },
  ],
  add: (trace, { inputs }) => inputs.map((from) => ({ from, factor: 1 })),
  sub: (trace, { inputs: [a] }) => [{ from: a, factor: 1 }],
  shift: (trace, { inputs: [x] }) => [{ from: x, factor: 1 }],
  masked_fill: (trace, { inputs: [x] }) => [{ from: x, factor: 1 }],
};

// The keys themselves, where a product reads them transposed: {node, isTransposed: whether an op has done it}.
const keysOf = (trace, { attributes, inputs }) => {
  const [, node] = inputs, rank = trace.nodes[node].shape.length;
  if (attributes?.transpose_b) return { node, isTransposed: false };
  const maker = trace.records[makerOf(trace, node)];
  const permutation = maker?.op === "transpose" ? maker.attributes?.permutation : null;
  const exchangesTheLast = permutation?.at(-1) === rank - 2 && permutation.at(-2) === rank - 1;
  return exchangesTheLast ? { node: maker.inputs[0], isTransposed: true } : null;
};

// {record (a matmul), factor, isTransposed}: scores = factor q k^T, and perhaps a mask; null where they have another
// origin. Weights of a layer are no keys.
export const productOfScores = (trace, scores) => {
  const { shape } = trace.nodes[scores], open = [{ node: scores, factor: 1 }], seen = new Set();
  while (open.length > 0) {
    const { node, factor } = open.pop(), index = makerOf(trace, node), record = trace.records[index];
    if (!record || seen.has(node) || !isShapedLike(trace.nodes[node].shape, shape)) continue;
    seen.add(node);
    const keys = record.op === "matmul" && !record.attributes?.transpose_a ? keysOf(trace, record) : null;
    if (keys && !trace.nodes[keys.node].parameter) return { record: index, factor, isTransposed: keys.isTransposed };
    const kept = keptBy[record.op]?.(trace, record) ?? [];
    for (const { from, factor: own } of kept.reverse()) if (own !== null) open.push({ node: from, factor: factor * own });
  }
  return null;
};
