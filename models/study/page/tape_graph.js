// Which records make and read each node of a trace.
import { oncePer } from "./once.js";

const makersIn = oncePer((trace) => {
  const makers = trace.nodes.map(() => -1);
  trace.records.forEach(({ outputs }, index) => outputs.forEach((node) => (makers[node] = index)));
  return makers;
});

const readersIn = oncePer((trace) => {
  const readers = trace.nodes.map(() => []);
  trace.records.forEach(({ inputs }, index) => [...new Set(inputs)].forEach((node) => readers[node].push(index)));
  return readers;
});

// The record that made a node; -1 for a leaf.
export const makerOf = (trace, node) => makersIn(trace)[node];

// The records that read a node, in their order.
export const readersOf = (trace, node) => readersIn(trace)[node];

// Whether a node has a name: %4 is a result without one.
export const isNamed = ({ name }) => !name.startsWith("%");
