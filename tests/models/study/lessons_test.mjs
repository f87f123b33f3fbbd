// The lessons: their formulas, numbers, lengths and links.
import assert from "node:assert/strict";
import { test } from "node:test";

import { lessonFigures } from "../../../models/study/page/lesson_figures.js";
import { keptByGate, saturationOf, scoresOfSize } from "../../../models/study/page/lesson_numbers.js";
import { lessons } from "../../../models/study/page/lessons.js";
import { lessonsView } from "../../../models/study/page/lessons_view.js";
import { parseFormula } from "../../../models/study/page/formula.js";
import { parsePlace } from "../../../models/study/page/places.js";
import { views } from "../../../models/study/page/views.js";
import { element, standIn } from "./page_stand_in.mjs";
import { studyOf } from "./study_traces.mjs";

standIn();

const wordsOf = ({ parts }) => parts.filter((part) => typeof part === "string").join(" ").split(/\s+/);

test("every lesson is short, and its formulas can be read", () => {
  assert.ok(lessons().length >= 13);
  for (const lesson of lessons()) {
    const count = wordsOf(lesson).length;
    assert.ok(count >= 120 && count <= 220, `${lesson.id} has ${count} words`);
    const formulas = lesson.parts.filter(({ formula }) => formula);
    assert.ok(formulas.length > 0, lesson.id);
    for (const { formula, beside } of formulas) for (const one of [formula, beside ?? formula]) parseFormula(one);
    for (const { figure } of lesson.parts) assert.ok(!figure || figure in lessonFigures, figure);
  }
});

const linksOf = (trace, lesson) => {
  const root = element("div"), moves = [];
  lessonsView.render(root, { trace, place: { lesson: lesson.id }, go: (change) => moves.push(change) });
  const links = root.tagged("a").map(({ attributes, textContent }) => ({ place: parsePlace(attributes.href), says: textContent }));
  return { root, moves, links };
};

const subjects = ["softmax", "layer-norm", "attention", "multi-head-attention", "rnn", "lstm", "gru", "relational-memory", "rmc"];

test("links lead to views, records and matrices that are there", () => {
  for (const subject of subjects) {
    const flow = ["rnn", "gru", "rmc", "multi-head-attention"].includes(subject) ? ["--gradient-flow"] : [];
    const trace = studyOf(subject, "--tokens", "2", ...flow), there = views().filter((view) => view.applies(trace)).map(({ id }) => id);
    for (const lesson of lessons()) {
      const { root, links } = linksOf(trace, lesson), what = `${subject}, ${lesson.id}`;
      if (links.length === 0) assert.ok(root.textContent.includes(`Nothing in this trace shows it: ${lesson.command}`), what);
      for (const { place, says } of links) {
        assert.ok(there.includes(place.view), `${what}: ${place.view}`);
        if (place.record !== undefined) assert.ok(trace.records[place.record].reached, `${what}: ${says}`);
        if (place.node !== undefined) assert.ok(trace.nodes[place.node].wants_gradient, `${what}: ${says}`);
      }
    }
  }
});

test("the command of each lesson shows what it is about", () => {
  for (const lesson of lessons()) {
    const [program, command, ...options] = lesson.command.replaceAll('"', "").split(" ");
    assert.deepEqual([program, command], ["retrace", "study"]);
    const trace = studyOf(...options.slice(0, options.indexOf("--out")));
    assert.ok(linksOf(trace, lesson).links.length > 0, lesson.id);
  }
});

test("links find the records that the lessons mean", () => {
  const linkOf = (trace, id) => linksOf(trace, lessons().find((lesson) => lesson.id === id)).links[0].place;
  const lstm = studyOf("lstm", "--gradient-flow"), gate = lstm.records[linkOf(lstm, "gate").record];
  const makers = gate.inputs.map((node) => lstm.records.find(({ outputs }) => outputs.includes(node))?.op);
  assert.equal(gate.op, "mul");
  assert.ok(makers.includes("sigmoid") && !makers.includes("tanh"), makers.join());
  assert.ok(linksOf(lstm, lessons().find(({ id }) => id === "gate")).links.some(({ place }) => place.view === "flow"));
  for (const options of [["attention"], ["multi-head-attention", "--causal"]]) {
    const trace = studyOf(...options), { op, attributes } = trace.records[linkOf(trace, "division").record];
    assert.deepEqual([op, attributes.factor], ["scale", 0.5], options.join());
  }
  const heads = studyOf("multi-head-attention");
  assert.equal(heads.nodes[linkOf(heads, "query").node].name, "query.weight");
  assert.equal(heads.records[linkOf(heads, "product").record].op, "softmax");
});

