// Derivatives by three ways that share no code: the backward of a tape, dual numbers and a central difference.
import { oncePer } from "./once.js";
import { largest } from "./tensor.js";
import { numberOf } from "./trace.js";

// How far apart they may be, in units of the largest number that they are made of.
const limitOfBackward = { f32: 1e-4, f64: 1e-9 };
const limitOfDifference = 1e-6;

const dtypeOf = (nodes) => (nodes.some(({ dtype }) => dtype === "f32") ? "f32" : "f64");

// {verdict: "agrees", "differs" or "incomplete", difference}: NaN is a way that could not be gone.
const compared = (backward, dual, difference, size, dtype) => {
  const exact = limitOfBackward[dtype], pairs = [
    [backward, dual, exact], [backward, difference, exact + limitOfDifference], [dual, difference, limitOfDifference],
  ];
  const distances = pairs.map(([a, b]) => Math.abs(a - b) / size), [found] = distances;
  if (distances.some((distance, n) => distance > pairs[n][2])) return { verdict: "differs", difference: found };
  return { verdict: distances.some(Number.isNaN) ? "incomplete" : "agrees", difference: found || 0 };
};

/** Numbers between -1 and 1, those that check_direction of C++ draws. */
const directionNumbers = () => {
  let state = 7;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
};

/**
 * The check of a record of a user's own op, whose forward could run again: {verdict: "agrees" or "differs",
 * difference}, or null. One of the other ways is enough.
 */
export function checkDirection(trace, { inputs, output_gradients: arrived, contributions, check }) {
  const [backward, dual, difference] = ["backward", "dual", "difference"].map((way) => numberOf(check?.[way] ?? "NaN"));
  if (Number.isNaN(dual) && Number.isNaN(difference)) return null;
  const next = directionNumbers(), dtype = dtypeOf(inputs.map((n) => trace.nodes[n]));
  let sent = 0, terms = Math.max(...arrived.map((dy) => largest(trace.tensor(dy))), Math.abs(dual) || 0);
  inputs.forEach((n, i) => {
    const gradient = contributions[i] && trace.tensor(contributions[i].contribution).data;
    if (trace.nodes[n].wants_gradient)
      trace.tensor(trace.nodes[n].value).data.forEach((_, k) => {
        const term = (gradient?.[k] ?? 0) * next();
        sent += term, terms += Math.abs(term);
      });
  });
  const isStored = Math.abs(sent - backward) <= 1e-12 * terms;
  const found = compared(sent, dual, difference, terms || 1, dtype);
  return { verdict: isStored && found.verdict !== "differs" ? "agrees" : "differs", difference: found.difference };
}

// The largest gradient of a leaf, beside which others are rounded. Where much cancels, in f32, it is small itself.
const sizeOfGradients = oncePer((trace) => {
  const sizeOf = (held) => Math.max(0, ...[trace.tensor(held) ?? trace.slice(held)].filter(Boolean).map(largest));
  const gradients = trace.nodes.filter(({ leaf }) => leaf).map(({ gradient }) => sizeOf(gradient));
  const seeds = dtypeOf(trace.nodes) === "f32" ? trace.seeds.map(({ cotangent }) => sizeOf(cotangent) / 100) : [];
  return Math.max(0, ...gradients, ...seeds) || 1;
});

/** The verdict of a stored check of one element: "agrees", "differs" or "incomplete". */
export function verdictOfCheck(trace, { node, position, tape, dual, difference }) {
  const [backward, ...others] = [tape, dual, difference].map(numberOf), { gradient } = trace.nodes[node];
  const stored = (trace.tensor(gradient) ?? trace.slice(gradient))?.data[position] ?? 0;
  if (stored !== backward && !Object.is(stored, backward)) return "differs";
  return compared(backward, ...others, sizeOfGradients(trace), dtypeOf(trace.nodes)).verdict;
}
