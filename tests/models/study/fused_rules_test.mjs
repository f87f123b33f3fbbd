// The rules of attention, recurrent layers and memory against central differences of their own forwards.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ruleOf } from "../../../models/study/page/rules.js";
import { ndArray } from "../../../models/study/page/tensor.js";
import { integers, normal, outputsOf, testRules } from "./rule_checks.mjs";

const memory = (inputs, biases, coupled) =>
  ["gated_memory", inputs, { coupled }, undefined, `m, c, p, q${biases}`.split(", ")];

testRules([
  ["attention", [normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 6)], { heads: 2, causal: false }],
  ["attention", [normal(3, 2), normal(5, 2), normal(5, 1)], { heads: 1, causal: true }],
  ["attention", [normal(4, 2), normal(2, 2), normal(2, 3)], { heads: 1, causal: true }],  // the first rows see nothing
  ["attention", [normal(2, 2, 2), normal(2, 3, 2), normal(2, 3, 2)],
    { heads: 1, causal: false, mask: ndArray([2, 1, 3], [0, -Infinity, 0.5, 0, 0, -Infinity]) }],
  ["attention", [normal(2, 4), normal(3, 4), normal(3, 2)],
    { heads: 2, causal: true, mask: ndArray([2, 1, 3], [0, 1, -Infinity, 0.5, 0, 0]) }],
  ["packed_attention", [normal(2, 3, 10)], { heads: 2, causal: false, key_size: 2, layout: "by_head", queries: 3 }],
  ["packed_attention", [normal(3, 10)], { heads: 2, causal: true, key_size: 1, layout: "by_kind", queries: 2 }],
  ["lstm_sequence", [normal(2, 3, 8), normal(2, 2), normal(2, 2), normal(8, 2)]],
  ["lstm_sequence", [normal(3, 3, 4), normal(3, 1), normal(3, 1), normal(4, 1)], { lengths: integers([3], 3, 0, 1) }],
  ["gru_sequence", [normal(2, 3, 6), normal(2, 2), normal(6, 2), normal(6)]],
  ["gru_sequence", [normal(3, 3, 3), normal(3, 1), normal(3, 1), normal(3)], { lengths: integers([3], 0, 2, 3) }],
  ["rnn_sequence", [normal(2, 3, 2), normal(2, 2), normal(2, 2)], { activation: "tanh" }],
  ["rnn_sequence", [normal(2, 3, 2), normal(2, 2), normal(2, 2)],
    { activation: "relu", lengths: integers([2], 2, 3) }],
  ["rnn_sequence", [normal(2, 0, 2), normal(2, 2), normal(2, 2)], { activation: "tanh" }],
  memory([normal(2, 3, 2), normal(2, 3, 2), normal(2, 3, 4), normal(2, 4)], "", false),
  memory([normal(2, 3, 2), normal(2, 4, 2), normal(2, 3, 4), normal(2, 4), normal(), normal(1)], ", b_i, b_f", false),
  memory([normal(3, 1), normal(5, 1), normal(3, 2), normal(2), normal()], ", b_f", false),
  memory([normal(2, 3, 2), normal(2, 3, 2), normal(2, 3, 2), normal(2, 2), normal()], ", b_i", true),
  memory([normal(3, 2), normal(3, 2), normal(3, 2), normal(2)], "", true),
]);

test("weights of attention that the tape does not hold are computed again", () => {
  const inputs = [normal(3, 4), normal(5, 4), normal(5, 2)], attributes = { heads: 2, causal: true };
  const rule = ruleOf("attention"), outputs = outputsOf(rule, { inputs, attributes }), dy = normal(3, 2);
  const wants = [true, false, true], call = { inputs, attributes, wants, dtype: "f64" };
  const held = rule.vjp({ ...call, outputs, outputGradients: [dy, null] });
  assert.deepEqual(rule.vjp({ ...call, outputs: outputs.slice(0, 1), outputGradients: [dy] }), held);
  assert.equal(held[1], null, "the keys want none");
});


test("a relu of a recurrent layer is closed where the tape's own h is 0, whatever this arithmetic says", () => {
  const inputs = [ndArray([1, 1, 1], [1e-17]), ndArray([1, 1], [0]), ndArray([1, 1], [1])], h = ndArray([1, 1], [0]);
  const call = { inputs, attributes: { activation: "relu" }, wants: [true, true, true], dtype: "f32" };
  const outputGradients = [ndArray([1, 1, 1], [5]), null];
  const [dp] = ruleOf("rnn_sequence").vjp({ ...call, outputs: [ndArray([1, 1, 1], [0]), h], outputGradients });
  assert.equal(dp.item(), 0);
});
