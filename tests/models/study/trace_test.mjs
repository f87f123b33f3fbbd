// Opening trace documents.
import assert from "node:assert/strict";
import { test } from "node:test";

import { callOf, isCut, numberOf, openTensor, openTrace } from "../../../models/study/page/trace.js";

const base64 = (typed) => Buffer.from(typed.buffer).toString("base64");

const data = {
  trace: {
    format: "retrace.trace",
    version: 1,
    nodes: [
      { name: "x", dtype: "f32", shape: [2], leaf: true, wants_gradient: true, value: { tensor: "a" }, gradient: null },
      { name: "ids", dtype: "i64", shape: [1], leaf: true, wants_gradient: false, value: { tensor: "b" } },
      { name: "%0", dtype: "f32", shape: [9999], wants_gradient: true, value: { slice: "a", min: 0, nans: 1 } },
    ],
    records: [
      {
        op: "take", scope: -1, inputs: [0, 1], input_names: ["x", "ids"], outputs: [2],
        attributes: { axis: 0, eps: "Infinity", mask: { tensor: "b" }, sizes: [1, "NaN"], mode: "mean" },
        output_gradients: [{ tensor: "a" }], contributions: [null, null],
      },
    ],
  },
  tensors: {
    a: { dtype: "f32", shape: [2], data: base64(Float32Array.of(0.5, NaN)) },
    b: { dtype: "i64", shape: [1], data: base64(BigInt64Array.of(-3n)) },
  },
};

test("tensors are read from bytes and from numbers", () => {
  const y = openTensor({ dtype: "f64", shape: [2], data: base64(Float64Array.of(1.5, -2)) });
  assert.deepEqual(Array.from(y.data), [1.5, -2]);
  const x = openTensor({ dtype: "f32", shape: [3], values: [1, "NaN", "-Infinity"] });
  assert.deepEqual(Array.from(x.data), [1, NaN, -Infinity]);
  assert.equal(x.dtype, "f32");
  assert.equal(numberOf("Infinity"), Infinity);
});

test("a call has its arrays and attributes opened", () => {
  const trace = openTrace(data);
  const call = callOf(trace, 0);
  assert.deepEqual(Array.from(call.inputs[0].data), [0.5, NaN]);
  assert.deepEqual(Array.from(call.inputs[1].data), [-3]);
  assert.equal(call.outputs[0], null, "statistics are no values");
  assert.ok(isCut(trace.nodes[2].value));
  assert.deepEqual(Array.from(trace.slice(trace.nodes[2].value).data), [0.5, NaN]);
  assert.deepEqual(call.wants, [true, false]);
  assert.equal(call.dtype, "f32");
  assert.deepEqual(Array.from(call.attributes.mask.data), [-3]);
  const { axis, eps, sizes, mode } = call.attributes;
  assert.deepEqual({ axis, eps, sizes, mode }, { axis: 0, eps: Infinity, sizes: [1, NaN], mode: "mean" });
  assert.equal(trace.tensor(data.trace.nodes[0].value), call.inputs[0], "opened once");
});

test("what is no trace is refused with a reason", () => {
  assert.throws(() => openTrace({}), /not a trace/);
  assert.throws(() => openTrace(null), /not a trace/);
  assert.throws(() => openTrace({ trace: { format: "retrace.trace", version: 2 } }), /version 1/);
  const trace = openTrace({ trace: data.trace, tensors: {} });
  assert.throws(() => callOf(trace, 0), /that it does not hold/);
});
