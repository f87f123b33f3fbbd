// The rules of losses: each loss l gets its part dl of dy, and x gets dl times the slope of l.
import { logSoftmaxAlong } from "./rules_rows.js";
import { logistic } from "./scalar_functions.js";
import { broadcastTo, elementwise, multiply, pick, placesOf, reshape, scaleBy, sizeOf, spread, stridesOf, strongProduct,
  sumAlong, zeros } from "./tensor.js";

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

const addLogs = (...logs) => {
  const most = Math.max(...logs);
  return most === -Infinity ? most : most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0));
};

/**
 * The paths of one sample of ctc: logp(step, class) of so many steps, and states that are blank, label, blank, ..., each
 * the name of a class. Gives ln of the sum over all paths, and over those that are in a state at a step.
 */
function ctcPaths(logp, steps, states, blank) {
  const from = (s) => [s, s - 1, ...(states[s] !== blank && states[s] !== states[s - 2] ? [s - 2] : [])];
  const sum = (places, logOf) => addLogs(-Infinity, ...places.filter((s) => states[s] !== undefined).map(logOf));
  const begun = [], ended = [];  // before a step, and after it
  for (let t = 0; t < steps; ++t) {
    const before = (s) => begun[t - 1][s] + logp(t - 1, states[s]);
    begun.push(states.map((_, s) => (t ? sum(from(s), before) : s < 2 ? 0 : -Infinity)));
  }
  for (let t = steps - 1; t >= 0; --t) {
    const after = (s) => ended[t + 1][s] + logp(t + 1, states[s]);
    const to = (s) => [s, s + 1, s + 2].filter((next) => from(next).includes(s));
    ended[t] = states.map((_, s) => (t < steps - 1 ? sum(to(s), after) : s < states.length - 2 ? -Infinity : 0));
  }
  const through = (t, s) => begun[t][s] + logp(t, states[s]) + ended[t][s];
  const all = steps ? addLogs(...states.map((_, s) => through(steps - 1, s))) : states.length > 1 ? -Infinity : 0;
  return { all, through };
}

/** visit(row, paths, states, where the row begins in x, its number of steps) for each sample of a call of ctc. */
function forEachSample({ inputs: [x, t, n, m], attributes: { blank } }, visit) {
  const [time, classes] = x.shape.slice(-2), width = t.shape[t.rank - 1];
  for (let row = 0; row < n.size; ++row) {
    const labels = [...t.data.slice(row * width, row * width + m.data[row])], start = row * time * classes;
    const states = [blank, ...labels.flatMap((label) => [label, blank])];
    visit(row, ctcPaths((step, c) => x.data[start + step * classes + c], n.data[row], states, blank), states, start);
  }
}
const shareOfRow = ({ inputs: [, , , m], attributes: { reduction } }, row) =>
  (reduction === "mean" ? Math.max(m.data[row], 1) : 1);

const ctcRule = {
  forward(call) {
    const { inputs: [, , n], attributes: { zero_infinity } } = call, losses = zeros(n.shape);
    forEachSample(call, (row, { all }) => {
      losses.data[row] = all === -Infinity && zero_infinity ? 0 : -all / shareOfRow(call, row);
    });
    return reduced(losses, losses.size, call);
  },
  vjp(call) {
    const { inputs: [x, , n] } = call, dx = zeros(x.shape), classes = x.shape[x.rank - 1];
    const dl = gradientOfLosses(n.shape, n.size, call);
    forEachSample(call, (row, { all, through }, states, start) => {
      if (all === -Infinity) return;
      for (let t = 0; t < n.data[row]; ++t)
        states.forEach((c, s) => {
          dx.data[start + t * classes + c] -= (dl.data[row] / shareOfRow(call, row)) * Math.exp(through(t, s) - all);
        });
    });
    return [dx, null, null, null];
  },
};

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
  ctc: ctcRule,
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
