// The rules of arithmetic and activations: dx = dy times the slope, summed where an operand was repeated.
import { activations, digamma, errorFunction, logGamma, logistic, logOnePlusExp } from "./scalar_functions.js";
import { elementwise, strongProduct, sumTo, NdArray, zeros } from "./tensor.js";
import { constantOf } from "./trace.js";

/** The rule of y = value(x), where dy/dx = slope(x, y). Both also get the constants of the call, in their order. */
function ofOne(value, slope, ...constants) {
  const given = (call) => constants.map((name) => constantOf(call, name));
  return {
    forward(call) {
      const c = given(call);
      return [elementwise((x) => value(x, ...c), call.inputs[0])];
    },
    vjp(call) {
      const c = given(call);
      const product = (dy, x, y) => dy * slope(x, y, ...c);
      return [elementwise(product, call.outputGradients[0], call.inputs[0], call.outputs[0])];
    },
  };
}

/** The rule of y = value(a, b), with each gradient as a function of dy, a, b and y. */
function ofTwo(value, da, db) {
  return {
    forward: (call) => [elementwise(value, ...call.inputs)],
    vjp({ inputs: [a, b], outputs: [y], outputGradients: [dy], wants }) {
      const gradient = (f, x) => sumTo(elementwise(f, dy, a, b, y), x.shape);
      return [wants[0] ? gradient(da, a) : null, wants[1] ? gradient(db, b) : null];
    },
  };
}

const exponentialUnit = (x, alpha) => (x > 0 ? x : alpha * Math.expm1(x));
const slopeOfExponentialUnit = (x, y, alpha) => (x > 0 ? 1 : alpha * Math.exp(x));
const seluFactor = 1.0507009873554805, seluAlpha = 1.6732632423543772;

const silu = (x) => strongProduct(x, logistic(x));
const slopeOfSilu = (x) => logistic(x) + strongProduct(x, logistic(x) * logistic(-x));

// tanh(ln(1 + e^x)), whose slope is the logistic function times 1 / cosh^2.
const gateOfMish = (x) => Math.tanh(logOnePlusExp(x));
const slopeOfGateOfMish = (x) => logistic(x) / Math.cosh(logOnePlusExp(x)) ** 2;

/** The two halves of the last axis, and the array of this shape that has them. */
function halves(x) {
  const n = x.shape.at(-1) / 2, shape = [...x.shape.slice(0, -1), n];
  return [0, 1].map((half) => new NdArray(x.dtype, shape, x.data.filter((_, k) => Math.floor((k / n) % 2) === half)));
}
function besides(a, b, shape) {
  const n = shape.at(-1) / 2, y = new NdArray("f64", shape, new Float64Array(a.size + b.size));
  for (let k = 0; k < a.size; ++k) {
    const place = Math.floor(k / n) * 2 * n + (k % n);
    y.data[place] = a.data[k], y.data[place + n] = b.data[k];
  }
  return y;
}

const ofActivation = ({ value, slope }) => ofOne(value, slope);

/** The gradient of the larger one; two equal ones have half of it each. */
const ofLarger = (dy, a, b) => (a > b ? dy : a === b ? dy / 2 : 0);
const largerOf = (a, b) => (a > b || a !== a ? a : b);
const smallerOf = (a, b) => (a < b || a !== a ? a : b);

// x^0 is 1 with slope 0 even at 0, but a NaN stays one.
const power = (x, p) => (x !== x || p !== p ? NaN : x ** p);
const powerOfConstant = ofOne(power, (x, y, p) => (p === 0 ? 0 : p * power(x, p - 1)), "exponent");
const powerOfTensor = ofTwo(
  power,
  (dy, a, b) => (b === 0 ? 0 : dy * b * power(a, b - 1)),
  (dy, a, b, y) => (y === 0 ? 0 : dy * y * Math.log(a)),
);
const powerRule = (call) => ("exponent" in call.attributes ? powerOfConstant : powerOfTensor);

