// Where the cells of arrays stand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { arrayLayout, flatIndex, shownShape } from "../../../models/study/page/array_layout.js";

test("the last two axes are rows and columns, the axis before them stands across, the next one down", () => {
  const layout = arrayLayout([2, 3, 4, 5]);
  assert.equal(layout.columns, 15);
  assert.equal(layout.rows, 8);
  assert.deepEqual(layout.indexAt(0, 0), [0, 0, 0, 0]);
  assert.deepEqual(layout.indexAt(7, 6), [1, 1, 2, 2]);
});

test("numbers and vectors are a row", () => {
  assert.deepEqual(arrayLayout([]).indexAt(0, 0), []);
  assert.equal(arrayLayout([]).columns, 1);
  const vector = arrayLayout([12]);
  assert.deepEqual([vector.columns, vector.rows], [12, 1]);
  assert.deepEqual(vector.indexAt(7, 0), [7]);
});

test("every cell is found where it stands, and nothing between blocks", () => {
  for (const shape of [[], [3], [4, 8], [2, 3, 4], [2, 2, 3, 3], [2, 2, 2, 2, 2]]) {
    const layout = arrayLayout(shape),
      seen = new Set();
    for (let row = 0; row < layout.rows; ++row)
      for (let column = 0; column < layout.columns; ++column) {
        const box = layout.boxOf(column, row);
        assert.deepEqual(layout.cellAt(box.x + box.width / 2, box.y + box.height / 2), { column, row });
        assert.ok(box.x + box.width <= layout.width && box.y + box.height <= layout.height);
        seen.add(flatIndex(shape, layout.indexAt(column, row)));
      }
    assert.equal(
      seen.size,
      shape.reduce((product, size) => product * size, 1),
    );
  }
  const blocks = arrayLayout([2, 2, 3]),
    end = blocks.boxOf(2, 0);
  assert.equal(blocks.cellAt(end.x + end.width + 2, 1), null);
  assert.equal(blocks.cellAt(-1, 1), null);
  assert.equal(blocks.cellAt(1, blocks.height + 1), null);
});

test("long axes are cut, then the outer ones until few enough cells are left", () => {
  assert.deepEqual(shownShape([500, 300], 4096), [64, 64]);
  assert.deepEqual(shownShape([10, 8, 8], 128), [2, 8, 8]);
  assert.deepEqual(shownShape([3, 4], 4096), [3, 4]);
  assert.equal(arrayLayout([3, 4]).cut, false);
  const cut = arrayLayout([100, 3]);
  assert.equal(cut.cut, true);
  assert.equal(flatIndex([100, 3], cut.indexAt(2, 63)), 191);
});

test("few cells have room for their numbers", () => {
  assert.equal(arrayLayout([4, 8]).cell.numbers, true);
  assert.equal(arrayLayout([4, 9]).cell.numbers, false);
});
