// A memory of slots: its contents, its gates and its attention, over all steps and at one.
import { rangeBetween, rangeOf } from "./array_colours.js";
import { gapOfBlocks } from "./array_layout.js";
import { arrayView } from "./array_view.js";
import { el, formatNumber } from "./dom.js";
import {
  bySlot,
  changeOf,
  rowNorms,
  stacked,
  stepNumbers,
  weightsOfHeads,
  weightsOverTime,
} from "./memory_numbers.js";
import { memoriesOf, memoryAt } from "./memory_places.js";
import { choiceOf, markedNames, replaceContents, roomIn, stepAfterKey, stepperOf } from "./place_controls.js";
import { movedPlace, placeText } from "./places.js";

const ofGate = rangeBetween(0, 1);

const names = (what, count) => Array.from({ length: count }, (_, n) => `${what} ${n}`);

// The rows of a memory and, behind its slots, of its input.
const rowsOfMemory = (count, slots) =>
  Array.from({ length: count }, (_, n) => (n < slots ? `slot ${n}` : count === slots + 1 ? "input" : `input ${n - slots}`));

const absent = (label) =>
  el(
    "figure",
    { class: "array" },
    el("figcaption", {}, el("span", { class: "array-name" }, label)),
    el("p", { class: "array-note" }, "not held by the tape, or too large to be kept"),
  );

const shown = (array, label, options) => (array ? arrayView(array, { label, ...options }) : absent(label));

// ---- all steps

const widthOfNames = 60;

// Steps stand below each other in all arrays: as wide as the room allows, but cells must be seen.
const widthOfStep = (steps, features, room) => {
  const cell = Math.floor(((room - widthOfNames) / steps - gapOfBlocks) / features);
  return features * Math.max(2, Math.min(20, cell));
};

// An array whose blocks are the steps; a click moves to the step under the pointer. Its names of steps can be marked.
const overTime = (array, label, { axis = 0, width, marks, go, ...options }) => {
  if (!array) return absent(label);
  const columns = markedNames(Array.from({ length: array.shape[axis] }, (_, t) => String(t + 1)));
  marks.push(columns);
  const cell = { width: width / array.shape.at(-1), height: 18 };
  let pointed = null;
  const figure = arrayView(array, {
    label,
    columns: columns.elements,
    cell,
    maxCells: 16384,
    onCell: (at) => (pointed = at),
    ...options,
  });
  figure.addEventListener("click", (event) => {
    if (event.target.tagName === "CANVAS" && pointed) go(pointed.index[axis]);
  });
  return figure;
};

// The weights of the attention at the same place of each step: [heads, steps, slots, keys].
const attentionOverTime = (trace, { steps }, sample, place) => {
  const each = steps.map(({ attentions }) => attentions[place]);
  const isAlike = each.every((one) => one && one.heads === each[0].heads && one.keys === each[0].keys);
  return isAlike ? weightsOverTime(each.map((attention) => weightsOfHeads(trace, attention, sample))) : null;
};

// Scrolls all arrays together, as far as it is needed to see a step.
const showStep = (element, name) => {
  if (!name || !(element.scrollWidth > element.clientWidth)) return;
  const { offsetLeft, offsetWidth } = name.parentElement,
    start = offsetLeft - widthOfNames,
    end = offsetLeft + offsetWidth - element.clientWidth;
  element.scrollLeft = Math.max(end, Math.min(start, element.scrollLeft));
};

