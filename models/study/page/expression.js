// Computes what a reader types: "g = dy * gamma; (g - mean(g, 1)) / sqrt(v + eps)".
//
//   a + b, a - b, a * b, a / b    element by element; lengths of 1 are repeated
//   a @ b, matmul(a, b)           the matrix product
//   a^T, a.T, a', transpose(a)    the last two axes exchanged; a name may itself end in a prime: c'
//   a^2, a**2                     a power
//   sum(a, 1), sum(a, axis=1)     along an axis, which stays with length 1; without one, of all elements; mean, max
//   exp log sqrt tanh sigmoid square abs, softmax(a), softmax(a, 0)
//   diag(a), a[0]                 the matrix with this diagonal, or the diagonal of a matrix; an element or a row
//   np.sum(a, axis=1), a.sum(1), torch.exp(a), a.t(), a · b      as in NumPy, PyTorch and on paper
//   g = ...; ...                  a name for what comes after; the last expression is the result
import { TextError, readerOf } from "./scanner.js";
import { add, broadcastShapes, divide, elementwise, maxAlong, meanAlong, multiply, subtract } from "./tensor.js";
import { matmul, ndArray, reshape, sumAlong, transpose } from "./tensor.js";

export const shapeOf = (x) => (x.rank ? `[${x.shape.join(", ")}]` : "a number");

// ---- what can be typed

const functionsOfElements = {
  exp: Math.exp, log: Math.log, ln: Math.log, sqrt: Math.sqrt, tanh: Math.tanh, abs: Math.abs,
  square: (x) => x * x, sigmoid: (x) => 1 / (1 + Math.exp(-x)),
};
const otherNames = new Map(Object.entries({ dot: "matmul", mm: "matmul", t: "transpose", amax: "max", power: "pow" }));
const reductionsOfArrays = { sum: sumAlong, mean: meanAlong, max: maxAlong };
const typedFunctions = () =>
  [...Object.keys(functionsOfElements), ...Object.keys(reductionsOfArrays), "softmax", "transpose", "matmul", "pow", "diag"];

const operations = { "+": add, "-": subtract, "*": multiply, "/": divide, "^": (a, b) => elementwise(Math.pow, a, b) };

const fitsBroadcast = (...shapes) => {
  try {
    return Boolean(broadcastShapes(...shapes));
  } catch {
    return false;
  }
};

// Throw TextError at a place of the text.
const elementwiseAt = (place, sign, a, b) => {
  if (fitsBroadcast(a.shape, b.shape)) return operations[sign](a, b);
  const turned = b.rank > 1 && fitsBroadcast(a.shape, transpose(b).shape) ? "; transposed (^T), the second fits" : "";
  const rule = "element by element, lengths are equal or one of them is 1";
  throw new TextError(`${shapeOf(a)} ${sign} ${shapeOf(b)}: ${rule}${turned}`, place);
};
const matmulAt = (place, a, b) => {
  const shapes = `${shapeOf(a)} @ ${shapeOf(b)}`;
  if (a.rank < 2 || b.rank < 2) throw new TextError(`${shapes}: a matrix product needs two axes on both sides`, place);
  const columns = a.shape.at(-1), rows = b.shape.at(-2);
  if (columns === rows && fitsBroadcast(a.shape.slice(0, -2), b.shape.slice(0, -2))) return matmul(a, b);
  const rule = `the left has ${columns} columns, so the right needs ${columns} rows and has ${rows}`;
  throw new TextError(`${shapes}: ${rule}; transpose (^T) one of them, or exchange them`, place);
};
const transposeAt = (place, a) => {
  if (a.rank < 2) throw new TextError(`a transpose exchanges two axes, and this is ${shapeOf(a)}`, place);
  return transpose(a);
};
const diagAt = (place, a) => {
  const [rows, columns] = a.shape;
  if (a.rank === 1)
    return ndArray([rows, rows], Array.from({ length: rows * rows }, (_, k) => (k % (rows + 1) ? 0 : a.data[k / (rows + 1)])));
  if (a.rank !== 2) throw new TextError(`diag takes a vector or a matrix, and this is ${shapeOf(a)}`, place);
  return ndArray([Math.min(rows, columns)], Array.from({ length: Math.min(rows, columns) }, (_, k) => a.data[k * (columns + 1)]));
};
const rowAt = (place, a, index) => {
  const k = index.rank ? NaN : index.item(), row = k < 0 ? k + a.shape[0] : k, size = a.data.length / (a.shape[0] ?? 1);
  if (a.rank && Number.isInteger(row) && row >= 0 && row < a.shape[0])
    return ndArray(a.shape.slice(1), Array.from(a.data).slice(row * size, (row + 1) * size));
  throw new TextError(a.rank ? `${shapeOf(a)} has rows 0 to ${a.shape[0] - 1}` : "a number has no rows", place);
};
const softmax = (x, axis) => {
  const powers = elementwise((a, highest) => Math.exp(a - highest), x, maxAlong(x, axis));
  return divide(powers, sumAlong(powers, axis));
};

