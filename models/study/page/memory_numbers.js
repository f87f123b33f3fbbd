// The numbers of a memory of slots: its steps as matrices of slots and features, and what the slots have in common.
import { allWeights } from "./attention_numbers.js";
import { NdArray, broadcastTo, elementwise, ndArray, sizeOf } from "./tensor.js";

// The matrix of one sample of a node's value or gradient; null where it is not held. A gate of whole slots is repeated
// along their features, and of a candidate with more rows than there are slots these come first.
const slotsOf = (trace, held, { slots, features }, sample) => {
  const array = trace.tensor(held);
  if (!array) return null;
  const [rows, columns] = array.shape.slice(-2),
    start = sample * rows * columns;
  const first = new NdArray(array.dtype, [slots, columns], array.data.slice(start, start + slots * columns));
  return columns === features ? first : broadcastTo(first, [slots, features]);
};

const restOf = (gate) => gate && elementwise((x) => 1 - x, gate);

// {before, after, gradient (of after), candidate, input, forget, output: matrices, or null where nothing is held}.
export const stepNumbers = (trace, memory, t, sample) => {
  const step = memory.steps[t];
  const valueOf = (node) => (node === null ? null : slotsOf(trace, trace.nodes[node].value, memory, sample));
  const raw = step.candidate === null ? valueOf(step.raw) : null,
    input = valueOf(step.input);
  return {
    before: valueOf(step.before),
    after: valueOf(step.after),
    gradient: slotsOf(trace, trace.nodes[step.after].gradient, memory, sample),
    candidate: step.candidate === null ? raw && elementwise(Math.tanh, raw) : valueOf(step.candidate),
    input,
    forget: step.forget === null ? restOf(input) : valueOf(step.forget),
    output: valueOf(step.output),
  };
};

// |x| of each row.
export const rowNorms = ({ shape: [rows, columns], data }) =>
  Array.from({ length: rows }, (_, row) => Math.hypot(...data.slice(row * columns, (row + 1) * columns)));

// |after - before| of each slot; null where one of them is not held.
export const changeOf = ({ before, after }) => before && after && rowNorms(elementwise((a, b) => a - b, after, before));

// Arrays of one shape, one after the other along a new first axis; null where one is missing.
export const stacked = (arrays) =>
  arrays.every(Boolean)
    ? ndArray(
        [arrays.length, ...arrays[0].shape],
        arrays.flatMap(({ data }) => [...data]),
      )
    : null;

// Lists of a number per slot, one list per step, as [steps, slots, 1]; null where one is missing.
export const bySlot = (lists) =>
  lists.every(Boolean) ? ndArray([lists.length, lists[0].length, 1], lists.flat()) : null;

// The weights of an attention for one sample, a matrix per head: [heads, queries, keys]; null where they are not held.
export const weightsOfHeads = (trace, attention, sample) => {
  const { heads, queries, keys } = attention,
    array = allWeights(trace, attention),
    shape = [heads, queries, keys],
    size = sizeOf(shape);
  return array && new NdArray(array.dtype, shape, array.data.slice(sample * size, (sample + 1) * size));
};

// The same of all steps: [heads, steps, queries, keys].
export const weightsOverTime = (steps) => {
  const all = stacked(steps);
  if (!all) return null;
  const [count, heads, ...matrix] = all.shape,
    size = sizeOf(matrix);
  const parts = Array.from({ length: heads * count }, (_, n) => {
    const start = ((n % count) * heads + Math.floor(n / count)) * size;
    return [...all.data.slice(start, start + size)];
  });
  return ndArray([heads, count, ...matrix], parts);
};
