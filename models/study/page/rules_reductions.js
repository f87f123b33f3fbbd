// The rules of reductions: each element of dy goes to the elements of x that were reduced to it.
import { broadcastTo, countAlong, elementwise, keptShape, maxAlong, meanAlong, reduceAlong, reshape, scaleBy, subtract,
  sumAlong, transpose, zeros, NdArray } from "./tensor.js";

/** y or dy with its reduced axes, which have length 1. */
const withAxes = (call, array) => reshape(array, keptShape(call.inputs[0].shape, call.attributes.axes));

const squareOf = (x) => elementwise((p) => p * p, x);

/** The rule of y = value(x, axes), where dy/dx = slope(x, y) with a y for each x, and dx = times(dy, slope). */
function ofSets(value, slopes, times = (d, slope) => d * slope) {
  return {
    forward(call) {
      const y = value(call.inputs[0], call.attributes.axes);
      return [reshape(y, call.outputs[0] ? call.outputs[0].shape : y.shape)];
    },
    vjp(call) {
      const [x] = call.inputs, { axes } = call.attributes;
      const y = withAxes(call, call.outputs[0]), dy = withAxes(call, call.outputGradients[0]);
      return [elementwise(times, dy, slopes(x, y, axes))];
    },
  };
}

/** For each x, how many equal extremes its set has if it is one of them, else 0. */
function ties(x, y, axes) {
  const equal = elementwise((p, q) => (p === q ? 1 : 0), x, y);
  return elementwise((is, count) => (is ? count : 0), equal, sumAlong(equal, axes));
}

/** Equal extremes share dy; the others get none of it, whatever it is. */
const extreme = (value) => ofSets(value, ties, (d, count) => (count ? d / count : 0));

const minAlong = (x, axes) => scaleBy(-1, maxAlong(scaleBy(-1, x), axes));

function varianceAlong(x, axes) {
  return meanAlong(squareOf(subtract(x, meanAlong(x, axes))), axes);
}

function logSumExpAlong(x, axes) {
  const top = maxAlong(x, axes);
  const shifted = elementwise((p, q) => (Number.isFinite(q) ? Math.exp(p - q) : 0), x, top);
  return elementwise((q, sum) => (Number.isFinite(q) ? q + Math.log(sum) : q), top, sumAlong(shifted, axes));
}

/** For each element the product of all others of its set: of those before it times that of those after it. */
function productsOfOthers(x, axes) {
  const kept = x.shape.map((_, k) => k).filter((k) => !axes.includes(k)), order = [...kept, ...axes];
  const sets = transpose(x, order), length = countAlong(x, axes), products = new Float64Array(x.size);
  for (let start = 0; start < x.size; start += length) {
    for (let n = start, before = 1; n < start + length; before *= sets.data[n++]) products[n] = before;
    for (let n = start + length - 1, behind = 1; n >= start; behind *= sets.data[n--]) products[n] *= behind;
  }
  return transpose(new NdArray("f64", sets.shape, products), order.map((_, k) => order.indexOf(k)));
}

function sumsUpTo(x, axis, fromTheEnd) {
  const stride = x.shape.slice(axis + 1).reduce((product, n) => product * n, 1), length = x.shape[axis];
  const y = new NdArray("f64", x.shape, Float64Array.from(x.data));
  for (let n = 0; n < y.size; ++n) {
    const k = fromTheEnd ? y.size - 1 - n : n, step = fromTheEnd ? stride : -stride;
    const position = Math.floor(k / stride) % length;
    if (position !== (fromTheEnd ? length - 1 : 0)) y.data[k] += y.data[k + step];
  }
  return y;
}

/** body(place of the first element, stride, length) for each line along an axis. */
function forEachLine(x, axis, body) {
  const length = x.shape[axis], stride = x.shape.slice(axis + 1).reduce((product, n) => product * n, 1);
  for (let n = 0; n < x.size; ++n) if (Math.floor(n / stride) % length === 0) body(n, stride, length);
}

