// Names on the card of a record.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openTrace } from "../../../models/study/page/trace.js";
import { standIn } from "./page_stand_in.mjs";
import { studyOf } from "./study_traces.mjs";
standIn();
const { namesInCard } = await import("../../../models/study/page/card_names.js");
const { elementName, outputNames, recordCard } = await import("../../../models/study/page/record_card.js");

test("outputs have the names of the formula's last equations", () => {
  assert.deepEqual(outputNames("y = softmax x", 1), ["y"]);
  assert.deepEqual(outputNames("q = h U^T + b, z = sigmoid(p_z + q_z), h' = n + z (h - n)", 1), ["h'"]);
  assert.deepEqual(outputNames("c' = f c + i g, h' = o tanh c'", 2), ["c'", "h'"]);
  assert.deepEqual(outputNames("y = 0, y[inside] = x", 1), ["y"]);
  assert.deepEqual(outputNames("", 2), ["output 0", "output 1"]);
});

test("elements have the index that the array has", () => {
  assert.equal(elementName({ name: "w", shape: [2, 3] }, 4), "w[1, 1]");
  assert.equal(elementName({ name: "loss", shape: [] }, 0), "loss");
});

test("rows have their names beside their numbers", () => {
  const values = { dtype: "f64", shape: [2, 3], values: [1, 2, 3, 4, 5, 6] };
  const node = { name: "x", dtype: "f64", shape: [2, 3], value: { tensor: "x" }, gradient: null, leaf: true };
  const record = {
    op: "exp", path: "", forward: "y = e^x", backward: "dx = dy y", attributes: {}, inputs: [0], input_names: ["x"],
    outputs: [1], reached: false, output_gradients: [null], contributions: [null],
  };
  const document = {
    format: "retrace.trace", version: 1, records: [record],
    nodes: [{ ...node, row_names: ["1: Mary", "2: John"] }, { ...node, name: "y", leaf: false }],
  };
  const card = recordCard({ trace: openTrace({ trace: document, tensors: { x: values } }), verdicts: [], place: {} }, 0, true);
  const names = card.withClass("array-rows").map((rows) => rows.children.map(({ textContent }) => textContent));
  assert.deepEqual(names, [["1: Mary", "2: John"]]);
});

const cardOf = (trace, op, place = 0) => {
  const index = [...trace.records.keys()].filter((n) => trace.records[n].op === op)[place];
  return recordCard({ trace, verdicts: [], place: {} }, index, true);
};

test("formulas have the names of the trace, and the letters of the op in small print", () => {
  const card = cardOf(studyOf("multi-head-attention"), "softmax"), [forward, backward] = card.withClass("formula");
  assert.match(forward.textContent, /^weights.*scores.*in the letters of the op: y=/);
  assert.match(backward.textContent, /^dscores.*=weights\(dweights.*−∑dweightsweights\).*in the letters of the op: dx=y\(dy−/);
  const names = card.withClass("array-name").map(({ textContent }) => textContent);
  assert.deepEqual(names, ["scores (x)", "weights (y)", "d weights (dy) arrives", "this = after"]);
  assert.match(card.withClass("sum-title")[0].textContent, /^d scores \(dx\), to the gradient of scores: nothing had arrived before/);
});

test("a tensor that is another one in another order has its name", () => {
  const card = cardOf(studyOf("multi-head-attention"), "matmul", 3);
  assert.match(card.withClass("formula")[0].textContent, /^%9.*=q.*k.*⊤/);
  assert.deepEqual(card.withClass("array-name").slice(0, 3).map(({ textContent }) => textContent), ["q = %4 (a)", "k = %6 (b)", "%9 (y)"]);
});

test("names of one card differ, and letters stay where names are long", () => {
  const trace = studyOf("multi-head-attention"), reshape = trace.records.find(({ op }) => op === "reshape");
  assert.deepEqual(namesInCard(trace, reshape, { inputs: ["x"], outputs: ["y"] }), { x: "q", y: "%3" });
  trace.nodes[reshape.inputs[0]].name = "n".repeat(400);
  assert.deepEqual(namesInCard(trace, reshape, { inputs: ["x"], outputs: ["y"] }), { y: "%3" });
});

test("a letter of an op does not stand for a tensor of another name", () => {
  const trace = studyOf("--expr", "y = tanh(x * x); y * x", "--input", "x=2x2"), card = cardOf(trace, "tanh");
  assert.match(card.withClass("formula")[0].textContent, /^y.*=tanh.*%0/);
});
