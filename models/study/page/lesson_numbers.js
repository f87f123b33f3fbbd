// The numbers of the figures in the lessons.
import { largestStretch } from "./jacobian.js";
import { logistic } from "./scalar_functions.js";
import { ndArray } from "./tensor.js";

export const lessonScores = [1.2, 0.7, 0.2, -0.1, -0.6, -1.4];

/** The softmax of scores, and the most that its Jacobian diag(y) - y y^T stretches a vector. */
export const saturationOf = (scores) => {
  const top = Math.max(...scores), powers = scores.map((s) => Math.exp(s - top)), sum = powers.reduce((a, b) => a + b);
  const weights = powers.map((p) => p / sum), count = scores.length;
  const entries = weights.flatMap((a, i) => weights.map((b, j) => (i === j ? a : 0) - a * b));
  return { weights, stretch: largestStretch(ndArray([count, count], entries)) };
};

export const scaledSaturation = (scale) => saturationOf(lessonScores.map((s) => scale * s));

/** What is left of a gradient after 0, 1, ..., steps times a gate sigmoid(bias). */
export const keptByGate = (bias, steps) => Array.from({ length: steps + 1 }, (_, t) => logistic(bias) ** t);

// The same numbers every time: uniform ones of a linear congruence, made normal by Box and Muller.
const normalNumbers = (count) => {
  let state = 12345;
  const uniform = () => (state = (1664525 * state + 1013904223) % 2 ** 32) / 2 ** 32;
  return Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()));
};

const drawnQueries = 64, drawnKeys = 8, longestDraw = 256;
let drawn = null;

/** Scores q k of random queries and keys of d independent numbers of variance 1, a list for each query. */
const drawnScores = (d) => {
  drawn ??= normalNumbers((drawnQueries + drawnKeys) * longestDraw);
  const vector = (n) => drawn.slice(n * longestDraw, n * longestDraw + d);
  const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
  return Array.from({ length: drawnQueries }, (_, q) =>
    Array.from({ length: drawnKeys }, (_, k) => dot(vector(q), vector(drawnQueries + k))));
};

/**
 * What the softmax makes of scores times d^power: the mean of the largest weights, the share of rows with a weight above
 * 0.99, and the stretch of the Jacobian of the middle row (the median).
 */
export const scoresOfSize = (d, power) => {
  const each = drawnScores(d).map((scores) => saturationOf(scores.map((s) => s * d ** power)));
  const largest = each.map(({ weights }) => Math.max(...weights));
  return {
    largest: largest.reduce((a, b) => a + b) / drawnQueries,
    saturated: largest.filter((y) => y > 0.99).length / drawnQueries,
    stretch: each.map(({ stretch }) => stretch).sort((a, b) => a - b)[drawnQueries / 2],
  };
};
