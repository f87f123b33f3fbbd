// One row of an attention in words and numbers: dS = A (dA - sum A dA), key by key.
import { saturatedFrom, stateOfRow } from "./attention_numbers.js";
import { el, formatNumber } from "./dom.js";
import { formulaMath } from "./mathml.js";
import { rowHeader, scrollingTable } from "./table.js";

// "Key 3" or "Key 3 (Mary left)".
const keyText = (key, words) => `Key ${key}${words?.[key] ? ` (${words[key]})` : ""}`;

const averageText = ({ mean }) => `The weights of this row average its dA to Σ A dA = ${formatNumber(mean)}.`;

const strongestText = ({ weights, dWeights, dScores }, { strongest, mean }, row, words) => {
  const at = row * weights.shape[1] + strongest,
    above = dWeights.data[at] - mean;
  return (
    `${keyText(strongest, words)} has dA = ${formatNumber(dWeights.data[at])}, which lies ${formatNumber(Math.abs(above))} ` +
    `${above < 0 ? "below" : "above"} that average; times its weight ${formatNumber(weights.data[at])} this is ` +
    `dS = ${formatNumber(dScores.data[at])}. ` +
    `A higher score here would ${above < 0 ? "lower" : "raise"} the loss.`
  );
};

const passedText = ({ passed }) =>
  Number.isFinite(passed) ? ` What reaches the scores has ${formatNumber(100 * passed, 3)} % of the length of dA.` : "";

// Explains the row: masked, with one key, saturated or open. `words`, if there are any, are those of the keys.
export const rowText = (numbers, told, row, words = null) => {
  const state = stateOfRow(told);
  if (state === "hidden") return "Every key is masked for this row: it has no weights, and nothing flows back.";
  if (state === "single")
    return (
      `△ ${numbers.weights.shape[1] === 1 ? "There is only one key." : `Only key ${told.top} is left by the mask.`} Its weight is 1 whatever its score is, so dA equals its own average ` +
      "and the gradient of the score is 0."
    );
  if (told.mean === null) return "No gradient arrived at these weights.";
  if (told.arrived === 0) return "The loss does not depend on this row: its dA is 0, and so its dS is 0.";
  if (state === "saturated")
    return (
      `▲ This row is saturated: key ${told.top} has the weight ${formatNumber(told.weight, 5)}, more than ` +
      `${saturatedFrom}. The average Σ A dA = ${formatNumber(told.mean)} is nearly the dA of that key itself, and the ` +
      `other weights are nearly 0: the gradient of the row's scores is almost zero.${passedText(told)}`
    );
  return `${averageText(told)} ${strongestText(numbers, told, row, words)}`;
};

// The same key by key. `words` are those of the keys.
export const rowTable = ({ scores, weights, dWeights, dScores, hidden }, { mean }, row, words) => {
  const keys = Array.from({ length: weights.shape[1] }, (_, key) => row * weights.shape[1] + key);
  const line = (name, array, valueOf = (x) => x) =>
    array &&
    el(
      "tr",
      {},
      rowHeader(name),
      keys.map((n) => el("td", {}, hidden(n) ? "masked" : formatNumber(valueOf(array.data[n])))),
    );
  return scrollingTable(
    `row ${row}, key by key`,
    ["", ...keys.map((_, key) => `key ${key}${words?.[key] ? `: ${words[key]}` : ""}`)],
    [
      line("S", scores),
      line("A", weights),
      line("dA", dWeights),
      line("dA − Σ A dA", dWeights, (x) => x - mean),
      line("dS", dScores),
    ],
  );
};

// The row in a sentence. `words`, if there are any, name its {queries, keys}.
export const attentionRow = (numbers, told, row, words) =>
  el(
    "section",
    { class: "attention-row" },
    el("h3", {}, `Row ${row}${words.queries?.[row] ? `, ${words.queries[row]}` : ""}: `, formulaMath("dS = A (dA - sum A dA)")),
    el("p", { "aria-live": "polite" }, rowText(numbers, told, row, words.keys)),
  );
