// The memories of real traces: their steps, gates and attention are those whose numbers give the next memory.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  changeOf,
  rowNorms,
  stepNumbers,
  weightsOfHeads,
  weightsOverTime,
} from "../../../models/study/page/memory_numbers.js";
import { memoriesOf, memoryAt } from "../../../models/study/page/memory_places.js";
import { gradientText } from "../../../models/study/page/memory_history.js";
import { looksText, memoryView, stepText } from "../../../models/study/page/memory_view.js";
import { add, elementwise, largest, multiply, ndArray, subtract } from "../../../models/study/page/tensor.js";
import { element, standIn } from "./page_stand_in.mjs";
import { studyOf } from "./study_traces.mjs";

standIn();

const near = (a, b, what) => assert.ok(largest(subtract(a, b)) < 1e-12, what);
const kinds = ["rmc", "relational-rnn", "relational-memory"].flatMap((subject) => [[subject], [subject, "--fused"]]);

test("what is kept and what is taken are the next memory, and each step begins where the last one ended", () => {
  for (const kind of kinds) {
    const trace = studyOf(...kind, "--tokens", "4", "--slots", "5"),
      [memory, ...others] = memoriesOf(trace),
      what = kind.join(" ");
    assert.deepEqual(others, []);
    assert.deepEqual([memory.steps.length, memory.slots, memory.features, memory.samples], [4, 5, 8, 1], what);
    const steps = memory.steps.map((_, t) => stepNumbers(trace, memory, t, 0));
    steps.forEach(({ before, after, input, forget, candidate }, t) => {
      near(add(multiply(forget, before), multiply(input, candidate)), after, `${what}, step ${t}`);
      if (t > 0) near(before, steps[t - 1].after, `${what}, step ${t}`);
    });
  }
});

test("every step has its own attention, whose heads stay apart", () => {
  for (const kind of kinds) {
    const trace = studyOf(...kind, "--tokens", "3"),
      [{ steps }] = memoriesOf(trace),
      what = kind.join(" ");
    assert.deepEqual(
      steps.map(({ attentions }) => attentions.map(({ step }) => step)),
      [[0], [1], [2]],
      what,
    );
    const all = steps.map(({ attentions }) => weightsOfHeads(trace, attentions[0], 0)),
      over = weightsOverTime(all),
      [heads, count, queries, keys] = over.shape;
    assert.deepEqual([heads, count, queries], [2, 3, 3], what);
    for (let head = 0; head < heads; ++head)
      for (let t = 0; t < count; ++t)
        for (let n = 0; n < queries * keys; ++n)
          assert.equal(
            over.at(head, t, Math.floor(n / keys), n % keys),
            all[t].at(head, Math.floor(n / keys), n % keys),
          );
  }
});

test("an LSTM, a GRU and an attention without a memory have none", () => {
  for (const subject of ["lstm", "gru", "rnn", "attention-model", "multi-head-attention"])
    assert.equal(memoryView.applies(studyOf(subject)), false, subject);
});

// Steps of o tanh(f m + i tanh c), by hand, for two samples: the notebook's memory has a gate for its output.
const handmade = (count) => {
  const shape = [2, 3, 2],
    trace = { nodes: [], records: [], scopes: [], tensor: (held) => held };
  const leaf = (value) => trace.nodes.push({ name: "x", shape, value, gradient: null }) - 1;
  const record = (op, compute, ...inputs) => {
    const output = leaf(compute(...inputs.map((node) => trace.nodes[node].value)));
    trace.records.push({ op, scope: -1, path: "", attributes: {}, inputs, outputs: [output], contributions: [] });
    return output;
  };
  const random = (seed) =>
    ndArray(
      shape,
      Array.from({ length: 12 }, (_, n) => Math.sin(seed * 12 + n)),
    );
  const one = (op, f) => (x) => record(op, (a) => elementwise(f, a), x);
  const sigmoid = one("sigmoid", (x) => 1 / (1 + Math.exp(-x))),
    tanh = one("tanh", Math.tanh);
  let memory = leaf(random(1));
  const after = [];
  for (let t = 0; t < count; ++t) {
    const [i, f, o, c] = [2, 3, 4, 5].map((n) => leaf(random(n + 5 * t)));
    const taken = record("mul", multiply, sigmoid(i), tanh(c)),
      kept = record("mul", multiply, memory, sigmoid(f));
    const product = record("mul", multiply, sigmoid(o), tanh(record("add", add, taken, kept)));
    after.push((memory = product));
  }
  return { trace, after };
};

