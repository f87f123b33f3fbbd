// Finds the updates of memories of slots in a trace: next = (what a gate keeps of the memory) + (what a gate takes of something
// new), composed of other ops or fused, step by step.
import { attentionsOf } from "./attention_places.js";
import { outputGateOf, updateOfDifference, updateOfTwoProducts } from "./gate_patterns.js";
import { isInScope, updatesWithoutGates } from "./memory_calls.js";
import { oncePer } from "./once.js";
import { sizeOf } from "./tensor.js";

const composedUpdate = (trace, index) => {
  const record = trace.records[index];
  const found = updateOfTwoProducts(trace, record) ?? updateOfDifference(trace, record);
  if (!found) return null;
  const output = outputGateOf(trace, record.outputs[0]);
  return { ...found, record: index, after: output?.after ?? record.outputs[0], output: output?.gate ?? null };
};

// The fused op's candidate comes before its tanh.
const fusedUpdate = (trace, index) => {
  const { inputs, outputs } = trace.records[index];
  const [before, raw] = inputs,
    [after, input, forget = null] = outputs;
  return { record: index, before, candidate: null, raw, input, forget, output: null, after };
};

const updateAt = (trace, index) => {
  const { op, outputs, scope } = trace.records[index];
  const isSum = op === "add" && trace.nodes[outputs[0]].shape.length > 2,
    update = op === "gated_memory" ? fusedUpdate(trace, index) : isSum ? composedUpdate(trace, index) : null;
  return update && { scope, ...update };
};

// The attentions of the call that made an update; without a scope around it, those since the update before.
const attentionsOfUpdate = (trace, { scope, record }, since) =>
  attentionsOf(trace).filter((attention) =>
    scope >= 0
      ? isInScope(trace, trace.records[attention.record].scope, scope)
      : since < attention.record && attention.record < record,
  );

// Updates that begin where another one ended belong to one memory.
const inChains = (trace, updates) => {
  const memories = [];
  for (const update of updates) {
    let memory = memories.find(({ steps }) => steps.at(-1).after === update.before);
    if (!memory) memories.push((memory = { steps: [] }));
    const since = memory.steps.at(-1)?.record ?? -1;
    memory.steps.push({ ...update, attentions: attentionsOfUpdate(trace, update, since) });
  }
  return memories;
};

const findMemories = (trace) => {
  const gated = trace.records.map((_, index) => updateAt(trace, index)).filter(Boolean),
    memories = inChains(trace, [...gated, ...updatesWithoutGates(trace, gated)]);
  const isMemory = ({ steps: [{ scope }, second] }) => second || trace.scopes[scope]?.type.includes("memory");
  const isEmpty = ({ steps }) => trace.nodes[steps[0].after].shape.includes(0);
  return memories
    .filter((memory) => isMemory(memory) && !isEmpty(memory))
    .map(({ steps }) => {
      const { shape } = trace.nodes[steps[0].after],
        [slots, features] = shape.slice(-2);
      const samples = sizeOf(shape.slice(0, -2));
      return { name: trace.scopes[steps[0].scope]?.path ?? "memory", steps, slots, features, samples };
    });
};

// The memories of slots of a trace: {name, slots, features, samples, steps: [{scope, record, attentions, and the nodes
// before, after, candidate (or raw, without its tanh), input (null: no gates), forget (null: 1 - input), output (or
// null)}]}.
export const memoriesOf = oncePer(findMemories);

const isOneOf = (count, value) => Number.isInteger(value) && value >= 0 && value < count;

// The step that a place names: {memory, index, t, sample}. A record leads to the step that it belongs to; without one t
// says it.
export const memoryAt = (trace, place) => {
  const all = memoriesOf(trace),
    index = isOneOf(all.length, place.memory) ? place.memory : 0,
    memory = all[index],
    last = memory.steps.length - 1;
  const ofRecord = memory.steps.findIndex(({ record }) => place.record <= record);
  const t = place.record === undefined ? (isOneOf(last + 1, place.t) ? place.t : 0) : ofRecord < 0 ? last : ofRecord;
  return { memory, index, t, sample: isOneOf(memory.samples, place.sample) ? place.sample : 0 };
};
