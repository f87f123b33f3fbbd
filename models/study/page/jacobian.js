// The Jacobian of a record: how each number that one row of an input reaches changes with that row. Every row of it is
// the rule's vector-Jacobian product of a unit vector.
import { differenceOf, toleranceOf } from "./check.js";
import { ruleOf } from "./rules.js";
import { largest, matmul, ndArray, NdArray, placesOf, sameShape, stridesOf, transpose, zeros } from "./tensor.js";
import { callOf, isCut } from "./trace.js";

// More inputs or outputs of one row are not shown.
export const longestJacobian = 64;

/** The inputs of a record that have a Jacobian to show: its rule is known, and what it sent is held. */
export function jacobianInputs(trace, index) {
  const record = trace.records[index], values = [...record.inputs, ...record.outputs].map((n) => trace.nodes[n].value);
  if (!record.reached || !ruleOf(record.op, record.attributes)) return [];
  if (values.some((held) => !held || isCut(held)) || record.output_gradients.some(isCut)) return [];
  const isHeld = (n) => record.contributions[n]?.contribution.tensor !== undefined;
  return record.inputs.map((_, n) => n).filter((n) => isHeld(n) && trace.nodes[record.inputs[n]].shape.every((m) => m > 0));
}

/** The axis along which a record's rows lie: that of its op, or the last one. */
function axisOfRows({ attributes }, { shape }) {
  const named = attributes.axis ?? attributes.axes, axis = Array.isArray(named) ? named.at(-1) : named;
  const isThere = Number.isInteger(axis) && axis < shape.length && axis >= -shape.length;
  return ((isThere ? axis : -1) + shape.length) % Math.max(1, shape.length);
}

/** Where the elements of each row of an input lie. */
function rowPlaces(call, input) {
  const x = call.inputs[input], { shape } = x;
  if (shape.length === 0) return [Int32Array.of(0)];
  const axis = axisOfRows(call, x), strides = stridesOf(shape), others = shape.map((_, k) => k).filter((k) => k !== axis);
  const starts = placesOf(others.map((k) => shape[k]), others.map((k) => strides[k]));
  return [...starts].map((start) => placesOf([shape[axis]], [strides[axis]], start));
}

/** {count, most} of the rows of an input: most is the one to which the tape sent the longest gradient. */
export function rowsOfInput(trace, index, input) {
  const rows = rowPlaces(callOf(trace, index), input);
  const { data } = trace.tensor(trace.records[index].contributions[input].contribution);
  const lengths = rows.map((places) => Math.hypot(...Array.from(places, (place) => data[place])));
  return { count: rows.length, most: Math.max(0, lengths.indexOf(Math.max(...lengths))) };
}

const placesWhere = (outputs, isSo) =>
  outputs.flatMap((y, output) => {
    const found = [];
    for (let place = 0; place < y.size; ++place) if (isSo(output, place)) found.push({ output, place });
    return found;
  });

/** The outputs that depend on these elements of an input, {output, place}: those that change with them. */
function outputsReached(call, input, places) {
  const { forward } = ruleOf(call.op, call.attributes), x = call.inputs[input];
  if (!forward) return placesWhere(call.outputs, () => true);
  // NaN and infinities would hide all changes: NaN stays NaN. Which outputs are reached does not depend on it.
  const start = new NdArray(x.dtype, x.shape, x.data.map((number) => (Number.isFinite(number) ? number : 0.5)));
  const moved = new NdArray(x.dtype, x.shape, Float64Array.from(start.data));
  // Each by another amount: a softmax does not see what all have in common.
  places.forEach((place, n) => (moved.data[place] += 1e-3 * (1 + Math.abs(start.data[place])) * Math.sin(n + 1)));
  const outputsOf = (array) => forward({ ...call, inputs: call.inputs.map((one, n) => (n === input ? array : one)) });
  const before = outputsOf(start), after = outputsOf(moved);
  const changed = placesWhere(call.outputs, (output, place) => !Object.is(before[output].data[place], after[output].data[place]));
  const here = new Set(places), isOwn = (output, place) => sameShape(call.outputs[output].shape, x.shape) && here.has(place);
  // A row that changes only itself is shown whole, with what is flat here.
  return changed.every(({ output, place }) => isOwn(output, place)) ? placesWhere(call.outputs, isOwn) : changed;
}

