// The gates of LSTMs and GRUs: composed and fused show the same, and the product of the gates is the derivative of one
// state by another.
import assert from "node:assert/strict";
import { test } from "node:test";

import { gateNumbers, shareOfStep } from "../../../models/study/page/gates_numbers.js";
import { recurrencesOf } from "../../../models/study/page/gates_places.js";
import { gatesView, shareText } from "../../../models/study/page/gates_view.js";
import { largest, subtract } from "../../../models/study/page/tensor.js";
import { element, standIn } from "./page_stand_in.mjs";
import { studyOf } from "./study_traces.mjs";

standIn();

const onlyOf = (trace) => {
  const all = recurrencesOf(trace);
  assert.equal(all.length, 1);
  return all[0];
};

const parts = { lstm: ["i", "f", "g", "o", "c", "h"], gru: ["r", "z", "n", "h"] };

for (const kind of ["lstm", "gru"])
  test(`${kind}: fused records show the gates and gradients that their composed twins do`, () => {
    const [composed, fused] = [[], ["--fused"]].map((more) => studyOf(kind, "--tokens", "5", ...more));
    const [a, b] = [composed, fused].map((trace) => gateNumbers(trace, onlyOf(trace), 0));
    assert.deepEqual(onlyOf(composed).parts, parts[kind]);
    assert.deepEqual([onlyOf(composed).fused, onlyOf(composed).steps.length], [null, 5]);
    assert.notEqual(onlyOf(fused).fused, null);
    for (const what of ["values", "gradients"])
      for (const part of parts[kind]) {
        assert.deepEqual(a[what][part].shape, [8, 5]);
        assert.ok(largest(a[what][part]) > 0, `${what} ${part}`);
        assert.ok(largest(subtract(a[what][part], b[what][part])) < 1e-12, `${what} ${part}`);
      }
    for (const what of ["left", "passed"]) assert.ok(largest(subtract(a[what], b[what])) < 1e-12, what);
  });

test("the product of forget gates begins with 1 at the last step and takes one gate with each step back", () => {
  const trace = studyOf("lstm", "--tokens", "4"), { values: { f }, left } = gateNumbers(trace, onlyOf(trace), 0);
  for (let unit = 0; unit < 8; ++unit) {
    assert.equal(left.at(unit, 3), 1);
    for (const t of [0, 1, 2]) assert.ok(Math.abs(left.at(unit, t) - left.at(unit, t + 1) * f.at(unit, t + 1)) < 1e-15);
  }
});

// By hand: one unit per gate, two steps, whose forget gates are known.
const twoSteps = (first, second) => {
  const ofGate = (x) => Math.log(x / (1 - x));
  const p = (gates) => `[[0,0,${gates.map(ofGate).join(",")},1,1,0,0]]`;
  const inputs = { p: p(first), q: p(second), h: "[[0,0]]", c: "[[1,1]]", w: `[${Array(8).fill("[0,0]").join(",")}]` };
  const options = Object.entries(inputs).flatMap(([name, values]) => ["--input", `${name}=${values}`]);
  return studyOf("--expr", "s = lstm_step(p, h, c, w); lstm_step(q, s.h, s.c, w).c", ...options);
};

