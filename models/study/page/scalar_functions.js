// Functions of one number that the rules share, and the slopes of those that serve as activations.
import { strongProduct } from "./tensor.js";

/** 1 / (1 + e^-x), exact to rounding in both tails. */
export function logistic(x) {
  const e = Math.exp(-Math.abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/** ln(1 + e^x). */
export const logOnePlusExp = (x) => (x < 0 ? 0 : x) + Math.log1p(Math.exp(-Math.abs(x)));

// 1 - erf x for x of 2 and more: x / (x^2 + 1/2 / (1 + 1 / (x^2 + 3/2 / (1 + 2 / (x^2 + ...))))), from the far end.
function upperErrorFunction(x) {
  let rest = x;
  for (let k = 80; k > 0; --k) rest = x + k / 2 / rest;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / rest;
}

// erf x for |x| < 2: all terms of 2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + ...) have one sign.
function innerErrorFunction(x) {
  let sum = 0;
  for (let n = 0, term = x; sum + term !== sum; ++n, term *= (2 * x * x) / (2 * n + 1)) sum += term;
  return ((2 * Math.exp(-x * x)) / Math.sqrt(Math.PI)) * sum;
}

/** 1 - erf x. */
export function complementaryErrorFunction(x) {
  if (Number.isNaN(x)) return NaN;
  return x >= 2 ? upperErrorFunction(x) : x <= -2 ? 2 - upperErrorFunction(-x) : 1 - innerErrorFunction(x);
}

/** erf x, also for small x to rounding. */
export const errorFunction = (x) => (Math.abs(x) < 2 ? innerErrorFunction(x) : 1 - complementaryErrorFunction(x));

// The asymptotic series of logGamma and of its derivative, for x of 10 and more. Smaller x take steps of 1 to
// there, and negative ones are reflected.
const gammaSeries = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12];
const sumOfGammaSeries = (term) => gammaSeries.reduceRight((sum, c, k) => sum + term(c, k), 0);
const isPole = (x) => x <= 0 && (Number.isInteger(x) || x === -Infinity);
const turnFromPole = (x) => Math.PI * (x - Math.round(x));

/** ln |Gamma(x)|. */
export function logGamma(x) {
  if (isPole(x) || x === Infinity) return Infinity;
  if (x < 0) return Math.log(Math.PI / Math.abs(Math.sin(turnFromPole(x)))) - logGamma(1 - x);
  let product = 1;
  for (; x < 10; ++x) product *= x;
  const series = sumOfGammaSeries((c, k) => c / (2 * k + 1) / x ** (2 * k + 1));
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series - Math.log(product);
}

/** The derivative of logGamma. */
export function digamma(x) {
  if (x === 0) return -1 / x;
  if (isPole(x)) return NaN;
  if (x < 0) return digamma(1 - x) - Math.PI / Math.tan(turnFromPole(x));
  let steps = 0;
  for (; x < 10; ++x) steps += 1 / x;
  return Math.log(x) - 0.5 / x - sumOfGammaSeries((c, k) => c / x ** (2 * k + 2)) - steps;
}

/** The probability that a standard normal number is below x. */
export const normalDistribution = (x) => complementaryErrorFunction(-x / Math.SQRT2) / 2;
export const normalDensity = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

const geluArgument = (x) => Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);
const geluArgumentSlope = (x) => Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * x * x);
// e^-2u / (1 + e^-2u)^2, a quarter of 1 - (tanh u)^2.
const bump = (u) => logistic(2 * u) * logistic(-2 * u);

/** y = value(x) and dy/dx = slope(x, y) of the activations by name. A gate of 0 closes even for an infinite x. */
export const activations = {
  none: { value: (x) => x, slope: () => 1 },
  relu: { value: (x) => (x <= 0 ? 0 : x), slope: (x, y) => (y > 0 ? 1 : 0) },
  tanh: { value: Math.tanh, slope: (x, y) => 1 - y * y },
  sigmoid: { value: logistic, slope: (x, y) => y * (1 - y) },
  gelu: {
    value: (x) => strongProduct(x, normalDistribution(x)),
    slope: (x) => normalDistribution(x) + strongProduct(x, normalDensity(x)),
  },
  gelu_tanh: {
    value: (x) => strongProduct(x, logistic(2 * geluArgument(x))),
    slope(x) {
      const u = geluArgument(x), bend = bump(u);
      return logistic(2 * u) + (bend === 0 ? 0 : 2 * x * bend * geluArgumentSlope(x));
    },
  },
};
