// A memory of slots over all steps: what each step made of it stands below each other.
import { rangeBetween } from "./array_colours.js";
import { gapOfBlocks } from "./array_layout.js";
import { arrayView } from "./array_view.js";
import { el, formatNumber } from "./dom.js";
import { bySlot, changeOf, rowNorms, stacked, stepNumbers, weightsOfHeads, weightsOverTime } from "./memory_numbers.js";
import { markedNames, numbered } from "./place_controls.js";

export const rangeOfGate = rangeBetween(0, 1);

export const notHeld = (label) =>
  el(
    "figure",
    { class: "array" },
    el("figcaption", {}, el("span", { class: "array-name" }, label)),
    el("p", { class: "array-note" }, "not held by the tape, or too large to be kept"),
  );

const widthOfNames = 60;

// Steps stand below each other in all arrays: as wide as the room allows, but cells must be seen.
const widthOfStep = (steps, features, room) => {
  const cell = Math.floor(((room - widthOfNames) / steps - gapOfBlocks) / features);
  return features * Math.max(2, Math.min(20, cell));
};

// An array whose blocks are the steps; a click moves to the step under the pointer. Its names of steps can be marked.
const overTime = (array, label, { axis = 0, width, marks, go, ...options }) => {
  if (!array) return notHeld(label);
  const columns = markedNames(Array.from({ length: array.shape[axis] }, (_, t) => String(t)));
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

// How the gradient of the memory changes on its way back: the norms of all slots together, by step.
export const gradientText = (gradients) => {
  if (gradients.length < 2 || !gradients.every(Boolean)) return "";
  const [first, last] = [gradients[0], gradients.at(-1)].map((gradient) => Math.hypot(...rowNorms(gradient)));
  const verb = first < last ? "shrinks" : "grows";
  return (
    `Going back from step ${gradients.length - 1} to step 0, the gradient of the memory ${verb} from ` +
    `${formatNumber(last, 3)} to ${formatNumber(first, 3)}.`
  );
};

// {element, mark(step)}; go(step) follows a click.
export const memoryHistory = (trace, memory, sample, room, go) => {
  const all = memory.steps.map((_, t) => stepNumbers(trace, memory, t, sample)),
    marks = [];
  const hasGates = memory.steps[0].input !== null,
    width = widthOfStep(all.length, memory.features, room);
  const options = { rows: numbered("slot", memory.slots), width, marks, go };
  const show = (what, label, range) => overTime(stacked(all.map((step) => step[what])), label, { ...options, range });
  const attentionAtPlace = (_, place) => {
    const weights = attentionOverTime(trace, memory, sample, place);
    const label = "who attends to whom: weights by head, step, slot and key";
    return (
      weights &&
      overTime(weights, label, { ...options, axis: 1, rows: numbered("head", weights.shape[0]), range: rangeOfGate })
    );
  };
  const element = el(
    "section",
    { class: "memory-history" },
    el("h3", {}, "Over time"),
    show("after", "memory after each step"),
    hasGates && show("input", "input gate", rangeOfGate),
    hasGates && show("forget", "forget gate: what is kept", rangeOfGate),
    memory.steps[0].output !== null && show("output", "output gate", rangeOfGate),
    overTime(bySlot(all.map(changeOf)), "|change| of each slot", options),
    overTime(bySlot(all.map(({ gradient }) => gradient && rowNorms(gradient))), "|gradient| of each slot", options),
    el("p", {}, gradientText(all.map(({ gradient }) => gradient))),
    memory.steps[0].attentions.map(attentionAtPlace),
  );
  const mark = (now) => {
    for (const columns of marks) columns.mark(now);
    showStep(element, marks[0]?.elements[now]);
  };
  return { element, mark };
};
