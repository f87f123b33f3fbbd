// The rules of products: each factor gets dy times the other one.
import { activations } from "./scalar_functions.js";
import { add, broadcastShapes, elementwise, matmul, reshape, sumAlong, sumTo, transpose } from "./tensor.js";

/** All rows of x as one matrix. */
const rowsOf = (x) => reshape(x, [x.shape.slice(0, -1).reduce((n, length) => n * length, 1), x.shape[x.rank - 1]]);

/** The factors of y = a b as matrices: a vector a is a row, and a vector b a column. */
function factorsOf({ inputs: [a, b], attributes }) {
  const row = a.rank === 1 ? reshape(a, [1, a.size]) : a, column = b.rank === 1 ? reshape(b, [b.size, 1]) : b;
  return [attributes.transpose_a ? transpose(row) : row, attributes.transpose_b ? transpose(column) : column];
}

/** The shape of a b. */
function shapeOfProduct(a, b) {
  return [...broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2)), a.shape[a.rank - 2], b.shape[b.rank - 1]];
}

const gradientOfLeft = (dy, a, b, zeros) => sumTo(matmul(dy, transpose(b), zeros), a.shape);

// If b is one matrix for all rows, their sum over the leading axes is a single product.
function gradientOfRight(dy, a, b, zeros) {
  if (b.rank === 2) return matmul(transpose(rowsOf(a)), rowsOf(dy), zeros);
  return sumTo(matmul(transpose(a), dy, zeros), b.shape);
}

/** z = x W^T + b. */
function affine([x, weight, bias]) {
  const product = matmul(rowsOf(x), transpose(weight)), z = bias ? add(product, bias) : product;
  return reshape(z, [...x.shape.slice(0, -1), weight.shape[0]]);
}

/** dz = dy f'(z). */
export function gradientOfAffine({ inputs, outputs: [y], outputGradients: [dy], attributes: { activation } }) {
  if (activation === "none") return dy;
  const { slope } = activations[activation];
  return elementwise((d, z, f) => d * slope(z, f), dy, affine(inputs), y);
}

const outerProduct = (a, b) => matmul(reshape(a, [a.size, 1]), reshape(b, [1, b.size]));

export const productRules = {
  matmul: {
    forward(call) {
      const [a, b] = factorsOf(call), isVector = call.inputs.map((x) => x.rank === 1);
      const y = matmul(a, b, call.attributes.zeros);
      return [reshape(y, y.shape.filter((_, k) => !isVector[k - y.rank + 2]))];
    },
    vjp(call) {
      const [a, b] = factorsOf(call), { inputs, outputGradients, wants, attributes } = call;
      const dy = reshape(outputGradients[0], shapeOfProduct(a, b));
      const gradientOf = (input, of, transposed) => {
        if (!wants[input]) return null;
        const gradient = of(dy, a, b, attributes.zeros);
        return reshape(transposed ? transpose(gradient) : gradient, inputs[input].shape);
      };
      return [
        gradientOf(0, gradientOfLeft, attributes.transpose_a),
        gradientOf(1, gradientOfRight, attributes.transpose_b),
      ];
    },
  },
  linear: {
    forward(call) {
      const { value } = activations[call.attributes.activation];
      return [elementwise(value, affine(call.inputs))];
    },
    vjp(call) {
      const { inputs: [x, weight, bias], wants, attributes: { zeros } } = call, dz = rowsOf(gradientOfAffine(call));
      return [
        wants[0] ? reshape(matmul(dz, weight), x.shape) : null,
        wants[1] ? matmul(transpose(dz), rowsOf(x), zeros) : null,
        bias && wants[2] ? reshape(sumAlong(dz, [0]), bias.shape) : null,
      ];
    },
  },
  outer: {
    forward: ({ inputs: [a, b] }) => [outerProduct(a, b)],
    vjp({ inputs: [a, b], outputGradients: [dy] }) {
      const da = matmul(dy, reshape(b, [b.size, 1])), db = matmul(reshape(a, [1, a.size]), dy);
      return [reshape(da, a.shape), reshape(db, b.shape)];
    },
  },
};
