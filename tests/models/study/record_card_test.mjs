// Names on the card of a record.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openTrace } from "../../../models/study/page/trace.js";
import { standIn } from "./page_stand_in.mjs";
standIn();
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
