// Values that follow from an object, a trace for example, and are computed when they are first asked for.

/** A function of an object, and of more that goes with it, that calls compute once for each object. */
export const oncePer = (compute) => {
  const known = new WeakMap();
  return (object, ...more) => {
    if (!known.has(object)) known.set(object, compute(object, ...more));
    return known.get(object);
  };
};
