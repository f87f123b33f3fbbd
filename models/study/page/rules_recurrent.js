// The rules of recurrent layers over a sequence, by backpropagation through time, and of the gates of a memory.
import { activations, logistic } from "./scalar_functions.js";
import { add, broadcastTo, concat, elementwise, matmul, multiply, narrow, placesOf, reshape, spread, stridesOf, subtract,
  sumAlong, transpose, zeros } from "./tensor.js";

// ---- one step
// A step takes p of this step, the states before it and the weights, and gives {next: the states after it, back}.
// back(dNext, next) goes the other way: it gives {dp, dBefore: of the states before, dWeights}. For a view of the gates:
// parts, gates and states by name, and gradients(dNext), theirs.

const gatesOf = (z, count) => {
  const size = z.shape[1] / count;
  return Array.from({ length: count }, (_, k) => narrow(z, 1, k * size, size));
};

const sigmoidOf = (x) => elementwise(logistic, x);
const tanhOf = (x) => elementwise(Math.tanh, x);
/** dy s (1 - s) for s = sigmoid z, and dy (1 - t^2) for t = tanh z. */
const throughSigmoid = (dy, s) => elementwise((d, y) => d * y * (1 - y), dy, s);
const throughTanh = (dy, t) => elementwise((d, y) => d * (1 - y * y), dy, t);

/** h U^T, and what its gradient dz gives h and U. */
const recurrentPart = (h, weight) => matmul(h, transpose(weight));
const recurrentBack = (dz, h, weight) => ({ dh: matmul(dz, weight), dWeight: matmul(transpose(dz), h) });

function lstmStep(p, [h, c], [weight]) {
  const z = gatesOf(add(p, recurrentPart(h, weight)), 4), [i, f, o] = [z[0], z[1], z[3]].map(sigmoidOf);
  const g = tanhOf(z[2]), nextC = add(multiply(f, c), multiply(i, g)), seen = tanhOf(nextC);
  const ofCell = ([dh, fromLater]) => add(fromLater, throughTanh(multiply(dh, o), seen));
  return {
    next: [multiply(o, seen), nextC],
    parts: { i, f, g, o, c: nextC, h: multiply(o, seen) },
    gradients([dh, fromLater]) {
      const dc = ofCell([dh, fromLater]);
      return { i: multiply(dc, g), f: multiply(dc, c), g: multiply(dc, i), o: multiply(dh, seen), c: dc, h: dh };
    },
    back([dh, fromLater]) {
      const dc = ofCell([dh, fromLater]);
      const dz = concat([
        throughSigmoid(multiply(dc, g), i), throughSigmoid(multiply(dc, c), f), throughTanh(multiply(dc, i), g),
        throughSigmoid(multiply(dh, seen), o),
      ], 1);
      const { dh: dBefore, dWeight } = recurrentBack(dz, h, weight);
      return { dp: dz, dBefore: [dBefore, multiply(dc, f)], dWeights: [dWeight] };
    },
  };
}

function gruStep(p, [h], [weight, bias]) {
  const given = gatesOf(p, 3), own = gatesOf(add(recurrentPart(h, weight), bias), 3);
  const r = sigmoidOf(add(given[0], own[0])), z = sigmoidOf(add(given[1], own[1]));
  const n = tanhOf(add(given[2], multiply(r, own[2])));
  const next = add(n, multiply(z, subtract(h, n)));
  return {
    next: [next],
    parts: { r, z, n, h: next },
    gradients([dh]) {
      const dn = elementwise((d, kept) => d * (1 - kept), dh, z);
      return { r: multiply(throughTanh(dn, n), own[2]), z: multiply(dh, subtract(h, n)), n: dn, h: dh };
    },
    back([dh]) {
      const dn = throughTanh(elementwise((d, kept) => d * (1 - kept), dh, z), n);
      const dr = throughSigmoid(multiply(dn, own[2]), r), dz = throughSigmoid(multiply(dh, subtract(h, n)), z);
      const dOwn = concat([dr, dz, multiply(dn, r)], 1), { dh: dBefore, dWeight } = recurrentBack(dOwn, h, weight);
      const dBias = reshape(sumAlong(dOwn, 0), bias.shape);
      return { dp: concat([dr, dz, dn], 1), dBefore: [add(multiply(dh, z), dBefore)], dWeights: [dWeight, dBias] };
    },
  };
}