test("the numbers of the figures, and what the text says of them", () => {
  const { weights, stretch } = saturationOf([5, 0]);
  assert.ok(Math.abs(weights[0] - 0.9933) < 1e-4);
  assert.ok(Math.abs(stretch - 2 * weights[0] * weights[1]) < 1e-9, "of two weights, |J| is 2 y (1 - y)");
  assert.ok(Math.abs(saturationOf([10, 0]).weights[1] - 0.00005) < 1e-5);
  assert.ok(Math.abs(saturationOf([1, 0]).weights[0] - 0.73) < 0.005);
  const kept = keptByGate(0, 20);
  assert.deepEqual([kept.length, kept[0], kept[20]], [21, 1, 2 ** -20]);
  const [divided, plain, multiplied] = [-0.5, 0, 0.5].map((power) => scoresOfSize(16, power));
  assert.equal(divided.saturated, 0);
  assert.ok(Math.abs(multiplied.saturated - 2 / 3) < 0.05, `two rows of three: ${multiplied.saturated}`);
  assert.ok(divided.largest < plain.largest && plain.largest < multiplied.largest);
  assert.ok(multiplied.stretch < divided.stretch / 30);
  for (const power of [-0.5, 0.5]) assert.deepEqual(scoresOfSize(1, power), scoresOfSize(1, 0));
});

test("figures move, and say in words what they draw", () => {
  const expected = {
    saturation: ["0", /^c = 1: the largest weight is 0\.4/], gate: ["0", /^b = 0, f = 0\.5: .* after 100 steps 7\.9e−31/],
    division: ["0", /^d = 1: with q k \/ √d 0 %, with q k 0 %, with q k · √d 0 % of the rows/],
  };
  for (const [name, [value, says]] of Object.entries(expected)) {
    const figure = lessonFigures[name](), [slider] = figure.tagged("input"), [label] = figure.tagged("label");
    assert.equal(label.attributes.for, slider.attributes.id, name);
    slider.fire("input", { target: { value } });
    assert.match(figure.tagged("p")[0].textContent, says, name);
    for (const drawing of figure.tagged("svg")) assert.match(drawing.attributes["aria-label"], /\d/, name);
  }
});

test("the list and the last button lead on", () => {
  const trace = studyOf("softmax"), all = lessons();
  const { root, moves } = linksOf(trace, all[0]);
  root.byId("lesson-gate").fire("click");
  root.byId("lesson-next").fire("click");
  assert.deepEqual(moves, [{ lesson: "gate" }, { lesson: all[1].id }]);
  const last = linksOf(trace, all.at(-1));
  last.root.byId("lesson-next").fire("click");
  assert.deepEqual(last.moves, [{ view: "exercises" }]);
});

test("no two elements of a lesson share an id, so that the label of a figure names its slider", () => {
  for (const { id: lesson } of lessons()) {
    const root = element("div");
    lessonsView.render(root, { trace: studyOf("softmax"), place: { lesson }, go: () => {} });
    const ids = root.all(({ attributes }) => attributes.id).map(({ attributes }) => attributes.id);
    assert.deepEqual(ids, [...new Set(ids)], lesson);
    for (const { attributes } of root.tagged("label")) assert.equal(root.byId(attributes.for).tag, "input");
  }
});

test("a bare softmax has no ds of a query", () => {
  const { links } = linksOf(studyOf("softmax"), lessons().find(({ id }) => id === "query"));
  assert.deepEqual(links, []);
});

test("lessons tell numbers of this trace, and show an array of it", () => {
  const trace = studyOf("attention", "--causal"), shown = (id) => linksOf(trace, lessons().find((lesson) => lesson.id === id));
  for (const id of ["reading", "whole", "mask"]) {
    const { root, links } = shown(id);
    assert.match(links[0].says, /\d/, id);
    assert.equal(root.withClass("array").length, 1, id);
  }
  assert.match(shown("mask").links[0].says, /^6 of 16 scores are hidden$/);
});
