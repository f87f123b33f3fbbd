// Which attentions traces have, and which of them a place names.
import assert from "node:assert/strict";
import { test } from "node:test";

import { attentionAt, attentionsOf, strongestScore } from "../../../models/study/page/attention_places.js";
import { numbersOf } from "../../../models/study/page/attention_numbers.js";
import { studyOf } from "./study_traces.mjs";

test("a recurrent memory has an attention for each step, in their order", () => {
  for (const subject of ["rmc", "relational-rnn", "relational-memory"]) {
    const all = attentionsOf(studyOf(subject, "--tokens", "5"));
    assert.equal(all.length, 5, subject);
    assert.equal(all[0].layers.length, 1, subject);
    assert.deepEqual(
      all.map(({ step }) => step),
      [0, 1, 2, 3, 4],
    );
    assert.deepEqual([all[0].heads, all[0].samples, all[0].queries], [2, 1, 3]);
  }
});

test("blocks of a model are layers", () => {
  const all = attentionsOf(studyOf("attention-model"));
  assert.deepEqual(
    all.map(({ layer, step }) => [layer.name, step]),
    [
      ["attention_model/blocks.0/attention", 0],
      ["attention_model/blocks.1/attention", 0],
    ],
  );
});

test("a place names an attention by its record, by one after it, or by layer and step", () => {
  const trace = studyOf("rmc", "--tokens", "4"),
    all = attentionsOf(trace);
  const recordAt = (place) => attentionAt(trace, place).attention.record;
  assert.equal(recordAt({ record: all[2].record, t: 1 }), all[2].record);
  assert.equal(recordAt({ record: all[2].record + 3 }), all[2].record);
  assert.equal(recordAt({ record: 0 }), all[0].record);
  assert.equal(recordAt({ t: 3 }), all[3].record);
  assert.equal(recordAt({ t: 99 }), all[3].record);
  const { head, row } = attentionAt(trace, { head: 7, row: -1 });
  assert.deepEqual([head, row], [1, 0]);
});

test("what a place does not name is where the gradient of a score is largest", () => {
  const trace = studyOf("multi-head-attention"), found = attentionAt(trace, {}), strongest = strongestScore(trace);
  const sizes = [0, 1].map((head) => numbersOf(trace, found.attention, { sample: 0, head }).dScores.data.map(Math.abs));
  assert.equal(strongest.size, Math.max(...sizes.flatMap((head) => [...head])));
  assert.deepEqual([found.head, found.row], [strongest.head, strongest.row]);
  assert.equal(sizes[found.head][found.row * found.attention.keys + strongest.key], strongest.size);
  assert.equal(attentionAt(trace, { head: 1 - found.head }).row, null);
});
