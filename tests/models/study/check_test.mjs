// The check of a trace, on documents made by hand: what it accepts, and that it finds each kind of mistake.
import assert from "node:assert/strict";
import { test } from "node:test";

import { checkAll, checkRecord } from "../../../models/study/page/check.js";
import { openTrace } from "../../../models/study/page/trace.js";

// y = x x, z = y + 3 and loss = sum z at x = (1, 2): the gradient of x is the sum of two contributions of one record.
function squares(dtype = "f64") {
  const tensors = {};
  const held = (name, shape, ...values) => {
    tensors[name] = { dtype, shape, values };
    return { tensor: name };
  };
  const node = (name, value, gradient) => ({
    name, dtype, shape: tensors[value.tensor].shape, leaf: name === "x", wants_gradient: true, value, gradient,
  });
  const x = held("x", [2], 1, 2), y = held("y", [2], 1, 4), z = held("z", [2], 4, 7), loss = held("loss", [], 11);
  const one = held("one", [], 1), dz = held("dz", [2], 1, 1), dy = held("dy", [2], 1, 1);
  const first = held("first", [2], 1, 2), second = held("second", [2], 1, 2), dx = held("dx", [2], 2, 4);
  const nodes = [node("x", x, dx), node("%0", y, dy), node("%1", z, dz), node("%2", loss, one)];
  const record = (op, inputs, output, dy_of, contributions, attributes = {}) => ({
    op, attributes, scope: -1, inputs, input_names: inputs.map((_, k) => `x${k}`), outputs: [output], reached: true,
    output_gradients: [dy_of], contributions,
  });
  const records = [
    record("mul", [0, 0], 1, dy, [
      { before: null, contribution: first, after: first },
      { before: first, contribution: second, after: dx },
    ]),
    record("shift", [1], 2, dz, [{ before: null, contribution: dy, after: dy }], { offset: 3 }),
    record("sum", [2], 3, one, [{ before: null, contribution: dz, after: dz }], { axes: [0] }),
  ];
  const trace = { format: "retrace.trace", version: 1, nodes, records, seeds: [{ node: 3, cotangent: one }] };
  return { trace, tensors };
}

const verdicts = (data) => checkAll(openTrace(data)).map((found) => found.verdict);

/** The check of record 0 after a change of the document. */
function checkAfter(change, index = 0, dtype = "f64") {
  const data = squares(dtype);
  change(data);
  return checkRecord(openTrace(data), index);
}

test("a right trace agrees in every record", () => {
  for (const dtype of ["f64", "f32"]) {
    assert.deepEqual(verdicts(squares(dtype)), ["agrees", "agrees", "agrees"]);
    assert.equal(checkRecord(openTrace(squares(dtype)), 0).difference, 0);
  }
});

test("each kind of wrong number turns its record red, and is named", () => {
  const wrong = (name) => ({ tensors }) => (tensors[name].values[1] += 1e-9);
  const replaced = (change) => (data) => {
    data.tensors.other = { dtype: "f64", shape: [2], values: [2, 4 + 1e-9] };
    change(data.trace, { tensor: "other" });
  };
  const contribution = checkAfter(wrong("second"));
  assert.deepEqual([contribution.verdict, contribution.where],
    ["differs", { what: "sum", input: 1, position: 1 }]);
  assert.ok(contribution.difference > 1e-10);
  assert.deepEqual(checkAfter(wrong("dx")).where, { what: "sum", input: 1, position: 1 });
  assert.deepEqual(checkAfter(wrong("dz"), 1).where.what, "contribution");
  assert.deepEqual(checkAfter(replaced((t, other) => (t.records[0].output_gradients[0] = other))).where.what,
    "output gradient");
  assert.deepEqual(checkAfter(replaced((t, other) => (t.records[0].contributions[1].before = other))).where.what,
    "before");
  assert.deepEqual(checkAfter(replaced((t, other) => (t.nodes[0].gradient = other))).where,
    { what: "gradient", input: 0, position: 1 });
  assert.deepEqual(checkAfter(replaced((t) => (t.nodes[3].gradient = null)), 2).where.what, "output gradient");
});

