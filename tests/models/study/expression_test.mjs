// What a reader may type, what it gives, and what is said where it cannot be computed.
import assert from "node:assert/strict";
import { test } from "node:test";

import { evaluateExpression, nearestWord } from "../../../models/study/page/expression.js";
import { TextError } from "../../../models/study/page/scanner.js";
import { ndArray } from "../../../models/study/page/tensor.js";

const values = {
  x: ndArray([2, 3], [1, 2, 3, 4, 5, 6]),
  w: ndArray([2, 3], [1, 0, 2, 0, 1, 0]),
  row: ndArray([3], [10, 20, 30]),
  c: ndArray([2, 2], [5, 6, 7, 8]),
  "c'": ndArray([2, 2], [1, 2, 3, 4]),
  d: ndArray([], [2]),
  gamma: ndArray([3], [1, 1, 1]),
};
const gives = (text, shape, elements) => {
  const y = evaluateExpression(text, values);
  assert.deepEqual([y.shape, [...y.data]], [shape, elements], text);
};
const close = (text, shape, elements) => {
  const y = evaluateExpression(text, values);
  assert.deepEqual(y.shape, shape, text);
  elements.forEach((element, k) => assert.ok(Math.abs(y.data[k] - element) < 1e-12, `${text}: ${y.data[k]}`));
};
const refuses = (text, place, message) =>
  assert.throws(() => evaluateExpression(text, values), (error) => {
    assert.ok(error instanceof TextError, `${text}: ${error.stack}`);
    assert.match(error.message, message);
    assert.equal(error.place, place, `${text}: ${error.message}`);
    return true;
  });

test("operators bind and group as in NumPy", () => {
  gives("1 + 2 * 3 - 4 / 2", [], [5]);
  gives("8 / 4 / 2 - 1 - 1", [], [-1]);
  gives("-d^2", [], [-4]);
  gives("2^-1", [], [0.5]);
  gives("2**3**2", [], [512]);
  gives("2 * -d", [], [-4]);
  gives("(1 + d) * 1e1 - .5", [], [29.5]);
  gives("2 * c @ c'", [2, 2], [46, 68, 62, 92]);
  gives("−d", [], [-2]);
});

test("elements broadcast", () => {
  gives("x + row", [2, 3], [11, 22, 33, 14, 25, 36]);
  gives("x * sum(w, 1)", [2, 3], [3, 6, 9, 4, 5, 6]);
  gives("d - x", [2, 3], [1, 0, -1, -2, -3, -4]);
});

test("matrices are multiplied and transposed in every usual notation", () => {
  for (const text of ["x @ w^T", "x @ w.T", "x @ w'", "x@transpose(w)", "matmul(x, w^T)", "x @ w ^ T", "x @ wᵀ"])
    gives(text, [2, 2], [7, 2, 16, 5]);
  gives("x'' - x", [2, 3], [0, 0, 0, 0, 0, 0]);
});

test("a prime belongs to a name that has one", () => {
  gives("c' - c", [2, 2], [-4, -4, -4, -4]);
  gives("c''", [2, 2], [1, 3, 2, 4]);
  gives("c^T", [2, 2], [5, 7, 6, 8]);
});

test("reductions keep their axis, and without one take all elements", () => {
  gives("sum(x, 1)", [2, 1], [6, 15]);
  gives("sum(x, axis=-2)", [1, 3], [5, 7, 9]);
  gives("mean(x)", [], [3.5]);
  gives("mean(x, 0)", [1, 3], [2.5, 3.5, 4.5]);
  gives("max(x, 1)", [2, 1], [3, 6]);
  gives("sum(x, axis=0, keepdims=True)", [1, 3], [5, 7, 9]);
  gives("sum(x, axis=0, keepdims=False)", [3], [5, 7, 9]);
});

