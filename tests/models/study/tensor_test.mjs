// The arithmetic of arrays under the rules.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as t from "../../../models/study/page/tensor.js";

const list = (x) => Array.from(x.data);
const counted = (shape) => t.ndArray(shape, Array.from({ length: t.sizeOf(shape) }, (_, k) => k + 1));
const check = (x, shape, elements) => {
  assert.deepEqual(x.shape, shape);
  assert.deepEqual(list(x), elements);
};

test("an array knows its elements by position, and refuses a wrong number of them", () => {
  assert.equal(counted([2, 3]).at(1, 0), 4);
  assert.equal(counted([2, 3]).at(-1, -1), 6);
  assert.equal(t.ndArray([], [7]).at(), 7);
  check(t.ndArray([2, 1], [[1], [2]]), [2, 1], [1, 2]);
  assert.throws(() => t.ndArray([2], [1, 2, 3]), /does not hold 3/);
});

test("shapes broadcast from the last axis, and empty ones stay empty", () => {
  assert.deepEqual(t.broadcastShapes([2, 1, 3, 1], [4, 1, 5]), [2, 4, 3, 5]);
  assert.deepEqual(t.broadcastShapes([0, 3], [1, 3]), [0, 3]);
  assert.deepEqual(t.broadcastShapes([], []), []);
  assert.throws(() => t.broadcastShapes([2], [3]), /do not broadcast/);
});

test("elementwise functions take any number of arrays, which broadcast", () => {
  check(t.add(counted([2, 3]), counted([3])), [2, 3], [2, 4, 6, 5, 7, 9]);
  check(t.elementwise((a, b, c) => a + b * c, counted([2]), counted([2]), counted([])), [2], [2, 4]);
  check(t.elementwise((...x) => Math.max(...x), ...[1, 4, 2, 5, 3].map((x) => t.ndArray([], [x]))), [], [5]);
});

test("sumTo is the transpose of broadcastTo", () => {
  check(t.sumTo(counted([2, 3]), [3]), [3], [5, 7, 9]);
  check(t.sumTo(counted([2, 3]), [2, 1]), [2, 1], [6, 15]);
  check(t.sumTo(counted([2, 3]), []), [], [21]);
  check(t.sumTo(counted([0, 3]), [1, 3]), [1, 3], [0, 0, 0]);
  check(t.broadcastTo(counted([2, 1]), [2, 2]), [2, 2], [1, 1, 2, 2]);
});

test("axes are exchanged, cut and joined", () => {
  check(t.transpose(counted([2, 3])), [3, 2], [1, 4, 2, 5, 3, 6]);
  check(t.transpose(counted([2, 1, 3]), [2, 0, 1]), [3, 2, 1], [1, 4, 2, 5, 3, 6]);
  check(t.narrow(counted([2, 3]), -1, 1, 2), [2, 2], [2, 3, 5, 6]);
  check(t.concat([counted([2, 1]), counted([2, 2])], 1), [2, 3], [1, 1, 2, 2, 3, 4]);
  assert.equal(t.transpose(counted([1, 1, 1, 1, 1, 1, 2, 3])).rank, 8);
});

test("reductions keep their axes with length 1, and sums lose nothing", () => {
  check(t.sumAlong(counted([2, 3]), -1), [2, 1], [6, 15]);
  check(t.meanAlong(counted([2, 3])), [1, 1], [3.5]);
  check(t.maxAlong(counted([2, 3]), [0]), [1, 3], [4, 5, 6]);
  check(t.sumAlong(counted([0, 2]), 0), [1, 2], [0, 0]);
  check(t.sumAlong(t.ndArray([3], [1, 1e100, -1e100])), [1], [1]);
  check(t.sumAlong(t.ndArray([2], [Infinity, 1])), [1], [Infinity]);
});

test("matrix products broadcast their leading axes", () => {
  check(t.matmul(counted([2, 2]), counted([2, 1])), [2, 1], [5, 11]);
  check(t.matmul(counted([2, 1, 2]), counted([2, 1])), [2, 1, 1], [5, 11]);
  check(t.matmul(counted([1, 2]), counted([2, 2, 1])), [2, 1, 1], [5, 11]);
  check(t.matmul(counted([2, 0]), counted([0, 1])), [2, 1], [0, 0]);
  const hiding = [t.ndArray([1, 2], [0, 2]), t.ndArray([2, 2], [NaN, Infinity, 3, 0])];
  check(t.matmul(...hiding), [1, 2], [NaN, NaN]);
  check(t.matmul(...hiding, "strong"), [1, 2], [6, 0]);
});