const historyOf = (trace, memory, sample, room, go) => {
  const all = memory.steps.map((_, t) => stepNumbers(trace, memory, t, sample)),
    marks = [];
  const width = widthOfStep(all.length, memory.features, room);
  const options = { rows: names("slot", memory.slots), width, marks, go };
  const show = (what, label, range) => overTime(stacked(all.map((step) => step[what])), label, { ...options, range });
  const attentionAtPlace = (_, place) => {
    const weights = attentionOverTime(trace, memory, sample, place);
    const label = "who attends to whom: weights by head, step, slot and key";
    return weights && overTime(weights, label, { ...options, axis: 1, rows: names("head", weights.shape[0]), range: ofGate });
  };
  const element = el(
    "section",
    { class: "memory-history" },
    el("h3", {}, "Over time"),
    show("after", "memory after each step"),
    show("input", "input gate", ofGate),
    show("forget", "forget gate: what is kept", ofGate),
    all[0].output && show("output", "output gate", ofGate),
    overTime(bySlot(all.map(changeOf)), "|change| of each slot", options),
    overTime(bySlot(all.map(({ gradient }) => gradient && rowNorms(gradient))), "|gradient| of each slot", options),
    memory.steps[0].attentions.map(attentionAtPlace),
  );
  const mark = (now) => {
    for (const columns of marks) columns.mark(now);
    showStep(element, marks[0]?.elements[now]);
  };
  return { element, mark };
};

// ---- one step

const rangeOfRow = ({ data }, columns, row) => {
  const part = data.slice(row * columns, (row + 1) * columns);
  return `${formatNumber(Math.min(...part), 2)} to ${formatNumber(Math.max(...part), 2)}`;
};

// The slot that changed the most, and what its gates say.
export const stepText = (numbers) => {
  const change = changeOf(numbers);
  if (!change) return "";
  const slot = change.indexOf(Math.max(...change)),
    columns = numbers.after.shape[1];
  const gates = [
    ["input gate lies at", numbers.input],
    ["forget gate at", numbers.forget],
  ].filter(([, gate]) => gate);
  return (
    `Slot ${slot} changes the most, by a vector of length ${formatNumber(change[slot])}` +
    (gates.length > 0
      ? `; its ${gates.map(([name, gate]) => `${name} ${rangeOfRow(gate, columns, slot)}`).join(", its ")}.`
      : ".")
  );
};

// Two arrays stand side by side, with their names and the signs between them.
const cellOfStep = (features, room) => {
  const width = Math.floor((room / 2 - 100) / features);
  return { width: Math.max(8, Math.min(58, width)), height: 23 };
};

const updateView = (numbers, slots, room) => {
  const cell = cellOfStep(numbers.input?.shape[1] ?? 1, room);
  const range = rangeOf(...["before", "candidate", "after"].map((what) => numbers[what]?.data ?? [])),
    rows = names("slot", slots);
  const show = (what, label, colours = range) => shown(numbers[what], label, { rows, cell, range: colours });
  const sign = (text) => el("span", { class: "arithmetic" }, text);
  return el(
    "div",
    { class: "memory-update" },
    el("div", { class: "arrays" }, sign(""), show("forget", "forget gate", ofGate), sign("⊙"), show("before", "memory before")),
    el("div", { class: "arrays" }, sign("+"), show("input", "input gate", ofGate), sign("⊙"), show("candidate", "what is new")),
    el(
      "div",
      { class: "arrays" },
      sign("="),
      numbers.output && [show("output", "output gate", ofGate), sign("⊙ tanh, which gives")],
      show("after", "memory after"),
    ),
  );
};

// "slot 0 → slot 2 (0.53)" of each row of a head.
export const looksText = ({ shape: [, queries, keys], data }, head, rows, columns) =>
  rows
    .map((name, query) => {
      const row = data.slice((head * queries + query) * keys, (head * queries + query + 1) * keys),
        top = row.indexOf(Math.max(...row));
      return `${name} → ${columns[top]} (${formatNumber(row[top], 2)})`;
    })
    .join(", ");

const headView = (weights, head, rows, columns) => {
  const [, queries, keys] = weights.shape,
    size = queries * keys;
  const matrix = { ...weights, shape: [queries, keys], data: weights.data.slice(head * size, (head + 1) * size) };
  return el(
    "div",
    { class: "memory-head" },
    arrayView(matrix, { label: `head ${head}`, range: ofGate, rows, columns }),
    el("p", { class: "array-note" }, looksText(weights, head, rows, columns)),
  );
};

