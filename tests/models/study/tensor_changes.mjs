// Changes single numbers of a trace, in the tensor itself, and looks whether the page's check sees it.
import { checkRecord } from "../../../models/study/page/check.js";
import { openTrace } from "../../../models/study/page/trace.js";

/** For each tensor, the records that it belongs to. */
function ownersOf({ records, nodes, seeds }) {
  const owners = new Map();
  const add = (held, index) => held?.tensor !== undefined && owners.set(held.tensor, (owners.get(held.tensor) ?? new Set()).add(index));
  records.forEach((record, index) => {
    for (const n of [...record.inputs, ...record.outputs]) add(nodes[n].value, index), add(nodes[n].gradient, index);
    for (const held of [...record.output_gradients, ...Object.values(record.attributes)]) add(held, index);
    for (const sent of record.contributions) for (const held of Object.values(sent ?? {})) add(held, index);
    for (const { node, cotangent } of seeds) if (record.outputs.includes(node)) add(cotangent, index);
  });
  return owners;
}

// The gradient of a bias of keys, for example, is 0 but for its roundings.
const onlyRoundings = 1e-13;

/** Whether a record is red when one number of a tensor is 0.1 % larger: the largest one or, if it has no effect, another. */
function isSeen(trace, name, owners) {
  const { data } = trace.tensor({ tensor: name }), sizes = data.map((x) => (Number.isFinite(x) ? Math.abs(x) : 0));
  const isSeenAt = (position) => {
    const before = data[position];
    data[position] *= 1.001;
    const seen = owners.some((index) => checkRecord(trace, index).verdict === "differs");
    data[position] = before;
    return seen;
  };
  const positions = [...sizes.keys()].filter((n) => sizes[n] > onlyRoundings).sort((a, b) => sizes[b] - sizes[a]);
  return positions.length === 0 || positions.some(isSeenAt);
}


// Ops of whose inputs one may have no effect at all, those whose formulas only their author knows, and those without a
// number in one of their tensors.
const choices = ["maximum", "minimum", "where", "sign", "floor", "ceil", "round", "clip"];
const mayIgnore = ({ nodes }, { op, attributes, inputs, outputs }) =>
  attributes.custom || choices.includes(op) || [...inputs, ...outputs].some((n) => nodes[n].shape.includes(0));

/** All tensors of real numbers of a trace: how many were changed by 0.1 %, and those that turned no record red. */
export function unseenChanges(data) {
  const trace = openTrace(data), unseen = [];
  let count = 0;
  for (const [name, owners] of ownersOf(data.trace)) {
    const records = [...owners], { dtype } = data.tensors[name];
    if (dtype === "i64" || records.every((index) => mayIgnore(trace, trace.records[index]))) continue;
    count += 1;
    if (!isSeen(trace, name, records)) unseen.push(`${name} of ${records.map((n) => trace.records[n].op)}`);
  }
  return { count, unseen };
}