const cumprod = {
  forward({ inputs: [x], attributes: { axis } }) {
    const y = new NdArray("f64", x.shape, Float64Array.from(x.data));
    forEachLine(x, axis, (first, stride, length) => {
      for (let k = 1; k < length; ++k) y.data[first + k * stride] *= y.data[first + (k - 1) * stride];
    });
    return [y];
  },
  // Element i is in all products from y_i on: dx_i is the sum of each dy_k times that product without it.
  vjp({ inputs: [x], outputGradients: [dy], attributes: { axis } }) {
    const dx = zeros(x.shape);
    forEachLine(x, axis, (first, stride, length) => {
      for (let i = 0, before = 1; i < length; before *= x.data[first + i++ * stride])
        for (let k = i, others = before; k < length; others *= x.data[first + ++k * stride])
          dx.data[first + i * stride] += dy.data[first + k * stride] * others;
    });
    return [dx];
  },
};

/** ln sum e^x of every beginning of a line, with the largest so far subtracted. */
const logcumsumexp = {
  forward({ inputs: [x], attributes: { axis } }) {
    const y = new NdArray("f64", x.shape, new Float64Array(x.size));
    forEachLine(x, axis, (first, stride, length) => {
      for (let k = 0, top = -Infinity, sum = 0; k < length; ++k) {
        const p = x.data[first + k * stride], larger = p > top ? p : top;
        sum = sum * (top === larger ? 1 : Math.exp(top - larger)) + (p === larger ? 1 : Math.exp(p - larger));
        y.data[first + k * stride] = (top = larger) + Math.log(sum);
      }
    });
    return [y];
  },
  // x_i is in all sums from y_i on.
  vjp(call) {
    const { inputs: [x], outputGradients: [dy], attributes: { axis } } = call;
    const [y] = logcumsumexp.forward(call), dx = zeros(x.shape);
    forEachLine(x, axis, (first, stride, length) => {
      for (let i = 0; i < length; ++i)
        for (let k = i, p = x.data[first + i * stride]; k < length && p > -Infinity; ++k)
          dx.data[first + i * stride] += dy.data[first + k * stride] * Math.exp(p - y.data[first + k * stride]);
    });
    return [dx];
  },
};

const euclideanNorm = ofSets(
  (x, axes) => elementwise(Math.sqrt, sumAlong(squareOf(x), axes)),
  (x, y) => elementwise((p, q) => (q === 0 ? 0 : p / q), x, y),
);
const normOfOrder = ({ attributes: { order } }) =>
  ofSets(
    (x, axes) => elementwise((sum) => sum ** (1 / order), sumAlong(elementwise((p) => Math.abs(p) ** order, x), axes)),
    (x, y) => elementwise((p, q) => (p === 0 || q === 0 ? 0 : Math.sign(p) * Math.abs(p / q) ** (order - 1)), x, y),
  );
const normRule = (call) => ("order" in call.attributes ? normOfOrder(call) : euclideanNorm);

export const reductionRules = {
  sum: ofSets(sumAlong, (x) => broadcastTo(new NdArray("f64", [], Float64Array.of(1)), x.shape)),
  mean: ofSets(meanAlong, (x, y, axes) => elementwise(() => 1 / countAlong(x, axes), x)),
  max: extreme(maxAlong),
  min: extreme(minAlong),
  var: ofSets(varianceAlong, (x, y, axes) => scaleBy(2 / countAlong(x, axes), subtract(x, meanAlong(x, axes)))),
  std: ofSets(
    (x, axes) => elementwise(Math.sqrt, varianceAlong(x, axes)),
    (x, y, axes) => {
      const n = countAlong(x, axes);
      return elementwise((p, mean, q) => (q === 0 ? 0 : (p - mean) / (n * q)), x, meanAlong(x, axes), y);
    },
  ),
  prod: ofSets((x, axes) => reduceAlong((a, b) => a * b, 1, x, axes), (x, y, axes) => productsOfOthers(x, axes)),
  logsumexp: ofSets(logSumExpAlong, (x, y) => elementwise((p, q) => (q === -Infinity ? 0 : Math.exp(p - q)), x, y)),
  norm: { forward: (call) => normRule(call).forward(call), vjp: (call) => normRule(call).vjp(call) },
  cumsum: {
    forward: ({ inputs: [x], attributes: { axis } }) => [sumsUpTo(x, axis, false)],
    vjp: ({ outputGradients: [dy], attributes: { axis } }) => [sumsUpTo(dy, axis, true)],
  },
  cumprod,
  logcumsumexp,
};
