// The overview: what it draws of every subject and of expressions, its numbers, and the answers to its questions.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

import { strongestScore } from "../../../models/study/page/attention_places.js";
import { checkAll } from "../../../models/study/page/check.js";
import { linksAt, overviewGraph } from "../../../models/study/page/overview_graph.js";
import { layoutOf } from "../../../models/study/page/overview_layout.js";
import { normOfHeld, wayBackTo } from "../../../models/study/page/overview_numbers.js";
import { answersOf, wrongAnswer } from "../../../models/study/page/overview_questions.js";
import { overviewDrawing } from "../../../models/study/page/overview_view.js";
import { parsePlace } from "../../../models/study/page/places.js";
import { titleInWords } from "../../../models/study/page/start_view.js";
import { makerOf } from "../../../models/study/page/tape_graph.js";
import { openTrace } from "../../../models/study/page/trace.js";
import { views } from "../../../models/study/page/views.js";
import { element, standIn } from "./page_stand_in.mjs";
import { program, studyData, studyOf } from "./study_traces.mjs";

standIn();

const { stderr } = spawnSync(program, ["study", "nothing-of-this-name"], { encoding: "utf8" });
const subjects = stderr.match(/\(known: (.*)\)/)[1].split(", ");
const expressions = [
  ["softmax(matmul(q, transpose(k)) / 2)", "q=3x4", "k=3x4"],
  ["w = softmax(matmul(q, transpose(k))); y = tanh(matmul(w, v)); y * y", "q=3x4", "k=3x4", "v=3x2"],
  ["sum(x * x)", "x=3"],
  ["h = tanh(x); h_1 = tanh(h + x); h_2 = tanh(h_1 + x); h_2 * h_2", "x=2x2"],
];
const expressionOf = ([text, ...inputs]) => studyOf("--expr", text, ...inputs.flatMap((one) => ["--input", one]));

// "x>q" of each edge, "h~>z" of those from the step before.
const edgesOf = (trace) =>
  overviewGraph(trace).edges.map(({ from, to, isFromBefore }) => `${from.label}${isFromBefore ? "~" : ""}>${to.label}`).sort();

const drawn = (trace, room = 1312, step = overviewGraph(trace).steps - 1) => {
  const { element: figure, show } = overviewDrawing(trace, room);
  show(step);
  return figure;
};

// What holds for the drawing of any trace.
const checkDrawing = (trace, what) => {
  const { groups, edges, steps } = overviewGraph(trace);
  assert.ok(groups.length >= 2 && groups.length <= 48, `${what}: ${groups.length} groups`);
  for (const { node } of trace.seeds) assert.ok(groups.some(({ nodes }) => nodes.includes(node)), what);
  for (const edge of edges) {
    assert.ok(edge.isFromBefore || edge.from.index < edge.to.index, what);
    const all = Array.from({ length: steps }, (_, step) => linksAt(edge, step)).flat();
    assert.deepEqual(new Set(all), new Set(edge.links), what);
  }
  for (const room of [296, 366, 752, 1312])
    for (const step of new Set([0, steps - 1])) {
      const figure = drawn(trace, room, step), boxes = figure.withClass("overview-box");
      assert.ok(boxes.length >= groups.length, what);
      assert.doesNotMatch(figure.outerHTML ?? figure.textContent, /undefined|NaN/, what);
      const there = views().filter((view) => view.applies(trace)).map(({ id }) => id);
      for (const { attributes } of figure.tagged("a")) {
        const place = parsePlace(attributes.href);
        assert.ok(there.includes(place.view), what);
        if (place.phase !== "seed" && place.view === "tape") assert.ok(trace.records[place.record].reached, `${what}: ${attributes.href}`);
      }
      for (const { attributes } of figure.tagged("path").filter(({ attributes: { d } }) => d)) assert.doesNotMatch(attributes.d, /NaN/, what);
    }
};

for (const subject of subjects)
  test(`the overview of ${subject}`, () => {
    for (const way of [[], ["--fused"]]) checkDrawing(studyOf(subject, ...way), `${subject} ${way}`);
  });

