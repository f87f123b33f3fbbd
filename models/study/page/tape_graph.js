// Which records make and read each node of a trace.
import { oncePer } from "./once.js";
import { sizeOf } from "./tensor.js";

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

// The seeds at results. At a leaf, a seed is what an earlier backward pass has left there.
export const seedsOfLoss = (trace) => trace.seeds.filter(({ node }) => makerOf(trace, node) >= 0);

// Whether the loss is one of the results, a number.
export const isLossItself = (trace) => {
  const seeds = seedsOfLoss(trace);
  return seeds.length === 1 && sizeOf(trace.nodes[seeds[0].node].shape) === 1;
};

// Whether a node has a name: %4 is a result without one.
export const isNamed = ({ name }) => !name.startsWith("%");