// The word among `words` that takes the fewest changes of letters, if they are few.
export const nearestWord = (typed, words) => {
  const distance = (a, b) => {
    let before = Array.from({ length: b.length + 1 }, (_, k) => k);
    for (let i = 0; i < a.length; ++i) {
      const now = [i + 1];
      for (let j = 0; j < b.length; ++j)
        now.push(Math.min(before[j] + (a[i] === b[j] ? 0 : 1), before[j + 1] + 1, now[j] + 1));
      before = now;
    }
    return before[b.length];
  };
  const distances = words.map((word) => [distance(typed.toLowerCase(), word.toLowerCase()), word]);
  const few = Math.min(typed.length - 1, Math.max(1, typed.length / 3));
  const near = distances.filter(([changes]) => changes <= few).sort(([a], [b]) => a - b);
  return near.length ? near[0][1] : null;
};

// ---- the grammar, which computes as it reads

const deepestNesting = 200;

const expressionGrammar = {
  result() {
    for (;;) {
      this.space();
      const target = this.match(/[A-Za-z_]\w*'?\s*=(?!=)/y);
      const value = this.sum();
      if (target) this.values.set(target.slice(0, -1).trim(), value);
      if (!this.takes(";")) this.needEnd();
      this.space();
      if (!this.rest) return value;
    }
  },
  needEnd() {
    const next = this.rest.match(/^([A-Za-z_]\w*|\d[\d.]*|\(|.)?/s)[0];
    if (!next) return;
    if (next === ")") throw new TextError("this ) closes nothing", this.place);
    if (/^[\w(]/.test(next)) throw new TextError(`write * (by elements) or @ (matrices) before "${next}"`, this.place);
    throw new TextError(`"${next}" cannot stand here`, this.place);
  },

  space() {
    this.match(/\s*/y);
  },
  takes(...tokens) {
    this.space();
    return tokens.find((token) => this.take(token));
  },
  leftToRight(operand, signs) {
    for (let left = operand(); ; ) {
      this.space();
      const place = this.place, sign = this.takes(...signs);
      if (!sign) return left;
      const right = operand();
      left = sign === "@" ? matmulAt(place, left, right) : elementwiseAt(place, sign, left, right);
    }
  },
  sum() {
    return this.leftToRight(() => this.product(), ["+", "-"]);
  },
  product() {
    return this.leftToRight(() => this.signed(), ["*", "/", "@"]);
  },
  signed() {
    if ((this.depth += 1) > deepestNesting) throw new TextError("this is nested too deeply", this.place);
    const sign = this.takes("-", "+");
    const value = sign ? this.signed() : this.power();
    this.depth -= 1;
    return sign === "-" ? elementwise((x) => -x, value) : value;
  },
  power() {
    const base = this.transposed();
    this.space();
    const place = this.place;
    return this.takes("**", "^") ? elementwiseAt(place, "^", base, this.signed()) : base;
  },
  transposed() {
    let value = this.primary();
    for (;;) {
      this.space();
      const place = this.place;
      if (this.match(/'|ᵀ|⊤|\.T(?!\w)|\^\s*T(?!\w)/y)) value = transposeAt(place, value);
      else if (this.take("[")) value = rowAt(place, value, this.bracketed());
      else if (this.match(/\.(?=[A-Za-z_]\w*\()/y)) value = this.call(this.match(/\w+/y), place, value);
      else return value;
    }
  },
  bracketed() {
    const index = this.sum();
    this.space();
    if (!this.take("]")) throw new TextError("this [ is not closed", this.place);
    return index;
  },

  primary() {
    this.space();
    const place = this.place;
    const number = this.match(/(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/iy);
    if (number) return ndArray([], [Number(number)]);
    if (this.take("(")) return this.closed(place, () => this.sum());
    this.match(/(np|numpy|jnp|torch|math|F|nn|functional)\.(?=[A-Za-z_])/y) && this.match(/(nn\.)?(functional\.)?/y);
    const name = this.name();
    if (!name) throw new TextError(`a name, a number or ( is missing ${this.rest ? "here" : "at the end"}`, place);
    return this.takes("(") ? this.call(name, place) : this.valueOf(name, place);
  },
  closed(place, read) {
    const value = read();
    this.space();
    if (this.take(")")) return value;
    if (this.rest) this.needEnd();
    throw new TextError("this ( is not closed", place);
  },
  name() {
    const name = this.match(/[A-Za-z_]\w*/y);
    return name && this.values.has(`${name}'`) && this.take("'") ? `${name}'` : name;
  },
  valueOf(name, place) {
    if (this.values.has(name)) return this.values.get(name);
    if (typedFunctions().includes(name)) throw new TextError(`${name} is a function: write ${name}(...)`, place);
    this.refuse(`there is no ${name}`, name, [...this.values.keys()], place);
  },
  refuse(complaint, typed, words, place) {
    const nearest = nearestWord(typed, words);
    const remedy = nearest ? `did you mean ${nearest}?` : `there is ${words.join(", ")}`;
    throw new TextError(`${complaint}; ${remedy}`, place);
  },

  // name(...), or of a method `first`.name(...).
  call(typed, place, first) {
    if (first) this.take("(");
    const name = otherNames.get(typed) ?? typed;
    if (!first && this.values.has(typed)) throw new TextError(`write * or @ between ${typed} and (`, place + typed.length);
    if (!typedFunctions().includes(name)) this.refuse(`there is no function ${name}`, name, typedFunctions(), place);
    const { parts, keeps } = this.closed(place, () => this.parts(first));
    const takesTwo = name === "matmul" || name === "pow", takesOne = ["transpose", "diag"].includes(name);
    const most = name in functionsOfElements || takesOne ? 1 : 2, least = takesTwo ? 2 : 1;
    if (parts.length < least || parts.length > most) {
      const takes = least === most ? least : `${least} or ${most}`;
      throw new TextError(`${name} takes ${takes} argument${most > 1 ? "s" : ""}, and here are ${parts.length}`, place);
    }
    return this.applied(name, place, parts, keeps);
  },
  parts(first) {
    const parts = first ? [first] : [];
    let keeps = true;
    this.space();
    if (first && this.sees(")")) return { parts, keeps };
    do {
      this.space();
      if (this.match(/keepdims?\s*=/y)) keeps = !/false|0/i.test(this.match(/\s*\w+/y) ?? "");
      else {
        this.match(/(axis|dim)\s*=(?!=)/y);
        parts.push(this.sum());
      }
    } while (this.takes(","));
    return { parts, keeps };
  },
  applied(name, place, [a, b], keeps) {
    if (name in functionsOfElements) return elementwise(functionsOfElements[name], a);
    if (name === "transpose") return transposeAt(place, a);
    if (name === "diag") return diagAt(place, a);
    if (name === "pow") return elementwiseAt(place, "^", a, b);
    if (name === "matmul") return matmulAt(place, a, b);
    if (name === "softmax") return softmax(a, this.axis(name, place, a, b ?? ndArray([], [-1])));
    const axis = b ? this.axis(name, place, a, b) : this.axisOtherwise < a.rank ? this.axisOtherwise : undefined;
    const reduced = reductionsOfArrays[name](a, axis);
    if (axis === undefined) return reshape(reduced, []);
    return keeps ? reduced : reshape(reduced, a.shape.filter((_, k) => k !== axis));
  },
  axis(name, place, a, axis) {
    const k = axis.rank ? NaN : axis.item();
    if (Number.isInteger(k) && k >= -a.rank && k < a.rank) return k < 0 ? k + a.rank : k;
    const rule = a.rank ? `its axis is a number from 0 to ${a.rank - 1}` : "a number has no axes";
    throw new TextError(`${name} of ${shapeOf(a)}: ${rule}`, place);
  },
};

// The array that the text gives, where `values` holds those of the names: {x: NdArray}. Throws TextError, with the
// place, for anything that is no expression or whose shapes do not fit. `axisOtherwise` is the axis of sums, means and
// maxima that name none; undefined: all elements.
export const evaluateExpression = (text, values, axisOtherwise) => {
  const typed = text.replaceAll("−", "-").replaceAll(/[·×⊙∘∗]/g, "*").replaceAll("÷", "/");
  const reader = readerOf(typed, expressionGrammar);
  return Object.assign(reader, { values: new Map(Object.entries(values)), depth: 0, axisOtherwise }).result();
};
