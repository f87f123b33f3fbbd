// Finds the attentions of a trace: weights that a softmax makes of products of queries and keys, or that a matmul mixes
// values with, or fused records that do it all; each with its layer and its time step.
import { numbersOf } from "./attention_numbers.js";
import { productOfScores } from "./attention_products.js";
import { oncePer } from "./once.js";
import { makerOf, readersOf } from "./tape_graph.js";
import { sizeOf } from "./tensor.js";

const isAlongLastAxis = ({ forward, attributes }, rank) => {
  const axis = attributes?.axis ?? Number(/along axis (-?\d+)/.exec(forward ?? "")?.[1] ?? -1);
  return axis === -1 || axis === rank - 1;
};

// The matmul that mixes values with these weights; dropout may come between. -1: there is none.
const mixingRecord = (trace, weights) => {
  for (const index of readersOf(trace, weights)) {
    const { op, inputs, outputs } = trace.records[index];
    if (op === "matmul" && inputs[0] === weights) return index;
    if (op === "dropout") {
      const found = mixingRecord(trace, outputs[0]);
      if (found >= 0) return found;
    }
  }
  return -1;
};

// Whether a transpose exchanges the axis of heads with that of rows.
const exchangesHeads = ({ op, attributes }, rank) =>
  op === "transpose" &&
  attributes?.permutation?.[rank - 3] === rank - 2 &&
  attributes.permutation[rank - 2] === rank - 3;

// Heads stand one axis before the rows of their matrices: a transpose has put them there before the product, and one
// puts them next to the features again after the mixing.
const headsOf = (trace, mixing, product) => {
  const node = mixing >= 0 ? trace.records[mixing].outputs[0] : trace.records[product.record].inputs[0],
    { shape } = trace.nodes[node],
    rank = shape.length;
  const around = mixing >= 0 ? readersOf(trace, node) : [makerOf(trace, node)].filter((index) => index >= 0);
  return rank > 2 && around.some((index) => exchangesHeads(trace.records[index], rank)) ? shape[rank - 3] : 1;
};

const composedAttention = (trace, record) => {
  const { op, inputs, outputs } = trace.records[record];
  const { shape } = trace.nodes[outputs[0]];
  if (op !== "softmax" || shape.length < 2 || !isAlongLastAxis(trace.records[record], shape.length)) return null;
  const mixing = mixingRecord(trace, outputs[0]), product = productOfScores(trace, inputs[0]);
  if (mixing < 0 && !product) return null;
  const heads = headsOf(trace, mixing, product);
  return { kind: "composed", record, product, mixing, scores: inputs[0], weights: outputs[0], shape, heads };
};

// The weights' shape has an axis of heads even for one head.
const fusedAttention = (trace, index) => {
  const { op, attributes, inputs, outputs } = trace.records[index];
  if (op !== "attention" && op !== "packed_attention") return null;
  const y = trace.nodes[outputs[0]].shape,
    keys = trace.nodes[inputs[op === "attention" ? 1 : 0]].shape.at(-2);
  const shape = [...y.slice(0, -2), attributes.heads, y.at(-2), keys];
  return { kind: "fused", record: index, shape, heads: attributes.heads };
};

// The attentions of a layer are its time steps: those at the same place of each call of a module. Where a module has
// several, each is a layer.
const withLayers = (trace, attentions) => {
  const layers = new Map(),
    seen = new Map();
  for (const attention of attentions) {
    const { scope, path } = trace.records[attention.record];
    const place = seen.get(scope) ?? 0;
    seen.set(scope, place + 1);
    const key = `${path}#${place}`;
    if (!layers.has(key)) layers.set(key, { index: layers.size, path, place, steps: [] });
    Object.assign(attention, { layer: layers.get(key), step: layers.get(key).steps.length });
    layers.get(key).steps.push(attention);
  }
  const all = [...layers.values()];
  for (const layer of all)
    layer.name = layerName(
      layer,
      all.some(({ path, place }) => path === layer.path && place > 0),
    );
  return all;
};

const layerName = ({ path, place }, isOneOfSeveral) =>
  [path || "attention", isOneOfSeveral && place + 1].filter(Boolean).join(" ");

const findAttentions = (trace) => {
  const found = trace.records
    .map((_, record) => composedAttention(trace, record) ?? fusedAttention(trace, record))
    .filter((attention) => attention && !attention.shape.includes(0));
  const layers = withLayers(trace, found);
  return found.map((attention) => {
    const [queries, keys] = attention.shape.slice(-2);
    const matrices = sizeOf(attention.shape.slice(0, -2));
    return Object.assign(attention, { queries, keys, samples: matrices / attention.heads, layers });
  });
};

// The attentions of a trace in the order of its tape: {kind: "composed" or "fused", record (the softmax, or the fused
// one), scores and weights (nodes of composed ones), product (see productOfScores) and mixing (the record of the matmul with the
// values, or -1) of these, shape (of the weights), heads, samples, queries, keys,
// layer: {index, name, path, steps}, step, layers}.
export const attentionsOf = oncePer(findAttentions);

const within = (value, count) => Math.max(0, Math.min(count - 1, Math.trunc(Number(value)) || 0));

const attentionAtStep = ({ steps }, t) => steps[within(t, steps.length)];

// The score of an attention with the largest gradient: {attention, sample, head, row, key, size}; its size is 0 where
// no gradient arrived.
const strongestScoreOf = oncePer((attention, trace) => {
  let strongest = { attention, sample: 0, head: 0, row: 0, key: 0, size: 0 };
  for (let sample = 0; sample < attention.samples; ++sample)
    for (let head = 0; head < attention.heads; ++head)
      numbersOf(trace, attention, { sample, head }).dScores?.data.forEach((gradient, n) => {
        const size = Math.abs(gradient), row = Math.floor(n / attention.keys), key = n % attention.keys;
        if (size > strongest.size) strongest = { attention, sample, head, row, key, size };
      });
  return strongest;
});

// The same of all attentions of a trace.
export const strongestScore = oncePer((trace) =>
  attentionsOf(trace)
    .map((attention) => strongestScoreOf(attention, trace))
    .reduce((a, b) => (b.size > a.size ? b : a)),
);

// The attention that a place #record=17&head=1&t=3 names: {attention, head, sample, row (null: none is named)}. The
// record says which attention: this one or the last one before it; without a record the layer and the step t do. The
// others are those of the score with the largest gradient.
export const attentionAt = (trace, place) => {
  const all = attentionsOf(trace), layers = all[0].layers;
  const attention = Number.isInteger(place.record)
    ? (all.findLast(({ record }) => record <= place.record) ?? all[0])
    : place.layer === undefined && place.t === undefined
      ? strongestScore(trace).attention
      : attentionAtStep(layers[within(place.layer, layers.length)], place.t);
  const strongest = strongestScoreOf(attention, trace);
  const head = within(place.head ?? strongest.head, attention.heads),
    sample = within(place.sample ?? strongest.sample, attention.samples);
  const isStrongest = head === strongest.head && sample === strongest.sample && strongest.size > 0;
  return {
    attention,
    head,
    sample,
    row: place.row === undefined ? (isStrongest ? strongest.row : null) : within(place.row, attention.queries),
  };
};
