// The moments of a forward and a backward pass: moment m of 2 n is record m going forward, and from n on record
// 2 n - 1 - m going backward. A place names a record and, while it goes forward, says so.

export const momentOf = (place, count) => {
  const record = Math.max(0, Math.min(count - 1, Number.isInteger(place.record) ? place.record : count - 1));
  return place.phase === "forward" ? record : 2 * count - 1 - record;
};

export const placeOfMoment = (moment, count) => {
  const at = Math.max(0, Math.min(2 * count - 1, moment));
  return at < count ? { record: at, phase: "forward" } : { record: 2 * count - 1 - at, phase: null };
};

// What is known of a record at a moment.
export const knownAt = (moment, record, count) => ({
  value: moment >= Math.min(record, count),
  gradient: moment >= 2 * count - 1 - record,
});

export const momentText = (moment, count) => {
  const { record, phase } = placeOfMoment(moment, count);
  const step = phase === "forward" ? record + 1 : count - record;
  return `${phase === "forward" ? "forward" : "backward"}, step ${step} of ${count}: record ${record}`;
};
