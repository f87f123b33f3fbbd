// Places in the page as fragments: #view=attention&record=17&head=1&t=3.

const wholeNumber = /^-?\d+$/;

export const parsePlace = (fragment) => {
  const place = {};
  for (const [name, value] of new URLSearchParams(fragment.replace(/^#/, "")))
    place[name] = wholeNumber.test(value) ? Number(value) : value;
  return place;
};

export const placeText = (place) => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(place))
    if (value !== null && value !== undefined && value !== "") parameters.set(name, value);
  return `#${parameters}`;
};

// A new value replaces the last one; null removes it.
export const movedPlace = (place, change) =>
  Object.fromEntries(
    Object.entries({ ...place, ...change }).filter(([, value]) => value !== null && value !== undefined),
  );