test("the overview of expressions", () => {
  for (const expression of expressions) checkDrawing(expressionOf(expression), expression[0]);
});

test("an attention goes from x over q, k and v to the loss, by its weights", () => {
  const trace = studyOf("multi-head-attention"), { groups } = overviewGraph(trace);
  assert.deepEqual(edgesOf(trace), ["heads>y", "k>scores", "q>scores", "scores>weights", "v>heads", "weights>heads", "x>k", "x>q", "x>v"]);
  const by = Object.fromEntries(groups.map(({ label, parameters }) => [label, parameters.map((n) => trace.nodes[n].name)]));
  assert.deepEqual([by.q, by.k, by.v, by.y], [["query.weight"], ["key.weight"], ["value.weight"], ["out.weight"]]);
  assert.equal(titleInWords(trace), "multi-head attention with 2 heads over 4 tokens");
  trace.document.title = "recall, attention, test sample 3";
  assert.equal(titleInWords(trace), "recall, attention, test sample 3 (2 heads, 4 tokens)");
});

test("the steps of a loop are one group, which the step before leads to", () => {
  const trace = studyOf("lstm", "--tokens", "6"), { groups, steps } = overviewGraph(trace);
  assert.deepEqual(edgesOf(trace), ["c>h", "c~>c", "f>c", "g>c", "h~>z", "i>c", "o>h", "x>z", "z>f", "z>g", "z>i", "z>o"]);
  assert.equal(steps, 6);
  assert.ok(groups.every(({ label, nodes }) => nodes.length === (label === "x" ? 1 : 6)));
  assert.equal(titleInWords(trace), "LSTM over 6 steps");
  assert.deepEqual(edgesOf(expressionOf(expressions[3])), ["h>y", "h~>h", "x>h"]);
});

test("a long memory core is as small a picture as a short one", () => {
  const [short, long] = ["2", "40"].map((tokens) => studyOf("rmc", "--tokens", tokens));
  assert.deepEqual(edgesOf(long), edgesOf(short));
  assert.equal(overviewGraph(long).steps, 40);
});

test("a band is as wide as what flows in it, and a table says how much", () => {
  const trace = studyOf("softmax"), figure = drawn(trace), [x, y] = trace.nodes;
  const cells = figure.tagged("td").map(({ textContent }) => textContent);
  const text = (held) => String(Number(normOfHeld(trace, held).toPrecision(4)));
  assert.deepEqual(cells, ["y", text(x.value), text(x.gradient), "L", text(y.value), text(y.gradient)]);
  const widths = figure.tagged("path").filter(({ attributes }) => attributes["stroke-width"]).map(({ attributes }) => Number(attributes["stroke-width"]));
  assert.equal(widths.length, 4);
  assert.ok(Math.abs(widths[0] / widths[2] - normOfHeld(trace, x.value) / normOfHeld(trace, y.value)) < 1e-9);
});

test("what flows back by an edge is what its records sent, at each step", () => {
  const trace = studyOf("lstm"), { groups, edges } = overviewGraph(trace), c = groups.find(({ label }) => label === "c");
  const loop = edges.find(({ from, to }) => from === c && to === c);
  for (const step of [1, 2, 3]) {
    const [{ from, to, readers }, ...others] = linksAt(loop, step);
    assert.deepEqual([from, to, others.length, readers.length], [c.nodes[step - 1], c.nodes[step], 0, 1]);
    assert.equal(trace.records[readers[0]].op, "mul");
  }
  assert.equal(linksAt(loop, 0).length, 0);
});

test("a pointer on a box leaves its own bands only, and its focus does, too", () => {
  const figure = drawn(studyOf("multi-head-attention")), box = figure.withClass("overview-box").find(({ textContent }) => textContent.startsWith("scores"));
  const faint = () => figure.withClass("faint").length;
  for (const [on, off] of [["pointerenter", "pointerleave"], ["focusin", "focusout"]]) {
    box.fire(on);
    assert.equal(faint(), 2 * (10 - 3));
    box.fire(off);
    assert.equal(faint(), 0);
  }
});