const byDivisor = ofOne((x, c) => x / c, (x, y, c) => 1 / c, "divisor");
const ofDividend = ofOne((x, c) => c / x, (x, y) => -y / x, "dividend");
const quotient = ofTwo((a, b) => a / b, (dy, a, b) => dy / b, (dy, a, b, y) => (-dy * y) / b);
const divisionRule = ({ attributes }) =>
  "divisor" in attributes ? byDivisor : "dividend" in attributes ? ofDividend : quotient;

/** [floor(a / b), remainder], where % has a quotient towards zero. */
function floorDivision(a, b) {
  const rest = a % b, quotient = Math.round((a - rest) / b);
  return rest !== 0 && rest < 0 !== b < 0 ? [quotient - 1, rest + b] : [quotient, rest];
}

/** The slopes [in a, in b] of the angle of the point (b, a), without squares that overflow. */
function slopesOfAngle(a, b) {
  const size = Math.hypot(a, b);
  return size === 0 ? [0, 0] : [b / size / size, -a / size / size];
}

/** x in [eps, 1 - eps]; NaN for x outside of [0, 1] where no eps clips. */
function clippedProbability(x, eps) {
  const low = eps >= 0 ? eps : 0;
  return x >= low && x <= 1 - low ? x : eps >= 0 ? Math.min(Math.max(x, low), 1 - low) : NaN;
}
const logit = (p) => (Math.abs(p - 0.5) < 0.25 ? Math.log1p((2 * p - 1) / (1 - p)) : Math.log(p) - Math.log1p(-p));

/** The rule of a step: its gradient is 0, whatever dy is. */
const ofStep = (value) => ({
  forward: ({ inputs: [x] }) => [elementwise(value, x)],
  vjp: ({ inputs: [x] }) => [zeros(x.shape)],
});
const roundToEven = (x) => {
  const below = Math.floor(x), rest = x - below;
  return rest < 0.5 || (rest === 0.5 && below % 2 === 0) ? below : below + 1;
};

