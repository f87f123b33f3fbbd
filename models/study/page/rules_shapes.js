// The rules of ops that only move elements, or turn pairs of them: each gradient moves or turns back.
import { broadcastTo, concat, narrow, pick, placesOf, reshape, spread, stridesOf, sumTo, transpose, zeros } from "./tensor.js";

/** Element (i, j, ...) of `shape` lies at offset + i strides[0] + j strides[1] + ... of the whole. */
const partPlaces = ({ attributes: { offset, strides } }, shape) => placesOf(shape, strides, offset);

/** y is a part of x. */
const partRule = {
  forward: (call) => [pick(call.inputs[0], partPlaces(call, call.outputs[0].shape), call.outputs[0].shape)],
  vjp({ inputs: [x], outputGradients: [dy], attributes }) {
    return [spread(dy, partPlaces({ attributes }, dy.shape), x.shape)];
  },
};

/** Where in y the elements of x lie between the zeros. */
function insidePlaces(x, y, before) {
  const strides = stridesOf(y.shape);
  return placesOf(x.shape, strides, before.reduce((sum, n, k) => sum + n * strides[k], 0));
}

const flipped = (x, axis) => {
  const strides = stridesOf(x.shape), last = x.shape[axis] - 1;
  const places = placesOf(x.shape, strides.map((stride, k) => (k === axis ? -stride : stride)), last * strides[axis]);
  return pick(x, places, x.shape);
};

const inverse = (permutation) => permutation.map((_, k) => permutation.indexOf(k));

/** y is x where `keeps` says so of the number of columns right of the diagonal, else 0. */
function triangleRule(keeps) {
  const part = (x, diagonal) => {
    const y = zeros(x.shape), [rows, columns] = x.shape.slice(-2);
    for (let n = 0; n < x.size; ++n)
      if (keeps((n % columns) - (Math.floor(n / columns) % rows), diagonal)) y.data[n] = x.data[n];
    return [y];
  };
  return {
    forward: ({ inputs: [x], attributes: { diagonal } }) => part(x, diagonal),
    vjp: ({ outputGradients: [dy], attributes: { diagonal } }) => part(dy, diagonal),
  };
}

/**
 * Each pair (a, b) of a head's features, turned by its angle or, with sense -1, back. The angle of pair i is (t + first)
 * base^(-2i / d), unless c and s [steps, d / 2] hold its cosine and sine.
 */
function turned(x, { heads, first, base, pairs, c, s }, sense) {
  const y = zeros(x.shape), [time, features] = x.shape.slice(-2), size = features / heads;
  const turnOf = (row, i) => {
    if (c) return [c.at(row % c.shape[0], i), s.at(row % c.shape[0], i)];
    const angle = ((row % time) + first) * base ** ((-2 * i) / size);
    return [Math.cos(angle), Math.sin(angle)];
  };
  for (let n = 0; n < x.size; n += size)
    for (let i = 0; i < size / 2; ++i) {
      const [cosine, sine] = turnOf(Math.floor(n / features), i);
      const [p, q] = pairs === "halves" ? [n + i, n + i + size / 2] : [n + 2 * i, n + 2 * i + 1];
      y.data[p] = x.data[p] * cosine - sense * x.data[q] * sine;
      y.data[q] = sense * x.data[p] * sine + x.data[q] * cosine;
    }
  return [y];
}

export const shapeRules = {
  reshape: {
    forward: (call) => [reshape(call.inputs[0], call.attributes.shape)],
    vjp: (call) => [reshape(call.outputGradients[0], call.inputs[0].shape)],
  },
  transpose: {
    forward: (call) => [transpose(call.inputs[0], call.attributes.permutation)],
    vjp: (call) => [transpose(call.outputGradients[0], inverse(call.attributes.permutation))],
  },
  slice: partRule,
  split: partRule,
  diagonal: partRule,
  diag_embed: {
    forward: (call) => [spread(call.inputs[0], partPlaces(call, call.inputs[0].shape), call.outputs[0].shape)],
    vjp(call) {
      const { shape } = call.inputs[0];
      return [pick(call.outputGradients[0], partPlaces(call, shape), shape)];
    },
  },
  rotary: {
    forward: ({ inputs: [x], attributes }) => turned(x, attributes, 1),
    vjp: ({ outputGradients: [dy], attributes }) => turned(dy, attributes, -1),
  },
  tril: triangleRule((above, diagonal) => above <= diagonal),
  triu: triangleRule((above, diagonal) => above >= diagonal),
  concat: {
    forward: (call) => [concat(call.inputs, call.attributes.axis)],
    vjp({ inputs, outputGradients: [dy], attributes: { axis } }) {
      let end = 0;
      return inputs.map((x) => narrow(dy, axis, (end += x.shape[axis]) - x.shape[axis], x.shape[axis]));
    },
  },
  broadcast_to: {
    forward: (call) => [broadcastTo(call.inputs[0], call.attributes.shape)],
    vjp: (call) => [sumTo(call.outputGradients[0], call.inputs[0].shape)],
  },
  flip: {
    forward: (call) => [flipped(call.inputs[0], call.attributes.axis)],
    vjp: (call) => [flipped(call.outputGradients[0], call.attributes.axis)],
  },
  pad: {
    forward({ inputs: [x], outputs: [y], attributes: { before } }) {
      return [spread(x, insidePlaces(x, y, before), y.shape)];
    },
    vjp({ inputs: [x], outputGradients: [dy], attributes: { before } }) {
      return [pick(dy, insidePlaces(x, dy, before), x.shape)];
    },
  },
};