test("boxes of a column do not overlap, and edges over several columns have places of their own", () => {
  const items = ["a", "b", "c", "d", "e"].map((name) => ({ name })), [a, b, c, d, e] = items;
  const edges = [[a, b], [b, c], [c, d], [a, d], [e, d]].map(([from, to]) => ({ from, to }));
  const { columns, placeOf, ways } = layoutOf(items, edges, { item: 90, edge: 20, gap: 10 });
  assert.equal(columns, 4);
  assert.deepEqual(items.map((item) => placeOf(item).column), [0, 1, 2, 3, 2]);
  assert.deepEqual(ways.map(({ length }) => length), [2, 2, 2, 4, 2]);
  for (const [one, other, least] of [[placeOf(c), placeOf(e), 100], [ways[3][1], placeOf(b), 65], [ways[3][2], placeOf(c), 65]])
    assert.ok(Math.abs(one.at - other.at) >= least - 1e-9);
});

const asked = (trace) => answersOf(trace).map(({ asks }) => asks.split(" ").slice(0, 3).join(" "));

test("questions are asked where they apply", () => {
  assert.deepEqual(asked(studyOf("multi-head-attention")), ["Which score got", "Where is the", "Where does the"]);
  assert.deepEqual(asked(studyOf("lstm")), ["Where is the", "Where does the"]);
  assert.deepEqual(asked(studyOf("softmax")), ["Where is the"]);
  assert.deepEqual(asked(expressionOf(expressions[0])), ["Which score got", "Where is the"]);
});

test("the largest score gradient is named with the factors that make it", () => {
  const trace = studyOf("attention"), [{ says, place }] = answersOf(trace), { attention, head, row, key } = strongestScore(trace);
  assert.deepEqual(place, { view: "attention", record: attention.record, layer: 0, t: 0, head, sample: 0, row });
  const [at, weight, arrived, mean, value] = [/head (\d), row (\d), key (\d)/, /weight ([^ ]+)/, /dA = ([^ ]+)/, /row, (.+)\.$/, /dS = ([^,]+)/]
    .map((pattern) => pattern.exec(says).slice(1).map((text) => Number(text.replace("−", "-"))));
  assert.deepEqual(at, [head, row, key]);
  assert.ok(Math.abs(weight[0] * (arrived[0] - mean[0]) - value[0]) < 0.02);
});

test("a lost gradient leads to the record that lost it", () => {
  const trace = expressionOf(["softmax(matmul(x, a) * 30)", "x=[[3,1,0]]", "a=3x3"]), { says, place } = answersOf(trace)[0];
  assert.equal(trace.records[place.record].op, "softmax");
  assert.match(says, new RegExp(`the most was lost in record ${place.record}, softmax: it sent on `));
  const way = wayBackTo(trace, trace.nodes.findIndex(({ name }) => name === "x"));
  assert.deepEqual(way.map(({ record }) => trace.records[record].op), ["matmul", "scale", "softmax"]);
});

test("a gradient that is exactly 0 is told apart from a small one", () => {
  assert.match(answersOf(studyOf("lstm"))[0].says, /It is exactly 0 in f of step 0\./);
  assert.match(answersOf(expressionOf(["relu(x)", "x=[[-1,-2]]"]))[0].says, /^In x: \|gradient\| = 0 is 0 of .*relu: it sent on 0 /);
});

test("the gradient of a weight leads to its outer products", () => {
  const trace = studyOf("multi-head-attention"), { asks, says, place } = answersOf(trace)[2];
  assert.match(asks, /query\.weight/);
  assert.deepEqual(place, { view: "outer-products", node: trace.nodes.findIndex(({ name }) => name === "query.weight"), first: 1 });
  assert.match(says, /the sum of 4 outer products/);
});

