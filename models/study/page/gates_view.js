// The gates of LSTMs and GRUs by step and unit, and how much of the gradient each step lets through.
import { rangeBetween } from "./array_colours.js";
import { button, el, exactNumber, formatNumber } from "./dom.js";
import { gateNumbers, shareOfStep } from "./gates_numbers.js";
import { recurrenceAt, recurrencesOf } from "./gates_places.js";
import { pairedArrays, sizeOfScreen } from "./paired_arrays.js";
import { choiceOf, numbered, replaceContents, roomIn, stepAfterKey } from "./place_controls.js";
import { placeText } from "./places.js";
import { rowHeader, scrollingTable } from "./table.js";
import { makerOf } from "./tape_graph.js";
import { NdArray } from "./tensor.js";

const rangeOfOpenness = rangeBetween(0, 1), mostSteps = 64;
const isGateName = (part) => ["i", "f", "o", "r", "z"].includes(part);

// The formulas of the gradients, as the record of the fused op has them.
const origins = {
  lstm: { di: "dc g", df: "dc c of the step before", dg: "dc i", do: "dh tanh c", dc: "dh o (1 − tanh² c) + dc f of the step after" },
  gru: { dr: "dn (1 − n²) q_n", dz: "dh (h of the step before − n)", dn: "dh (1 − z)" },
  gated: { di: "dc g", df: "dc c of the step before", dg: "dc i" },
};

const inPercent = (share) => `${formatNumber(100 * share, 2)} %`;

// "Step 3 let 12 % of dc through to step 2: unit 5's f = 0.03 stopped the most."
export const shareText = (numbers, recurrence, t) => {
  const { state, gate } = recurrence, told = shareOfStep(numbers, recurrence, t);
  if (!told) return "The tape did not keep these gates and gradients, or they were too large.";
  if (Number.isNaN(told.share)) return `No gradient arrived at d${state} of step ${t}.`;
  const to = t > 0 ? `to step ${t - 1}` : "to the state before the first step";
  return `Step ${t} let ${inPercent(told.share)} of d${state} through ${to}: unit ${told.unit}'s ${gate} = ` +
    `${formatNumber(told.gate, 3)} stopped the most.`;
};

// The step that let the least through.
const leastOf = (numbers, recurrence) => {
  const shares = recurrence.steps.map((_, t) => shareOfStep(numbers, recurrence, t)?.share ?? NaN);
  const known = shares.filter((share) => !Number.isNaN(share));
  return known.length > 0 ? shares.indexOf(Math.min(...known)) : null;
};

const factOfGates = (trace) => {
  const [recurrence] = recurrencesOf(trace), numbers = gateNumbers(trace, recurrence, 0);
  return shareText(numbers, recurrence, leastOf(numbers, recurrence) ?? recurrence.steps.length - 1);
};

// Of many steps the last ones, where the gradient begins.
const lastSteps = (array, first) => {
  if (!array || first === 0) return array;
  const [units, steps] = array.shape, shown = steps - first;
  return new NdArray(array.dtype, [units, shown], Float64Array.from({ length: units * shown }, (_, n) =>
    array.data[Math.floor(n / shown) * steps + first + (n % shown)]));
};

const pairsOfGates = ({ values, gradients, left, passed }, { parts, state, gate, steps, units }) => {
  const first = Math.max(0, steps.length - mostSteps), count = steps.length - first;
  const rows = Array.from({ length: units }, (_, unit) => String(unit));
  const columns = () => Array.from({ length: count }, (_, n) => String(first + n));
  const array = (name, data, range) => ({ name, label: name, array: lastSteps(data, first), range, rows, columns });
  const pair = (top, bottom) => ({ axes: ["unit", "step"], beside: 22, above: 14, top, bottom });
  return [
    ...parts.map((part) =>
      pair(array(part, values[part], isGateName(part) ? rangeOfOpenness : null), array(`d${part}`, gradients[part]))),
    pair(array(`Π ${gate}`, left, rangeOfOpenness), array(`${gate} d${state}`, passed)),
  ];
};

const cellTextOf = ({ name, index: [unit, column] }, array, first, { kind, gate }) => {
  const step = first + column, origin = origins[kind][name];
  const what = name.startsWith("Π") ? `the product of ${gate} over all later steps` : origin;
  return `${name} of unit ${unit} at step ${step} = ${what ? `${what} = ` : ""}${exactNumber(array.at(unit, column))}`;
};

const cardsOf = (trace, { parts, steps, fused }, t) => {
  const link = (record, words) => el("a", { href: placeText({ view: "tape", record }) }, words);
  if (fused !== null) return ["The card: ", link(fused, `record ${fused}, ${trace.records[fused].op}`)];
  const makers = parts.map((part) => [part, makerOf(trace, steps[t].nodes[part])]);
  return ["The cards of this step: ", makers.map(([part, record], n) =>
    [n > 0 && ", ", link(record, `${part} (record ${record})`)])];
};

