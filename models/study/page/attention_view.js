// Attention by layer, step and head: scores and weights, and the gradients of both.
import { attentionArrays } from "./attention_arrays.js";
import { attentionMap, mapKinds } from "./attention_map.js";
import { numbersOf, rowOf, stateOfRow, strongestRow } from "./attention_numbers.js";
import { attentionAt, attentionsOf, strongestScore } from "./attention_places.js";
import { attentionRow } from "./attention_row.js";
import { checkRecord } from "./check.js";
import { button, el, formatNumber } from "./dom.js";
import { jacobianInputs } from "./jacobian.js";
import { choiceOf, numbered, replaceContents, roomIn, stepAfterKey, stepperOf } from "./place_controls.js";
import { movedPlace, placeText } from "./places.js";
import { rowHeader, scrollingTable } from "./table.js";
import { verdictView } from "./verdict_view.js";

const meanings = {
  saturated: "▲ saturated",
  single: "△ one key left",
  hidden: "· every key is masked",
  open: "",
};

// All rows at a glance: how much of dA each lets through, and why.
const rowsTable = (told, row, focus) =>
  scrollingTable(
    "rows of this head",
    ["row", "keys seen", "largest weight", "Σ A dA", "|dS| / |dA|", ""],
    told.map((one, n) =>
      el(
        "tr",
        {},
        rowHeader(button(`row ${n}`, () => focus(n), { id: `row-${n}`, "aria-pressed": String(n === row) })),
        el("td", {}, String(one.seen.length)),
        el("td", {}, one.seen.length > 0 ? `${formatNumber(one.weight)} of key ${one.top}` : "–"),
        el("td", {}, one.mean === null || one.seen.length === 0 ? "–" : formatNumber(one.mean)),
        el("td", {}, Number.isFinite(one.passed) ? formatNumber(one.passed, 3) : "–"),
        el("td", { class: "attention-state" }, meanings[stateOfRow(one)]),
      ),
    ),
    { class: "attention-rows" },
  );

// A softmax has a Jacobian for each of its rows, of all samples and heads.
const jacobianLink = (trace, { record, heads, queries }, { sample, head, row }) =>
  trace.records[record].op === "softmax" &&
  jacobianInputs(trace, record).length > 0 &&
  el(
    "a",
    { href: placeText({ view: "jacobian", record, row: (sample * heads + head) * queries + row }) },
    `the Jacobian of row ${row}`,
  );

const recordLine = ({ trace, verdicts, place }, attention, at) => {
  const { record } = attention;
  return el(
    "div",
    { class: "attention-record" },
    el(
      "a",
      { href: placeText(movedPlace(place, { view: "tape", record, phase: null })) },
      `record ${record}, ${trace.records[record].op}`,
    ),
    verdictView(verdicts[record] ?? checkRecord(trace, record), trace.records[record], trace.nodes),
    jacobianLink(trace, attention, at),
  );
};

// The words of the rows of x, where queries and keys are these rows: the tokens of a text, the facts of a story.
export const wordsOfAttention = (trace, { queries }, { weights }) =>
  trace.nodes.find(({ leaf, row_names: names }) => leaf && names?.length === queries && queries === weights.shape[1])
    ?.row_names;

const bodyOf = (context, { attention, head, sample, row: named }, room) => {
  const { trace, go } = context;
  const numbers = numbersOf(trace, attention, { sample, head });
  if (!numbers.weights)
    return [el("p", {}, "The weights of this attention were too large to be kept, or the tape did not hold them.")];
  const row = named ?? strongestRow(numbers),
    told = Array.from({ length: attention.queries }, (_, n) => rowOf(numbers, n));
  const focus = (n) => go({ record: attention.record, row: n }), words = wordsOfAttention(trace, attention, numbers);
  return [
    ...attentionArrays(numbers, told, row, room, focus, words),
    el(
      "div",
      { class: "attention-rest" },
      attentionRow(numbers, told[row], row, words),
      el("section", {}, el("h3", {}, "All rows of this head"), rowsTable(told, row, focus)),
    ),
    recordLine(context, attention, { sample, head, row }),
  ];
};

const stepWords = ({ layer, step }, head, heads) =>
  [layer.name, layer.steps.length > 1 && `step ${step}`, heads > 1 && `head ${head}`]
    .filter(Boolean)
    .join(", ");

const placeOf = (attention) => ({ record: attention.record, layer: attention.layer.index, t: attention.step });

