// Numbers as text.
import assert from "node:assert/strict";
import { test } from "node:test";

import { exactNumber, formatNumber, shapeText } from "../../../models/study/page/dom.js";

test("four significant digits, without zeros that say nothing", () => {
  assert.equal(formatNumber(0.24918273), "0.2492");
  assert.equal(formatNumber(-1.5), "−1.5");
  assert.equal(formatNumber(0), "0");
  assert.equal(formatNumber(-0), "0");
  assert.equal(formatNumber(4), "4");
  assert.equal(formatNumber(12345.678), "12350");
  assert.equal(formatNumber(0.00012345), "1.234e−4");
  assert.equal(formatNumber(3e-17), "3e−17");
  assert.equal(formatNumber(2.5e20), "2.5e20");
  assert.equal(formatNumber(0.123456, 3), "0.123");
});

test("what is not finite has a name", () => {
  assert.deepEqual(
    [NaN, Infinity, -Infinity].map((x) => formatNumber(x)),
    ["NaN", "∞", "−∞"],
  );
  assert.deepEqual(
    [NaN, Infinity, -Infinity].map((x) => exactNumber(x)),
    ["NaN", "∞", "−∞"],
  );
});

test("exact numbers are the shortest of their dtype", () => {
  assert.equal(exactNumber(0.1), "0.1");
  assert.equal(exactNumber(0.1 + 0.2), "0.30000000000000004");
  assert.equal(exactNumber(Math.fround(0.1), "f32"), "0.1");
  assert.equal(exactNumber(Math.fround(16777217), "f32"), "16777216");
});

test("shapes", () => {
  assert.equal(shapeText([4, 8]), "4 × 8");
  assert.equal(shapeText([]), "one number");
});