export const elementwiseRules = {
  identity: ofOne((x) => x, () => 1),
  to: ofOne((x) => x, () => 1),
  add: ofTwo((a, b) => a + b, (dy) => dy, (dy) => dy),
  sub: ofTwo((a, b) => a - b, (dy) => dy, (dy) => -dy),
  mul: ofTwo((a, b) => a * b, (dy, a, b) => dy * b, (dy, a) => dy * a),
  div: { forward: (call) => divisionRule(call).forward(call), vjp: (call) => divisionRule(call).vjp(call) },
  remainder: ofTwo(
    (a, b) => floorDivision(a, b)[1],
    (dy) => dy,
    (dy, a, b) => -dy * floorDivision(a, b)[0],
  ),
  neg: ofOne((x) => -x, () => -1),
  scale: ofOne((x, c) => c * x, (x, y, c) => c, "factor"),
  shift: ofOne((x, c) => x + c, () => 1, "offset"),
  maximum: ofTwo(largerOf, (dy, a, b) => ofLarger(dy, a, b), (dy, a, b) => ofLarger(dy, b, a)),
  minimum: ofTwo(smallerOf, (dy, a, b) => ofLarger(dy, b, a), (dy, a, b) => ofLarger(dy, a, b)),
  pow: { forward: (call) => powerRule(call).forward(call), vjp: (call) => powerRule(call).vjp(call) },
  exp: ofOne(Math.exp, (x, y) => y),
  log: ofOne(Math.log, (x) => 1 / x),
  xlogy: ofTwo(
    (a, b) => (a === 0 && b === b ? 0 : a * Math.log(b)),
    (dy, a, b) => (a === 0 && b <= 0 ? 0 : dy * Math.log(b)),
    (dy, a, b) => (a === 0 && b === 0 ? 0 : (dy * a) / b),
  ),
  sqrt: ofOne(Math.sqrt, (x, y) => 1 / (2 * y)),
  square: ofOne((x) => x * x, (x) => 2 * x),
  abs: ofOne(Math.abs, (x) => (x > 0 ? 1 : x < 0 ? -1 : 0)),
  reciprocal: ofOne((x) => 1 / x, (x, y) => -y * y),
  sin: ofOne(Math.sin, (x) => Math.cos(x)),
  cos: ofOne(Math.cos, (x) => -Math.sin(x)),
  asin: ofOne(Math.asin, (x) => 1 / Math.sqrt((1 - x) * (1 + x))),
  acos: ofOne(Math.acos, (x) => -1 / Math.sqrt((1 - x) * (1 + x))),
  atan: ofOne(Math.atan, (x) => 1 / (1 + x * x)),
  atan2: ofTwo(
    Math.atan2,
    (dy, a, b) => dy * slopesOfAngle(a, b)[0],
    (dy, a, b) => dy * slopesOfAngle(a, b)[1],
  ),
  erf: ofOne(errorFunction, (x) => (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x)),
  lgamma: ofOne(logGamma, digamma),
  log1p: ofOne(Math.log1p, (x) => 1 / (1 + x)),
  expm1: ofOne(Math.expm1, (x) => Math.exp(x)),
  logit: ofOne(
    (x, eps) => logit(clippedProbability(x, eps)),
    (x, y, eps) => {
      const p = clippedProbability(x, eps);
      return x < p || x > p ? 0 : 1 / (p * (1 - p));
    },
    "eps",
  ),
  sign: ofStep(Math.sign),
  floor: ofStep(Math.floor),
  ceil: ofStep(Math.ceil),
  round: ofStep(roundToEven),
  clip: ofOne(
    (x, low, high) => (x <= low ? low : x >= high ? high : x),
    (x, y, low, high) => (x > low && x < high ? 1 : 0),
    "low", "high",
  ),
  where: {
    forward: (call) => [elementwise((condition, a, b) => (condition !== 0 ? a : b), ...call.inputs)],
    vjp({ inputs: [condition, a, b], outputGradients: [dy], wants }) {
      const ofA = (d, c) => (c !== 0 ? d : 0), ofB = (d, c) => (c !== 0 ? 0 : d);
      const gradient = (part, x) => sumTo(elementwise(part, dy, condition), x.shape);
      return [null, wants[1] ? gradient(ofA, a) : null, wants[2] ? gradient(ofB, b) : null];
    },
  },
  masked_fill: {
    forward(call) {
      const fill = constantOf(call, "value");
      return [elementwise((x, hidden) => (hidden !== 0 ? fill : x), ...call.inputs)];
    },
    vjp({ inputs: [, mask], outputGradients: [dy] }) {
      return [elementwise((d, hidden) => (hidden !== 0 ? 0 : d), dy, mask), null];
    },
  },
  sigmoid: ofActivation(activations.sigmoid),
  tanh: ofActivation(activations.tanh),
  relu: ofActivation(activations.relu),
  leaky_relu: ofOne((x, c) => (x > 0 ? x : c * x), (x, y, c) => (x > 0 ? 1 : c), "slope"),
  elu: ofOne(exponentialUnit, slopeOfExponentialUnit, "alpha"),
  selu: ofOne(
    (x) => seluFactor * exponentialUnit(x, seluAlpha),
    (x, y) => seluFactor * slopeOfExponentialUnit(x, y, seluAlpha),
  ),
  gelu: ofActivation(activations.gelu),
  gelu_tanh: ofActivation(activations.gelu_tanh),
  silu: ofOne(silu, slopeOfSilu),
  swiglu: {
    forward: ({ inputs: [x] }) => [elementwise((a, b) => silu(a) * b, ...halves(x))],
    vjp({ inputs: [x], outputGradients: [dy] }) {
      const [a, b] = halves(x);
      const da = elementwise((d, p, q) => d * q * slopeOfSilu(p), dy, a, b), db = elementwise((d, p) => d * silu(p), dy, a);
      return [besides(da, db, x.shape)];
    },
  },
  mish: ofOne(
    (x) => strongProduct(x, gateOfMish(x)),
    (x) => gateOfMish(x) + strongProduct(x, slopeOfGateOfMish(x)),
  ),
  softplus: ofOne(logOnePlusExp, logistic),
  log_sigmoid: ofOne((x) => -logOnePlusExp(-x), (x) => logistic(-x)),
};