test("a step says how much it let through, and which unit stopped the most", () => {
  const trace = twoSteps([0.9, 0.9], [0.95, 0.03]), recurrence = onlyOf(trace), numbers = gateNumbers(trace, recurrence, 0);
  assert.equal(recurrence.steps.length, 2);
  const { share, unit, gate } = shareOfStep(numbers, recurrence, 1);
  const [a, b] = [0, 1].map((n) => numbers.gradients.c.at(n, 1));
  assert.ok(Math.abs(share - Math.hypot(0.95 * a, 0.03 * b) / Math.hypot(a, b)) < 1e-12);
  assert.equal(unit, Math.abs(0.97 * b) > Math.abs(0.05 * a) ? 1 : 0);
  assert.ok(Math.abs(gate - [0.95, 0.03][unit]) < 1e-12);
  assert.match(shareText(numbers, recurrence, 1), /^Step 1 let [\d.]+ % of dc through to step 0: unit \d's f = 0\.\d+ stopped the most\.$/);
});

const rendered = (trace, place = {}) => {
  const moves = [], root = element("div");
  const context = (at) => ({ trace, place: { view: "gates", ...at }, go: (change) => moves.push(change) });
  const update = gatesView.render(root, context(place));
  return { root, moves, update: (at) => update(context(at)), key: (name, at) => gatesView.onKey(name, context(at)) };
};

test("the view shows gates above gradients, marks unit and step everywhere, and leads to the cards", () => {
  const trace = studyOf("lstm", "--tokens", "4"), { root, moves, update, key } = rendered(trace, { t: 2 });
  const names = root.withClass("array-name").map(({ textContent }) => textContent);
  assert.deepEqual(names, ["i", "f", "g", "o", "c", "h", "Π f", "di", "df", "dg", "do", "dc", "dh", "f dc"]);
  const said = () => root.withClass("screen-side")[0].textContent;
  assert.match(said(), /^Step 2Step 2 let /);
  const step = onlyOf(trace).steps[2];
  const link = root.tagged("a").find(({ textContent }) => textContent.startsWith("c (record"));
  assert.equal(link.attributes.href, `#view=tape&record=${step.record}`);
  const [canvas] = root.tagged("canvas"), [width, height] = canvas.style.cssText.match(/[\d.]+/g).map(Number);
  canvas.fire("pointermove", { offsetX: (3.5 * width) / 4, offsetY: (1.5 * height) / 8 });
  assert.match(said(), /^Step 3.*i of unit 1 at step 3 = /);
  const cells = root.withClass("cell").filter(({ className }) => className.includes("pointed"));
  assert.equal(cells.length, names.length);
  canvas.fire("click");
  assert.deepEqual(moves.pop(), { t: 3 });
  root.byId("gates-step-1").fire("click");
  assert.deepEqual(moves.pop(), { t: 1 });
  update({ t: 0 });
  assert.match(said(), /^Step 0Step 0 let .* to the state before the first step/);
  assert.equal(key("ArrowRight", { t: 0 }), true);
  assert.deepEqual(moves.pop(), { t: 1 });
});

test("without a place it opens at the step that let the least through, and the guide names it", () => {
  const trace = studyOf("gru", "--tokens", "6"), { root } = rendered(trace);
  const fact = gatesView.fact(trace), [, step] = /^Step (\d)/.exec(fact);
  assert.match(root.withClass("screen-side")[0].textContent, new RegExp(`^Step ${step}`));
  assert.ok(root.withClass("screen-side")[0].textContent.includes(fact));
});

test("expressions that hold gates have the view, what has none does not, and one step of one unit breaks nothing", () => {
  const sequence = ["p=1x3x8", "h=1x2", "c=1x2", "w=8x2"].flatMap((one) => ["--input", one]);
  assert.equal(recurrencesOf(studyOf("--expr", "lstm_sequence(p, h, c, w).y", ...sequence))[0].steps.length, 3);
  const gru = ["p=1x3", "h=1x1", "w=3x1", "b=3"].flatMap((one) => ["--input", one]);
  const { root } = rendered(studyOf("--expr", "gru_step(p, h, w, b)", ...gru));
  assert.match(root.textContent, /Step 0 let /);
  for (const subject of ["attention", "rnn", "relational-memory", "rmc"]) assert.equal(gatesView.applies(studyOf(subject)), false, subject);
});

test("many steps show the last ones, and say so; values that are not finite or not kept are said to be missing", () => {
  const { root } = rendered(studyOf("lstm", "--tokens", "70", "--size", "2"));
  assert.match(root.textContent, /the last 64 of 70/);
  const trace = studyOf("lstm", "--tokens", "3"), recurrence = onlyOf(trace);
  for (const { gradient } of trace.nodes) if (gradient) delete gradient.tensor;
  assert.match(shareText(gateNumbers(trace, recurrence, 0), recurrence, 1), /did not keep/);
  rendered(trace);
});