/** J^T by unit vectors: [inputs, outputs]. */
function transposedJacobian(call, input, places, reached) {
  const { vjp } = ruleOf(call.op, call.attributes);
  const rows = reached.map(({ output, place }) => {
    const outputGradients = call.outputs.map((y) => zeros(y.shape));
    outputGradients[output].data[place] = 1;
    const gradient = vjp({ ...call, outputGradients })[input];
    return Array.from(places, (at) => gradient.data[at]);
  });
  return transpose(ndArray([reached.length, places.length], rows));
}

/** Whether rows change only themselves, so that J has a block for each. */
function hasBlocks(rows, places, reached, { shape: [inputs, outputs], data }) {
  const rowOf = new Map(rows.flatMap((row, n) => Array.from(row, (place) => [place, n])));
  const isOutside = (k) => rowOf.get(places[Math.floor(k / outputs)]) !== rowOf.get(reached[k % outputs].place);
  return rows.length > 1 && inputs === outputs && data.every((x, k) => x === 0 || !isOutside(k));
}

const columnOf = (numbers) => ndArray([numbers.length, 1], numbers);

/**
 * The part of a record's Jacobian that belongs to one row of an input, or to all rows (row null):
 * {call, places, reached, transposed [inputs, outputs], dy [outputs, 1], product [inputs, 1] = J^T dy, given (what the
 * tape sent), difference, agrees (null if J has entries that are not finite: 0 times infinity is NaN), inBlocks (whether
 * all rows are here and change only themselves)}; only {call, places, reached} if it has more than longestJacobian rows
 * or columns.
 */
export function jacobianOf(trace, index, input, row) {
  const call = callOf(trace, index), rows = rowPlaces(call, input);
  const places = row === null ? Int32Array.from(call.inputs[input].data, (_, n) => n) : rows[row];
  const reached = places.length > longestJacobian ? [] : outputsReached(call, input, places);
  if (Math.max(places.length, reached.length) > longestJacobian) return { call, places, reached };
  const transposed = transposedJacobian(call, input, places, reached);
  const dy = columnOf(reached.map(({ output, place }) => call.outputGradients[output]?.data[place] ?? 0));
  const product = matmul(transposed, dy), sent = trace.tensor(trace.records[index].contributions[input].contribution);
  const given = columnOf(Array.from(places, (place) => sent.data[place]));
  const size = Math.max(largest(dy), largest(product)) || 1;
  const { difference } = differenceOf(product, given, size, trace.nodes[trace.records[index].inputs[input]].dtype);
  const inBlocks = row === null && hasBlocks(rows, places, reached, transposed);
  const agrees = transposed.data.every(Number.isFinite) ? difference <= toleranceOf(call.dtype) : null;
  return { call, places, reached, transposed, dy, product, given, difference, agrees, inBlocks };
}

/** Which part of an array these elements are: "x[0, :]". */
export function partName(name, shape, places) {
  const strides = stridesOf(shape), indexAt = (place, k) => Math.floor(place / strides[k]) % shape[k];
  const words = shape.map((length, k) => {
    const seen = new Set(Array.from(places, (place) => indexAt(place, k)));
    return seen.size === 1 ? [...seen][0] : seen.size === length ? ":" : `${Math.min(...seen)}…${Math.max(...seen)}`;
  });
  return words.some((word) => word !== ":") ? `${name}[${words.join(", ")}]` : name;
}

/** The largest factor by which J can stretch a vector (its largest singular value), by the power method. */
export function largestStretch(transposed) {
  const { data } = matmul(transposed, transpose(transposed)), count = transposed.shape[0];
  let v = Array.from({ length: count }, (_, n) => 1 + 0.1 * Math.sin(3 * n + 1)), squared = 0;
  for (let step = 0, last = -1; step < 300 && Math.abs(squared - last) > 1e-12 * squared; ++step) {
    const next = v.map((_, i) => v.reduce((sum, x, k) => sum + data[i * count + k] * x, 0));
    const length = Math.hypot(...next);
    if (length === 0) return 0;
    last = squared;
    squared = length / Math.hypot(...v);
    v = next.map((x) => x / length);
  }
  return Math.sqrt(squared);
}
