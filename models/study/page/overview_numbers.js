// How large values and gradients are, from one named tensor to the next.
import { oncePer } from "./once.js";
import { readersOf } from "./tape_graph.js";
import { add, lengthOf } from "./tensor.js";
import { numberOf } from "./trace.js";

const normIn = oncePer((held, trace) => {
  const whole = trace.tensor(held);
  return whole ? lengthOf(whole) : numberOf(held.norm ?? NaN);
});

/** The Euclidean norm of what a trace holds; NaN where it holds nothing. */
export const normOfHeld = (trace, held) => (held ? normIn(held, trace) : NaN);

const together = (norms) => (norms.length > 0 ? Math.hypot(...norms) : 0);

/** What a record sent back to a node of its inputs. */
const sentTo = (trace, index, node) => {
  const { inputs, contributions } = trace.records[index];
  const sent = contributions.filter((one, k) => one && inputs[k] === node).map(({ contribution }) => contribution);
  const whole = sent.map((one) => trace.tensor(one));
  if (whole.every(Boolean) && whole.length > 0) return lengthOf(whole.reduce(add));
  return together(sent.map((one) => normOfHeld(trace, one)));
};

/** {value: |x| of all that links lead away from, gradient: the norm of what came back by them}. */
export const flowOfLinks = (trace, links) => {
  const from = new Map();
  for (const { from: node, readers } of links) from.set(node, new Set([...(from.get(node) ?? []), ...readers]));
  const sent = [...from].flatMap(([node, readers]) => [...readers].map((reader) => sentTo(trace, reader, node)));
  return { value: together([...from.keys()].map((node) => normOfHeld(trace, trace.nodes[node].value))), gradient: together(sent) };
};

/** {value, gradient, share: |gradient| / |value|} of a node. A gradient that never came is 0. */
export const sizesOf = (trace, node) => {
  const held = trace.nodes[node], value = normOfHeld(trace, held.value);
  const gradient = held.gradient ? normOfHeld(trace, held.gradient) : 0;
  return { value, gradient, share: gradient / value };
};

/**
 * The way of the largest gradients from the seeds to a node, from its end: [{record, sent, arrived, share: sent /
 * arrived}].
 */
export const wayBackTo = (trace, node) => {
  const way = [], norm = (held) => (held ? normOfHeld(trace, held) : 0);
  let here = node, last = -1;
  for (;;) {
    const readers = readersOf(trace, here).filter((index) => index > last && trace.records[index].reached);
    if (readers.length === 0) return way;
    const steps = readers.map((record) => {
      const { output_gradients: arrived, outputs } = trace.records[record], sizes = arrived.map(norm);
      const sent = sentTo(trace, record, here), whole = together(sizes.filter((x) => x > 0));
      const main = sizes.reduce((most, x, n) => (x > (sizes[most] || 0) ? n : most), 0);
      return { record, sent, arrived: whole, share: whole > 0 ? sent / whole : NaN, next: outputs[main] };
    });
    const step = steps.reduce((a, b) => (b.sent > a.sent ? b : a));
    way.push(step);
    here = step.next;
    last = step.record;
  }
};
