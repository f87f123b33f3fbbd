// All attentions and heads at a glance, in one array: attentions across, heads down.
import { rangeOf } from "./array_colours.js";
import { gapOfBlocks } from "./array_layout.js";
import { arrayView } from "./array_view.js";
import { attentionsOf } from "./attention_places.js";
import { numbersOf } from "./attention_numbers.js";
import { markedNames, numbered } from "./place_controls.js";
import { ndArray } from "./tensor.js";

// The arrays of a head that the map can show.
export const mapKinds = [
  { name: "weights A", of: ({ weights }) => weights },
  { name: "gradient dA", of: ({ dWeights }) => dWeights },
  { name: "gradient dS", of: ({ dScores }) => dScores },
];

// Heads of one size: [heads, attentions, queries, keys], or [1, heads, ...] of one attention, with the masked elements;
// null where something is missing or the attentions are not alike.
export const mapOf = (trace, attentions, kind, sample) => {
  const [{ heads, queries, keys }] = attentions;
  if (attentions.some((one) => one.heads !== heads || one.queries !== queries || one.keys !== keys)) return null;
  const elements = [],
    hidden = [];
  for (let head = 0; head < heads; ++head)
    for (const attention of attentions) {
      const numbers = numbersOf(trace, attention, { sample, head }),
        matrix = kind.of(numbers);
      if (!matrix) return null;
      for (let n = 0; n < matrix.size; ++n) {
        elements.push(matrix.data[n]);
        hidden.push(numbers.hidden(n));
      }
    }
  const blocks = attentions.length === 1 ? [1, heads] : [heads, attentions.length];
  return { array: ndArray([...blocks, queries, keys], elements), hidden };
};

const columnName = ({ layer, step, layers }) =>
  layers.length === 1
    ? String(step)
    : layer.steps.length === 1
      ? `layer ${layer.index}`
      : `${layer.index}:${step}`;

const roomOfNames = 60,
  tallest = 480,
  mostCells = 2 ** 18; // 64 heads of 64 rows and keys

const cellOfMap = (room, [down, across, queries, keys]) => {
  const wide = Math.floor(((room - roomOfNames) / across - gapOfBlocks) / keys),
    high = Math.floor(tallest / (down * queries));
  const side = Math.max(3, Math.min(20, wide, high));
  return { width: side, height: side };
};

// The heads of one attention stand side by side; those of several stand below each other.
const axesOfMap = (attentions, heads) => {
  const ofHeads = markedNames(numbered("head", heads));
  if (attentions.length === 1) return { across: ofHeads, down: null, placeAt: ([, head]) => [attentions[0], head] };
  return {
    across: markedNames(attentions.map(columnName)),
    down: ofHeads,
    placeAt: ([head, n]) => [attentions[n], head],
  };
};

// {element, mark(attention, head)}, or null where sizes differ. choose(attention, head) follows a click.
export const attentionMap = (trace, kind, sample, room, choose) => {
  const attentions = attentionsOf(trace),
    { heads } = attentions[0],
    found = mapOf(trace, attentions, mapKinds[kind], sample);
  if (!found) return null;
  const { array, hidden } = found,
    { across, down, placeAt } = axesOfMap(attentions, heads);
  let pointed = null;
  const element = arrayView(array, {
    label: `${mapKinds[kind].name} by ${down ? "head, attention" : "attention, head"}, query and key`,
    mask: (n) => hidden[n],
    maxCells: mostCells,
    cell: cellOfMap(room, array.shape),
    range: rangeOf(array.data.filter((_, n) => !hidden[n])),
    rows: down?.elements,
    columns: across.elements,
    onCell: (cell) => (pointed = cell),
  });
  element.addEventListener("click", (event) => {
    if (event.target.tagName === "CANVAS" && pointed) choose(...placeAt(pointed.index));
  });
  const mark = (attention, head) => {
    down?.mark(head);
    across.mark(down ? attentions.indexOf(attention) : head);
  };
  return { element, mark };
};
