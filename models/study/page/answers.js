// The initial state of an exercise, and the feedback to an answer.
import { formatNumber } from "./dom.js";
import { evaluateExpression, shapeOf } from "./expression.js";
import { TextError } from "./scanner.js";
import { NdArray, elementwise, largest, ndArray, sameShape, sizeOf, stridesOf, transpose } from "./tensor.js";

// Numbers from -2 to 2 with two decimals, the same ones every time (mulberry32).
const exerciseNumbers = (seed) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), bits | 61)) ^ bits;
    return Math.round((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * 400 - 200) / 100;
  };
};

// The arrays of all names of an exercise.
export const exerciseValues = ({ leaves, constants = {}, forward, cotangents, backward }) => {
  const next = exerciseNumbers(1), values = {};
  const draw = (shape) => ndArray(shape, Array.from({ length: sizeOf(shape) }, next));
  const compute = (program) => {
    for (const line of program?.split("; ") ?? []) values[line.split(" = ")[0]] = evaluateExpression(line, values);
  };
  for (const [name, shape] of Object.entries(leaves)) values[name] = draw(shape);
  for (const [name, value] of Object.entries(constants))
    values[name] = Array.isArray(value) ? ndArray([value.length, value[0].length], value) : ndArray([], [value]);
  compute(forward);
  for (const [name, output] of Object.entries(cotangents)) values[name] = draw(values[output].shape);
  compute(backward);
  return values;
};

// An exercise with its values, its exact answer and the values of its mistakes.
export const openExercise = (exercise) => {
  const values = exerciseValues(exercise);
  const exact = evaluateExpression(exercise.answer, values), { shape } = values[exercise.of];
  const mistakes = exercise.mistakes.map(([text, says]) => ({ text, says, value: evaluateExpression(text, values) }));
  return { ...exercise, asks: `d${exercise.of}`, values, exact: new NdArray("f64", shape, exact.data), mistakes };
};

// ---- what is said to an answer

// Leading axes of length 1 do not count: a sum over rows may keep its axis.
const relevantShape = (shape) => {
  const first = shape.findIndex((n) => n !== 1);
  return first < 0 ? [] : shape.slice(first);
};
const differenceFrom = (a, b) => elementwise((p, q) => p - q, new NdArray("f64", b.shape, a.data), b);
const isValue = (a, b) =>
  sameShape(relevantShape(a.shape), relevantShape(b.shape)) &&
  differenceFrom(a, b).data.every((d) => Math.abs(d) <= 1e-9 * Math.max(largest(b), 1e-3));

// The constant c, other than 1, for which a = c b; null if there is none.
const factorOf = (a, b) => {
  if (!sameShape(relevantShape(a.shape), relevantShape(b.shape))) return null;
  const k = b.data.findIndex((value) => Math.abs(value) === largest(b)), factor = a.data[k] / b.data[k];
  const isFactor = factor !== 0 && Math.abs(factor - 1) > 1e-3;
  return isFactor && isValue(a, elementwise((value) => factor * value, b)) ? factor : null;
};
const generalMistake = ({ exact, asks, of }, result) => {
  const factor = factorOf(result, exact);
  if (factor === -1) return "The sign: this is the exact gradient times -1.";
  if (factor !== null) return `A constant factor: all elements are ${formatNumber(factor)} times the exact ones.`;
  if (result.rank === 2 && exact.rank === 2 && isValue(transpose(result), exact))
    return `This is the transpose: ${asks} has the shape of ${of}. Exchange the factors and transpose each.`;
  return null;
};

// The axis that makes an answer exact whose sums, means or maxima name none.
const missingAxis = (text, { values, exact }) =>
  [1, 0].find((axis) => {
    try {
      return isValue(evaluateExpression(text, values, axis), exact);
    } catch (error) {
      if (error instanceof TextError) return false; // these shapes do not fit
      throw error;
    }
  });
const axisMistake = (text, opened) => {
  const axis = missingAxis(text, opened);
  return axis === undefined
    ? null
    : `An axis is missing: sum(a) adds up all elements, and sum(a, ${axis}) those along axis ${axis}; mean and max alike.`;
};

const positionOf = (flat, shape) =>
  stridesOf(shape).map((stride, k) => Math.floor(flat / stride) % shape[k]).join(", ");
const differenceText = (result, exact, difference) => {
  const sizes = Array.from(difference.data, (d) => (Number.isFinite(d) ? Math.abs(d) : Infinity));
  const size = Math.max(...sizes), at = sizes.indexOf(size);
  const both = `${formatNumber(result.data[at])} instead of ${formatNumber(exact.data[at])}`;
  return `Not yet: the largest difference is ${formatNumber(size)}, at [${positionOf(at, exact.shape)}]: ${both}.`;
};

// The feedback to `text`: {kind: "error", says, place}, or {kind, says, result, difference} with the kinds "exact",
// "mistake" (recognised by its value), "different" and "shape" (the difference is null where the shapes differ).
export const judgeAnswer = (opened, text) => {
  const { asks, of, exact, values, mistakes } = opened;
  let result;
  try {
    result = evaluateExpression(text, values);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    return { kind: "error", says: error.message, place: error.place };
  }
  const fits = sameShape(relevantShape(result.shape), relevantShape(exact.shape));
  const difference = fits ? differenceFrom(result, exact) : null;
  const answer = (kind, says) => ({ kind, says, result, difference });
  if (isValue(result, exact)) return answer("exact", `Exact: every element of ${asks} is right.`);
  const known = mistakes.find(({ value }) => isValue(result, value))?.says ?? generalMistake(opened, result) ?? axisMistake(text, opened);
  if (known) return answer("mistake", known);
  if (fits) return answer("different", differenceText(result, exact, difference));
  return answer("shape", `${asks} has the shape of ${of}, ${shapeOf(exact)}, and this is ${shapeOf(result)}.`);
};
