// Folding a tape by scope.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  foldTape,
  keysAround,
  openAtFirst,
  rowOfRecord,
  rowsInWindow,
  visibleItems,
} from "../../../models/study/page/tape_fold.js";

// encoder { 0, query { 1, 2 }, 3 }, 4, encoder { 5 }
const scopes = [
  { name: "encoder", outer: -1 },
  { name: "query", outer: 0 },
];
const records = [0, 1, 1, 0, -1, 0].map((scope) => ({ scope }));
const root = foldTape(records, scopes);
const all = new Set(["0.0", "1.1", "0.5"]);
const named = (rows) => rows.map(({ item }) => (item.kind === "record" ? item.index : item.key));

test("scopes hold their records in order, and come again where the tape comes back to them", () => {
  assert.deepEqual(named(visibleItems(root, all)), ["0.0", 0, "1.1", 1, 2, 3, 4, "0.5", 5]);
  assert.deepEqual(
    root.children.map(({ first, last, index }) => [first ?? index, last ?? index]),
    [
      [0, 3],
      [4, 4],
      [5, 5],
    ],
  );
  assert.deepEqual(
    visibleItems(root, all).map(({ item }) => item.depth),
    [1, 2, 2, 3, 3, 2, 1, 1, 2],
  );
});

test("what is in a folded scope cannot be seen", () => {
  assert.deepEqual(named(visibleItems(root, new Set(["0.0"]))), ["0.0", 0, "1.1", 3, 4, "0.5"]);
  assert.deepEqual(named(visibleItems(root, new Set())), ["0.0", 4, "0.5"]);
});

test("rows know their place among their neighbours", () => {
  assert.deepEqual(
    visibleItems(root, new Set()).map(({ position, count }) => [position, count]),
    [
      [0, 3],
      [1, 3],
      [2, 3],
    ],
  );
});

test("a record is shown by its row or by the innermost folded scope around it", () => {
  assert.equal(rowOfRecord(visibleItems(root, all), 2), 4);
  assert.equal(rowOfRecord(visibleItems(root, new Set(["0.0"])), 2), 2);
  assert.equal(rowOfRecord(visibleItems(root, new Set()), 2), 0);
  assert.equal(rowOfRecord(visibleItems(root, new Set()), 4), 1);
  assert.deepEqual(keysAround(root, 2), ["0.0", "1.1"]);
  assert.deepEqual(keysAround(root, 4), []);
});

test("a short tape is open at first, a long one folded from the inside", () => {
  assert.deepEqual([...openAtFirst(root)], ["", "0.0", "0.5", "1.1"]);
  assert.deepEqual([...openAtFirst(root, 7)], ["", "0.0", "0.5"]);
  assert.deepEqual([...openAtFirst(root, 3)], [""]);
});

test("a tape of 5,000 records in deep scopes is folded at once", () => {
  const deep = Array.from({ length: 200 }, (_, n) => ({ name: String(n), outer: n - 1 }));
  const many = Array.from({ length: 5000 }, (_, n) => ({ scope: n % 200 }));
  const start = process.cpuUsage();
  assert.ok(visibleItems(foldTape(many, deep), new Set()).length < 5000);
  const { user, system } = process.cpuUsage(start);  // other programs may have the processor
  assert.ok(user + system < 1e6, `${user + system} microseconds`);
});

test("only rows in sight and a few around them are made", () => {
  assert.deepEqual(rowsInWindow(0, 280, 28, 5000), { first: 0, end: 16 });
  assert.deepEqual(rowsInWindow(28000, 280, 28, 5000), { first: 994, end: 1016 });
  assert.deepEqual(rowsInWindow(28 * 4995, 280, 28, 5000), { first: 4989, end: 5000 });
  assert.deepEqual(rowsInWindow(0, 280, 28, 3), { first: 0, end: 3 });
});
