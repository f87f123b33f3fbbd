// The rules of ops that normalise: in each row, all elements of x change all elements of y.
import { elementwise, maxAlong, multiply, subtract, sumAlong } from "./tensor.js";

export const rowRules = {
  softmax: {
    forward({ inputs: [x], attributes: { axis } }) {
      // A row of -inf alone has no largest element to subtract; all of it stays 0.
      const shifted = elementwise((p, top) => (p === -Infinity ? 0 : Math.exp(p - top)), x, maxAlong(x, axis));
      return [elementwise((p, sum) => (p === 0 ? 0 : p / sum), shifted, sumAlong(shifted, axis))];
    },
    vjp({ outputs: [y], outputGradients: [dy], attributes: { axis } }) {
      return [multiply(y, subtract(dy, sumAlong(multiply(dy, y), axis)))];
    },
  },
};
