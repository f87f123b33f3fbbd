// What gates look like on a tape: sigmoids that multiply what is kept and what is taken.
import { makerOf, readersOf } from "./tape_graph.js";

// The record that made a node, if it is one of this op.
export const madeBy = (trace, node, op) => {
  const record = trace.records[makerOf(trace, node)];
  return record?.op === op ? record : null;
};

// A gate is a sigmoid g, that of a linear map, or 1 - g.
const isGate = (trace, node) => {
  if (madeBy(trace, node, "sigmoid") || madeBy(trace, node, "linear")?.attributes.activation === "sigmoid") return true;
  const shifted = madeBy(trace, node, "shift"),
    negated = shifted?.attributes.offset === 1 && madeBy(trace, shifted.inputs[0], "neg");
  return Boolean(negated && madeBy(trace, negated.inputs[0], "sigmoid"));
};

// A product of a gate with something else: {gate, other}.
export const gatedProduct = (trace, node) => {
  const [a, b] = madeBy(trace, node, "mul")?.inputs ?? [];
  if (a === undefined) return null;
  return isGate(trace, a) ? { gate: a, other: b } : isGate(trace, b) ? { gate: b, other: a } : null;
};

// f m + i c. The memory was there before what is new.
export const updateOfTwoProducts = (trace, { inputs }) => {
  const products = inputs.map((node) => gatedProduct(trace, node));
  if (!products.every(Boolean)) return null;
  const [kept, taken] = products.sort((p, q) => makerOf(trace, p.other) - makerOf(trace, q.other));
  return { before: kept.other, candidate: taken.other, input: taken.gate, forget: kept.gate };
};

// m + i (c - m): what is not taken is kept.
export const updateOfDifference = (trace, { inputs }) => {
  for (const [before, node] of [inputs, [...inputs].reverse()]) {
    const product = gatedProduct(trace, node),
      difference = product && madeBy(trace, product.other, "sub");
    if (difference?.inputs[1] === before)
      return { before, candidate: difference.inputs[0], input: product.gate, forget: null };
  }
  return null;
};

// The output gate that reads the sum: {gate, after} of o tanh(sum); null without one.
export const outputGateOf = (trace, sum) => {
  for (const reader of readersOf(trace, sum)) {
    const { op, outputs } = trace.records[reader];
    if (op !== "tanh") continue;
    for (const next of readersOf(trace, outputs[0])) {
      const [after] = trace.records[next].outputs,
        product = gatedProduct(trace, after);
      if (product?.other === outputs[0]) return { gate: product.gate, after };
    }
  }
  return null;
};
