// The moments of a forward and a backward pass.
import assert from "node:assert/strict";
import { test } from "node:test";

import { knownAt, momentOf, momentText, placeOfMoment } from "../../../models/study/page/moments.js";

test("forward in the order of the tape, then back", () => {
  const places = Array.from({ length: 6 }, (_, moment) => placeOfMoment(moment, 3));
  assert.deepEqual(
    places.map(({ record }) => record),
    [0, 1, 2, 2, 1, 0],
  );
  assert.deepEqual(
    places.map(({ phase }) => phase),
    ["forward", "forward", "forward", null, null, null],
  );
  places.forEach((place, moment) => assert.equal(momentOf(place, 3), moment));
});

test("a place that names no record is where the backward begins, and records are those of the tape", () => {
  assert.equal(momentOf({}, 3), 3);
  assert.equal(momentOf({ record: 99 }, 3), 3);
  assert.equal(momentOf({ record: -5, phase: "forward" }, 3), 0);
  assert.equal(momentOf({ record: "x" }, 3), 3);
  assert.deepEqual(placeOfMoment(-1, 3), { record: 0, phase: "forward" });
  assert.deepEqual(placeOfMoment(6, 3), { record: 0, phase: null });
});

test("values are known from their record on, gradients from its turn in the backward", () => {
  assert.deepEqual(knownAt(1, 1, 3), { value: true, gradient: false });
  assert.deepEqual(knownAt(1, 2, 3), { value: false, gradient: false });
  assert.deepEqual(knownAt(4, 1, 3), { value: true, gradient: true });
  assert.deepEqual(knownAt(4, 0, 3), { value: true, gradient: false });
});

test("moments in words", () => {
  assert.equal(momentText(1, 3), "forward, step 2 of 3: record 1");
  assert.equal(momentText(3, 3), "backward, step 1 of 3: record 2");
});