const attentionOfStep = ({ trace, place }, { slots }, { record }, attention, sample) => {
  const weights = weightsOfHeads(trace, attention, sample),
    { heads, queries, keys } = attention;
  const isOfMemory = trace.records[attention.record].scope === trace.records[record].scope;
  const columns = isOfMemory ? rowsOfMemory(keys, slots) : names("key", keys);
  const link = placeText(movedPlace(place, { view: "attention", record: attention.record, t: attention.step }));
  return [
    el("h4", {}, "Who attends to whom: each row says where a slot looks"),
    weights
      ? el(
          "div",
          { class: "arrays" },
          names("head", heads).map((_, head) => headView(weights, head, rowsOfMemory(queries, slots), columns)),
        )
      : absent("weights"),
    el("p", {}, el("a", { href: link }, "its scores and gradients")),
  ];
};

const stepView = (context, { memory, t, sample }, room) => {
  const numbers = stepNumbers(context.trace, memory, t, sample);
  return el(
    "section",
    { class: "memory-step" },
    el("h3", {}, `Step ${t + 1}`),
    el("p", { "aria-live": "polite" }, stepText(numbers)),
    updateView(numbers, memory.slots, room),
    memory.steps[t].attentions.map((one) => attentionOfStep(context, memory, memory.steps[t], one, sample)),
  );
};

// ---- the view

// The place of a step, which the view of attention understands, too.
const placeOfStep = ({ steps }, t) => ({ t, record: steps[t].attentions[0]?.record ?? steps[t].record });

const renderMemory = (root, firstContext) => {
  let context = firstContext,
    history = null,
    shownMemory = null;
  const all = memoriesOf(context.trace);
  const here = () => memoryAt(context.trace, context.place);
  const moveTo = (t) => context.go(placeOfStep(here().memory, t));
  const memoryChoice = choiceOf("memory", "memory-of", all.map(({ name }) => name), (memory) =>
    context.go({ memory, ...placeOfStep(all[memory], 0) }),
  );
  const sampleChoice = choiceOf(
    "sample",
    "memory-sample",
    names("sample", Math.max(...all.map(({ samples }) => samples))),
    (sample) => context.go({ sample }),
  );
  const stepperPlace = el("div", { class: "stepper-place" }),
    past = el("div"),
    now = el("div");
  let stepper = null;
  const update = (next) => {
    context = next;
    const at = here(),
      shownNow = `${at.index} ${at.sample}`;
    memoryChoice.show(at.index);
    sampleChoice.show(at.sample);
    if (shownNow !== shownMemory) {
      stepper = stepperOf(at.memory.steps.length, "step", "memory-step", moveTo);
      history = historyOf(context.trace, at.memory, at.sample, roomIn(root), moveTo);
      stepperPlace.replaceChildren(stepper.element);
      past.replaceChildren(history.element);
      shownMemory = shownNow;
    }
    stepper.show(at.t, `${at.memory.name}, step ${at.t + 1} of ${at.memory.steps.length}`);
    history.mark(at.t);
    replaceContents(now, stepView(context, at, roomIn(root)));
  };
  root.append(
    stepperPlace,
    el("div", { class: "choices" }, memoryChoice.element, sampleChoice.element),
    past,
    now,
  );
  update(context);
  return update;
};

export const memoryView = {
  id: "memory",
  title: "Memory",
  lead:
    "Follow a slot from step to step: where its forget gate is near 1 it keeps what it has, where its input gate is near " +
    "1 it takes what its heads looked at.",
  applies: (trace) => memoriesOf(trace).length > 0,
  render: renderMemory,
  onKey: (key, context) => {
    const { memory, t } = memoryAt(context.trace, context.place),
      next = stepAfterKey(key, t, memory.steps.length);
    if (next !== null) context.go(placeOfStep(memory, next));
    return next !== null;
  },
};
