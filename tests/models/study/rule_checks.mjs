// Helpers for the tests of rules: arrays of random numbers, and the comparison with central differences of a rule's forward.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ruleOf } from "../../../models/study/page/rules.js";
import { NdArray, largest, ndArray, sizeOf, zeros } from "../../../models/study/page/tensor.js";

// Numbers between -1 and 1, the same every time.
function generator(state) {
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}
const number = generator(7);
export const normal = (...shape) => ndArray(shape, Array.from({ length: sizeOf(shape) }, () => 2 * number()));
export const positive = (...shape) =>
  ndArray(shape, Array.from({ length: sizeOf(shape) }, () => 1.25 + 0.75 * number()));
export const integers = (shape, ...values) => ndArray(shape, values, "i64");

const copy = (x) => new NdArray(x.dtype, x.shape, Float64Array.from(x.data));
const isInteger = (x) => x.dtype === "i64";

/** The outputs of a call; `shapes` are those that a rule's forward cannot know by itself. */
export function outputsOf(rule, { shapes, ...call }) {
  return rule.forward({ ...call, outputs: (shapes ?? []).map((shape) => zeros(shape)), dtype: "f64" });
}

/** Which gradients of so many outputs may arrive: all, and each alone. */
const arrivals = (count) => {
  const each = Array.from({ length: count }, (_, j) => Array.from({ length: count }, (__, k) => k === j));
  return count > 1 ? [new Array(count).fill(true), ...each] : each;
};

/** Checks the rule at a call where a gradient arrives at some of its outputs. */
function checkDerivative(rule, call, outputs, arrived) {
  const { inputs } = call;
  const outputGradients = outputs.map((y, j) => (arrived[j] ? normal(...y.shape) : null));
  const wants = inputs.map((x) => !isInteger(x));
  const gradients = rule.vjp({ ...call, outputs, outputGradients, wants, dtype: "f64" });
  const loss = (at) =>
    outputsOf(rule, { ...call, inputs: at })
      .map((y, j) => y.data.reduce((sum, value, n) => sum + value * (outputGradients[j]?.data[n] ?? 0), 0))
      .reduce((a, b) => a + b, 0);
  inputs.forEach((x, i) => {
    if (!wants[i]) return assert.equal(gradients[i] ?? null, null);
    const gradient = gradients[i] ?? zeros(x.shape);
    assert.deepEqual(gradient.shape, x.shape);
    const size = Math.max(1, largest(gradient));
    x.data.forEach((_, n) => {
      const step = 1e-6;
      const moved = [step, -step].map((by) => {
        const at = inputs.map(copy);
        at[i].data[n] += by;
        return loss(at);
      });
      const difference = (moved[0] - moved[1]) / (2 * step);
      assert.ok(Math.abs(difference - gradient.data[n]) < 1e-7 * size,
        `input ${i}, element ${n}: ${gradient.data[n]} and not ${difference}; arrived: ${arrived}`);
    });
  });
}

/** A test for each [op, inputs, attributes, shapes of outputs that the forward cannot know, names of the inputs]. */
export const testRules = (cases) =>
  cases.forEach(([op, inputs, attributes = {}, shapes, names], k) => {
    test(`the rule of ${op} is the derivative of its forward (case ${k})`, () => {
      const rule = ruleOf(op, attributes), call = { op, inputs, attributes, shapes, names };
      const outputs = outputsOf(rule, call);
      for (const arrived of arrivals(outputs.length)) checkDerivative(rule, call, outputs, arrived);
    });
  });
