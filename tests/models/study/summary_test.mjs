// The summary of the page's own check.
import assert from "node:assert/strict";
import { test } from "node:test";

import { inSlices, summaryOf, summaryText } from "../../../models/study/page/summary.js";

const agrees = (difference) => ({ verdict: "agrees", difference });

test("what agrees is counted with the largest difference", () => {
  const summary = summaryOf([agrees(0), agrees(3e-17), agrees(1e-17)]);
  assert.equal(summaryText(summary), "3 of 3 vector-Jacobian products agree, largest difference 3e−17");
});

test("what differs is not among them, and what was not checked is told apart", () => {
  const summary = summaryOf([
    agrees(0),
    { verdict: "differs", difference: 0.5 },
    { verdict: "not captured", difference: 0 },
  ]);
  assert.deepEqual([summary.records, summary.checked, summary.differing], [3, 2, 1]);
  assert.equal(summaryText(summary), "1 of 2 vector-Jacobian products agree, largest difference 0.5 (1 not captured)");
});

test("a tape that was not checked says so", () => {
  const summary = summaryOf([{ verdict: "not reached", difference: 0 }]);
  assert.equal(summaryText(summary), "no vector-Jacobian product was checked: 1 not reached");
});

test("work in slices does everything in order and lets others run in between", async () => {
  const done = [];
  const others = setTimeout(() => done.push("other"), 0);
  await inSlices(
    3,
    (n) => {
      for (const end = performance.now() + 3; performance.now() < end;);
      done.push(n);
    },
    2,
  );
  clearTimeout(others);
  assert.deepEqual(
    done.filter((n) => n !== "other"),
    [0, 1, 2],
  );
  assert.ok(done.indexOf("other") >= 0 && done.indexOf("other") < 3);
});

test("an error of the work is told", async () => {
  await assert.rejects(
    inSlices(1, () => {
      throw new Error("broken");
    }),
    /broken/,
  );
});
