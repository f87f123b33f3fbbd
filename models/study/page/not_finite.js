// Where numbers that are not finite come from.
import { oncePer } from "./once.js";
import { isCut, numberOf } from "./trace.js";

// x - x is 0 for finite numbers alone: one loop without a call, because a page looks at each of its numbers to open.
const isAllFinite = (data) => {
  let rest = 0;
  for (let n = 0; n < data.length; ++n) rest += data[n] - data[n];
  return rest === 0;
};

// isBad is true for no finite number.
const firstPlace = (data, isBad) => {
  if (isAllFinite(data)) return -1;
  for (let n = 0; n < data.length; ++n) if (isBad(data[n])) return n;
  return -1;
};

// {position, value} of the first bad element of a tensor of the document, or null. Of a tensor that is cut the
// statistics may know of one where its first elements have none: its position is then null.
const badElement = (trace, held, isBad, allowsInfinity) => {
  if (!held) return null;
  const array = isCut(held) ? trace.slice(held) : trace.tensor(held);
  const position = array ? firstPlace(array.data, isBad) : -1;
  if (position >= 0) return { position, value: array.data[position] };
  if (isCut(held) && numberOf(held.nans) > 0) return { position: null, value: NaN };
  if (isCut(held) && numberOf(held.infinities) > 0 && !allowsInfinity) return { position: null, value: Infinity };
  return null;
};

const anyBad = (x) => !Number.isFinite(x);
const badBesideMasks = (x) => !Number.isFinite(x) && x !== -Infinity;

// Whether a record has -infinity to begin with, in its inputs or attributes: masks are made of it, and softmax turns it
// into a weight of 0.
const beginsMasked = (trace, record) => {
  const attributes = Object.values(record.attributes ?? {});
  if (attributes.includes("-Infinity")) return true;
  const held = [...record.inputs.map((node) => trace.nodes[node].value), ...attributes.filter((a) => a?.tensor)];
  return held.some((t) => t && trace.tensor(t)?.data.includes(-Infinity));
};

// What was bad before any record computed: parameters and inputs. A mask wants no gradient.
const badLeaf = (trace) => {
  for (const [node, { leaf, value, wants_gradient: wants }] of trace.nodes.entries()) {
    const found = leaf ? badElement(trace, value, wants ? anyBad : badBesideMasks, !wants) : null;
    if (found) return { node, ...found };
  }
  return null;
};

const badOutput = (trace, record) => {
  for (const node of record.outputs) {
    const found = badElement(trace, trace.nodes[node].value, anyBad, false);
    if (!found || (found.value === -Infinity && isOnlyMasked(trace, record, node))) continue;
    return { node, ...found };
  }
  return null;
};

const isOnlyMasked = (trace, record, node) =>
  beginsMasked(trace, record) && !badElement(trace, trace.nodes[node].value, badBesideMasks, true);

const badForward = (trace) => {
  for (const [index, record] of trace.records.entries()) {
    const found = badOutput(trace, record);
    if (found) return { record: index, ...found };
  }
  return null;
};

const badBackwardOf = (trace, record) => {
  for (const [n, held] of record.output_gradients.entries()) {
    const found = badElement(trace, held, anyBad, false);
    if (found) return { node: record.outputs[n], what: "arrives", ...found };
  }
  for (const [n, sent] of (record.contributions ?? []).entries()) {
    const found =
      sent && (badElement(trace, sent.contribution, anyBad, false) ?? badElement(trace, sent.after, anyBad, false));
    if (found) return { node: record.inputs[n], what: "is sent", ...found };
  }
  return null;
};

const badBackward = (trace) => {
  for (let index = trace.records.length - 1; index >= 0; --index) {
    const found = badBackwardOf(trace, trace.records[index]);
    if (found) return { record: index, ...found };
  }
  return null;
};

// {leaf, forward, backward}: each null, or what is not finite first: {record, node, position, value}, in the backward
// pass with what: "arrives" or "is sent".
const findNotFinite = (trace) => ({ leaf: badLeaf(trace), forward: badForward(trace), backward: badBackward(trace) });

export const firstNotFinite = oncePer(findNotFinite);
