// Where numbers that are not finite come from.
import assert from "node:assert/strict";
import { test } from "node:test";

import { firstNotFinite } from "../../../models/study/page/not_finite.js";
import { openTrace } from "../../../models/study/page/trace.js";

// A chain x -> record 0 -> record 1; values and gradients by name.
const traceOf = (tensors, change = {}) => {
  const held = (name) => (tensors[name] ? { tensor: name } : null);
  const node = (name, leaf) => ({ name, leaf, wants_gradient: name !== "mask", value: held(name), shape: [2] });
  const record = (input, output) => ({
    op: "exp",
    attributes: {},
    inputs: [input],
    outputs: [output],
    reached: true,
    output_gradients: [held(`d${output}`)],
    contributions: [{ before: null, contribution: held(`d${input}`), after: held(`d${input}`) }],
  });
  const trace = {
    format: "retrace.trace",
    version: 1,
    nodes: [node(change.leaf ?? "x", true), node("y", false), node("z", false)],
    records: [record(0, 1), record(1, 2)],
  };
  change.edit?.(trace);
  const named = Object.entries(tensors)
    .filter(([, values]) => values)
    .map(([name, values]) => [name, { dtype: "f64", shape: [values.length], values }]);
  return openTrace({ trace, tensors: Object.fromEntries(named) });
};

const fine = { x: [1, 2], y: [1, 2], z: [1, 2], d2: [1, 1], d1: [1, 1], d0: [1, 1] };

test("a trace of finite numbers has nothing to show", () => {
  assert.deepEqual(firstNotFinite(traceOf(fine)), { leaf: null, forward: null, backward: null });
});

test("the first record of the forward and the first of the backward are found, not those that pass it on", () => {
  const trace = traceOf({ ...fine, y: [1, "Infinity"], z: [1, "NaN"], d1: ["NaN", 1], d0: ["NaN", 1] });
  const { leaf, forward, backward } = firstNotFinite(trace);
  assert.equal(leaf, null);
  assert.deepEqual(forward, { record: 0, node: 1, position: 1, value: Infinity });
  assert.deepEqual(backward, { record: 1, node: 1, what: "is sent", position: 0, value: NaN });
});

test("an input may be the cause", () => {
  assert.deepEqual(firstNotFinite(traceOf({ ...fine, x: ["NaN", 1] })).leaf, { node: 0, position: 0, value: NaN });
});

test("-infinity that a mask brings is meant, that a record makes is not", () => {
  const masked = { ...fine, x: undefined, mask: ["-Infinity", 0], y: ["-Infinity", 1] };
  assert.deepEqual(firstNotFinite(traceOf(masked, { leaf: "mask" })), { leaf: null, forward: null, backward: null });
  const made = firstNotFinite(traceOf({ ...fine, y: ["-Infinity", 1] }));
  assert.deepEqual(made.forward, { record: 0, node: 1, position: 0, value: -Infinity });
  const besides = firstNotFinite(traceOf({ ...masked, y: ["-Infinity", "NaN"] }, { leaf: "mask" }));
  assert.equal(besides.forward.record, 0);
  const filled = (trace) => (trace.records[0].attributes = { value: "-Infinity" });
  assert.equal(firstNotFinite(traceOf({ ...fine, y: ["-Infinity", 1] }, { edit: filled })).forward, null);
});

test("statistics of a tensor that was not kept tell of one, too", () => {
  const cut = (trace) => (trace.nodes[1].value = { slice: "y", min: 1, max: 2, nans: 3, infinities: 0 });
  assert.deepEqual(firstNotFinite(traceOf(fine, { edit: cut })).forward, {
    record: 0,
    node: 1,
    position: null,
    value: NaN,
  });
});
