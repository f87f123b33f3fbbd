// The trace document, opened: its tensors by name, and what a rule needs to know of one record.
import { NdArray } from "./tensor.js";

const notFinite = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };

/** A number of the document, where those that JSON cannot hold are strings. */
export const numberOf = (value) => (typeof value === "string" ? notFinite[value] : value);

/** Whether a tensor of the document was too large to be kept, so that only its statistics and a slice are there. */
export const isCut = (held) => held !== null && held !== undefined && held.tensor === undefined;

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64).buffer;  // ten times as fast, but new
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; ++n) bytes[n] = text.charCodeAt(n);
  return bytes.buffer;
}

const readers = {
  f32: (buffer) => Float64Array.from(new Float32Array(buffer)),
  f64: (buffer) => new Float64Array(buffer),
  i64: (buffer) => Float64Array.from(new BigInt64Array(buffer), Number),
};

/** The array of {"dtype", "shape", "bytes": little-endian}, {..., "data": the same in base64} or {..., "values": [numbers]}. */
export function openTensor({ dtype, shape, data, values, bytes }) {
  const elements = values ? Float64Array.from(values, numberOf) : readers[dtype](bytes ?? bytesOf(data));
  return new NdArray(dtype, shape, elements);
}

/** Opens {"trace": document, "tensors": {name: tensor}}. Throws an Error for anything else. */
export function openTrace(data) {
  const document = data?.trace;
  if (document?.format !== "retrace.trace") throw new Error("this is not a trace: it has no format retrace.trace");
  if (document.version !== 1) throw new Error(`this page reads traces of version 1, and this is ${document.version}`);
  const opened = new Map();
  const byName = (name) => {
    if (!opened.has(name)) {
      if (!data.tensors?.[name]) throw new Error(`the trace names a tensor ${name} that it does not hold`);
      opened.set(name, openTensor(data.tensors[name]));
    }
    return opened.get(name);
  };
  return {
    document,
    nodes: document.nodes ?? [],
    records: document.records ?? [],
    scopes: document.scopes ?? [],
    seeds: document.seeds ?? [],
    checks: document.checks ?? [],
    flows: document.flows ?? [],
    /** The array of a tensor of the document; null if nothing is held, or only statistics. */
    tensor: (held) => (held?.tensor === undefined ? null : byName(held.tensor)),
    /** The first elements of a tensor that is cut, in one dimension; null if there are none. */
    slice: (held) => (held?.slice ? byName(held.slice) : null),
  };
}

function openAttribute(trace, value) {
  if (Array.isArray(value)) return value.map(numberOf);
  if (value !== null && typeof value === "object") return trace.tensor(value);
  return typeof value === "string" && value in notFinite ? notFinite[value] : value;
}

/** What a rule sees of a record. Arrays are null where nothing is held, and output gradients where nothing arrived. */
export function callOf(trace, index) {
  const record = trace.records[index];
  const node = (n) => trace.nodes[n];
  return {
    op: record.op,
    attributes: Object.fromEntries(
      Object.entries(record.attributes ?? {}).map(([name, value]) => [name, openAttribute(trace, value)]),
    ),
    inputs: record.inputs.map((n) => trace.tensor(node(n).value)),
    outputs: record.outputs.map((n) => trace.tensor(node(n).value)),
    outputGradients: record.output_gradients.map((held) => trace.tensor(held)),
    wants: record.inputs.map((n) => node(n).wants_gradient),
    dtype: [...record.inputs, ...record.outputs].some((n) => node(n).dtype === "f32") ? "f32" : "f64",
    names: record.input_names,
    formula: record.forward ?? "",
  };
}

/** A constant of a call as the kernels see it, who convert it to the dtype of their elements first. */
export const constantOf = (call, name) => (call.dtype === "f32" ? Math.fround : Number)(call.attributes[name]);
