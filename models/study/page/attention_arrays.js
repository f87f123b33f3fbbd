// The four arrays of a head side by side: scores and weights, and the gradients of both.
import { rangeBetween, rangeOf } from "./array_colours.js";
import { arrayView } from "./array_view.js";
import { saturatedFrom, stateOfRow } from "./attention_numbers.js";
import { el } from "./dom.js";

const signs = { saturated: "▲", single: "△", hidden: "·", open: "" };

const seenElements = (array, hidden) => array?.data.filter((_, n) => !hidden(n)) ?? [];

const absentView = (label) =>
  el(
    "figure",
    { class: "array" },
    el("figcaption", {}, el("span", { class: "array-name" }, label)),
    el("p", { class: "array-note" }, "nothing arrived: the loss does not depend on it"),
  );

// One array of the four; a click on a cell puts its row into focus.
const matrixView = (array, label, { hidden, focus, ...options }) => {
  if (!array) return absentView(label);
  let pointed = null;
  const columns = Array.from({ length: array.shape[1] }, (_, key) => String(key));
  const figure = arrayView(array, { label, mask: hidden, columns, onCell: (cell) => (pointed = cell), ...options });
  figure.addEventListener("click", (event) => {
    if (event.target.tagName === "CANVAS" && pointed) focus(pointed.index[0]);
  });
  return figure;
};

// Four arrays in a row if their numbers can be read then, or else two.
export const cellOfAttention = (keys, room) => {
  const widthOf = (arrays) => Math.floor((room / arrays - 60) / keys);
  const width = Math.max(8, Math.min(58, widthOf(4) >= 44 ? widthOf(4) : widthOf(2)));
  return { width, height: Math.min(width, 23) };
};

const longestWords = 14;
const shortened = (words) => (words.length > longestWords ? `${words.slice(0, longestWords - 1)}…` : words);
const rowNames = (told, row, words) =>
  told.map((one, n) => `${n === row ? "▸" : ""}${signs[stateOfRow(one)]} ${n} ${shortened(words?.[n] ?? "")}`.trim());

// One range for both gradients shows what the softmax lets through. Much smaller ones would not be seen in it.
const gradientRanges = ({ dWeights, dScores, hidden }) => {
  const [ofWeights, ofScores] = [dWeights, dScores].map((array) => rangeOf(seenElements(array, hidden))),
    both = rangeOf(seenElements(dWeights, hidden), seenElements(dScores, hidden));
  const sizeOf = ({ low, high }) => Math.max(-low, high);
  const isFaint = Boolean(dScores && dWeights) && sizeOf(ofScores) < 0.1 * sizeOf(ofWeights);
  return isFaint ? { ofWeights, ofScores, isFaint } : { ofWeights: both, ofScores: both, isFaint };
};

const legendText = (isFaint) =>
  "Each row is a query and each column a key. ▸ the row explained below, · masked, ▲ saturated (a weight above " +
  `${saturatedFrom}), △ only one key left. ` +
  (isFaint ? "dS is so much smaller than dA that it has colours of its own." : "Both gradients share one scale of colours.");

// With a legend below; focus(row) follows a click. `words`, if there are any, name the rows.
export const attentionArrays = (numbers, told, row, room, focus, words) => {
  const { scores, weights, dWeights, dScores, hidden } = numbers;
  const { ofWeights, ofScores, isFaint } = gradientRanges(numbers);
  const options = { rows: rowNames(told, row, words), cell: cellOfAttention(weights.shape[1], room), hidden, focus };
  const show = (array, label, range) => matrixView(array, label, { ...options, range });
  const part = (title, ...figures) =>
    el("section", { class: "attention-pass" }, el("h3", {}, title), el("div", { class: "arrays" }, figures));
  return [
    el(
      "div",
      { class: "attention-arrays" },
      part(
        "Forward",
        show(scores, "scores S", rangeOf(seenElements(scores, hidden))),
        show(weights, "weights A", rangeBetween(0, 1)),
      ),
      part("Backward", show(dWeights, "gradient dA", ofWeights), show(dScores, "gradient dS", ofScores)),
    ),
    el("p", { class: "quiet" }, legendText(isFaint)),
  ];
};
