// Arrays and their arithmetic, as the rules need it: row-major, and in double precision whatever the trace's dtype.

/** The elements of a tensor in row-major order; f32 values and integers as doubles. */
export class NdArray {
  constructor(dtype, shape, data) {
    this.dtype = dtype;
    this.shape = shape;
    this.data = data;
  }

  get size() {
    return this.data.length;
  }

  get rank() {
    return this.shape.length;
  }

  /** The element at a position with an index per axis; negative ones count from the end. */
  at(...position) {
    const strides = stridesOf(this.shape);
    return this.data[position.reduce((sum, i, k) => sum + (i < 0 ? i + this.shape[k] : i) * strides[k], 0)];
  }

  /** The element of a tensor of one element. */
  item() {
    return this.data[0];
  }
}

/** The Euclidean norm. */
export const lengthOf = ({ data }) => data.reduce((length, x) => Math.hypot(length, x), 0);

export const sizeOf = (shape) => shape.reduce((product, length) => product * length, 1);

/** How far apart neighbours along each axis lie. */
export function stridesOf(shape) {
  const strides = new Array(shape.length).fill(1);
  for (let k = shape.length - 2; k >= 0; --k) strides[k] = strides[k + 1] * shape[k + 1];
  return strides;
}

/** An array of these elements: any nesting of lists, or a flat list. */
export function ndArray(shape, data, dtype = "f64") {
  const elements = Float64Array.from(Array.isArray(data) ? data.flat(Infinity) : data);
  if (elements.length !== sizeOf(shape)) throw new Error(`[${shape}] does not hold ${elements.length} elements`);
  return new NdArray(dtype, shape, elements);
}

export const zeros = (shape) => new NdArray("f64", shape, new Float64Array(sizeOf(shape)));
export const filled = (shape, value) => new NdArray("f64", shape, new Float64Array(sizeOf(shape)).fill(value));
export const sameShape = (a, b) => a.length === b.length && a.every((length, k) => length === b[k]);

// ---- element by element

/** The shape that shapes broadcast to, by NumPy's rule. */
export function broadcastShapes(...shapes) {
  const rank = Math.max(0, ...shapes.map((shape) => shape.length));
  return Array.from({ length: rank }, (_, k) => {
    const lengths = shapes.map((shape) => shape[k - rank + shape.length] ?? 1);
    const length = lengths.find((n) => n !== 1) ?? 1;
    if (lengths.some((n) => n !== 1 && n !== length))
      throw new Error(`${shapes.map((shape) => `[${shape}]`).join(" and ")} do not broadcast`);
    return length;
  });
}

/** Where elements lie that are visited by the given lengths and strides, the last axis fastest. */
export function placesOf(lengths, strides, offset = 0) {
  let places = Int32Array.of(offset);
  lengths.forEach((length, k) => {
    const next = new Int32Array(places.length * length);
    for (let n = 0, to = 0; n < places.length; ++n)
      for (let i = 0; i < length; ++i) next[to++] = places[n] + i * strides[k];
    places = next;
  });
  return places;
}

/** For each element of `shape`, where the element of an array of shape `from` lies that broadcasts to it. */
export function broadcastPlaces(from, shape) {
  const strides = stridesOf(from), missing = shape.length - from.length;
  return placesOf(shape, shape.map((_, k) => (k < missing || from[k - missing] === 1 ? 0 : strides[k - missing])));
}

/** f of the elements of all arrays, which broadcast. */
export function elementwise(f, ...arrays) {
  const first = arrays[0].shape, alike = arrays.every((x) => sameShape(x.shape, first));
  const shape = alike ? first : broadcastShapes(...arrays.map((x) => x.shape));
  const all = arrays.map((x) => (alike || sameShape(x.shape, shape) ? x.data : broadcastTo(x, shape).data));
  const y = zeros(shape), [a, b, c, d] = all;  // a loop for each usual number of arrays: they are fast
  if (all.length === 1) for (let n = 0; n < y.size; ++n) y.data[n] = f(a[n]);
  else if (all.length === 2) for (let n = 0; n < y.size; ++n) y.data[n] = f(a[n], b[n]);
  else if (all.length === 3) for (let n = 0; n < y.size; ++n) y.data[n] = f(a[n], b[n], c[n]);
  else if (all.length === 4) for (let n = 0; n < y.size; ++n) y.data[n] = f(a[n], b[n], c[n], d[n]);
  else for (let n = 0; n < y.size; ++n) y.data[n] = f(...all.map((data) => data[n]));
  return y;
}

export const add = (a, b) => elementwise((p, q) => p + q, a, b);
export const subtract = (a, b) => elementwise((p, q) => p - q, a, b);
export const multiply = (a, b) => elementwise((p, q) => p * q, a, b);
export const divide = (a, b) => elementwise((p, q) => p / q, a, b);
export const scaleBy = (factor, x) => elementwise((p) => factor * p, x);

/** The largest |element| that is finite; 0 if there is none. */
export function largest(x) {
  let result = 0;
  for (const value of x.data) {
    const size = Math.abs(value);
    if (size > result && size < Infinity) result = size;
  }
  return result;
}

// ---- shape

export function reshape(x, shape) {
  if (sizeOf(shape) !== x.size) throw new Error(`[${x.shape}] does not reshape to [${shape}]`);
  return new NdArray(x.dtype, shape, x.data);
}

/** The elements of x at these places, in a shape. */
export function pick(x, places, shape) {
  const y = zeros(shape);
  for (let n = 0; n < places.length; ++n) y.data[n] = x.data[places[n]];
  return y;
}

