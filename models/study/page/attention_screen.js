// The whole of a head on one screen: Q, K, V, S, A and Y, and below them their gradients.
import { rangeOf, rangeWithoutOutliers } from "./array_colours.js";
import { cellText, symbols } from "./attention_cell.js";
import { rowOf, saturatedFrom, stateOfRow } from "./attention_numbers.js";
import { attentionRow } from "./attention_row.js";
import { el } from "./dom.js";
import { pairedArrays } from "./paired_arrays.js";

const signs = { saturated: "▲", single: "△", hidden: "·", open: "" };

const seenElements = (array, hidden) => array?.data.filter((_, n) => !hidden(n)) ?? [];

// One range for both gradients shows what the softmax lets through. Much smaller ones would not be seen in it.
const gradientRanges = ({ dWeights, dScores, hidden }) => {
  const [ofWeights, ofScores] = [dWeights, dScores].map((array) => rangeWithoutOutliers(seenElements(array, hidden))),
    both = rangeOf(...[ofWeights, ofScores].map(({ low, high }) => [low, high]));
  const sizeOf = ({ low, high }) => Math.max(-low, high);
  const isFaint = Boolean(dScores && dWeights) && sizeOf(ofScores) < 0.3 * sizeOf(ofWeights);
  return isFaint ? { ofWeights, ofScores, isFaint } : { ofWeights: both, ofScores: both, isFaint };
};

const legendText = (isFaint) =>
  "Rows of S and A are queries, columns are keys. " +
  `· masked, ▲ saturated (a weight above ${saturatedFrom}), △ only one key left. A click keeps a row. ` +
  (isFaint ? "dS is so much smaller than dA that it has colours of its own." : "dA and dS share one scale of colours.");

const longest = 16, mostWords = 14, roomOfNumbers = 20;
const shortened = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);
const numbers = (count) => Array.from({ length: count }, (_, n) => String(n));

// Names of rows: numbers, and words where these have room. {names, room: their pixels}.
const namesOf = (count, words) => {
  if (!words || count > mostWords) return { names: numbers(count), room: roomOfNumbers };
  const names = numbers(count).map((number, n) => `${number} ${shortened(words[n], longest)}`.trim());
  return { names, room: 8 + 6.5 * Math.max(...names.map(({ length }) => length)) };
};

// Above columns, words stand upright, if there is room for them.
const narrowestOfWords = 10, longestUpright = 11;
const asColumns = (words, count) => (width) =>
  words && width >= narrowestOfWords
    ? numbers(count).map((number, n) => el("span", { class: "upright" }, `${number} ${shortened(words[n], longestUpright)}`))
    : numbers(count);

// The pairs of a head. `words` are those of {queries, keys}.
const pairsOf = (arrays, told, words) => {
  const { ofWeights, ofScores } = gradientRanges(arrays), { hidden } = arrays;
  const [queries, keys] = arrays.weights.shape;
  const ofQueries = namesOf(queries, words.queries), ofKeys = namesOf(keys, words.keys);
  const rowSigns = told.map((row, n) => `${signs[stateOfRow(row)]}${n}`);
  const array = (name, options) => ({ name, label: symbols[name], array: arrays[name], ...options });
  const columnsOf = (name) => () => numbers(arrays[name].shape[1]);
  const features = arrays.q?.shape[1] ?? arrays.v?.shape[1] ?? 1, stretch = Math.max(1, Math.min(3, features / keys));
  const pair = (axes, value, gradient, { names: rows, room: beside }) => {
    const options = { rows, columns: columnsOf(value) };
    return { axes, beside, top: array(value, { ...options, absent: "not kept" }), bottom: array(gradient, options) };
  };
  const square = (value, gradient, range, gradientRange) => ({
    axes: ["query", "key"], beside: 26, stretch, above: words.keys ? 60 : 0,
    top: array(value, { mask: hidden, range, rows: rowSigns, columns: asColumns(words.keys, keys) }),
    bottom: array(gradient, { mask: hidden, range: gradientRange, rows: rowSigns, columns: asColumns(null, keys) }),
  });
  const plain = { names: numbers(queries), room: roomOfNumbers };
  const ofKeyRows = queries === keys ? plain : ofKeys;
  return [
    arrays.q && pair(["query", "feature"], "q", "dq", ofQueries),
    arrays.k && pair(["key", "feature"], "k", "dk", ofKeyRows),
    arrays.v && pair(["key", "value"], "v", "dv", { names: numbers(keys), room: roomOfNumbers }),
    square("scores", "dScores", rangeWithoutOutliers(seenElements(arrays.scores, hidden)), ofScores),
    square("weights", "dWeights", rangeWithoutOutliers(seenElements(arrays.weights, hidden)), ofWeights),
    arrays.y && pair(["query", "value"], "y", "dy", plain),
  ].filter(Boolean);
};

const placeOfCell = (pairs, { name, index: [row, column] }) => {
  const { axes: [rows, columns] } = pairs.find(({ top, bottom }) => top.name === name || bottom.name === name);
  return { [rows]: row, [columns]: column };
};

// {element, show(row)}: the arrays {q, ..., dWeights, hidden, factor} of a head, and beside them the sentence of the row
// that is pointed at, or else of the one that was chosen, and the fact. choose(row) follows a click.
export const attentionScreen = (arrays, { words, room, height, choose, fact }) => {
  const told = Array.from({ length: arrays.weights.shape[0] }, (_, n) => rowOf(arrays, n));
  const pairs = pairsOf(arrays, told, words);
  const sentence = el("div"), cell = el("p", { class: "cell-text", "aria-live": "polite" });
  let chosen = 0, shownRow = null;
  const showRow = (row) => {
    if (row !== shownRow) sentence.replaceChildren(attentionRow(arrays, told[row], row, words));
    shownRow = row;
  };
  const see = (pointed) => {
    const place = pointed && placeOfCell(pairs, pointed);
    screen.mark(place, { query: chosen });
    cell.textContent = pointed ? cellText(arrays, pointed) : "Point at a number to see where it comes from.";
    showRow(place?.query ?? chosen);
  };
  const pick = (pointed) => {
    const { query } = placeOfCell(pairs, pointed);
    if (query !== undefined) choose(query);
  };
  const screen = pairedArrays(pairs, { room, height, see, pick });
  const { isFaint } = gradientRanges(arrays);
  return {
    element: el("div", { class: "screen" },
      el("div", {}, screen.element, el("p", { class: "array-note" }, legendText(isFaint))),
      el("div", { class: "screen-side" }, sentence, cell, fact)),
    told,
    show: (row) => {
      chosen = row;
      see(null);
    },
  };
};
