// The rules of losses: each loss l gets its part dl of dy, and x gets dl times the slope of l.
import { logSoftmaxAlong } from "./rules_rows.js";
import { logistic } from "./scalar_functions.js";
import { broadcastTo, elementwise, multiply, pick, placesOf, reshape, scaleBy, sizeOf, spread, stridesOf, strongProduct,
  sumAlong } from "./tensor.js";

/** y of the losses l, `counted` of which are in their mean. */
function reduced(losses, counted, { attributes: { reduction } }) {
  if (reduction === "none") return [losses];
  const sum = reshape(sumAlong(losses), []);
  return [reduction === "sum" ? sum : elementwise((s) => (counted === 0 ? 0 : s / counted), sum)];
}

/** dl of losses of this shape. */
function gradientOfLosses(shape, counted, { outputGradients: [dy], attributes: { reduction } }) {
  if (reduction !== "mean") return broadcastTo(dy, shape);
  return broadcastTo(elementwise((d) => (counted === 0 ? 0 : d / counted), dy), shape);
}

/**
 * The rule of l = value(x, t), with its slopes in x and in t. All three also get the constant of that name. `counted`
 * losses are in the mean.
 */
const ofPairs = (value, slopeOfX, slopeOfT, constant = null, counted = (x) => x.size) => ({
  forward(call) {
    const [x, t] = call.inputs, c = call.attributes[constant];
    return reduced(elementwise((p, q) => value(p, q, c), x, t), counted(x), call);
  },
  vjp(call) {
    const [x, t] = call.inputs, c = call.attributes[constant], dl = gradientOfLosses(x.shape, counted(x), call);
    const gradient = (slope) => elementwise((d, p, q) => d * slope(p, q, c), dl, x, t);
    return [call.wants[0] ? gradient(slopeOfX) : null, call.wants[1] ? gradient(slopeOfT) : null];
  },
});

/** The labels t as rows that are 1 at the label and else 0; and which of them are counted, with 1 and 0. */
function openLabels({ inputs: [x, t], attributes: { ignore_index } }) {
  const counts = elementwise((label) => (label === ignore_index ? 0 : 1), t);
  const first = placesOf(t.shape, stridesOf(x.shape).slice(0, -1));
  const places = first.map((place, n) => place + (counts.data[n] ? t.data[n] : 0));
  return { places, counts, hot: spread(counts, places, x.shape), counted: counts.data.reduce((a, b) => a + b, 0) };
}

const asColumn = (x) => reshape(x, [...x.shape, 1]);

/** The rule of l[i] = value(x)[i, t[i]], with dx[i] = gradient(x, labels in rows, dl) where i is counted, else 0. */
const ofLabels = (value, gradient) => ({
  forward(call) {
    const { places, counts, counted } = openLabels(call), [x, t] = call.inputs;
    const losses = elementwise((l, is) => (is ? l : 0), pick(value(x), places, t.shape), counts);
    return reduced(losses, counted, call);
  },
  vjp(call) {
    const { counts, hot, counted } = openLabels(call), [x, t] = call.inputs;
    const dx = gradient(x, hot, asColumn(gradientOfLosses(t.shape, counted, call)));
    return [elementwise((d, is) => (is ? d : 0), dx, asColumn(counts)), null];
  },
});

// dl (softmax(x) sum t - t), where the t of a label sum to 1.
const gradientOfLogits = (x, t, dl) =>
  elementwise((d, p, q, sum) => d * (Math.exp(p) * sum - q), dl, logSoftmaxAlong(x, -1), t, sumAlong(t, -1));

const crossEntropyOfLabels = ofLabels((x) => scaleBy(-1, logSoftmaxAlong(x, -1)), gradientOfLogits);

const crossEntropyOfTargets = {
  forward(call) {
    const [x, t] = call.inputs, rows = x.shape.slice(0, -1);
    const terms = elementwise((q, logp) => (q === 0 ? 0 : -q * logp), t, logSoftmaxAlong(x, -1));
    const losses = reshape(sumAlong(terms, -1), rows);
    return reduced(losses, losses.size, call);
  },
  vjp(call) {
    const { inputs: [x, t], wants } = call, rows = x.shape.slice(0, -1);
    const dl = asColumn(gradientOfLosses(rows, sizeOf(rows), call));
    return [
      wants[0] ? gradientOfLogits(x, t, dl) : null,
      wants[1] ? multiply(scaleBy(-1, dl), logSoftmaxAlong(x, -1)) : null,
    ];
  },
};
const crossEntropyRule = ({ inputs: [, t] }) => (t.dtype === "i64" ? crossEntropyOfLabels : crossEntropyOfTargets);

const smoothL1 = (x, t, beta) => {
  const d = Math.abs(x - t);
  return d < beta ? (d * d) / (2 * beta) : d - beta / 2;
};
const slopeOfSmoothL1 = (x, t, beta) => (Math.abs(x - t) < beta ? (x - t) / beta : Math.sign(x - t));

// ln(1 + e^x) - x t, where a certain logit that is right costs nothing.
const bceWithLogits = (x, t) => strongProduct(x, x > 0 ? 1 - t : -t) + Math.log1p(Math.exp(-Math.abs(x)));

// The logarithms of a probability and of its complement, at least -100, and their slopes.
const logOf = (x) => Math.max(Math.log(x), -100), logOfOther = (x) => Math.max(Math.log1p(-x), -100);
const slopeOfLog = (x) => (logOf(x) > -100 ? 1 / x : 0), slopeOfOther = (x) => (logOfOther(x) > -100 ? 1 / (1 - x) : 0);

const probability = (t, isLog) => (isLog ? Math.exp(t) : t);
const logarithm = (t, isLog) => (isLog ? t : Math.log(t));
const times = (p, x) => (p === 0 ? 0 : p * x);

export const lossRules = {
  cross_entropy: {
    forward: (call) => crossEntropyRule(call).forward(call),
    vjp: (call) => crossEntropyRule(call).vjp(call),
  },
  nll: ofLabels((logp) => scaleBy(-1, logp), (logp, hot, dl) => elementwise((d, q) => (q ? -d : 0), dl, hot)),
  mse: ofPairs((x, t) => (x - t) ** 2, (x, t) => 2 * (x - t), (x, t) => 2 * (t - x)),
  smooth_l1: ofPairs(smoothL1, slopeOfSmoothL1, (x, t, beta) => -slopeOfSmoothL1(x, t, beta), "beta"),
  kl_divergence: ofPairs(
    (x, t, isLog) => times(probability(t, isLog), logarithm(t, isLog) - x),
    (x, t, isLog) => -probability(t, isLog),
    (x, t, isLog) => probability(t, isLog) && (isLog ? Math.exp(t) : 1) * (logarithm(t, isLog) - x + 1),
    "log_target",
    (x) => sizeOf(x.shape.slice(0, -1)),
  ),
  bce: ofPairs(
    (x, t) => -t * logOf(x) - (1 - t) * logOfOther(x),
    (x, t) => (1 - t) * slopeOfOther(x) - t * slopeOfLog(x),
    (x) => logOfOther(x) - logOf(x),
  ),
  bce_with_logits: ofPairs(bceWithLogits, (x, t) => logistic(x) - t, (x) => -x),
};
