// One number of an attention in words: where it comes from, and which terms of its sum are the largest.
import { rowOf } from "./attention_numbers.js";
import { exactNumber, formatNumber } from "./dom.js";

// The names of the arrays, and the sums that they are: factor a b, where a and b may be transposed.
const sums = {
  scores: { a: "q", b: "k", transposes: "b", isScaled: true },
  y: { a: "weights", b: "v" },
  dWeights: { a: "dy", b: "v", transposes: "b" },
  dq: { a: "dScores", b: "k", isScaled: true },
  dk: { a: "dScores", b: "q", transposes: "a", isScaled: true },
  dv: { a: "weights", b: "dy", transposes: "a" },
};

export const symbols = {
  q: "Q", k: "K", v: "V", scores: "S", weights: "A", y: "Y",
  dq: "dQ", dk: "dK", dv: "dV", dScores: "dS", dWeights: "dA", dy: "dY",
};

// The places of the terms of element [row, column] of a sum: {a, b}, each [row, column].
const placesOfTerm = (transposes, [row, column], n) => ({
  a: transposes === "a" ? [n, row] : [row, n],
  b: transposes === "b" ? [column, n] : [n, column],
});

// The terms of an element: [{a, b (places), value}] in their order; null where something is missing.
export const termsOfElement = (arrays, name, index) => {
  const { a, b, transposes, isScaled } = sums[name] ?? {}, left = arrays[a], right = arrays[b];
  const factor = isScaled ? arrays.factor : 1;
  if (!left || !right || factor === null || factor === undefined) return null;
  return Array.from({ length: left.shape[transposes === "a" ? 0 : 1] }, (_, n) => {
    const places = placesOfTerm(transposes, index, n);
    return { ...places, value: factor * left.at(...places.a) * right.at(...places.b) };
  });
};

const placed = (name, index) => `${symbols[name]}[${index.join(", ")}]`;

const mostTerms = 3;

const short = (x) => formatNumber(x, 3);

// What an element has beyond its terms: a bias among the scores, dropout, a loss that reads the weights, too.
const beyondText = (value, terms) => {
  const total = terms.reduce((sum, term) => sum + term.value, 0);
  const size = terms.reduce((sum, term) => sum + Math.abs(term.value), 0), rest = value - total;
  return Math.abs(rest) > 1e-4 * size ? ` + ${short(rest)} from elsewhere (a mask, dropout, another use)` : "";
};

// " = 0.5 Σ Q[2, n] K[1, n] = 0.5 (1.1 · 0.9 + ... + 2 smaller)", the largest terms first.
const sumText = (arrays, name, index) => {
  const terms = termsOfElement(arrays, name, index);
  if (!terms || terms.length === 0) return "";
  const { a, b, transposes, isScaled } = sums[name], places = placesOfTerm(transposes, index, "n");
  const shown = [...terms].sort((x, y) => Math.abs(y.value) - Math.abs(x.value)).slice(0, mostTerms);
  const products = shown.map((term) => `${short(arrays[a].at(...term.a))} · ${short(arrays[b].at(...term.b))}`);
  if (terms.length > shown.length) products.push(`${terms.length - shown.length} smaller`);
  const times = (text) => (isScaled ? `${short(arrays.factor)} ${text}` : text), added = products.join(" + ");
  return ` = ${times(`Σ ${placed(a, places.a)} ${placed(b, places.b)}`)} = ${times(isScaled ? `(${added})` : added)}` +
    beyondText(arrays[name].at(...index), terms);
};

const softmaxText = (arrays, name, [row, key]) => {
  const { weights, dWeights } = arrays;
  if (name === "weights") return ` = e^S[${row}, ${key}] / Σ e^S[${row}, n]`;
  if (name !== "dScores" || !dWeights) return "";
  const { mean } = rowOf(arrays, row);
  return ` = A (dA − Σ A dA) = ${short(weights.at(row, key))} (${short(dWeights.at(row, key))} − ${short(mean)})`;
};

const isOfKeys = (name) => ["scores", "weights", "dWeights", "dScores"].includes(name);

// What is pointed at, in words: element `index` of the array `name`.
export const cellText = (arrays, { name, index }) => {
  const array = arrays[name], [row, column] = index;
  if (isOfKeys(name) && arrays.hidden(row * array.shape[1] + column))
    return `${placed(name, index)} is masked: query ${row} must not look at key ${column}.`;
  const origin = sumText(arrays, name, index) || softmaxText(arrays, name, index);
  return `${placed(name, index)}${origin} = ${exactNumber(array.at(...index), array.dtype)}`;
};
