// Memories without gates: each call of a module reads the slots that the call before it has made.
import { attentionsOf } from "./attention_places.js";
import { makerOf } from "./tape_graph.js";

// Whether a scope is another one or within it.
export const isInScope = (trace, inner, outer) => {
  let at = inner;
  while (at >= 0 && at !== outer) at = trace.scopes[at].outer;
  return at === outer;
};

const isMemoryScope = ({ type }) => type.includes("memory");

// Whether a scope is that of a memory, or within one.
export const isInMemory = (trace, scope) => {
  let at = scope;
  while (at >= 0 && !isMemoryScope(trace.scopes[at])) at = trace.scopes[at].outer;
  return at >= 0;
};

// The innermost calls of memories, by the number of their scope.
const callsOfMemories = ({ scopes }) => {
  const around = new Set(scopes.filter(isMemoryScope).map(({ outer }) => outer));
  return scopes.map((_, scope) => scope).filter((scope) => isMemoryScope(scopes[scope]) && !around.has(scope));
};

const sameSize = (a, b) => a.length === b.length && a.every((size, axis) => size === b[axis]);

// The last tensor that a call makes, and the first of the same size that it reads and did not make.
const updateOfCall = (trace, records, scope) => {
  const own = records.filter((index) => isInScope(trace, trace.records[index].scope, scope));
  if (own.length === 0 || !attentionsOf(trace).some(({ record }) => own.includes(record))) return null;
  const record = own.at(-1),
    [after] = trace.records[record].outputs,
    { shape } = trace.nodes[after];
  const isBefore = (node) => makerOf(trace, node) < own[0] && sameSize(trace.nodes[node].shape, shape);
  const before = own.flatMap((index) => trace.records[index].inputs).find(isBefore);
  if (before === undefined || shape.length < 3) return null;
  return { scope, record, before, after, candidate: null, raw: null, input: null, forget: null, output: null };
};

// The updates of calls in which none of these gated ones is.
export const updatesWithoutGates = (trace, gated) => {
  const records = [...trace.records.keys()];
  return callsOfMemories(trace)
    .filter((scope) => !gated.some(({ record }) => isInScope(trace, trace.records[record].scope, scope)))
    .map((scope) => updateOfCall(trace, records, scope))
    .filter(Boolean);
};
