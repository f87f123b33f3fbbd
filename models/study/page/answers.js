// The initial state of an exercise, and the feedback to an answer.
import { answerLines, answerText, partsOfAnswer, variantsOf, variantsOfVariants } from "./answer_variants.js";
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

// The value of a text; null where its shapes do not fit.
const valueOrNull = (text, values, axis) => {
  try {
    return evaluateExpression(text, values, axis);
  } catch (error) {
    if (error instanceof TextError) return null;
    throw error;
  }
};
// Variants that are wrong, with their values.
const wrongOnes = (variants, { values, exact }) =>
  variants
    .map(({ lines, says }) => ({ says, text: answerText(lines) }))
    .map(({ says, text }) => ({ says, text, value: valueOrNull(text, values) }))
    .filter(({ value }) => !value || !isValue(value, exact));
// As answerText writes it; null for what the answers do not use.
const rewritten = (text) => {
  try {
    return answerText(answerLines(text));
  } catch {
    return null;
  }
};

// The mistakes that the answer suggests: one of them, a part of it, two; each list is made when it is first asked for.
// They are told by their value or, without a finite one, by their text.
const madeMistakes = new WeakMap();
const madeMistake = (opened, typed, result) => {
  if (!madeMistakes.has(opened)) madeMistakes.set(opened, []);
  const lists = madeMistakes.get(opened), lines = answerLines(opened.answer);
  const makers = [() => variantsOf(lines, opened.values), () => partsOfAnswer(lines), () => variantsOfVariants(lines)];
  for (const [k, make] of makers.entries()) {
    lists[k] ??= wrongOnes(make(), opened);
    const hasValue = result?.data.every(Number.isFinite), plain = hasValue ? null : rewritten(typed);
    const found = lists[k].find(({ text, value }) => (hasValue ? value && isValue(result, value) : text === plain));
    if (found) return found.says;
  }
  return null;
};

// A gradient is linear in what arrives: twice the arriving one gives twice the gradient.
const linearityMistake = (text, result, { values, cotangents, backward }) => {
  const arriving = [...Object.keys(cotangents), ...(backward?.split("; ") ?? []).map((line) => line.split(" = ")[0])];
  const twice = { ...values };
  for (const name of arriving) twice[name] = elementwise((x) => 2 * x, values[name]);
  const changed = evaluateExpression(text, twice), names = Object.keys(cotangents).join(" and ");
  if (isValue(changed, elementwise((x) => 2 * x, result))) return null;
  return isValue(changed, result)
    ? `${names}, which arrives, is missing: it is a factor of every term of a gradient.`
    : `Every term of a gradient has what arrives, ${names}, as a factor exactly once.`;
};

// What is given was taken for the answer.
const givenMistake = (result, { values, asks }) => {
  const name = Object.keys(values).find((each) => isValue(result, values[each]));
  return name ? `This is ${name} itself: ${asks} is computed from it.` : null;
};

// The axis that makes an answer exact whose sums, means or maxima name none.
const missingAxis = (text, { values, exact }) =>
  [1, 0].find((axis) => {
    const value = valueOrNull(text, values, axis);
    return value && isValue(value, exact);
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
    const missed = madeMistake(opened, text, null);
    if (missed) return { kind: "mistake", says: `${missed} (As it stands: ${error.message}.)`, place: error.place };
    const asked = error.message.startsWith(`there is no ${asks};`);
    const says = asked ? `${asks} is what is asked for: write it with ${Object.keys(values).join(", ")}` : error.message;
    return { kind: "error", says, place: error.place };
  }
  const fits = sameShape(relevantShape(result.shape), relevantShape(exact.shape));
  const difference = fits ? differenceFrom(result, exact) : null;
  const answer = (kind, says) => ({ kind, says, result, difference });
  if (isValue(result, exact)) return answer("exact", `Exact: every element of ${asks} is right.`);
  const known = mistakes.find(({ value }) => isValue(result, value))?.says ?? generalMistake(opened, result) ??
    axisMistake(text, opened) ?? madeMistake(opened, text, result) ??
    (fits && result.data.every(Number.isFinite) ? givenMistake(result, opened) ?? linearityMistake(text, result, opened) : null);
  if (known) return answer("mistake", known);
  if (fits) return answer("different", differenceText(result, exact, difference));
  return answer("shape", `${asks} has the shape of ${of}, ${shapeOf(exact)}, and this is ${shapeOf(result)}.`);
};
