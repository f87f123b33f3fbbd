// Names on the card of a record.
import assert from "node:assert/strict";
import { test } from "node:test";

import { elementName, outputNames } from "../../../models/study/page/record_card.js";

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
