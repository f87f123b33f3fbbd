// The rules against central differences of their own forwards. (Traces of the C++ backward are in traces_test.mjs.)
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { ruleOf, rules } from "../../../models/study/page/rules.js";
import { complementaryErrorFunction } from "../../../models/study/page/scalar_functions.js";
import { ndArray, scaleBy } from "../../../models/study/page/tensor.js";
import { integers, normal, positive, testRules } from "./rule_checks.mjs";

const unary = (op, draw = normal, attributes = {}) => [op, [draw(3, 4)], attributes];
const binary = (op, draw = normal) => [
  [op, [draw(3, 4), draw(3, 4)]],
  [op, [draw(2, 1, 3, 1), draw(4, 1, 5)]],
  [op, [draw(3), draw()]],
];
const probabilities = (...shape) => scaleBy(0.45, positive(...shape));
const reductions = (op) => [
  [op, [normal(2, 3, 4)], { axes: [0, 1, 2] }],
  [op, [normal(2, 3, 4)], { axes: [1] }],
  [op, [normal(2, 3, 4)], { axes: [0, 2] }],
  [op, [normal()], { axes: [] }],
];

testRules([
  ...["identity", "to", "neg", "exp", "square", "abs", "sin", "cos", "atan", "erf", "expm1", "sign", "floor", "ceil", "round",
    "sigmoid", "tanh", "relu", "gelu", "gelu_tanh", "selu", "mish", "silu", "softplus", "log_sigmoid"].map((op) => unary(op)),
  ...["log", "log1p", "sqrt", "reciprocal", "lgamma"].map((op) => unary(op, positive)),
  ...["asin", "acos"].map((op) => [op, [ndArray([5], [-0.9, -0.3, 0, 0.2, 0.99])]]),
  ["lgamma", [ndArray([5], [-0.5, -2.7, 0.1, 9.5, 30])]],
  ...[{}, { eps: 0.25 }].map((attributes) => ["logit", [ndArray([5], [0.01, 0.3, 0.5, 0.74, 0.99])], attributes]),
  ["remainder", [ndArray([4], [7.5, -7.5, 7.5, -7.5]), ndArray([4], [2, 2, -2, -2])]],
  unary("scale", normal, { factor: -1.7 }),
  unary("shift", normal, { offset: 2.5 }),
  unary("div", normal, { divisor: -1.7 }),
  unary("div", positive, { dividend: -1.7 }),
  unary("pow", normal, { exponent: 3 }),
  unary("pow", positive, { exponent: -1.5 }),
  unary("clip", normal, { low: -0.5, high: 0.7 }),
  unary("leaky_relu", normal, { slope: 0.1 }),
  unary("elu", normal, { alpha: 0.3 }),
  ["swiglu", [normal(2, 3, 4)]],
  ...["add", "sub", "mul", "maximum", "minimum", "atan2"].flatMap((op) => binary(op)),
  ...["div", "pow", "xlogy"].flatMap((op) => binary(op, positive)),
  ["where", [integers([4], 1, 0, 1, 0), normal(3, 4), normal(3, 1)]],
  ["masked_fill", [normal(3, 4), integers([4], 1, 0, 0, 1)], { value: 7 }],
  ...["sum", "mean", "max", "min", "var", "std", "prod", "logsumexp", "norm"].flatMap((op) => reductions(op)),
  ["prod", [ndArray([2, 3], [0, 2, 3, 0, 0, 4])], { axes: [1] }],
  ["cumsum", [normal(2, 3, 4)], { axis: 1 }],
  ["cumprod", [normal(2, 3, 4)], { axis: 1 }],
  ...[0, 1].map((axis) => ["logcumsumexp", [normal(3, 4)], { axis }]),
  ["logcumsumexp", [ndArray([4], [-800, 700, 701, -1])], { axis: 0 }],
  ...[3, 1.5, -1].map((order) => ["norm", [positive(2, 3, 4)], { axes: [0, 2], order }]),
  ["cumprod", [ndArray([2, 4], [2, 0, 3, 0, 1.5, -2, 0, 1])], { axis: 1 }],
  ["reshape", [normal(2, 6)], { shape: [3, 4] }],
  ["transpose", [normal(2, 3, 4)], { permutation: [2, 0, 1] }],
  ["concat", [normal(2, 1), normal(2, 3), normal(2, 0)], { axis: 1 }],
  ["broadcast_to", [normal(2, 1, 3)], { shape: [2, 2, 4, 3] }],
  ["flip", [normal(3, 4)], { axis: 0 }],
  ["rotary", [normal(2, 3, 8)], { heads: 2, first: 3, base: 100, pairs: "adjacent" }],
  ["rotary", [normal(4, 6)], { heads: 1, first: 0, base: 10000, pairs: "halves" }],
  ["rotary", [normal(2, 3, 4)], { heads: 2, pairs: "halves", c: normal(3, 1), s: normal(3, 1) }],
  ["rotary", [normal(2, 3, 4)], { heads: 1, pairs: "adjacent", c: normal(6, 2), s: normal(6, 2) }],
  ["slice", [normal(4, 5)], { offset: 16, strides: [-10, 0, 1] }, [[2, 1, 4]]],
  ["tril", [normal(2, 3, 4)], { diagonal: 1 }],
  ["triu", [normal(4, 3)], { diagonal: -1 }],
  ["diagonal", [normal(2, 3, 4)], { offset: 1, strides: [12, 5] }, [[2, 3]]],
  ["diag_embed", [normal(2, 2)], { offset: 3, strides: [9, 4] }, [[2, 3, 3]]],
  ["pad", [normal(2, 3)], { before: [1, 0] }, [[4, 6]]],
  ...[
    [[2, 3], [3, 4]], [[3], [3, 4]], [[2, 3], [3]], [[3], [3]], [[2, 1, 4, 3], [5, 3, 2]], [[2, 5, 3], [3, 2]],
    [[4, 3], [2, 3, 5]], [[3], [2, 3, 4]], [[2, 0], [0, 3]],
  ].map(([a, b]) => ["matmul", [normal(...a), normal(...b)], { transpose_a: false, transpose_b: false }]),
  ["matmul", [normal(3, 2), normal(3, 4)], { transpose_a: true, transpose_b: false }],
  ["matmul", [normal(2, 3), normal(4, 3)], { transpose_a: false, transpose_b: true }],
  ["matmul", [normal(5, 3, 2), normal(2, 1, 4, 3)], { transpose_a: true, transpose_b: true }],
  ["matmul", [normal(3, 2), normal(3)], { transpose_a: true, transpose_b: false }],
  ...["none", "relu", "tanh", "sigmoid", "gelu", "gelu_tanh"].flatMap((activation) => [
    ["linear", [normal(2, 3, 4), normal(5, 4), normal(5)], { activation }],
    ["linear", [normal(4), normal(2, 4)], { activation }],
  ]),
  ["outer", [normal(3), normal(4)]],
  ...["softmax", "log_softmax"].flatMap((op) => [
    [op, [normal(2, 3, 4)], { axis: 1 }],
    [op, [ndArray([2, 3], [800, 800.5, 790, 0, -1, 2])], { axis: 1 }],
  ]),
  ...[1, 2].flatMap((axes) => {
    const affine = () => normal(...[3, 4].slice(-axes)), x = () => normal(2, 3, 4), attributes = { axes, eps: 0.1 };
    return [
      ["layer_norm", [x()], attributes, null, ["x"]],
      ["layer_norm", [x(), affine()], attributes, null, ["x", "beta"]],
      ["layer_norm", [x(), affine(), affine()], attributes, null, ["x", "gamma", "beta"]],
      ["residual_layer_norm", [x(), x(), affine()], attributes, null, ["x", "residual", "gamma"]],
    ];
  }),
  ["rms_norm", [normal(2, 3, 4)], { eps: 0.1 }],
  ["rms_norm", [normal(3, 4), normal(4)], { eps: 0 }],
  ["take", [normal(2, 3, 4), integers([5], 2, 0, 2, 1, 0)], { axis: 1 }],
  ["take", [normal(2, 3, 4), integers([], 3)], { axis: 2 }],
  ["embedding", [normal(4, 3), integers([2, 3], 0, 3, 3, 1, 0, 3)]],
  ["gather", [normal(2, 3, 4), integers([2, 5, 4], ...Array.from({ length: 40 }, (_, n) => (n * 7) % 3))], { axis: 1 }],
  ["embedding", [normal(4, 3), integers([2, 3], 0, 3, 3, 0, 0, 3)], { padding_idx: 2 }],
  ["scatter_add", [normal(4, 2), integers([3], 1, 3, 1), normal(3, 2)]],
  ["scatter_add", [normal(2, 4, 3), integers([2], 2, 0), normal(2, 2, 3)], { axis: 1 }],
  ["scatter_add", [normal(2, 3), integers([2, 4], 0, 2, 2, 1, 1, 1, 1, 0), normal(2, 4)], { axis: 1 }],
  ["scatter", [normal(2, 3), integers([2, 4], 0, 2, 2, 0, 1, 1, 1, 0), normal(2, 4)], { axis: 1 }],
  ["scatter", [normal(3, 2), integers([2, 2], 2, 0, 0, 0), normal(2, 2)], { axis: 0 }],
  ["dropout", [normal(2, 3)], { probability: 0.5, mask: ndArray([2, 3], [2, 0, 0, 2, 2, 0]) }],
  ...["mean", "sum", "none"].flatMap((reduction) => [
    ...["cross_entropy", "nll"].flatMap((op) => [
      [op, [normal(2, 3, 4), integers([2, 3], 0, 3, 1, 1, 2, 0)], { reduction }],
      [op, [normal(3, 4), integers([3], 2, -1, 0)], { reduction, ignore_index: -1 }],
      [op, [normal(2, 4), integers([2], 1, 1)], { reduction, ignore_index: 1 }],
    ]),
    ["cross_entropy", [normal(2, 3, 4), normal(2, 3, 4)], { reduction }],
    ["smooth_l1", [normal(2, 3), normal(2, 3)], { reduction, beta: 0.7 }],
    ["kl_divergence", [normal(2, 3), positive(2, 3)], { reduction, log_target: false }],
    ["kl_divergence", [normal(2, 3), normal(2, 3)], { reduction, log_target: true }],
    ["ctc", [
      normal(2, 5, 4), integers([2, 3], 1, 1, 3, 2, 0, 0), integers([2], 5, 4), integers([2], 3, 1),
    ], { reduction, blank: 0, zero_infinity: false }],
    ["ctc", [normal(3, 3), integers([2], 0, 1), integers([], 3), integers([], 2)], { reduction, blank: 2 }],
    ["bce", [probabilities(2, 3), normal(2, 3)], { reduction }],
    ...["mse", "bce_with_logits"].map((op) => [op, [normal(2, 3), normal(2, 3)], { reduction }]),
  ]),
]);

