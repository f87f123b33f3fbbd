// Names beside the rows and above the columns of an array.
import assert from "node:assert/strict";
import { test } from "node:test";

import { spansOf, withNames } from "../../../models/study/page/array_axes.js";
import { arrayLayout } from "../../../models/study/page/array_layout.js";
import { element, standIn } from "./page_stand_in.mjs";

standIn();

const cell = { width: 10, height: 20 };
const named = (shape, names, options = { cell }) => {
  const root = withNames(element("canvas"), arrayLayout(shape, options), names);
  const told = (className) =>
    (root.withClass(className)[0]?.children ?? []).map(({ textContent, style }) => [
      textContent,
      style.cssText,
    ]);
  return { rows: told("array-rows"), columns: told("array-columns") };
};

test("rows and columns of a matrix have a name each", () => {
  const { rows, columns } = named([2, 3], { rows: ["a", "b"], columns: ["x", "y", "z"] });
  assert.deepEqual(rows, [
    ["a", "height:20px;margin-top:0px"],
    ["b", "height:20px;margin-top:0px"],
  ]);
  assert.deepEqual(
    columns.map(([name]) => name),
    ["x", "y", "z"],
  );
});

test("blocks have one name, as wide as they are, with the gap before it", () => {
  const { rows, columns } = named([2, 3, 4, 5], { rows: ["a", "b"], columns: ["x", "y", "z"] });
  assert.deepEqual(columns[2], ["z", "width:50px;margin-left:8px"]);
  assert.deepEqual(rows[1], ["b", "height:80px;margin-top:8px"]);
  assert.deepEqual(
    spansOf(2, 6, (at) => ({ start: 10 * at, end: 10 * at + 9 })),
    [
      { start: 0, end: 29 },
      { start: 30, end: 59 },
    ],
  );
});

test("numbers that would overlap are left out, and what a cut array does not show", () => {
  const { columns } = named([1, 4], { columns: ["0", "▲ 1", "2", "3"] });
  assert.deepEqual(
    columns.map(([name]) => name),
    ["0", "▲ 1", "2", ""],
  );
  const names = Array.from({ length: 100 }, (_, n) => String(n));
  assert.equal(named([100, 2], { rows: names }, {}).rows.length, 64);
});

test("cells without names stay as they are", () => {
  const canvas = element("canvas");
  assert.equal(withNames(canvas, arrayLayout([2, 2]), { rows: null, columns: null }), canvas);
});
