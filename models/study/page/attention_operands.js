// What goes into an attention and comes out of it, head by head: queries, keys, values, results, and their gradients.
import { productOfScores } from "./attention_products.js";
import { oncePer } from "./once.js";
import { headsApart, operandsIn, scaleOfScores } from "./rules_attention.js";
import { NdArray, sizeOf, transpose } from "./tensor.js";
import { callOf } from "./trace.js";

// An input of a matmul and the gradient that this record sent to it, without what other records sent.
const sides = (trace, index, n) => {
  const { inputs, contributions } = trace.records[index];
  return [trace.tensor(trace.nodes[inputs[n]].value), trace.tensor(contributions[n]?.contribution)];
};

const upright = (array, isTransposed) => (array && isTransposed ? transpose(array) : array);

const composedOperands = (trace, { product, mixing }) => {
  const found = {};
  if (product) {
    [found.q, found.dq] = sides(trace, product.record, 0);
    [found.k, found.dk] = sides(trace, product.record, 1).map((array) =>
      upright(array, product.isTransposed));
  }
  if (mixing >= 0) {
    const { outputs, output_gradients: arrived } = trace.records[mixing];
    [found.v, found.dv] = sides(trace, mixing, 1);
    Object.assign(found, { y: trace.tensor(trace.nodes[outputs[0]].value), dy: trace.tensor(arrived[0]) });
  }
  return found;
};

const fusedOperands = (trace, { record, heads }) => {
  const call = callOf(trace, record), { contributions } = trace.records[record];
  const sent = contributions.map((one) => trace.tensor(one?.contribution));
  const [q, k, v] = operandsIn(call.inputs, call.attributes), [dq, dk, dv] = operandsIn(sent, call.attributes);
  const [y, dy] = [call.outputs[0], call.outputGradients[0]].map((array) => array && headsApart(array, heads));
  return { q, k, v, y, dq, dk, dv, dy, factor: q && scaleOfScores(q, call.attributes) };
};

const operandsOfHeads = oncePer((attention, trace) =>
  attention.kind === "fused" ? fusedOperands(trace, attention) : composedOperands(trace, attention));

// Keys may be the same for all samples or heads: then there is one matrix of them.
const matrixAt = (array, matrices, at) => {
  if (!array || array.rank < 2) return null;
  const count = sizeOf(array.shape.slice(0, -2)), shape = array.shape.slice(-2), size = sizeOf(shape);
  if (count !== matrices && count !== 1) return null;
  const start = count === 1 ? 0 : at * size;
  return new NdArray(array.dtype, shape, array.data.slice(start, start + size));
};

// {q, k, v, y, dq, dk, dv, dy: matrices of one head, or null where there is none or it is not held; factor: by which
// the products of queries and keys are multiplied, or null}.
export const operandsOf = (trace, attention, { sample, head }) => {
  const found = operandsOfHeads(attention, trace), { heads, samples } = attention;
  const names = ["q", "k", "v", "y", "dq", "dk", "dv", "dy"];
  const matrices = names.map((name) => [name, matrixAt(found[name], samples * heads, sample * heads + head)]);
  const factor = attention.kind === "fused" ? found.factor : attention.product?.factor;
  return { ...Object.fromEntries(matrices), factor: factor ?? null };
};