test("a wrong contribution is found where its sum is right", () => {
  const found = checkAfter(({ tensors }) => {
    tensors.second.values = [1, 2.5];
    tensors.dx.values = [2, 4.5];
  });
  assert.deepEqual(found.where, { what: "contribution", input: 1, position: 1 });
  assert.deepEqual(found.inputs[0], { difference: 0, position: -1 });
  assert.equal(found.inputs[1].position, 1);
});

test("a missing contribution, a missing sum and a wrong shape are differences", () => {
  assert.equal(checkAfter(({ trace }) => (trace.records[0].contributions[1] = null)).verdict, "differs");
  assert.equal(checkAfter(({ trace }) => (trace.records[0].contributions[1].after = null)).verdict, "differs");
  assert.equal(checkAfter(({ tensors }) => (tensors.second.shape = [2, 1])).verdict, "differs");
  assert.equal(checkAfter(({ trace }) => (trace.seeds = []), 2).verdict, "differs");
});

test("NaN agrees with NaN alone", () => {
  const nan = ({ tensors }) => {
    tensors.x.values = [1, "NaN"];
    tensors.first.values = tensors.second.values = [1, "NaN"];
    tensors.dx.values = [2, "NaN"];
  };
  assert.equal(checkAfter(nan).where.what, "forward", "y = x x is a number");
  const everywhere = (data) => (nan(data), (data.tensors.y.values[1] = "NaN"));
  assert.equal(checkAfter(everywhere).verdict, "agrees");
  const found = checkAfter(({ tensors }) => (tensors.x.values = [1, "NaN"]));
  assert.deepEqual([found.verdict, found.difference], ["differs", Infinity]);
});

test("f32 is compared by its own rounding", () => {
  const third = Math.fround(1 / 3);
  const rounded = checkAfter(({ tensors }) => {
    tensors.x.values = [third, 2];
    tensors.y.values = [Math.fround(third * third), 4];
    tensors.dy.values = [third, 1];
    tensors.dz.values = [third, 1];
    tensors.first.values = tensors.second.values = [Math.fround(third * third), 2];
    tensors.dx.values = [2 * Math.fround(third * third), 4];
  }, 0, "f32");
  assert.equal(rounded.verdict, "agrees");
  assert.equal(rounded.difference, 0);
});

test("what cannot be checked says why", () => {
  const cut = { slice: "x", min: 1, max: 2, mean: 1.5, norm: 2, nans: 0, infinities: 0 };
  assert.equal(checkAfter(({ trace }) => (trace.nodes[0].value = cut)).verdict, "too large");
  assert.equal(checkAfter(({ trace }) => (trace.records[0].output_gradients[0] = cut)).verdict, "too large");
  assert.equal(checkAfter(({ trace }) => (trace.nodes[0].gradient = cut)).verdict, "too large");
  assert.equal(checkAfter(({ trace }) => (trace.nodes[1].value = null)).verdict, "not kept");
  assert.equal(checkAfter(({ trace }) => (trace.records[0].op = "swish")).verdict, "no rule");
  const found = checkAfter(({ trace, tensors }) => {
    trace.records[0].op = "swish";
    tensors.dx.values = [2, 5];
  });
  assert.equal(found.verdict, "differs", "sums are checked without a rule, too");
});

test("a wrong value is found at the record that computed it, and at one that was not reached", () => {
  const wrong = ({ tensors }) => (tensors.z.values[1] *= 1 + 1e-9);
  const found = checkAfter(wrong, 1);
  assert.deepEqual([found.verdict, found.where], ["differs", { what: "forward", input: 0, position: 1 }]);
  const unreached = checkAfter((data) => {
    wrong(data);
    Object.assign(data.trace.records[1], { reached: false, output_gradients: [null], contributions: [null] });
  }, 1);
  assert.equal(unreached.where.what, "output gradient", "the walk comes first");
  assert.equal(unreached.verdict, "differs");
});

test("a record that the walk did not reach has nothing", () => {
  const data = squares();
  data.trace.nodes.push({ ...data.trace.nodes[2], name: "%3", gradient: null });
  data.trace.records.push({
    ...data.trace.records[1], outputs: [4], reached: false, output_gradients: [null], contributions: [null],
  });
  assert.deepEqual(verdicts(data), ["agrees", "agrees", "agrees", "not reached"]);
  data.trace.records[3].output_gradients = [{ tensor: "dx" }];
  assert.equal(verdicts(data)[3], "differs");
});
