// The list of a tape: what a step changes in it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { tapeList } from "../../../models/study/page/tape_list.js";
import { element, standIn } from "./page_stand_in.mjs";

standIn();

// gate { 0, 1 }, 2, 3, ...
const traceOf = (count) => ({
  scopes: [{ name: "gate", type: "linear", outer: -1 }],
  nodes: [{ name: "%0", shape: [2, 3] }],
  records: Array.from({ length: count }, (_, index) => ({ op: "add", outputs: [0], scope: index < 2 ? 0 : -1 })),
});

const listOf = (count, height) => {
  const context = { trace: traceOf(count), verdicts: [] }, chosen = [];
  const list = tapeList(context, (record) => chosen.push(record));
  Object.assign(list.element, { scrollTop: 0, clientHeight: height });
  const rows = () => list.rows.children;
  return { list, context, rows, texts: () => rows().map(({ textContent }) => textContent) };
};

const selected = (rows) => rows.findIndex(({ attributes }) => attributes["aria-selected"] === "true");

test("a step makes only the rows anew that change", () => {
  const { list, context, rows, texts } = listOf(6, 600);
  list.show(context, 2, 2);
  const before = rows();
  assert.equal(selected(before), 3);
  list.show(context, 3, 3);
  assert.deepEqual(rows().map((row, n) => row === before[n]), [true, true, true, false, false, true, true]);
  assert.equal(selected(rows()), 4);
  assert.match(texts()[4], /^3add2 × 3y/);
  assert.match(texts()[5], /^4add2 × 3·/);
});

test("a scope's row follows what is known of its records, their verdicts, and its folding", () => {
  const { list, context, rows, texts } = listOf(4, 600);
  list.show(context, 0, 0);
  assert.match(texts()[0], /^▾gate linear··…/);
  list.show(context, 1, 1);
  assert.match(texts()[0], /^▾gate lineary·…/);
  context.verdicts.push(...Array.from({ length: 4 }, () => ({ verdict: "agrees" })));
  list.paint();
  assert.deepEqual(texts().map((text) => /agrees$/.test(text)), [true, true, true, true, true]);
  list.toggle(0);
  assert.match(texts()[0], /^▸gate linear2 records/);
  assert.equal(rows().length, 3);
});

test("a record out of sight is scrolled to, and a scroll shows other rows", () => {
  const { list, context, texts } = listOf(300, 280);
  list.openAround(0);
  list.show(context, 200, 200);
  assert.ok(list.element.scrollTop > 5000);
  assert.ok(texts().some((text) => text.startsWith("200add")));
  list.element.scrollTop = 0;
  list.element.fire("scroll");
  assert.match(texts()[0], /^▾gate/);
});
