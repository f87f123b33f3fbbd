// The gradient of a linear map as a sum of outer products: each row x that the map has seen, times the gradient dy that
// arrived at what the map made of it.
import { differenceOf, toleranceOf } from "./check.js";
import { oncePer } from "./once.js";
import { gradientOfAffine } from "./rules_products.js";
import { add, largest, lengthOf, stridesOf, zeros } from "./tensor.js";
import { callOf, isCut } from "./trace.js";

const isHeld = (held) => Boolean(held) && !isCut(held);

// Whether a record multiplies rows by a matrix, and all that its sum needs is held.
const isLinearMap = (trace, record) => {
  const { op, attributes, inputs, outputs, output_gradients, contributions } = record;
  if (op !== "linear" && (op !== "matmul" || attributes.transpose_a)) return false;
  const weight = trace.nodes[inputs[1]];
  if (!weight.leaf || weight.shape.length !== 2 || attributes.custom) return false;
  if (trace.nodes[inputs[0]].shape.includes(0)) return false; // a sum without terms
  const values = [...inputs, ...outputs].map((n) => trace.nodes[n].value);
  return [...values, output_gradients[0], contributions[1]?.contribution].every(isHeld);
};

const mapsIn = (trace) => {
  const maps = new Map();
  trace.records.forEach((record, index) => {
    if (!isLinearMap(trace, record)) return;
    const node = record.inputs[1];
    if (!maps.has(node)) maps.set(node, { node, name: trace.nodes[node].name, records: [] });
    maps.get(node).records.push(index);
  });
  return [...maps.values()];
};

/** The matrices that are leaves of the tape, with the records that multiply rows by them: {node, name, records}. */
export const linearMaps = oncePer(mapsIn);

const rowOfMatrix = ({ data, shape }, n) => data.subarray(n * shape.at(-1), (n + 1) * shape.at(-1));

// "[0, 2, :]", the row with this number.
const rowIndex = ({ shape }, n) => {
  const outer = shape.slice(0, -1), strides = stridesOf(outer);
  return `[${[...outer.map((length, k) => Math.floor(n / strides[k]) % length), ":"].join(", ")}]`;
};

// W of y = x W has a row for each element of x, that of y = x W^T one for each element of y.
const isTransposed = ({ op, attributes }) => op === "linear" || attributes.transpose_b;

const termsOf = (trace, index) => {
  const call = callOf(trace, index), [x] = call.inputs, { op } = call;
  const dy = op === "linear" ? gradientOfAffine(call) : call.outputGradients[0];
  const rows = x.size / x.shape.at(-1), name = trace.nodes[trace.records[index].inputs[0]].name;
  return Array.from({ length: rows }, (_, n) => {
    const seen = rowOfMatrix(x, n), arrived = rowOfMatrix(dy, n);
    const sizes = [seen, arrived].map((one) => Math.hypot(...one));
    return {
      record: index, name: name + rowIndex(x, n), x: seen, dy: arrived, sizes, size: sizes[0] * sizes[1],
      transposed: isTransposed(call),
    };
  });
};

// Adds x_i dy_i of a term to a sum, as it stands in dW.
const addTerm = (sum, { x, dy, transposed }) => {
  const [left, right] = transposed ? [dy, x] : [x, dy], columns = right.length;
  for (let i = 0; i < left.length; ++i)
    for (let j = 0; j < columns; ++j) sum.data[i * columns + j] += left[i] * right[j];
  return sum;
};

const sumOfTerms = (terms, shape) => terms.reduce(addTerm, zeros(shape));

/** x_i dy_i of a term, as it stands in dW. */
export const outerProductOf = (term) =>
  addTerm(zeros(term.transposed ? [term.dy.length, term.x.length] : [term.x.length, term.dy.length]), term);


/** How much of dW is left after each number of terms, from 0 to all: |rest| / |dW|. */
function restsOf(terms, shape, whole) {
  const rests = [0], rest = zeros(shape);
  for (const term of [...terms].reverse()) {
    addTerm(rest, term);
    rests.unshift(lengthOf(rest) / (whole || 1));
  }
  return rests;
}

/**
 * The sum of a map of linearMaps: {terms (the largest |x_i| |dy_i| first), shape, rests, given (what the tape sent),
 * isAll (whether nothing else sent to this matrix), difference and agrees (of the whole sum)}.
 */
export function outerProducts(trace, { node, records }) {
  const { shape, dtype } = trace.nodes[node];
  const terms = records.flatMap((index) => termsOf(trace, index)).sort((a, b) => b.size - a.size);
  const given = records.map((index) => trace.tensor(trace.records[index].contributions[1].contribution)).reduce(add);
  const sum = sumOfTerms(terms, shape), size = Math.max(largest(given), ...terms.map((term) => term.size)) || 1;
  const { difference } = differenceOf(sum, given, size, dtype);
  const senders = trace.records.filter(({ inputs, contributions }) => inputs.some((n, k) => n === node && contributions[k]));
  return {
    terms, shape, given, difference, rests: restsOf(terms, shape, lengthOf(given)),
    isAll: senders.length === records.length, agrees: difference <= toleranceOf(dtype),
  };
}

/** {partial: the sum of the first terms, rest: that of the others}. */
export const partsOf = ({ terms, shape }, first) => ({
  partial: sumOfTerms(terms.slice(0, first), shape),
  rest: sumOfTerms(terms.slice(first), shape),
});