test("functions are the usual ones", () => {
  close("exp(d)", [], [Math.E ** 2]);
  close("log(exp(d)) + ln(1)", [], [2]);
  close("sqrt(d) * abs(-1) + square(d)", [], [Math.SQRT2 + 4]);
  close("tanh(d)", [], [Math.tanh(2)]);
  close("sigmoid(0) + sigmoid(d) + sigmoid(-d)", [], [1.5]);
  close("softmax(log(x), 1)", [2, 3], [1 / 6, 2 / 6, 3 / 6, 4 / 15, 5 / 15, 6 / 15]);
  close("softmax(log(x))", [2, 3], [1 / 6, 2 / 6, 3 / 6, 4 / 15, 5 / 15, 6 / 15]);
  close("softmax(log(x), 0)", [2, 3], [1 / 5, 2 / 7, 3 / 9, 4 / 5, 5 / 7, 6 / 9]);
  close("softmax(1000 * x)", [2, 3], [0, 0, 1, 0, 0, 1]);
});

test("intermediates have names, and the last expression counts", () => {
  gives("g = x * d; g - x", [2, 3], [1, 2, 3, 4, 5, 6]);
  gives("h'=d;\n dx = h' + 1;", [], [3]);
  gives("x = d; x", [], [2]);
  assert.deepEqual(values.x.shape, [2, 3]);
});

test("an unknown name or function is told the nearest one", () => {
  refuses("2 * gama", 4, /there is no gama; did you mean gamma\?/);
  refuses("x + sofmax(x)", 4, /there is no function sofmax; did you mean softmax\?/);
  refuses("X0", 0, /did you mean x\?/);
  refuses("q", 0, /there is no q; there is x, w, row, c, c', d, gamma$/);
  refuses("constructor(x)", 0, /no function constructor/);
  refuses("__proto__", 0, /no __proto__/);
  refuses("sum x", 0, /write sum\(\.\.\.\)/);
  assert.equal(nearestWord("transpsoe", ["matmul", "transpose"]), "transpose");
  assert.equal(nearestWord("a", ["b"]), null);
});

test("what is no expression is refused, with the place", () => {
  refuses("x w", 2, /write \* \(by elements\) or @ \(matrices\) before "w"/);
  refuses("2x", 1, /write \*/);
  refuses("x (w)", 1, /write \* or @ between x and \(/);
  refuses("x +", 3, /missing at the end/);
  refuses("", 0, /missing at the end/);
  refuses("x * * w", 4, /missing here/);
  refuses("(x + (w)", 0, /\( is not closed/);
  refuses("x)", 1, /closes nothing/);
  refuses("x $ w", 2, /"\$" cannot stand here/);
  refuses("x == w", 2, /"=" cannot stand here/);
  refuses("exp(x, w)", 0, /exp takes 1 argument, and here are 2/);
  refuses("matmul(x)", 0, /matmul takes 2 arguments, and here are 1/);
  refuses("sum()", 4, /missing here/);
  refuses("(".repeat(100000), 200, /nested too deeply/);
  refuses("-".repeat(100000), 200, /nested too deeply/);
});

test("shapes that do not fit are named, with the rule and the remedy", () => {
  refuses("x * w^T", 2, /\[2, 3\] \* \[3, 2\]: element by element, .*; transposed \(\^T\), the second fits/);
  refuses("x + c", 2, /or one of them is 1$/);
  refuses("x @ w", 2, /the left has 3 columns, so the right needs 3 rows and has 2; transpose/);
  refuses("x @ row", 2, /\[2, 3\] @ \[3\]: a matrix product needs two axes on both sides/);
  refuses("row^T", 3, /exchanges two axes, and this is \[3\]/);
  refuses("sum(x, 2)", 0, /sum of \[2, 3\]: its axis is a number from 0 to 1/);
  refuses("mean(x, 0.5)", 0, /its axis is/);
  refuses("softmax(x, w)", 0, /its axis is/);
  refuses("sum(d, 0)", 0, /a number has no axes/);
});
