// All attentions and heads at a glance, in one array: attentions across, heads down.
import { rangeBetween, rangeOf } from "./array_colours.js";
import { gapOfBlocks } from "./array_layout.js";
import { arrayView } from "./array_view.js";
import { attentionsOf } from "./attention_places.js";
import { numbersOf } from "./attention_numbers.js";
import { markedNames } from "./place_controls.js";
import { ndArray } from "./tensor.js";

// What the map can show of each head.
export const mapKinds = [
  { name: "weights A", of: ({ weights }) => weights },
  { name: "gradient dA", of: ({ dWeights }) => dWeights },
  { name: "gradient dS", of: ({ dScores }) => dScores },
];

// Heads of one size side by side: [heads, attentions, queries, keys], with the masked elements; null where something is
// missing or the attentions are not alike.
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
  return { array: ndArray([heads, attentions.length, queries, keys], elements), hidden };
};

const columnName = ({ layer, step, layers }) =>
  layers.length === 1
    ? `step ${step + 1}`
    : layer.steps.length === 1
      ? `layer ${layer.index}`
      : `${layer.index}:${step + 1}`;

const roomOfNames = 60,
  widestCell = 20;

const cellOfMap = (room, count, keys) => {
  const width = Math.max(4, Math.min(widestCell, Math.floor(((room - roomOfNames) / count - gapOfBlocks) / keys)));
  return { width, height: Math.max(8, Math.min(width, 16)) };
};

// {element, mark(attention, head)}, or null where sizes differ. choose(attention, head) follows a click.
export const attentionMap = (trace, kind, sample, room, choose) => {
  const attentions = attentionsOf(trace),
    { heads, keys } = attentions[0],
    found = mapOf(trace, attentions, mapKinds[kind], sample);
  if (!found) return null;
  const { array, hidden } = found,
    rows = markedNames(Array.from({ length: heads }, (_, head) => `head ${head}`)),
    columns = markedNames(attentions.map(columnName));
  let pointed = null;
  const element = arrayView(array, {
    label: `${mapKinds[kind].name} by head, attention, query and key`,
    mask: (n) => hidden[n],
    maxCells: 16384,
    cell: cellOfMap(room, attentions.length, keys),
    range: kind === 0 ? rangeBetween(0, 1) : rangeOf(array.data.filter((_, n) => !hidden[n])),
    rows: rows.elements,
    columns: attentions.length > 1 ? columns.elements : null,
    onCell: (cell) => (pointed = cell),
  });
  element.addEventListener("click", (event) => {
    if (event.target.tagName === "CANVAS" && pointed) choose(attentions[pointed.index[1]], pointed.index[0]);
  });
  const mark = (attention, head) => {
    rows.mark(head);
    columns.mark(attentions.indexOf(attention));
  };
  return { element, mark };
};