const elmanStep = ({ value, slope }) => (p, [h], [weight]) => {
  const z = add(p, recurrentPart(h, weight));
  return {
    next: [elementwise((x) => value(x), z)],
    // relu and tanh: both slopes follow from the result, which has the sign of z.
    back([dh], [next]) {
      const dz = elementwise((d, y) => d * slope(y, y), dh, next);
      const { dh: dBefore, dWeight } = recurrentBack(dz, h, weight);
      return { dp: dz, dBefore: [dBefore], dWeights: [dWeight] };
    },
  };
};

// ---- a sequence

/** Step t of x [B, T, F], and the steps as one array of this shape again. */
const stepOf = (x, t) => reshape(narrow(x, 1, t, 1), [x.shape[0], x.shape[2]]);
const ofSteps = (steps, shape) => {
  const [batch, time, length] = shape;
  return time > 0 ? concat(steps.map((step) => reshape(step, [batch, 1, length])), 1) : zeros(shape);
};

/** `now` for the samples that reach this step, `other` for those that have ended. */
const choose = (reached, now, other) =>
  reached ? elementwise((does, a, b) => (does ? a : b), reached, now, other) : now;

/** All steps forwards: their `back`, which samples reach them, and the states after them. */
function runOf(call, cell) {
  const [p, ...rest] = call.inputs, { lengths } = call.attributes, [y] = call.outputs;
  const weights = rest.slice(cell.states);
  let states = rest.slice(0, cell.states);
  return Array.from({ length: p.shape[1] }, (_, t) => {
    const reached = lengths ? elementwise((n) => Number(t < n), reshape(lengths, [lengths.size, 1])) : null;
    const now = stepOf(p, t), step = cell.step(call)(choose(reached, now, zeros(now.shape)), states, weights);
    const { next } = step;
    states = states.map((before, k) => (k === 0 && y ? stepOf(y, t) : choose(reached, next[k], before)));
    return { ...step, reached, states };
  });
}

/** Backwards from the last step: see(t, step, the gradients that arrived at its states). Gives those of the first ones. */
function goBack(call, cell, see) {
  const [dy, ...last] = call.outputGradients, first = call.inputs.slice(1, 1 + cell.states);
  let dStates = first.map((state, k) => last[k] ?? zeros(state.shape));
  for (const [t, step] of [...runOf(call, cell).entries()].reverse()) {
    const { back, reached, states } = step, arrived = dStates.map((d, k) => (k === 0 && dy ? add(d, stepOf(dy, t)) : d));
    const inside = arrived.map((d) => choose(reached, d, zeros(d.shape))), sent = back(inside, states);
    see(t, { ...step, ...sent }, inside);
    dStates = arrived.map((d, k) => choose(reached, sent.dBefore[k], d));
  }
  return dStates;
}

/** The rule of outputs y (h after every step) and the last states, from p, the first states and the weights. */
const sequenceRule = (cell) => ({
  forward(call) {
    const run = runOf({ ...call, outputs: [] }, cell), first = call.inputs.slice(1, 1 + cell.states);
    const [batch, time] = call.inputs[0].shape, shape = [batch, time, first[0].shape[1]];
    return [ofSteps(run.map(({ states }) => states[0]), shape), ...(run.at(-1)?.states ?? first)];
  },
  vjp(call) {
    const [p, ...rest] = call.inputs, dps = [];
    let dWeights = rest.slice(cell.states).map((weight) => zeros(weight.shape));
    const dStates = goBack(call, cell, (_, { dp, dWeights: ofStep }) => {
      dWeights = dWeights.map((d, k) => add(d, ofStep[k]));
      dps.unshift(dp);
    });
    return [ofSteps(dps, p.shape), ...dStates, ...dWeights].map((d, i) => (call.wants[i] ? d : null));
  },
});

