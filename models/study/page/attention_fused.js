// A fused attention, opened: its scores, its weights and the gradients of both, which its one record keeps to itself.
import { NdArray, add, largest, matmul, narrow, reshape, scaleBy, subtract, transpose } from "./tensor.js";

const exchanged = (rank, a, b) => Array.from({ length: rank }, (_, axis) => (axis === a ? b : axis === b ? a : axis));

// [..., rows, heads x columns] as [..., heads, rows, columns].
const splitHeads = (x, heads) => {
  const split = reshape(x, [...x.shape.slice(0, -1), heads, x.shape[x.rank - 1] / heads]);
  return transpose(split, exchanged(split.rank, split.rank - 3, split.rank - 2));
};

// The formula of the record has d in numbers, and tells of heads and of masks.
const readFormula = ({ forward }) => ({
  features: Number(/sqrt\((\d+)\)/.exec(forward)?.[1]),
  hasHeads: forward.includes("for each head"),
  isCausal: forward.includes("+ causal"),
  isMasked: forward.includes("+ mask"),
});

// How many heads a fused record has; 0 where its formula does not say.
export const headsOfFused = (trace, record) => {
  const { features, hasHeads } = readFormula(record);
  const columns = (node) => trace.nodes[node].shape.at(-1);
  if (!hasHeads) return features > 0 ? 1 : 0;
  const ofQueries =
    record.op === "attention" ? columns(record.inputs[0]) : (columns(record.inputs[0]) - columns(record.outputs[0])) / 2;
  return Number.isInteger(ofQueries / features) ? ofQueries / features : 0;
};

// The shape of the weights, with an axis of heads even if there is one head.
export const shapeOfFused = (trace, record, heads) => {
  const y = trace.nodes[record.outputs[0]].shape,
    keys = trace.nodes[record.inputs[record.op === "attention" ? 1 : 0]].shape.at(-2);
  return [...y.slice(0, -2), heads, y.at(-2), keys];
};

const partsByHead = (qkv, heads, features) => {
  const all = splitHeads(qkv, heads),
    values = all.shape[all.rank - 1] - 2 * features;
  return [narrow(all, -1, 0, features), narrow(all, -1, features, features), narrow(all, -1, 2 * features, values)];
};

const partsByKind = (qkv, heads, features) => {
  const size = heads * features,
    rest = qkv.shape[qkv.rank - 1] - 2 * size;
  return [narrow(qkv, -1, 0, size), narrow(qkv, -1, size, size), narrow(qkv, -1, 2 * size, rest)].map((x) =>
    splitHeads(x, heads),
  );
};

const scoresOf = (q, k, features) => scaleBy(1 / Math.sqrt(features), matmul(q, transpose(k)));

// What a causal mask hides: the last query sees every key, and each query one key less than the next one.
const causalHides = (n, [queries, keys]) => (n % keys) - (keys - queries) > Math.floor(n / keys) % queries;

const hiddenWhere = (scores, isHidden) =>
  new NdArray(scores.dtype, scores.shape, scores.data.map((x, n) => (isHidden(n) ? -Infinity : x)));

const softmaxOfRows = (scores) => {
  const columns = scores.shape[scores.rank - 1],
    result = new NdArray(scores.dtype, scores.shape, new Float64Array(scores.size));
  for (let start = 0; start < scores.size; start += columns) {
    const row = scores.data.subarray(start, start + columns),
      top = Math.max(...row);
    const powers = row.map((x) => (x === -Infinity ? 0 : Math.exp(x - top))),
      sum = powers.reduce((total, x) => total + x, 0);
    result.data.set(sum > 0 ? powers.map((x) => x / sum) : powers, start);
  }
  return result;
};

// q, k and v by head. A packed record does not say how these lie in its rows: of the two ways, the one is taken that
// gives its y.
const operandsOf = (record, [first, k, v], y, weightsOf, heads, features) => {
  if (record.op === "attention") return [first, k, v].map((x) => splitHeads(x, heads));
  const ways = [partsByHead, partsByKind].map((way) => {
    const [queries, keys, values] = way(first, heads, features);
    return [narrow(queries, -2, 0, y.shape[y.rank - 2]), keys, values];
  });
  const miss = (parts) => largest(subtract(matmul(weightsOf(parts), parts[2]), y));
  return miss(ways[0]) <= miss(ways[1]) ? ways[0] : ways[1];
};

const openFused = (trace, record) => {
  const valueOf = (node) => trace.tensor(trace.nodes[node].value),
    inputs = record.inputs.map(valueOf),
    flat = valueOf(record.outputs[0]),
    { features, isCausal, isMasked } = readFormula(record),
    heads = headsOfFused(trace, record),
    shape = shapeOfFused(trace, record, heads);
  const stored = record.outputs.length > 1 ? valueOf(record.outputs[1]) : null;
  if (!flat || inputs.some((x) => !x) || (!stored && isMasked)) return {};
  const seenScores = (scores) => {
    const isHidden = isMasked ? (n) => stored.data[n] === 0 : (n) => isCausal && causalHides(n, shape.slice(-2));
    return hiddenWhere(scores, isHidden);
  };
  const weightsOf = ([q, k]) => (stored ? reshape(stored, shape) : softmaxOfRows(seenScores(scoresOf(q, k, features))));
  const [q, k, v] = operandsOf(record, inputs, splitHeads(flat, heads), weightsOf, heads, features);
  const [dy, dStored] = record.output_gradients.map((held) => trace.tensor(held));
  const fromY = dy && matmul(splitHeads(dy, heads), transpose(v)),
    direct = dStored && reshape(dStored, shape);
  return {
    scores: seenScores(scoresOf(q, k, features)),
    weights: weightsOf([q, k]),
    dWeights: fromY && direct ? add(fromY, direct) : (fromY ?? direct ?? null),
    dScores: null,
  };
};

const openedRecords = new WeakMap();

// {scores (without what a mask added, and -infinity where it hides), weights, dWeights}: arrays of shapeOfFused; {} where
// the trace does not hold what they are made of.
export const fusedArrays = (trace, index) => {
  const record = trace.records[index];
  if (!openedRecords.has(record)) openedRecords.set(record, openFused(trace, record));
  return openedRecords.get(record);
};
