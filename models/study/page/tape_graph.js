// Which records make and read each node of a trace.

const makersIn = (trace) => {
  const makers = trace.nodes.map(() => -1);
  trace.records.forEach(({ outputs }, index) => outputs.forEach((node) => (makers[node] = index)));
  return makers;
};

const readersIn = (trace) => {
  const readers = trace.nodes.map(() => []);
  trace.records.forEach(({ inputs }, index) => [...new Set(inputs)].forEach((node) => readers[node].push(index)));
  return readers;
};

const graphs = new WeakMap();

const graphOf = (trace) => {
  if (!graphs.has(trace)) graphs.set(trace, { makers: makersIn(trace), readers: readersIn(trace) });
  return graphs.get(trace);
};

// The record that made a node; -1 for a leaf.
export const makerOf = (trace, node) => graphOf(trace).makers[node];

// The records that read a node, in their order.
export const readersOf = (trace, node) => graphOf(trace).readers[node];
