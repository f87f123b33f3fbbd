// The rules of attention: A = softmax(q k^T / sqrt(d) + mask) and y = A v in each head. All arrays of heads here are
// [..., heads, rows, columns], with an axis of heads even for one head.
import { oncePer } from "./once.js";
import { gradientOfSoftmax, softmaxAlong } from "./rules_rows.js";
import { add, concat, elementwise, largest, matmul, narrow, ndArray, reshape, scaleBy, strongProduct, transpose,
  zeros } from "./tensor.js";

// ---- heads

const exchangeRowsAndHeads = (x) => {
  const axes = x.shape.map((_, k) => k), [rows, heads, columns] = axes.slice(-3);
  return transpose(x, [...axes.slice(0, -3), heads, rows, columns]);
};

/** [..., rows, heads columns] as [..., heads, rows, columns]. */
export const headsApart = (x, heads) =>
  exchangeRowsAndHeads(reshape(x, [...x.shape.slice(0, -1), heads, x.shape.at(-1) / heads]));

/** Back again. */
const headsTogether = (x) => {
  const y = exchangeRowsAndHeads(x), [heads, columns] = y.shape.slice(-2);
  return reshape(y, [...y.shape.slice(0, -2), heads * columns]);
};

/** Parts of these lengths along the last axis. */
const partsAlong = (x, lengths) => {
  let end = 0;
  return lengths.map((length) => narrow(x, -1, (end += length) - length, length));
};

// How q, k and v lie in the columns of qkv.
const packedLayouts = {
  by_head: {
    unpack: (qkv, heads, lengths) => partsAlong(headsApart(qkv, heads), lengths),
    pack: (parts) => headsTogether(concat(parts, -1)),
  },
  by_kind: {
    unpack: (qkv, heads, lengths) =>
      partsAlong(qkv, lengths.map((length) => heads * length)).map((x) => headsApart(x, heads)),
    pack: (parts) => concat(parts.map(headsTogether), -1),
  },
};

/** The operands [q, k, v] in the inputs of a call, or their gradients in those of the inputs; null of what is null. */
export function operandsIn([x, ...others], { heads, key_size: size, layout, queries }) {
  if (layout === undefined) return [x, ...others].map((one) => one && headsApart(one, heads));
  if (!x) return [null, null, null];
  const [q, k, v] = packedLayouts[layout].unpack(x, heads, [size, size, x.shape.at(-1) / heads - 2 * size]);
  return [narrow(q, -2, 0, queries), k, v];
}

const operandsOfCall = ({ inputs, attributes }) => operandsIn(inputs, attributes);

/** The gradients of the inputs from those of the operands. */
function gradientsOfInputs({ attributes: { layout } }, [dq, dk, dv]) {
  if (layout === undefined) return [dq, dk, dv].map((x) => x && headsTogether(x));
  const [rows, columns] = dk.shape.slice(-2), others = rows - dq.shape.at(-2);  // those that ask nothing
  const nothing = zeros([...dq.shape.slice(0, -2), others, columns]);
  return [packedLayouts[layout].pack([concat([dq, nothing], -2), dk, dv])];
}

// ---- weights

/** 1 / sqrt(d); of no features all products are 0. */
export const scaleOfScores = (q) => 1 / Math.sqrt(Math.max(1, q.shape.at(-1)));

/** -infinity where a query must not look: the last query sees every key, the one before it one key less. */
function hidingFuture(queries, keys) {
  const hides = (n) => n % keys > Math.floor(n / keys) + keys - queries;
  return ndArray([queries, keys], Array.from({ length: queries * keys }, (_, n) => (hides(n) ? -Infinity : 0)));
}

const withHeads = (x, heads) =>
  heads > 1 || x.rank < 3 ? x : reshape(x, [...x.shape.slice(0, -2), 1, ...x.shape.slice(-2)]);

/** scores + mask, and -infinity where this is, whatever the score. */
const masked = (scores, mask) => elementwise((s, m) => (m === -Infinity ? m : s + m), scores, mask);

/** The kind of zeros of weights and gradients: strong where a key may be hidden from a query. */
const zerosOf = ({ attributes: { causal, mask, zeros: kind } }, q) =>
  mask || (causal && q.shape.at(-2) > 1) ? "strong" : kind;

/** The scores S = q k^T / sqrt(d), to which the masks are added that the call lists. */
function scoresOfCall({ attributes: { heads, causal, mask } }, q, k) {
  let scores = scaleBy(scaleOfScores(q), matmul(q, transpose(k)));
  if (causal) scores = masked(scores, hidingFuture(...scores.shape.slice(-2)));
  return mask ? masked(scores, withHeads(mask, heads)) : scores;
}

/** dA = dy v^T, and what came to the weights themselves. */
function gradientOfWeights({ outputGradients: [dy, direct], attributes: { heads } }, weights, v, kind) {
  const own = direct ? reshape(direct, weights.shape) : null;
  if (!dy) return own;
  const mixed = matmul(headsApart(dy, heads), transpose(v), kind);
  return own ? add(mixed, own) : mixed;
}

/**
 * An attention, opened: {operands: [q, k, v], scores, weights, dWeights, dScores}, all [..., heads, rows, columns].
 * Weights that the tape holds are taken from there; then the call lists no mask, and scores lacks it. Without gradients
 * of the outputs dWeights and dScores are null.
 */
export const attentionOf = oncePer(openCall);

function openCall(call) {
  const operands = operandsOfCall(call), [q, k, v] = operands, scores = scoresOfCall(call, q, k);
  const [, kept] = call.outputs, weights = kept ? reshape(kept, scores.shape) : softmaxAlong(scores, -1);
  const dWeights = gradientOfWeights(call, weights, v, zerosOf(call, q));
  return { operands, scores, weights, dWeights, dScores: dWeights && gradientOfSoftmax(weights, dWeights, -1) };
}

// ---- rules

// An attention that keeps its weights does not keep the mask, which only made them.
const lacksMask = ({ formula, attributes }) => /\+ mask/.test(formula) && !attributes.mask;

const attentionRule = {
  size(call) {
    const { operands: [q, k], weights, dWeights } = attentionOf(call);
    return largest(elementwise(strongProduct, weights, dWeights)) * scaleOfScores(q) * Math.max(largest(q), largest(k));
  },
  forward(call) {
    const [q, k, v] = operandsOfCall(call), scores = scoresOfCall(call, q, k);
    const weights = lacksMask(call) ? reshape(call.outputs[1], scores.shape) : softmaxAlong(scores, -1);
    const isAxis = (k) => call.attributes.heads > 1 || k !== weights.rank - 3;
    const shape = weights.shape.filter((_, k) => isAxis(k));
    return [headsTogether(matmul(weights, v, zerosOf(call, q))), reshape(weights, shape)];
  },
  vjp(call) {
    const { operands: [q, k, v], weights, dScores } = attentionOf(call);
    const [dy] = call.outputGradients, isPacked = call.inputs.length === 1, kind = zerosOf(call, q);
    const [ofQueries, ofKeys, ofValues] = isPacked ? [true, true, true] : call.wants;
    const dProducts = scaleBy(scaleOfScores(q), dScores);
    const dValues = () => dy && matmul(transpose(weights), headsApart(dy, call.attributes.heads), kind);
    return gradientsOfInputs(call, [
      ofQueries ? matmul(dProducts, k, kind) : null,
      ofKeys ? matmul(transpose(dProducts), q, kind) : null,
      ofValues ? (dValues() ?? (isPacked ? zeros(v.shape) : null)) : null,
    ]);
  },
};

export const attentionRules = { attention: attentionRule, packed_attention: attentionRule };
