// The moments of a forward and a backward pass: each record going forward, the seed, and back through the records that
// the backward reached. A place names a record and the phase "forward", or the phase "seed" alone; without one it goes
// back.
import { oncePer } from "./once.js";

// {all: [{record (null for the seed), phase}], passed: the moment at which the walk came to each record or passed it
// by, reached: how many it came to}.
export const momentsOf = oncePer(({ records, seeds }) => {
  const order = [...records.keys()], back = order.filter((record) => records[record].reached).reverse();
  const seed = back.length > 0 && seeds.length > 0 ? [{ record: null, phase: "seed" }] : [];
  const inPhase = (phase) => (record) => ({ record, phase });
  const all = [...order.map(inPhase("forward")), ...seed, ...back.map(inPhase(null))];
  const passed = [];
  for (let record = records.length - 1, at = record + seed.length; record >= 0; --record)
    passed[record] = records[record].reached ? ++at : at;
  return { all, passed, reached: back.length };
});

export const placeOfMoment = (trace, moment) => {
  const { all } = momentsOf(trace);
  return all[Math.max(0, Math.min(all.length - 1, moment))];
};

// The record of a place: without a name the last one that the backward reached. Null for the seed.
export const recordAt = (trace, { record, phase }) => {
  const { all } = momentsOf(trace), last = trace.records.length - 1;
  if (Number.isInteger(record)) return Math.max(0, Math.min(last, record));
  return (all.find((moment) => moment.phase === (phase ?? null)) ?? all[last]).record;
};

export const momentOf = (trace, place) => {
  const record = recordAt(trace, place), { all, passed } = momentsOf(trace);
  if (record === null) return all.findIndex(({ phase }) => phase === "seed");
  return place.phase === "forward" ? record : passed[record];
};

// What is known of the records first to last at a moment. A gradient that never comes is not known either.
export const knownAt = (trace, moment, first, last = first) => {
  const isReached = trace.records.slice(first, last + 1).some(({ reached }) => reached);
  return { value: moment >= last, gradient: isReached && moment >= momentsOf(trace).passed[first] };
};

export const momentText = (trace, place) => {
  const record = recordAt(trace, place), { all, reached } = momentsOf(trace);
  if (record === null) return "backward, the seed: the gradient with which it begins";
  if (place.phase === "forward") return `forward, step ${record + 1} of ${trace.records.length}: record ${record}`;
  if (!trace.records[record].reached) return `record ${record}: the backward pass does not come here`;
  const step = momentOf(trace, place) - (all.length - 1 - reached);
  return `backward, step ${step} of ${reached}: record ${record}`;
};
