// The gradient flow of real traces, its curves, and the sentences that say where it vanishes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { curvesOf, decadesOf, flowSentence, logMatrix, piecesOf } from "../../../models/study/page/flow_numbers.js";
import { flowView } from "../../../models/study/page/flow_view.js";
import { element, standIn } from "./page_stand_in.mjs";
import { nodeNamed, studyOf } from "./study_traces.mjs";

standIn();
const { flowChart } = await import("../../../models/study/page/flow_chart.js");

const rendered = (trace) => {
  const root = element("div");
  flowView.render(root, { trace });
  return root;
};

test("sentences say where a curve vanishes, and what is left otherwise", () => {
  const sentence = (...values) => flowSentence({ name: "h", values });
  assert.equal(sentence(1e-9, 1e-4, 0.5, 0.2), "h vanishes: at step 1 it is below 1/1000 of its largest, 0.5 at step 2");
  assert.equal(sentence(1e-3, 1), "h is largest, 1 at step 1; at the first step it is 0.001 of that");
  assert.equal(sentence(0, 0, 2, 3), "h is largest, 3 at step 3, and exactly 0 before step 2");
  assert.match(sentence(1e-9, 0, 2, 3), /^h vanishes: at step 1 /);
  assert.equal(sentence(3, 1), "h is largest at the first step: 3");
  assert.equal(sentence(0, 0), "h: nothing flows back");
  assert.equal(sentence(1, NaN), "h is NaN at step 1");
});

test("24 curves differ in colour and mark, and are the same in the legend", () => {
  const curves = Array.from({ length: 24 }, (_, n) => ({ name: `slot ${n}`, values: [1, 2] }));
  const figure = flowChart(curves, 2, "norms");
  const looks = figure.withClass("flow-legend")[0].withClass("flow-mark")
    .map(({ attributes: { d, stroke, fill } }) => [d, stroke, fill].join());
  assert.equal(new Set(looks).size, 24);
});

test("the scale has whole decades, and leaves out what it cannot show", () => {
  const decades = (...values) => decadesOf([{ values }]);
  assert.deepEqual(decades(0.02, 3), { low: -2, high: 1 });
  assert.deepEqual(decades(1, 1), { low: -1, high: 0 });
  assert.deepEqual(decades(0, NaN, Infinity), { low: -1, high: 0 });
  assert.deepEqual(decades(1e-300, 1), { low: -12, high: 0 });
});

test("a curve has a gap where its number cannot be shown", () => {
  const pieces = piecesOf({ values: [0.1, 1, 0, NaN, 0.01] }, { low: -2, high: 0 });
  assert.deepEqual(pieces, [[{ t: 0, level: 0.5 }, { t: 1, level: 1 }], [{ t: 4, level: 0 }]]);
});

test("the curves of a trace end with the gradient of its input", () => {
  const trace = studyOf("lstm", "--tokens", "3", "--gradient-flow"), curves = curvesOf(trace.flows);
  assert.deepEqual(curves.map(({ name }) => name), ["h", "c", "x"]);
  const { gradient } = nodeNamed(trace, "x");
  for (let t = 0; t < 3; ++t) {
    const norm = Math.hypot(...gradient.data.slice(8 * t, 8 * t + 8));
    assert.ok(Math.abs(curves[2].values[t] - norm) < 1e-12);
  }
  assert.deepEqual(Array.from(logMatrix(trace.flows[0].matrix).data, (x) => x === -Infinity), [
    false, true, true, false, false, true, false, false, false,
  ]);
});

test("the view has a mark and a table cell for each number, a sentence for each curve, an array for each matrix", () => {
  const trace = studyOf("relational-rnn", "--tokens", "3", "--slots", "2", "--gradient-flow"), root = rendered(trace);
  assert.equal(root.withClass("flow-sentences")[0].children.length, 5);
  assert.equal(root.withClass("flow-chart")[0].tagged("td").length, 15);
  const [picture] = root.tagged("svg");
  assert.equal(picture.withClass("flow-mark").length, 15);
  assert.equal(picture.withClass("flow-line").length, 5);
  const looks = picture.withClass("flow-line").map(({ attributes }) => attributes["stroke-dasharray"]);
  assert.equal(new Set(looks).size, 5);
  assert.equal(root.tagged("canvas").length, 3);
});

test("a long sequence has fewer marks than steps, and a matrix that was not computed is left out", () => {
  const values = Array.from({ length: 100 }, (_, t) => 0.9 ** t);
  const root = rendered({ flows: [{ title: "h", times: 100, norms: [{ name: "h", values }], matrix: null }] });
  assert.equal(root.tagged("svg")[0].withClass("flow-mark").length, 34);
  assert.equal(root.tagged("canvas").length, 0);
});

test("it is shown where there is a flow", () => {
  assert.ok(!flowView.applies(studyOf("rnn")));
  assert.ok(flowView.applies(studyOf("rnn", "--gradient-flow")));
});

test("the outputs of an attention are not explained as states of a recurrence", () => {
  const why = (...options) => rendered(studyOf(...options, "--gradient-flow")).withClass("flow-why")[0].textContent;
  assert.match(why("multi-head-attention"), /^No step is made from the one before it/);
  assert.doesNotMatch(why("multi-head-attention"), /tanh/);
  assert.match(why("rnn"), /^Each step back multiplies/);
  assert.match(why("relational-memory"), /forget gate alone/);
});

test("the name of a curve makes the others faint, while it is pointed at or once it is pressed", () => {
  const curves = ["slot 0", "slot 1", "x"].map((name) => ({ name, values: [1, 2] })), figure = flowChart(curves, 2, "norms");
  const faint = () => figure.withClass("flow-curve").map(({ className }) => /faint/.test(className)), [, key] = figure.tagged("button");
  key.fire("pointerenter");
  assert.deepEqual(faint(), [true, false, true]);
  key.fire("pointerleave");
  assert.deepEqual(faint(), [false, false, false]);
  key.fire("click");
  key.fire("blur");
  assert.deepEqual(faint(), [true, false, true]);
  assert.equal(key.attributes["aria-pressed"], "true");
  key.fire("click");
  assert.deepEqual(faint(), [false, false, false]);
});
