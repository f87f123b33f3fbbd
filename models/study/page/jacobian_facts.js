// Reads the numbers of a Jacobian: the formula that it follows, and its properties.
import { formatNumber } from "./dom.js";
import { largestStretch } from "./jacobian.js";
import { largest, ndArray, subtract } from "./tensor.js";

const numbersAt = (array, places) => Array.from(places, (place) => array.data[place]);

const diagonal = (slope) => (part) => {
  const x = numbersAt(part.call.inputs[0], part.places), y = outputNumbers(part);
  return (i, o) => (i === o ? slope(x[i], y[i], part.call.attributes) : 0);
};

const outputNumbers = ({ call, reached }) => reached.map(({ output, place }) => call.outputs[output].data[place]);

// (1 / s) (I - 1 1^T / n - n n^T / n) diag(gamma), for one row, where s is the deviation of the row.
const ofLayerNorm = (part) => {
  const [x, gamma] = part.call.inputs, row = numbersAt(x, part.places), count = row.length;
  const mean = row.reduce((sum, p) => sum + p, 0) / count, centred = row.map((p) => p - mean);
  const { eps = 1e-5 } = part.call.attributes;
  const s = Math.sqrt(centred.reduce((sum, p) => sum + p * p, 0) / count + eps);
  const n = centred.map((p) => p / s);
  return (i, o) => ((gamma?.data[o] ?? 1) * ((i === o ? 1 : 0) - (1 + n[i] * n[o]) / count)) / s;
};

const ofSoftmax = (part) => {
  const y = outputNumbers(part);
  return (i, o) => (i === o ? y[i] : 0) - y[i] * y[o];
};

const ofLogSoftmax = (part) => {
  const y = outputNumbers(part);
  return (i, o) => (i === o ? 1 : 0) - Math.exp(y[i]);
};

// By op: the formula, and J^T[i, o] of a row by it. They hold for the first input.
const knownForms = {
  softmax: ["J = diag(y) - y y^T", ofSoftmax],
  log_softmax: ["J[o, i] = [o = i] - e^(y[i])", ofLogSoftmax],
  layer_norm: ["u[o, i] = [o = i] - (1 + n[o] n[i]) / m, J[o, i] = gamma[o] u[o, i] / s", ofLayerNorm],
  sigmoid: ["J = diag(y (1 - y))", diagonal((x, y) => y * (1 - y))],
  tanh: ["J = diag(1 - y^2)", diagonal((x, y) => 1 - y * y)],
  relu: ["J = diag([x > 0])", diagonal((x) => (x > 0 ? 1 : 0))],
  exp: ["J = diag(y)", diagonal((x, y) => y)],
  square: ["J = diag(2 x)", diagonal((x) => 2 * x)],
};

const knownWords = {
  log_softmax: "[o = i] is 1 on the diagonal and 0 elsewhere.",
  layer_norm: "[o = i] is 1 on the diagonal and 0 elsewhere, n is the row without its mean and divided by its deviation s, and m is its length.",
  matmul: "It is the same for every row: a linear map is its own derivative.",
  relu: "[x > 0] is 1 where x is positive and 0 elsewhere.",
};

// y = a b: each row of y is that row of a, times b.
const ofProduct = ({ call }) => {
  const b = call.inputs[1], { transpose_a: isTurned, transpose_b: isTransposed } = call.attributes;
  if (isTurned || b.rank !== 2) return null;
  const columns = b.shape[1];
  return [isTransposed ? "J = b" : "J = b^T", () => (i, o) => b.data[isTransposed ? o * columns + i : i * columns + o]];
};

const formOf = (part) => {
  if (part.call.op === "matmul") return ofProduct(part);
  return part.places.length === part.reached.length ? knownForms[part.call.op] : null;
};

/** The formula of a row's Jacobian, {formula, words, difference from the numbers}; null if none is known. */
export function knownForm(part, input) {
  const known = input === 0 ? formOf(part) : null;
  if (!known) return null;
  const { transposed } = part, [, outputs] = transposed.shape, entry = known[1](part);
  const expected = Array.from(transposed.data, (_, k) => entry(Math.floor(k / outputs), k % outputs));
  const difference = largest(subtract(ndArray(transposed.shape, expected), transposed));
  return { formula: known[0], words: knownWords[part.call.op] ?? "", difference };
}

const isDiagonal = ({ shape: [inputs, outputs], data }) =>
  inputs === outputs && data.every((x, k) => x === 0 || Math.floor(k / outputs) === k % outputs);

const isSymmetric = ({ shape: [inputs, outputs], data }) =>
  inputs === outputs && data.every((x, k) => Math.abs(x - data[(k % outputs) * outputs + Math.floor(k / outputs)]) < 1e-12);

// The distance of J (1, ..., 1) from 0, in units of the largest entry.
const commonChange = (transposed) => {
  const [inputs, outputs] = transposed.shape;
  const sums = Array.from({ length: outputs }, (_, o) => {
    let sum = 0;
    for (let i = 0; i < inputs; ++i) sum += transposed.data[i * outputs + o];
    return Math.abs(sum);
  });
  return Math.max(...sums) / (largest(transposed) || 1);
};

/** What can be seen of a Jacobian, in sentences. */
export function factsOf({ transposed, dy, product, inBlocks }) {
  const { data, shape: [inputs] } = transposed, facts = [];
  if (inputs > 1 && isDiagonal(transposed))
    facts.push("It is a diagonal: every output depends on its own input alone.");
  else if (inBlocks) facts.push("It has a block for each row: no row changes another one.");
  else if (data.every((x) => x === 0 || x === 1))
    facts.push("It has only ones and zeros: the op moves or adds numbers and does not change them.");
  else if (inputs > 1 && isSymmetric(transposed)) facts.push("It is symmetric: Jᵀ = J.");
  if (inputs > 1 && largest(transposed) > 0 && commonChange(transposed) < 1e-10)
    facts.push("Each column of Jᵀ sums to 0: the same number added to all inputs changes nothing.");
  if (data.every(Number.isFinite) && inputs > 0 && dy.size > 0) facts.push(stretchText(transposed, dy, product));
  return facts;
}

const stretchText = (transposed, dy, product) => {
  const arrives = Math.hypot(...dy.data), leaves = Math.hypot(...product.data);
  const most = `Jᵀ stretches a vector by at most ${formatNumber(largestStretch(transposed), 3)}`;
  return arrives > 0 ? `${most}; this dy by ${formatNumber(leaves / arrives, 3)}.` : `${most}.`;
};
