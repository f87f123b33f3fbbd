// Reading an array by keys.
import assert from "node:assert/strict";
import { test } from "node:test";

import { rangeBetween } from "../../../models/study/page/array_colours.js";
import { cellAfterKey, readingOf } from "../../../models/study/page/array_view.js";

test("arrow keys move by a cell and stop at the edges", () => {
  const layout = { columns: 3, rows: 2 },
    start = { column: 0, row: 0 };
  assert.deepEqual(cellAfterKey("ArrowRight", start, layout), { column: 1, row: 0 });
  assert.deepEqual(cellAfterKey("ArrowDown", start, layout), { column: 0, row: 1 });
  assert.deepEqual(cellAfterKey("ArrowLeft", start, layout), start);
  assert.deepEqual(cellAfterKey("ArrowUp", start, layout), start);
  assert.deepEqual(cellAfterKey("ArrowDown", { column: 0, row: 1 }, layout), { column: 0, row: 1 });
  assert.deepEqual(cellAfterKey("End", start, layout), { column: 2, row: 0 });
  assert.equal(cellAfterKey("j", start, layout), null);
});

test("a reading has the index, the exact number and what the sign says", () => {
  const array = { shape: [2, 2], data: [0.1, 7, NaN, -7], dtype: "f64" },
    range = rangeBetween(-1, 1);
  assert.equal(readingOf(array, [0, 0], range, false), "[0, 0] = 0.1");
  assert.equal(readingOf(array, [0, 1], range, false), "[0, 1] = 7 (beyond the colours)");
  assert.equal(readingOf(array, [1, 0], range, false), "[1, 0] = NaN");
  assert.equal(readingOf(array, [1, 1], range, true), "[1, 1] = −7 (masked)");
  assert.equal(readingOf({ shape: [], data: [2.5], dtype: "f32" }, [], range, false), "= 2.5 (beyond the colours)");
});