test("ties share the gradient", () => {
  const dy = ndArray([1], [1]), x = ndArray([3], [2, 1, 2]), wants = [true, true];
  const max = ruleOf("max").vjp({
    inputs: [x], outputs: [ndArray([1], [2])], outputGradients: [dy], wants, attributes: { axes: [0] },
  });
  assert.deepEqual(Array.from(max[0].data), [0.5, 0, 0.5]);
  const [a, b] = ruleOf("maximum").vjp({
    inputs: [ndArray([1], [2]), ndArray([1], [2])], outputs: [ndArray([1], [2])], outputGradients: [dy], wants,
    attributes: {},
  });
  assert.deepEqual([a.data[0], b.data[0]], [0.5, 0.5]);
});

test("the error function is exact to rounding, and in its tail relatively", () => {
  // Abramowitz and Stegun, tables 7.1 and 7.3, and Wolfram's digits.
  const known = [[0.5, 0.4795001221869535], [1, 0.15729920705028513], [2, 0.004677734981047266],
    [3, 2.209049699858544e-5], [6, 2.1519736712498913e-17], [-1, 1.842700792949715]];
  for (const [x, y] of known)
    assert.ok(Math.abs(complementaryErrorFunction(x) / y - 1) < 1e-13, `${x}: ${complementaryErrorFunction(x)}`);
});