/** An array of zeros to which the elements of x are added at these places. */
export function spread(x, places, shape) {
  const y = zeros(shape);
  for (let n = 0; n < places.length; ++n) y.data[places[n]] += x.data[n];
  return y;
}

/** Axis k of the result is axis permutation[k] of x; without a permutation the last two axes are exchanged. */
export function transpose(x, permutation) {
  const axes = permutation ?? x.shape.map((_, k) => (k < x.rank - 2 ? k : 2 * x.rank - 3 - k));
  const strides = stridesOf(x.shape), shape = axes.map((k) => x.shape[k]);
  return pick(x, placesOf(shape, axes.map((k) => strides[k])), shape);
}

export const broadcastTo = (x, shape) => pick(x, broadcastPlaces(x.shape, shape), shape);

/** The gradient of an array that was broadcast to the shape of x: sums over its repetitions. */
export function sumTo(x, shape) {
  return sameShape(x.shape, shape) ? x : spread(x, broadcastPlaces(shape, x.shape), shape);
}

/** The elements start, ..., start + length - 1 along an axis. */
export function narrow(x, axis, start, length) {
  const along = axis < 0 ? axis + x.rank : axis, strides = stridesOf(x.shape);
  const shape = x.shape.map((n, k) => (k === along ? length : n));
  return pick(x, placesOf(shape, strides, start * strides[along]), shape);
}

/** The arrays side by side along an existing axis. */
export function concat(arrays, axis) {
  const along = axis < 0 ? axis + arrays[0].rank : axis;
  const total = arrays.reduce((sum, x) => sum + x.shape[along], 0);
  const y = zeros(arrays[0].shape.map((n, k) => (k === along ? total : n)));
  const strides = stridesOf(y.shape);
  let start = 0;
  for (const x of arrays) {
    placesOf(x.shape, strides, start * strides[along]).forEach((place, n) => (y.data[place] = x.data[n]));
    start += x.shape[along];
  }
  return y;
}

// ---- reductions

/** The axes as numbers from 0; all of them if none are given. */
export function axesOf(x, axes) {
  if (axes === undefined || axes === null) return x.shape.map((_, k) => k);
  return (Array.isArray(axes) ? axes : [axes]).map((k) => (k < 0 ? k + x.rank : k));
}

/** The shape with length 1 along the axes. */
export const keptShape = (shape, axes) => shape.map((n, k) => (axes.includes(k) ? 1 : n));

/** f(so far, element), from `start`, over the axes, which stay with length 1. */
export function reduceAlong(f, start, x, axes) {
  const shape = keptShape(x.shape, axesOf(x, axes)), y = filled(shape, start);
  broadcastPlaces(shape, x.shape).forEach((place, n) => (y.data[place] = f(y.data[place], x.data[n])));
  return y;
}

/** The sum over the axes, which stay with length 1. It carries its rounding errors along (Neumaier's summation). */
export function sumAlong(x, axes) {
  const shape = keptShape(x.shape, axesOf(x, axes)), y = zeros(shape), lost = new Float64Array(y.size);
  const places = broadcastPlaces(shape, x.shape);
  for (let n = 0; n < x.size; ++n) {
    const term = x.data[n], place = places[n], sum = y.data[place], next = sum + term;
    lost[place] += Math.abs(sum) >= Math.abs(term) ? sum - next + term : term - next + sum;
    y.data[place] = next;
  }
  for (let n = 0; n < y.size; ++n) if (Number.isFinite(lost[n])) y.data[n] += lost[n];
  return y;
}

/** The number of elements of x that go into one element of a reduction. */
export const countAlong = (x, axes) => axesOf(x, axes).reduce((count, k) => count * x.shape[k], 1);

export const meanAlong = (x, axes) => scaleBy(1 / countAlong(x, axes), sumAlong(x, axes));
export const maxAlong = (x, axes) => reduceAlong((a, b) => (a > b || a !== a ? a : b), -Infinity, x, axes);

// ---- products

/** The product of two numbers where 0 times anything is 0, NaN and infinities, too. */
export const strongProduct = (p, q) => (p === 0 || q === 0 ? 0 : p * q);

/** a [..., n, k] b [..., k, m] -> [..., n, m]; the leading axes broadcast. The kind of its zeros may be "strong". */
export function matmul(a, b, kind = "ordinary") {
  const [rows, inner] = a.shape.slice(-2), columns = b.shape[b.rank - 1];
  if (b.shape[b.rank - 2] !== inner) throw new Error(`[${a.shape}] and [${b.shape}] have no matrix product`);
  const leading = broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2));
  const ofA = broadcastPlaces(a.shape.slice(0, -2), leading), ofB = broadcastPlaces(b.shape.slice(0, -2), leading);
  const y = zeros([...leading, rows, columns]), [left, right, sums] = [a.data, b.data, y.data];
  for (let matrix = 0; matrix < ofA.length; ++matrix) {
    const fromA = ofA[matrix] * rows * inner, fromB = ofB[matrix] * inner * columns, to = matrix * rows * columns;
    for (let i = 0; i < rows; ++i)
      for (let k = 0; k < inner; ++k) {
        const factor = left[fromA + i * inner + k], row = fromB + k * columns, sum = to + i * columns;
        if (kind !== "strong") for (let j = 0; j < columns; ++j) sums[sum + j] += factor * right[row + j];
        else for (let j = 0; j < columns; ++j) sums[sum + j] += strongProduct(factor, right[row + j]);
      }
  }
  return y;
}