test("whether anything is wrong follows the verdicts", () => {
  const right = studyOf("softmax"), { says } = wrongAnswer(right, checkAll(right));
  assert.match(says, /^No: 1 of 1 records checked: all agree/);
  const data = studyData("softmax");
  data.trace.checks[0].dual *= 1.1;
  const wrong = openTrace(data), answer = wrongAnswer(wrong, checkAll(wrong));
  assert.match(answer.says, /^Yes: the gradient of x by three ways/);
  assert.deepEqual(answer.place, { view: "tape", record: 0 });
  data.trace.checks = [];
  data.trace.nodes[0].value = null;
  const partly = openTrace(data);
  assert.match(wrongAnswer(partly, checkAll(partly)).says, /^Nothing was found, but not all could be checked/);
});

test("the view moves through the steps, by its buttons and by keys", async () => {
  const trace = studyOf("rnn"), view = views().find(({ id }) => id === "start"), root = element("div"), moves = [];
  const context = (place) => ({ trace, verdicts: checkAll(trace), whenChecked: Promise.resolve(), place, go: (change) => moves.push(change) });
  const update = view.render(root, context({}));
  assert.match(root.withClass("moment-text")[0].textContent, /^step 3 /);
  root.byId("overview-step-back").fire("click");
  assert.deepEqual(moves.pop(), { t: 2 });
  update(context({ t: 0 }));
  assert.match(root.withClass("overview-none")[0].textContent, /no step before/);
  assert.ok(view.onKey("ArrowRight", context({ t: 0 })));
  assert.deepEqual(moves.pop(), { t: 1 });
  assert.equal(view.onKey("ArrowRight", { ...context({}), trace: studyOf("softmax") }), false);
  await Promise.resolve();
  assert.match(root.withClass("questions")[0].textContent, /Is anything wrong\?No: /);
});

test("a tape without names, and one that kept no values, is drawn as well", () => {
  const data = studyData("multi-head-attention");
  data.trace.nodes.forEach((node, n) => !node.leaf && (node.name = `%${n}`));
  assert.ok(overviewGraph(openTrace(data)).groups.length > 5);
  for (const node of data.trace.nodes) node.value = node.gradient = null;
  const figure = drawn(openTrace(data));
  assert.ok(figure.withClass("overview-box").length > 5);
});

test("questions have answers where nothing was multiplied, was walked or is a number", () => {
  for (const [text, ...inputs] of [
    ["matmul(x, w)", "x=0x3", "w=3x2"],
    ["softmax(matmul(q, transpose(k)))", "q=0x2", "k=3x2"],
    ["concat([a, b]) * z", "a=[1,2]", "b=[3]", "z=[1,1,nan]"],
    ["sqrt(x)", "x=[[1,0],[-1,4]]"],
  ]) {
    const trace = expressionOf([text, ...inputs]);
    assert.ok(answersOf(trace).every(({ says }) => says.length > 0), text);
    drawn(trace);
  }
  const data = studyData("softmax");
  data.trace.records = [];
  const { says, place } = wrongAnswer(openTrace(data), []);
  assert.doesNotMatch(says, /largest difference is in record/);
  assert.deepEqual(place, { view: "start" });
});

test("what an earlier backward pass has left in a leaf is no part of the loss", () => {
  const data = studyData("--expr", "tanh(w) * 2", "--input", "w=[0.5,-1]"), whole = overviewGraph(openTrace(data)).ends.length;
  const leaf = data.trace.nodes.findIndex((node) => node.leaf);
  data.trace.seeds.push({ ...data.trace.seeds[0], node: leaf });
  assert.equal(overviewGraph(openTrace(data)).ends.length, whole);
});

test("the drawing is no wider than its room, down to that of a phone", () => {
  for (const subject of ["softmax", "multi-head-attention", "attention-model", "lstm", "rmc"]) {
    const trace = studyOf(subject);
    for (const room of [296, 366, 752, 1232, 1312]) {
      const [, width] = /width:([\d.]+)px/.exec(drawn(trace, room).withClass("overview-drawing")[0].style.cssText);
      assert.ok(Number(width) <= room + 0.5, `${subject}: ${width} of ${room}`);
    }
  }
});
