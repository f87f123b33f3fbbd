// A memory of slots: its contents, its gates and its attention, over all steps and at one.
import { rangeOf } from "./array_colours.js";
import { arrayView } from "./array_view.js";
import { el, formatNumber } from "./dom.js";
import { memoryHistory, notHeld, rangeOfGate } from "./memory_history.js";
import { changeOf, stepNumbers, weightsOfHeads } from "./memory_numbers.js";
import { memoriesOf, memoryAt } from "./memory_places.js";
import { choiceOf, numbered, replaceContents, roomIn, stepAfterKey, stepperOf } from "./place_controls.js";
import { movedPlace, placeText } from "./places.js";

// The rows of a memory and, after its slots, of its input.
const rowsOfMemory = (count, slots) =>
  Array.from({ length: count }, (_, n) =>
    n < slots ? `slot ${n}` : count === slots + 1 ? "input" : `input ${n - slots}`,
  );

const shown = (array, label, options) => (array ? arrayView(array, { label, ...options }) : notHeld(label));

const rangeOfRow = ({ data }, columns, row) => {
  const part = data.slice(row * columns, (row + 1) * columns);
  const [low, high] = [Math.min(...part), Math.max(...part)].map((x) => formatNumber(x, 2));
  return low === high ? `is ${low}` : `lies between ${low} and ${high}`;
};

// The slot that changed the most, and what its gates say.
export const stepText = (numbers) => {
  const change = changeOf(numbers);
  if (!change) return "";
  const slot = change.indexOf(Math.max(...change)),
    columns = numbers.after.shape[1];
  const gates = [
    ["input gate", numbers.input],
    ["forget gate", numbers.forget],
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

// after = forget before + input candidate; without gates before and after alone.
const updateView = (numbers, { input, output }, slots, room) => {
  const cell = cellOfStep(numbers.after?.shape[1] ?? 1, room);
  const range = rangeOf(...["before", "candidate", "after"].map((what) => numbers[what]?.data ?? [])),
    rows = numbered("slot", slots);
  const show = (what, label, colours = range) => shown(numbers[what], label, { rows, cell, range: colours });
  const sign = (text) => el("span", { class: "arithmetic" }, text);
  const line = (...parts) => el("div", { class: "arrays" }, parts);
  const before = show("before", "memory before"),
    after = show("after", "memory after");
  if (input === null) return el("div", { class: "memory-update" }, line(before, sign("→"), after));
  return el(
    "div",
    { class: "memory-update" },
    line(sign(""), show("forget", "forget gate", rangeOfGate), sign("⊙"), before),
    line(sign("+"), show("input", "input gate", rangeOfGate), sign("⊙"), show("candidate", "what is new")),
    line(
      sign("="),
      output !== null && [show("output", "output gate", rangeOfGate), sign("⊙ tanh, which gives")],
      after,
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
    arrayView(matrix, { label: `head ${head}`, range: rangeOfGate, rows, columns }),
    el("p", { class: "array-note" }, looksText(weights, head, rows, columns)),
  );
};

const attentionOfStep = ({ trace, place }, { slots }, { scope }, attention, sample) => {
  const weights = weightsOfHeads(trace, attention, sample),
    { heads, queries, keys } = attention;
  const isOfMemory = trace.records[attention.record].scope === scope;
  const columns = isOfMemory ? rowsOfMemory(keys, slots) : numbered("key", keys);
  const link = placeText(movedPlace(place, { view: "attention", record: attention.record, t: attention.step }));
  return [
    el("h4", {}, "Who attends to whom: each row says where a slot looks"),
    weights
      ? el(
          "div",
          { class: "arrays" },
          numbered("head", heads).map((_, head) => headView(weights, head, rowsOfMemory(queries, slots), columns)),
        )
      : notHeld("weights"),
    el("p", {}, el("a", { href: link }, "its scores and gradients")),
  ];
};

const stepView = (context, { memory, t, sample }, room) => {
  const numbers = stepNumbers(context.trace, memory, t, sample);
  return el(
    "section",
    { class: "memory-step" },
    el("h3", {}, `Step ${t}`),
    el("p", { "aria-live": "polite" }, stepText(numbers)),
    updateView(numbers, memory.steps[t], memory.slots, room),
    memory.steps[t].attentions.map((one) => attentionOfStep(context, memory, memory.steps[t], one, sample)),
  );
};

// The place of a step, which the view of attention understands, too.
const placeOfStep = ({ steps }, t) => ({ t, record: steps[t].attentions[0]?.record ?? steps[t].record });

const renderMemory = (root, firstContext) => {
  let context = firstContext,
    history = null,
    shownMemory = null;
  const all = memoriesOf(context.trace);
  const here = () => memoryAt(context.trace, context.place);
  const moveTo = (t) => context.go(placeOfStep(here().memory, t));
  const memoryChoice = choiceOf(
    "memory",
    "memory-of",
    all.map(({ name }) => name),
    (memory) => context.go({ memory, ...placeOfStep(all[memory], 0) }),
  );
  const sampleChoice = choiceOf(
    "sample",
    "memory-sample",
    numbered("sample", Math.max(...all.map(({ samples }) => samples))),
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
      history = memoryHistory(context.trace, at.memory, at.sample, roomIn(root), moveTo);
      stepperPlace.replaceChildren(stepper.element);
      past.replaceChildren(history.element);
      shownMemory = shownNow;
    }
    stepper.show(at.t, `${at.memory.name}, step ${at.t}`);
    history.mark(at.t);
    replaceContents(now, stepView(context, at, roomIn(root)));
  };
  root.append(stepperPlace, el("div", { class: "choices" }, memoryChoice.element, sampleChoice.element), past, now);
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