// ---- memory

const sumOfGate = (dGate, bias) => reshape(sumAlong(dGate), bias.shape);

/** The inputs by their names in the formulas, and the gates: kept, or for a forward computed. */
function memoryOf({ inputs, names, outputs: [, i, f], attributes: { coupled } }) {
  const of = Object.fromEntries(names.map((name, k) => [name, inputs[k]])), units = of.m.shape.at(-1);
  const candidates = narrow(of.c, -2, 0, of.m.shape.at(-2)), tanhC = tanhOf(candidates);
  const across = of.p.shape.map((length, k) => (k === of.p.rank - 2 ? 1 : length));
  const gate = (n, bias) => {
    const z = narrow(add(of.p, reshape(of.q, across)), -1, n * units, units);
    return sigmoidOf(bias ? add(z, broadcastTo(reshape(bias, []), z.shape)) : z);
  };
  const input = i ?? gate(0, of.b_i);
  return { ...of, tanhC, input, forget: coupled ? elementwise((x) => 1 - x, input) : (f ?? gate(1, of.b_f)) };
}

const memoryRule = {
  forward(call) {
    const { m, tanhC, input, forget } = memoryOf({ ...call, outputs: [] });
    const next = add(multiply(input, tanhC), multiply(forget, m));
    return call.attributes.coupled ? [next, input] : [next, input, forget];
  },
  vjp(call) {
    const { m, c, q, b_i: biasI, b_f: biasF, tanhC, input, forget } = memoryOf(call), { coupled } = call.attributes;
    const [dm, di, df] = call.outputGradients.map((d) => d ?? zeros(m.shape));
    const ofInput = add(multiply(dm, tanhC), di), kept = multiply(dm, m);
    const dz = coupled
      ? [throughSigmoid(subtract(ofInput, kept), input)]
      : [throughSigmoid(ofInput, input), throughSigmoid(add(kept, df), forget)];
    const dp = concat(dz, -1), dc = throughTanh(multiply(dm, input), tanhC);
    const places = placesOf(dc.shape, stridesOf(c.shape));  // after them are candidates that no slot takes
    const products = {
      m: multiply(dm, forget),
      c: spread(dc, places, c.shape),
      p: dp,
      q: reshape(sumAlong(dp, -2), q.shape),
      b_i: biasI && sumOfGate(dz[0], biasI),
      b_f: biasF && sumOfGate(dz[1], biasF),
    };
    return call.names.map((name, k) => (call.wants[k] ? products[name] : null));
  },
};

const lstmCell = { states: 2, step: () => lstmStep }, gruCell = { states: 1, step: () => gruStep };

/** The gates and states of a fused LSTM or GRU, step by step: [{parts, gradients (null without any): {name: [B, H]}}]. */
export function gatesOfSequence(call) {
  const cell = call.op === "lstm_sequence" ? lstmCell : gruCell;
  const steps = runOf(call, cell).map(({ parts }) => ({ parts, gradients: null }));
  if (call.outputGradients.some(Boolean))
    goBack(call, cell, (t, { gradients }, arrived) => (steps[t].gradients = gradients(arrived)));
  return steps;
}

export const recurrentRules = {
  lstm_sequence: sequenceRule(lstmCell),
  gru_sequence: sequenceRule(gruCell),
  rnn_sequence: sequenceRule({ states: 1, step: ({ attributes }) => elmanStep(activations[attributes.activation]) }),
  gated_memory: memoryRule,
};