// "the largest gradient of a score: 1.085, at head 1, row 2, key 0"
const factOf = (trace) => {
  const { attention, head, row, key, size } = strongestScore(trace);
  const where = [stepWords(attention, head, attention.heads), `row ${row}`, `key ${key}`].filter(Boolean).join(", ");
  if (size === 0) return "No gradient arrived at a score.";
  return `The largest gradient of a score: |dS| = ${formatNumber(size)}, at ${where}.`;
};

const factView = (trace) => {
  const { attention, head, sample, row } = strongestScore(trace);
  const href = placeText({ view: "attention", ...placeOf(attention), head, sample, row });
  return el("p", {}, el("a", { href, id: "largest-score" }, factOf(trace)));
};

// The controls of the view; go(change of the place).
const controlsOfAttention = (all, go) => {
  const { layers } = all[0],
    most = (what) => Math.max(...all.map((attention) => attention[what]));
  let here = null;
  const sameStep = ({ steps }) => steps[Math.min(here.attention.step, steps.length - 1)];
  const goTo = (attention) => go({ ...placeOf(attention), head: here.head });
  const stepper = stepperOf(all.length, "attention", "attention-step", (n) => goTo(all[n]));
  const layerNames = layers.map(({ name }) => name);
  const layer = choiceOf("layer", "attention-layer", layerNames, (n) => goTo(sameStep(layers[n])));
  const head = choiceOf("head", "attention-head", numbered("head", most("heads")), (n) => go({ head: n }));
  const sample = choiceOf("sample", "attention-sample", numbered("sample", most("samples")), (n) => go({ sample: n }));
  return {
    elements: [stepper.element, el("div", { class: "choices" }, layer.element, head.element, sample.element)],
    show: (at) => {
      here = at;
      stepper.show(all.indexOf(at.attention), stepWords(at.attention, at.head, at.attention.heads));
      layer.show(at.attention.layer.index);
      head.show(at.head);
      sample.show(at.sample);
    },
  };
};

// The map is made anew only when it shows something else.
const mapPart = (trace, root, go) => {
  const place = el("div");
  const kindNames = mapKinds.map(({ name }) => name);
  const kinds = choiceOf("showing", "attention-map-of", kindNames, (map) => go({ map }));
  const choose = (attention, head) => go({ ...placeOf(attention), head });
  let shown = null,
    map = null;
  return {
    element: el("section", { class: "attention-map" }, el("h3", {}, "Every head at a glance"), kinds.element, place),
    show: (named, { attention, head, sample }) => {
      const kind = mapKinds[named] ? named : 0;
      kinds.show(kind);
      if (shown !== `${kind} ${sample}`) {
        map = attentionMap(trace, kind, sample, roomIn(root), choose);
        place.replaceChildren(map ? map.element : el("p", { class: "quiet" }, "Not to be shown in one picture: the attentions differ in size, or were not kept."));
      }
      shown = `${kind} ${sample}`;
      map?.mark(attention, head);
    },
  };
};

const renderAttention = (root, firstContext) => {
  let context = firstContext;
  const all = attentionsOf(context.trace),
    go = (change) => context.go(change);
  const controls = controlsOfAttention(all, go),
    map = mapPart(context.trace, root, go),
    hasMap = all.length > 1 || all[0].heads > 1,
    body = el("div", { class: "attention" });
  const update = (next) => {
    context = next;
    const at = attentionAt(context.trace, context.place);
    controls.show(at);
    if (hasMap) map.show(context.place.map, at);
    replaceContents(body, ...bodyOf(context, at, roomIn(root)));
  };
  root.append(factView(context.trace), ...controls.elements, body, ...(hasMap ? [map.element] : []));
  update(context);
  return update;
};

export const attentionView = {
  id: "attention",
  title: "Attention",
  lead:
    "Compare dA with dS: a score's gradient is its weight times how far its dA lies above the row's average, so a row " +
    "with all its weight on one key passes almost nothing back.",
  applies: (trace) => attentionsOf(trace).length > 0,
  fact: factOf,
  opens: (place) => place.head !== undefined,
  render: renderAttention,
  onKey: (key, context) => {
    const all = attentionsOf(context.trace),
      { attention, head } = attentionAt(context.trace, context.place),
      next = stepAfterKey(key, all.indexOf(attention), all.length);
    if (next !== null) context.go({ ...placeOf(all[next]), head });
    return next !== null;
  },
};
