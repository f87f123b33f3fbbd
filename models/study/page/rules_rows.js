// The rules of ops that normalise: in each row, all elements of x change all elements of y.
import { add, axesOf, divide, elementwise, maxAlong, meanAlong, multiply, strongProduct, subtract, sumAlong,
  sumTo } from "./tensor.js";
import { constantOf } from "./trace.js";

/** x - ln sum e^x along an axis. */
export function logSoftmaxAlong(x, axis) {
  const shifted = subtract(x, maxAlong(x, axis));
  return subtract(shifted, elementwise(Math.log, sumAlong(elementwise(Math.exp, shifted), axis)));
}

const rootOf = (call, x) => elementwise((square) => Math.sqrt(square + constantOf(call, "eps")), x);

/** dx of n = x / r(x), where the root r of the mean square has dr/dx = n / count: (g - n mean(g n)) / r for dn = g. */
const gradientOfScaled = (g, n, root, axes) =>
  divide(subtract(g, multiply(n, meanAlong(multiply(g, n), axes))), root);

const inputNamed = (call, name) => call.inputs[call.names.indexOf(name)];

/** n and its root, of s = x + residual or x. */
function normalised(call) {
  const [x] = call.inputs, residual = inputNamed(call, "residual");
  const axes = axesOf(x, Array.from({ length: call.attributes.axes }, (_, k) => -1 - k));
  const s = residual ? add(x, residual) : x, centred = subtract(s, meanAlong(s, axes));
  const root = rootOf(call, meanAlong(multiply(centred, centred), axes));
  return { n: divide(centred, root), root, axes };
}

function gradientsOfLayerNorm(call) {
  const { n, root, axes } = normalised(call), [dy] = call.outputGradients;
  const gamma = inputNamed(call, "gamma"), g = gamma ? multiply(dy, gamma) : dy;
  const ds = gradientOfScaled(subtract(g, meanAlong(g, axes)), n, root, axes);
  const gradients = { x: () => ds, residual: () => ds, gamma: (like) => sumTo(multiply(dy, n), like.shape),
    beta: (like) => sumTo(dy, like.shape) };
  return call.inputs.map((input, i) => (call.wants[i] ? gradients[call.names[i]](input) : null));
}

const layerNorm = {
  forward(call) {
    const { n } = normalised(call), gamma = inputNamed(call, "gamma"), beta = inputNamed(call, "beta");
    const scaled = gamma ? multiply(n, gamma) : n;
    return [beta ? add(scaled, beta) : scaled];
  },
  vjp: gradientsOfLayerNorm,
};

function scaledToOne(call) {
  const [x] = call.inputs, root = rootOf(call, meanAlong(multiply(x, x), -1));
  return { n: divide(x, root), root };
}

/** A row of -inf alone has no largest element to subtract; all of it stays 0. */
export function softmaxAlong(x, axis) {
  const powers = elementwise((p, top) => (p === -Infinity ? 0 : Math.exp(p - top)), x, maxAlong(x, axis));
  return elementwise((p, sum) => (p === 0 ? 0 : p / sum), powers, sumAlong(powers, axis));
}

/** dx = y (dy - sum of dy y along the axis). Where y is 0, dy has no effect. */
export function gradientOfSoftmax(y, dy, axis) {
  const sum = sumAlong(elementwise(strongProduct, dy, y), axis);
  return elementwise((p, d, s) => strongProduct(p, d - s), y, dy, sum);
}

export const rowRules = {
  softmax: {
    forward: ({ inputs: [x], attributes: { axis } }) => [softmaxAlong(x, axis)],
    vjp: ({ outputs: [y], outputGradients: [dy], attributes: { axis } }) => [gradientOfSoftmax(y, dy, axis)],
  },
  log_softmax: {
    forward({ inputs: [x], attributes: { axis } }) {
      return [elementwise((p, y) => (p === -Infinity ? p : y), x, logSoftmaxAlong(x, axis))];
    },
    // -inf is a constant: what is masked gets no gradient, and its own has no effect.
    vjp({ outputs: [y], outputGradients: [dy], attributes: { axis } }) {
      const ofSeen = elementwise((d, p) => (p === -Infinity ? 0 : d), dy, y);
      const gradient = (d, p, sum) => (p === -Infinity ? 0 : d - Math.exp(p) * sum);
      return [elementwise(gradient, ofSeen, y, sumAlong(ofSeen, axis))];
    },
  },
  layer_norm: layerNorm,
  residual_layer_norm: layerNorm,
  rms_norm: {
    forward(call) {
      const { n } = scaledToOne(call), [, gamma] = call.inputs;
      return [gamma ? multiply(n, gamma) : n];
    },
    vjp(call) {
      const { n, root } = scaledToOne(call), { inputs: [, gamma], outputGradients: [dy], wants } = call;
      return [
        wants[0] ? gradientOfScaled(gamma ? multiply(dy, gamma) : dy, n, root, -1) : null,
        gamma && wants[1] ? sumTo(multiply(dy, n), gamma.shape) : null,
      ];
    },
  },
};
