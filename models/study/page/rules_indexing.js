// The rules of ops that pick elements by ids, or by chance: the gradient goes back to where the elements came from.
import { add, multiply, pick, placesOf, spread, stridesOf } from "./tensor.js";

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

export const indexingRules = {
  take: ofSlices,
  embedding: ofSlices,
  gather: ofPlaces(placesOfElements, (x, ids) => ids),
  scatter_add: {
    forward({ inputs: [x, ids, updates] }) {
      return [add(x, spread(updates, placesOfSlices(x.shape, ids, 0), x.shape))];
    },
    vjp({ inputs: [x, ids, updates], outputGradients: [dy] }) {
      return [dy, null, pick(dy, placesOfSlices(x.shape, ids, 0), updates.shape)];
    },
  },
  dropout: {
    forward: ({ inputs: [x], attributes: { mask } }) => [multiply(x, mask)],
    vjp: ({ outputGradients: [dy], attributes: { mask } }) => [multiply(dy, mask)],
  },
};
