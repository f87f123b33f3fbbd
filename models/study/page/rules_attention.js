// The rules of attention: A = softmax(q k^T / sqrt(d) + mask) and y = A v in each head. All arrays of heads here are
// [..., heads, rows, columns], with an axis of heads even for one head.
import { oncePer } from "./once.js";
import { gradientOfSoftmax, softmaxAlong } from "./rules_rows.js";
import { add, broadcastTo, concat, elementwise, largest, matmul, narrow, ndArray, reshape, scaleBy, strongProduct,
  sumTo, transpose, zeros } from "./tensor.js";

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

// The shape of x [..., heads, rows, columns] with other axes in the place of the heads.
const withHeadAxes = (x, ...axes) => [...x.shape.slice(0, -3), ...axes, ...x.shape.slice(-2)];

/** The heads of k or v, each for all heads of queries that share it. */
const sharedHeads = (x, { heads, key_heads: own = heads }) => {
  const apart = headsApart(x, own), repeated = withHeadAxes(apart, own, heads / own);
  if (own === heads) return apart;
  return reshape(broadcastTo(reshape(apart, withHeadAxes(apart, own, 1)), repeated), withHeadAxes(apart, heads));
};

/** The gradient of k or v: that of each head, summed over the heads of queries that share it. */
const sumOfSharers = (x, { heads, key_heads: own = heads }) =>
  reshape(sumTo(reshape(x, withHeadAxes(x, own, heads / own)), withHeadAxes(x, own, 1)), withHeadAxes(x, own));

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
export function operandsIn([x, k, v], attributes) {
  const { heads, key_size: size, layout, queries } = attributes;
  if (layout === undefined)
    return [x && headsApart(x, heads), ...[k, v].map((one) => one && sharedHeads(one, attributes))];
  if (!x) return [null, null, null];
  const [q, keys, values] = packedLayouts[layout].unpack(x, heads, [size, size, x.shape.at(-1) / heads - 2 * size]);
  return [narrow(q, -2, 0, queries), keys, values];
}

const operandsOfCall = ({ inputs, attributes }) => operandsIn(inputs, attributes);

/** The gradients of the inputs from those of the operands. */
function gradientsOfInputs({ attributes }, [dq, dk, dv]) {
  const { layout } = attributes;
  if (layout === undefined)
    return [dq && headsTogether(dq), ...[dk, dv].map((x) => x && headsTogether(sumOfSharers(x, attributes)))];
  const [rows, columns] = dk.shape.slice(-2), others = rows - dq.shape.at(-2);  // those that ask nothing
  const nothing = zeros([...dq.shape.slice(0, -2), others, columns]);
  return [packedLayouts[layout].pack([concat([dq, nothing], -2), dk, dv])];
}

// ---- weights

/** The factor of q k^T: 1 / sqrt(d) unless the call has its own. Of no features all products are 0. */
export const scaleOfScores = (q, { scale }) => scale ?? 1 / Math.sqrt(Math.max(1, q.shape.at(-1)));

/** The mask that is an input of the call, since it wants a gradient, or the one that the call lists. */
const maskOf = ({ inputs, attributes: { layout, mask } }) => inputs[layout === undefined ? 3 : 1] ?? mask;

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
const zerosOf = (call, q) =>
  maskOf(call) || (call.attributes.causal && q.shape.at(-2) > 1) ? "strong" : call.attributes.zeros;

/** The scores S = q k^T / sqrt(d), to which the masks are added that the call has. */
function scoresOfCall(call, q, k) {
  const { heads, causal } = call.attributes, mask = maskOf(call);
  let scores = scaleBy(scaleOfScores(q, call.attributes), matmul(q, transpose(k)));
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
const lacksMask = (call) => /\+ mask/.test(call.formula) && !maskOf(call);

/** dmask = dS, summed over what the mask was repeated for. */
const gradientOfMask = ({ inputs, attributes: { heads } }, dScores) => {
  const mask = inputs.at(-1);
  return reshape(sumTo(dScores, withHeads(mask, heads).shape), mask.shape);
};

const attentionRule = {
  size(call) {
    const { operands: [q, k], weights, dWeights } = attentionOf(call);
    const factors = Math.abs(scaleOfScores(q, call.attributes)) * Math.max(largest(q), largest(k));
    return largest(elementwise(strongProduct, weights, dWeights)) * Math.max(factors, maskOf(call) ? 1 : 0);
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
    const [dy] = call.outputGradients, isPacked = call.attributes.layout !== undefined, kind = zerosOf(call, q);
    const [ofQueries, ofKeys, ofValues] = isPacked ? [true, true, true] : call.wants;
    const dProducts = scaleBy(scaleOfScores(q, call.attributes), dScores);
    const dValues = () => dy && matmul(transpose(weights), headsApart(dy, call.attributes.heads), kind);
    const ofOperands = gradientsOfInputs(call, [
      ofQueries ? matmul(dProducts, k, kind) : null,
      ofKeys ? matmul(transpose(dProducts), q, kind) : null,
      ofValues ? (dValues() ?? (isPacked ? zeros(v.shape) : null)) : null,
    ]);
    return call.inputs.length > ofOperands.length ? [...ofOperands, gradientOfMask(call, dScores)] : ofOperands;
  },
};

export const attentionRules = { attention: attentionRule, packed_attention: attentionRule };