test("a gate of the output is part of the step, and samples of a batch are told apart", () => {
  const { trace, after } = handmade(3),
    [memory] = memoriesOf(trace);
  assert.deepEqual(
    memory.steps.map((step) => step.after),
    after,
  );
  assert.equal(memory.samples, 2);
  const first = stepNumbers(trace, memory, 1, 0),
    { before, after: next, input, forget, output, candidate } = stepNumbers(trace, memory, 1, 1);
  assert.notDeepEqual(first.after.data, next.data);
  const sum = add(multiply(forget, before), multiply(input, candidate));
  near(multiply(output, elementwise(Math.tanh, sum)), next);
});

test("a place names a step by a record of it, or by t", () => {
  const trace = studyOf("rmc", "--tokens", "4"),
    [{ steps }] = memoriesOf(trace);
  assert.equal(memoryAt(trace, { t: 2 }).t, 2);
  assert.equal(memoryAt(trace, { record: steps[1].attentions[0].record, t: 3 }).t, 1);
  assert.equal(memoryAt(trace, { record: steps[1].record + 1 }).t, 2);
  assert.equal(memoryAt(trace, { record: trace.records.length - 1 }).t, 3);
  assert.equal(memoryAt(trace, { t: 99, memory: 7, sample: -1 }).t, 0);
});

test("changes are lengths by slot, and words name the slot that changed the most", () => {
  const before = ndArray([2, 2], [0, 0, 1, 1]),
    after = ndArray([2, 2], [3, 4, 1, 2]);
  assert.deepEqual(changeOf({ before, after }), [5, 1]);
  assert.deepEqual(rowNorms(after), [5, Math.hypot(1, 2)]);
  const gate = ndArray([2, 2], [0.25, 0.5, 0.1, 0.9]);
  assert.equal(
    stepText({ before, after, input: gate, forget: null }),
    "Slot 0 changes the most, by a vector of length 5; its input gate lies between 0.25 and 0.5.",
  );
  const weights = ndArray([2, 2, 3], [0.1, 0.2, 0.7, 1, 0, 0, 0.5, 0.25, 0.25, 0, 1, 0]);
  assert.equal(
    looksText(weights, 1, ["slot 0", "slot 1"], ["slot 0", "slot 1", "input"]),
    "slot 0 → slot 0 (0.5), slot 1 → slot 1 (1)",
  );
});

test("words say how the gradient changes on its way back", () => {
  const gradients = [0.1, 1, 2].map((size) => ndArray([2, 1], [0, size]));
  assert.match(gradientText(gradients), /from step 2 to step 0, .* shrinks from 2 to 0\.1\.$/);
  assert.match(gradientText(gradients.reverse()), /grows from 0\.1 to 2\.$/);
  assert.equal(gradientText([gradients[0], null]), "");
});

test("the view steps by keys, buttons and clicks, and marks its step", () => {
  const trace = studyOf("rmc", "--tokens", "3"),
    [{ steps }] = memoriesOf(trace),
    moves = [],
    root = element("div");
  const context = (place) => ({ trace, place: { view: "memory", ...place }, go: (change) => moves.push(change) });
  const update = memoryView.render(root, context({ t: 1 }));
  assert.match(root.withClass("moment-text")[0].textContent, /rmc_model\/core, step 1$/);
  assert.ok(root.withClass("now").length > 0 && root.withClass("now").every(({ textContent }) => textContent === "1"));
  root.byId("memory-step-forward").fire("click");
  assert.deepEqual(moves.pop(), { t: 2, record: steps[2].attentions[0].record });
  const clickAt = (figure, place) => {
    const [canvas] = figure.tagged("canvas"),
      [width, height] = canvas.style.cssText.match(/\d+/g).map(Number);
    canvas.fire("pointermove", place(width, height));
    figure.fire("click", { target: { tagName: "CANVAS" } });
    return moves.pop().t;
  };
  const strips = root.withClass("memory-history")[0].tagged("figure");
  for (const strip of [strips[0], strips.at(-1)]) {
    assert.equal(
      clickAt(strip, (width) => ({ offsetX: width - 2, offsetY: 1 })),
      2,
    );
    assert.equal(
      clickAt(strip, (_, height) => ({ offsetX: 1, offsetY: height - 2 })),
      0,
    );
  }
  update(context({ t: 0 }));
  assert.match(root.withClass("memory-step")[0].textContent, /^Step 0/);
  assert.ok(root.byId("memory-step-back").disabled);
  assert.equal(memoryView.onKey("End", context({ t: 0 })), true);
  assert.equal(moves.pop().t, 2);
});
