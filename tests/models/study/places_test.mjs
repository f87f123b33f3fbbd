// Places as fragments.
import assert from "node:assert/strict";
import { test } from "node:test";

import { movedPlace, parsePlace, placeText } from "../../../models/study/page/places.js";

test("a fragment names a place, with numbers as numbers", () => {
  assert.deepEqual(parsePlace("#view=attention&record=17&head=1&t=3"), {
    view: "attention",
    record: 17,
    head: 1,
    t: 3,
  });
  assert.deepEqual(parsePlace(""), {});
  assert.deepEqual(parsePlace("#scope=encoder%2Fmha&x=1.5e"), { scope: "encoder/mha", x: "1.5e" });
});

test("what a place says comes back", () => {
  const place = { view: "tape", record: 0, scope: "a&b=c/ü" };
  assert.deepEqual(parsePlace(placeText(place)), place);
  assert.equal(placeText({ view: "tape", head: null, t: undefined }), "#view=tape");
});

test("a move keeps what it does not name, and null takes away", () => {
  assert.deepEqual(movedPlace({ view: "tape", record: 3, head: 1 }, { record: 4, head: null }), {
    view: "tape",
    record: 4,
  });
});
