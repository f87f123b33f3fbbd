// The rules of ops that pick elements by ids, or by chance: the gradient goes back to where the elements came from.
import { add, elementwise, multiply, pick, placesOf, reshape, spread, stridesOf, zeros } from "./tensor.js";

/** Where in an array of this shape the elements lie that `ids`, in any shape, pick along an axis. */
function placesOfSlices(shape, ids, axis) {
  const strides = stridesOf(shape), picked = shape.map((length, k) => (k === axis ? ids.size : length));
  const first = placesOf(picked, strides.map((stride, k) => (k === axis ? 0 : stride)));
  const which = placesOf(picked, strides.map((_, k) => (k === axis ? 1 : 0)));
  return first.map((place, n) => place + ids.data[which[n]] * strides[axis]);
}

/** Where they lie if each line along the axis has ids of its own. */
function placesOfElements(shape, ids, axis) {
  const strides = stridesOf(shape);
  const first = placesOf(ids.shape, strides.map((stride, k) => (k === axis ? 0 : stride)));
  return first.map((place, n) => place + ids.data[n] * strides[axis]);
}

/** The rule of y = x[places], where y has the shape that `shapeOf` gives. */
const ofPlaces = (places, shapeOf) => ({
  forward(call) {
    const [x, ids] = call.inputs, axis = call.attributes.axis ?? 0;
    return [pick(x, places(x.shape, ids, axis), shapeOf(x.shape, ids.shape, axis))];
  },
  vjp({ inputs: [x, ids], outputGradients: [dy], attributes: { axis = 0 } }) {
    return [spread(dy, places(x.shape, ids, axis), x.shape), null];
  },
});

const ofSlices = ofPlaces(placesOfSlices, (x, ids, axis) => [...x.slice(0, axis), ...ids, ...x.slice(axis + 1)]);
const ofElements = ofPlaces(placesOfElements, (x, ids) => ids);

/** Where updates go: ids of a vector are those of every line along the axis. */
const placesOfUpdates = (x, ids, axis) => (ids.rank > 1 ? placesOfElements : placesOfSlices)(x.shape, ids, axis);

/** The last update at each place of x; -1 if there is none. */
function lastUpdates(x, places) {
  const last = new Int32Array(x.size).fill(-1);
  places.forEach((place, n) => (last[place] = n));
  return last;
}

/** The gradient of an embedding without that of its padding. */
const ofEmbedding = {
  forward: ofSlices.forward,
  vjp(call) {
    const { inputs: [, ids], outputGradients: [dy], attributes: { padding_idx } } = call;
    const counts = reshape(elementwise((id) => (id === padding_idx ? 0 : 1), ids), [...ids.shape, 1]);
    return ofSlices.vjp({ ...call, outputGradients: [elementwise((d, is) => (is ? d : 0), dy, counts)] });
  },
};

export const indexingRules = {
  take: ofSlices,
  embedding: ofEmbedding,
  gather: ofElements,
  scatter: {
    forward({ inputs: [x, ids, updates], attributes: { axis } }) {
      const last = lastUpdates(x, placesOfElements(x.shape, ids, axis)), y = zeros(x.shape);
      for (let k = 0; k < x.size; ++k) y.data[k] = last[k] < 0 ? x.data[k] : updates.data[last[k]];
      return [y];
    },
    vjp({ inputs: [x, ids, updates], outputGradients: [dy], attributes: { axis } }) {
      const last = lastUpdates(x, placesOfElements(x.shape, ids, axis));
      const dx = zeros(x.shape), dupdates = zeros(updates.shape);
      for (let k = 0; k < x.size; ++k)
        if (last[k] < 0) dx.data[k] = dy.data[k];
        else dupdates.data[last[k]] = dy.data[k];
      return [dx, null, dupdates];
    },
  },
  scatter_add: {
    forward({ inputs: [x, ids, updates], attributes: { axis = 0 } }) {
      return [add(x, spread(updates, placesOfUpdates(x, ids, axis), x.shape))];
    },
    vjp({ inputs: [x, ids, updates], outputGradients: [dy], attributes: { axis = 0 } }) {
      return [dy, null, pick(dy, placesOfUpdates(x, ids, axis), updates.shape)];
    },
  },
  dropout: {
    forward: ({ inputs: [x], attributes: { mask } }) => [multiply(x, mask)],
    vjp: ({ outputGradients: [dy], attributes: { mask } }) => [multiply(dy, mask)],
  },
};
