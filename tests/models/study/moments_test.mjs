// The moments of a forward and a backward pass.
import assert from "node:assert/strict";
import { test } from "node:test";

import { knownAt, momentOf, momentText, momentsOf, placeOfMoment, recordAt } from "../../../models/study/page/moments.js";

const traceOf = (...reached) => ({ records: reached.map((one) => ({ reached: one })), seeds: [{ node: 0 }] });
const three = traceOf(true, true, true), gap = traceOf(true, false, true, false);
const text = (trace, moment) => momentText(trace, placeOfMoment(trace, moment));

test("forward in the order of the tape, then the seed, then back", () => {
  const { all } = momentsOf(three);
  assert.deepEqual(all.map(({ record }) => record), [0, 1, 2, null, 2, 1, 0]);
  assert.deepEqual(all.map(({ phase }) => phase), ["forward", "forward", "forward", "seed", null, null, null]);
  all.forEach((_, moment) => assert.equal(momentOf(three, placeOfMoment(three, moment)), moment));
});

test("a place that names no record is where the backward begins, and records are those of the tape", () => {
  assert.equal(momentOf(three, {}), 4);
  assert.equal(momentOf(three, { record: 99 }), 4);
  assert.equal(momentOf(three, { record: -5, phase: "forward" }), 0);
  assert.equal(momentOf(three, { record: "x" }), 4);
  assert.equal(momentOf(three, { phase: "seed" }), 3);
  assert.deepEqual(placeOfMoment(three, -1), { record: 0, phase: "forward" });
  assert.deepEqual(placeOfMoment(three, 99), { record: 0, phase: null });
});

test("the backward opens at the last record that it reached, and skips those that it did not", () => {
  assert.equal(recordAt(gap, {}), 2);
  assert.deepEqual(momentsOf(gap).all.slice(4).map(({ record }) => record), [null, 2, 0]);
  assert.deepEqual([text(gap, 5), text(gap, 6)], ["backward, step 1 of 2: record 2", "backward, step 2 of 2: record 0"]);
  assert.equal(momentText(gap, { record: 3 }), "record 3: the backward pass does not come here");
  assert.equal(momentOf(gap, { record: 1 }), 5, "where the walk passes it by");
  assert.equal(knownAt(gap, 6, 1).gradient, false);
});

test("a tape that nobody has walked back has only its forward", () => {
  const still = { ...traceOf(false, false), seeds: [] };
  assert.deepEqual(momentsOf(still).all.map(({ phase }) => phase), ["forward", "forward"]);
  assert.equal(recordAt(still, {}), 1);
});

test("values are known from their record on, gradients from its turn in the backward", () => {
  assert.deepEqual(knownAt(three, 1, 1), { value: true, gradient: false });
  assert.deepEqual(knownAt(three, 1, 2), { value: false, gradient: false });
  assert.deepEqual(knownAt(three, 5, 1), { value: true, gradient: true });
  assert.deepEqual(knownAt(three, 5, 0), { value: true, gradient: false });
  assert.deepEqual(knownAt(three, 5, 0, 2), { value: true, gradient: false });
});

test("moments in words", () => {
  assert.equal(text(three, 1), "forward, step 2 of 3: record 1");
  assert.match(text(three, 3), /^backward, the seed/);
  assert.equal(text(three, 4), "backward, step 1 of 3: record 2");
});
