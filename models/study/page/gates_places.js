// Finds the LSTMs and GRUs of a trace, composed of sigmoids and products or fused, and their steps.
import { gatedProduct, outputGateOf, updateOfDifference, updateOfTwoProducts } from "./gate_patterns.js";
import { oncePer } from "./once.js";
import { makerOf } from "./tape_graph.js";
import { sizeOf } from "./tensor.js";

// What is kept from step to step, by which gate, and the parts in the order in which they are shown.
const kinds = {
  lstm: { state: "c", gate: "f", parts: ["i", "f", "g", "o", "c", "h"] },
  gru: { state: "h", gate: "z", parts: ["r", "z", "n", "h"] },
  gated: { state: "c", gate: "f", parts: ["i", "f", "g", "c"] },
};

// c = f c + i g and, with an output gate, h = o tanh c.
const lstmStepAt = (trace, record) => {
  const found = updateOfTwoProducts(trace, record), [c] = record.outputs;
  if (!found) return null;
  const { before, candidate: g, input: i, forget: f } = found, output = outputGateOf(trace, c);
  const nodes = output ? { i, f, g, o: output.gate, c, h: output.after } : { i, f, g, c };
  return { kind: output ? "lstm" : "gated", before, nodes };
};

// The gate within the making of a new state, a few records back.
const resetGateOf = (trace, node, depth = 4) => {
  const product = gatedProduct(trace, node);
  if (product) return product.gate;
  const inputs = depth > 0 ? trace.records[makerOf(trace, node)]?.inputs ?? [] : [];
  for (const input of inputs) {
    const found = resetGateOf(trace, input, depth - 1);
    if (found !== null) return found;
  }
  return null;
};

// h = n + z (h - n): the state was there before n.
const gruStepAt = (trace, record) => {
  const found = updateOfDifference(trace, record), [h] = record.outputs;
  if (!found || makerOf(trace, found.candidate) >= makerOf(trace, found.before)) return null;
  const n = found.before, r = resetGateOf(trace, n);
  return { kind: "gru", before: found.candidate, nodes: { ...(r !== null && { r }), z: found.input, n, h } };
};

const stepAt = (trace, index) => {
  const record = trace.records[index];
  if (record.op !== "add" || ![1, 2].includes(trace.nodes[record.outputs[0]].shape.length)) return null;
  const step = lstmStepAt(trace, record) ?? gruStepAt(trace, record);
  return step && { ...step, record: index };
};

// Samples that have ended keep their state by a `where`.
const goesOn = (trace, state, before) => {
  const maker = trace.records[makerOf(trace, before)];
  return before === state || (maker?.op === "where" && maker.inputs.includes(state));
};

const composedRecurrences = (trace) => {
  const found = [];
  for (const index of trace.records.keys()) {
    const step = stepAt(trace, index);
    if (!step) continue;
    const isNext = ({ kind, steps }) =>
      kind === step.kind && goesOn(trace, steps.at(-1).nodes[kinds[kind].state], step.before);
    const recurrence = found.find(isNext);
    if (recurrence) recurrence.steps.push(step);
    else found.push({ kind: step.kind, path: trace.records[index].path, fused: null, steps: [step] });
  }
  return found;
};

const fusedRecurrences = (trace) =>
  [...trace.records.keys()]
    .filter((index) => ["lstm_sequence", "gru_sequence"].includes(trace.records[index].op))
    .map((index) => {
      const { op, path, inputs } = trace.records[index], [, time] = trace.nodes[inputs[0]].shape;
      const steps = Array.from({ length: time }, () => ({ record: index, nodes: {} }));
      return { kind: op === "lstm_sequence" ? "lstm" : "gru", path, fused: index, steps };
    });

const findRecurrences = (trace) =>
  [...composedRecurrences(trace), ...fusedRecurrences(trace)].flatMap((one) => {
    const { state, gate, parts } = kinds[one.kind], [first] = one.steps;
    const { shape } = trace.nodes[one.fused === null ? first.nodes[state] : trace.records[one.fused].inputs[1]];
    const units = shape.at(-1), samples = sizeOf(shape.slice(0, -1));
    const shown = one.fused === null ? parts.filter((part) => part in first.nodes) : parts;
    return one.steps.length * units * samples > 0 ? [{ ...one, state, gate, parts: shown, units, samples }] : [];
  });

// The recurrent layers with gates: {kind ("lstm", "gru" or "gated"), path, fused (its record, or null), state (the part that
// is kept: "c" or "h"), gate (that keeps it: "f" or "z"), parts, units, samples, steps: [{record, nodes: {part: node}}]}.
export const recurrencesOf = oncePer(findRecurrences);

const inRange = (count, value, otherwise) =>
  Number.isInteger(value) ? Math.max(0, Math.min(count - 1, value)) : otherwise;

// The step that a place names: {recurrence, index, t (null: none is named), sample}.
export const recurrenceAt = (trace, { recurrence, t, sample }) => {
  const all = recurrencesOf(trace), index = inRange(all.length, recurrence, 0), found = all[index];
  return { recurrence: found, index, t: inRange(found.steps.length, t, null), sample: inRange(found.samples, sample, 0) };
};
