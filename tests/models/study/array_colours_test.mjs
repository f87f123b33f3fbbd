// Numbers as colours and signs.
import assert from "node:assert/strict";
import { test } from "node:test";

import { glyphOf, rangeOf, strengthOf } from "../../../models/study/page/array_colours.js";

test("numbers of one sign begin at 0, others are as wide to both sides", () => {
  assert.deepEqual(rangeOf([0.2, 0.5]), { low: 0, high: 0.5, kind: "positive" });
  assert.deepEqual(rangeOf([-0.2, 0]), { low: -0.2, high: 0, kind: "negative" });
  assert.deepEqual(rangeOf([-3, 1]), { low: -3, high: 3, kind: "diverging" });
  assert.deepEqual(rangeOf([0, 0]), { low: 0, high: 1, kind: "positive" });
});

test("arrays side by side share a range, and what is not finite has none", () => {
  assert.deepEqual(rangeOf([1, NaN], [4, Infinity], [-2, -Infinity]), { low: -4, high: 4, kind: "diverging" });
});

test("what colours cannot say is a sign", () => {
  const range = { low: -1, high: 1 };
  assert.equal(glyphOf(NaN, range), "X");
  assert.equal(glyphOf(Infinity, range), "∞");
  assert.equal(glyphOf(-Infinity, range), "−∞");
  assert.equal(glyphOf(1.5, range), "+");
  assert.equal(glyphOf(-1.5, range), "-");
  assert.equal(glyphOf(1, range), "");
  assert.equal(glyphOf(NaN, range, true), "·");
});

test("the colour of 0 is the middle of the map, and the ends are full", () => {
  const range = rangeOf([-2, 1]);
  assert.equal(strengthOf(0, range), 0);
  assert.equal(strengthOf(-2, range), -1);
  assert.equal(strengthOf(1, range), 0.5);
  assert.equal(strengthOf(7, range), 1);
});