test("round goes to the even neighbour of a half, and erf of a small number is exact to rounding", () => {
  const forward = (op, ...x) => Array.from(ruleOf(op).forward({ inputs: [ndArray([x.length], x)] })[0].data);
  assert.deepEqual(forward("round", 0.5, 1.5, 2.5, -1.5, 2.4, -2.6), [0, 2, 2, -2, 2, -3]);
  assert.ok(Math.abs(forward("erf", 1e-10)[0] / 1.1283791670955126e-10 - 1) < 1e-14);
});

test("every op that records itself has a rule with a forward", () => {
  const list = readFileSync(new URL("../../../ops/ops.def", import.meta.url), "utf8");
  const ops = Array.from(list.matchAll(/^OP\((\w+)/gm), ([, name]) => name);
  assert.ok(ops.length > 60);
  assert.deepEqual(Object.keys(rules()).sort(), ops.sort());
  for (const op of ops) assert.equal(typeof ruleOf(op).forward, "function", op);
});

test("an op that nobody knows has no rule", () => {
  assert.equal(ruleOf("swish"), null);
  assert.equal(ruleOf("constructor"), null);
  assert.equal(ruleOf("tanh", { custom: true }), null, "a user's op may have any name");
  for (const [name, rule] of Object.entries(rules())) assert.equal(typeof rule.vjp, "function", name);
});
