// Attention by layer, step and head: scores and weights, and the gradients of both.
import { attentionMap, mapKinds } from "./attention_map.js";
import { numbersOf, stateOfRow, strongestRow } from "./attention_numbers.js";
import { operandsOf } from "./attention_operands.js";
import { attentionAt, attentionsOf, strongestScore } from "./attention_places.js";
import { rowTable } from "./attention_row.js";
import { attentionScreen } from "./attention_screen.js";
import { wordsOfAttention } from "./attention_words.js";
import { checkRecord } from "./check.js";
import { button, el, formatNumber } from "./dom.js";
import { jacobianInputs } from "./jacobian.js";
import { headStrip } from "./head_strip.js";
import { sizeOfScreen } from "./paired_arrays.js";
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

const tablesOf = (arrays, { told }, row, words, focus) =>
  el(
    "div",
    { class: "attention-rest" },
    el("section", {}, el("h3", {}, `Row ${row}, key by key`), rowTable(arrays, told[row], row, words.keys)),
    el("section", {}, el("h3", {}, "All rows of this head"), rowsTable(told, row, focus)),
  );

// A head: {element, show(at, context)}. Another row of it changes only what has to change.
const headPart = (context, { attention, head, sample }, room) => {
  const { trace } = context, numbers = numbersOf(trace, attention, { sample, head });
  if (!numbers.weights) {
    const why = "The weights of this attention were too large to be kept, or the tape did not hold them.";
    return { element: el("p", {}, why), show: () => {} };
  }
  const arrays = { ...numbers, ...operandsOf(trace, attention, { sample, head }) }, words = wordsOfAttention(trace, attention);
  const focus = (row) => context.go({ record: attention.record, head, row });
  const screen = attentionScreen(arrays, { words, choose: focus, fact: factView(trace), ...sizeOfScreen(room, attention.heads > 1 ? 370 : 330) }), rest = el("div");
  return {
    element: el("div", {}, screen.element, rest),
    show: ({ row: named }, now) => {
      const row = named ?? strongestRow(numbers);
      screen.show(row);
      replaceContents(rest, recordLine(now, attention, { sample, head, row }), tablesOf(arrays, screen, row, words, focus));
    },
  };
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
  return el("p", { class: "array-note" }, el("a", { href, id: "largest-score" }, factOf(trace)));
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
  const sample = choiceOf("sample", "attention-sample", numbered("sample", most("samples")), (n) => go({ sample: n }));
  return {
    element: el("div", {}, stepper.element, el("div", { class: "choices" }, layer.element, sample.element)),
    show: (at) => {
      here = at;
      stepper.show(all.indexOf(at.attention), stepWords(at.attention, at.head, at.attention.heads));
      layer.show(at.attention.layer.index);
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
  let context = firstContext, shown = null, part = null, strip = null;
  const all = attentionsOf(context.trace),
    go = (change) => context.go(change);
  const controls = controlsOfAttention(all, go),
    map = mapPart(context.trace, root, go),
    hasMap = all.length > 1 || all[0].heads > 1,
    heads = el("div"),
    body = el("div", { class: "attention" });
  const showHead = (at) => {
    const { attention, head, sample } = at, now = [attention.record, head, sample, roomIn(root)].join(" ");
    if (now === shown) return;
    strip = headStrip(context.trace, attention, sample, (n) => go({ ...placeOf(attention), head: n }));
    part = headPart({ ...context, go }, at, roomIn(root));
    replaceContents(heads, strip.element ?? "");
    replaceContents(body, part.element);
    strip.show(head);
    shown = now;
  };
  const update = (next) => {
    context = next;
    const at = attentionAt(context.trace, context.place);
    controls.show(at);
    if (hasMap) map.show(context.place.map, at);
    showHead(at);
    part.show(at, context);
  };
  root.append(el("div", { class: "attention-top" }, controls.element, heads), body, ...(hasMap ? [map.element] : []));
  update(context);
  return update;
};

export const attentionView = {
  id: "attention",
  title: "Attention",
  lead:
    "Compare dA with dS: a score's gradient is its weight times how far its dA lies above the row's mean.",
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