const stepsTable = (numbers, recurrence, chosen, focus) =>
  scrollingTable("all steps", ["step", "let through", "stopped most by", recurrence.gate],
    recurrence.steps.map((_, t) => {
      const told = shareOfStep(numbers, recurrence, t), isKnown = told && !Number.isNaN(told.share);
      const name = button(`step ${t}`, () => focus(t), { id: `gates-step-${t}`, "aria-pressed": String(t === chosen) });
      return el("tr", {}, rowHeader(name), el("td", {}, isKnown ? inPercent(told.share) : "–"),
        el("td", {}, isKnown ? `unit ${told.unit}` : "–"), el("td", {}, isKnown ? formatNumber(told.gate, 3) : "–"));
    }), { class: "attention-rows" });

const wordsOfSteps = (trace, { steps }) =>
  trace.nodes.find(({ leaf, row_names: names }) => leaf && names?.length === steps.length)?.row_names;

// {element, show(t, context)} of one layer and sample.
const layerPart = (context, { recurrence, sample }, room) => {
  const { trace, go } = context, numbers = gateNumbers(trace, recurrence, sample);
  const { steps, gate, state } = recurrence, first = Math.max(0, steps.length - mostSteps);
  const words = wordsOfSteps(trace, recurrence), pairs = pairsOfGates(numbers, recurrence);
  const told = el("div"), cell = el("p", { class: "cell-text", "aria-live": "polite" });
  const cards = el("p", { class: "array-note" }), rest = el("div"), focus = (t) => go({ t });
  let chosen = 0;
  const arrayNamed = (name) => pairs.flatMap(({ top, bottom }) => [top, bottom]).find((one) => one.name === name).array;
  const see = (pointed) => {
    const [unit, column] = pointed?.index ?? [], t = pointed ? first + column : chosen;
    screen.mark(pointed && { unit, step: column }, { step: chosen - first });
    cell.textContent = pointed
      ? cellTextOf(pointed, arrayNamed(pointed.name), first, recurrence)
      : "Point at a number to see where it comes from.";
    told.replaceChildren(el("h3", {}, `Step ${t}${words?.[t] ? `, ${words[t]}` : ""}`),
      el("p", { "aria-live": "polite" }, shareText(numbers, recurrence, t)));
  };
  const screen = pairedArrays(pairs, { ...sizeOfScreen(room), see, pick: ({ index }) => focus(first + index[1]) });
  const note = `Rows are units, columns are steps${first > 0 ? ` (the last ${mostSteps} of ${steps.length})` : ""}. ` +
    `Π ${gate}: what the gates of all later steps leave of the gradient of the last state. ${gate} d${state}: what a step sends ` +
    "to the one before along its state; more may come by other ways. A click keeps a step.";
  return {
    element: el("div", {}, el("div", { class: "screen" },
      el("div", {}, screen.element, el("p", { class: "array-note" }, note)),
      el("div", { class: "screen-side" }, told, cell, cards)), rest),
    show: (t) => {
      chosen = t ?? leastOf(numbers, recurrence) ?? steps.length - 1;
      cards.replaceChildren(...cardsOf(trace, recurrence, chosen).flat(Infinity).filter(Boolean));
      see(null);
      replaceContents(rest, el("h3", {}, "All steps"), stepsTable(numbers, recurrence, chosen, focus));
    },
  };
};

const renderGates = (root, context) => {
  const all = recurrencesOf(context.trace), body = el("div");
  const isAlone = (path) => all.filter((one) => one.path === path).length === 1;
  const name = ({ kind, path }, n) => `${path || kind}${isAlone(path) ? "" : ` ${n + 1}`}`;
  const layer = choiceOf("layer", "gates-layer", all.map(name), (recurrence) => context.go({ recurrence, t: null }));
  const sample = choiceOf("sample", "gates-sample", numbered("sample", Math.max(...all.map(({ samples }) => samples))),
    (number) => context.go({ sample: number }));
  let shown = null, part = null;
  const update = (next) => {
    const at = recurrenceAt(next.trace, next.place), now = `${at.index} ${at.sample} ${roomIn(root)}`;
    layer.show(at.index);
    sample.show(at.sample);
    if (now !== shown) {
      part = layerPart(context, at, roomIn(root));
      body.replaceChildren(part.element);
      shown = now;
    }
    part.show(at.t);
  };
  root.append(el("div", { class: "choices" }, layer.element, sample.element), body);
  update(context);
  return update;
};

export const gatesView = {
  id: "gates",
  title: "Gates",
  lead: "A gate near 1 hands the gradient of its unit to the step before; one near 0 stops it there.",
  applies: (trace) => recurrencesOf(trace).length > 0,
  fact: factOfGates,
  render: renderGates,
  onKey: (key, { trace, place, go }) => {
    const { recurrence, t, sample } = recurrenceAt(trace, place);
    const at = t ?? leastOf(gateNumbers(trace, recurrence, sample), recurrence) ?? 0;
    const next = stepAfterKey(key, at, recurrence.steps.length);
    if (next !== null) go({ t: next });
    return next !== null;
  },
};
