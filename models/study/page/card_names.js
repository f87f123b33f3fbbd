// What a record's tensors are called where its op says x and y: by the names of the trace.
import { isNamed, makerOf } from "./tape_graph.js";

const longestName = 24;
const rearrangingOps = new Set(["reshape", "transpose"]);

// "blocks.0.query.weight" -> "query.weight"
const tailOf = (name) => name.split(".").slice(-2).join(".");

// The name of a node, or of the one that it is only another order of.
const nameOfNode = (trace, node) => {
  for (let at = node; ;) {
    const maker = trace.records[makerOf(trace, at)];
    if (isNamed(trace.nodes[at])) return tailOf(trace.nodes[at].name);
    if (!maker || !rearrangingOps.has(maker.op)) return trace.nodes[node].name;
    [at] = maker.inputs;
  }
};

/**
 * The names of the inputs and outputs of a record by the letters that its op has for them: {x: "scores", y: "weights"}.
 * A name that two of them would share is the number of each; one that is long is left out.
 */
export const namesInCard = (trace, { inputs, outputs }, symbols) => {
  const nodes = new Map();
  symbols.inputs.forEach((symbol, n) => nodes.set(symbol, inputs[n]));
  symbols.outputs.forEach((symbol, n) => nodes.set(symbol, outputs[n]));
  const names = new Map([...nodes].map(([symbol, node]) => [symbol, nameOfNode(trace, node)]));
  const isShared = (symbol) => [...nodes].some(([other, node]) => names.get(other) === names.get(symbol) && node !== nodes.get(symbol));
  const own = [...nodes].map(([symbol, node]) => [symbol, isShared(symbol) ? trace.nodes[node].name : names.get(symbol)]);
  return Object.fromEntries(own.filter(([, name]) => name.length <= longestName));
};

/** "dq", "d scores". */
export const gradientName = (name) => `d${name.length > 1 ? " " : ""}${name}`;
