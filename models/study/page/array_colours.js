// Numbers as colours and as the signs that colours cannot say: one map for numbers of one sign, a diverging one around
// 0 otherwise.

// {low, high, kind: "positive" | "negative" | "diverging"} of the finite numbers of some arrays. A kind of one sign
// begins at 0; a diverging one is as wide to both sides.
export const rangeOf = (...arrays) => {
  let low = 0,
    high = 0;
  for (const data of arrays)
    for (const x of data) {
      if (!Number.isFinite(x)) continue;
      if (x < low) low = x;
      if (x > high) high = x;
    }
  if (low < 0 && high > 0) {
    const size = Math.max(-low, high);
    return { low: -size, high: size, kind: "diverging" };
  }
  return low < 0 ? { low, high: 0, kind: "negative" } : { low: 0, high: high || 1, kind: "positive" };
};

const fewest = 256, share = 0.99;

// The same without the few largest of many numbers, which would make the others look like 0; those get the last colour.
export const rangeWithoutOutliers = (numbers) => {
  const sizes = Float64Array.from(numbers, Math.abs).filter(Number.isFinite).sort();
  if (sizes.length < fewest) return rangeOf(numbers);
  const most = sizes[Math.floor(share * (sizes.length - 1))] || sizes.at(-1);
  return rangeOf(Array.from(numbers, (x) => Math.max(-most, Math.min(most, x))));
};

// A range that a caller gives as two numbers.
export const rangeBetween = (low, high) => ({
  low,
  high,
  kind: low < 0 && high > 0 ? "diverging" : low < 0 ? "negative" : "positive",
});

export const glyphOf = (x, range, masked = false) => {
  if (masked) return "·";
  if (Number.isNaN(x)) return "X";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  return x > range.high ? "+" : x < range.low ? "-" : "";
};

// From -1 (the strongest negative) over 0 to 1.
export const strengthOf = (x, range) => {
  const size = Math.max(Math.abs(range.low), Math.abs(range.high)) || 1;
  return Math.max(-1, Math.min(1, x / size));
};

const channels = (colour) => [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));

const between = (from, to, part) => from.map((channel, i) => Math.round(channel + (to[i] - channel) * part));

const luminance = ([red, green, blue]) => (0.299 * red + 0.587 * green + 0.114 * blue) / 255;

const levels = 64;

// The colours of 0, ..., 1, with the ink that can be read on each.
const rampOf = (zero, middle, full, inks) =>
  Array.from({ length: levels + 1 }, (_, level) => {
    const part = level / levels;
    const colour = part < 0.5 ? between(zero, middle, 2 * part) : between(middle, full, 2 * part - 1);
    return { fill: `rgb(${colour.join(" ")})`, ink: luminance(colour) > 0.5 ? inks.dark : inks.light };
  });

const paletteCache = new Map();

const darkScheme = () => matchMedia("screen and (prefers-color-scheme: dark)");

// The ramps of the colour scheme in use, from the style sheet's variables.
export const palette = () => {
  const dark = darkScheme().matches;
  if (!paletteCache.has(dark)) {
    const style = getComputedStyle(document.documentElement);
    const variable = (name) => channels(style.getPropertyValue(`--array-${name}`).trim());
    const inks = { dark: "#15171a", light: "#ffffff" };
    const ramp = (name) => rampOf(variable("zero"), variable(`${name}-half`), variable(name), inks);
    paletteCache.set(dark, {
      one: ramp("one"),
      positive: ramp("positive"),
      negative: ramp("negative"),
      masked: style.getPropertyValue("--array-masked").trim(),
      odd: style.getPropertyValue("--array-odd").trim(),
      oddInk: dark ? inks.dark : inks.light,
      maskedInk: style.getPropertyValue("--quiet").trim(),
      cursor: style.getPropertyValue("--ink").trim(),
      ground: style.getPropertyValue("--paper").trim(),
    });
  }
  return paletteCache.get(dark);
};

// {fill, ink} of a cell.
export const cellColour = (x, range, masked, colours = palette()) => {
  if (masked) return { fill: colours.masked, ink: colours.maskedInk };
  if (!Number.isFinite(x)) return { fill: colours.odd, ink: colours.oddInk };
  const strength = strengthOf(x, range);
  const ramp = strength < 0 ? colours.negative : range.kind === "diverging" ? colours.positive : colours.one;
  return ramp[Math.round(Math.abs(strength) * levels)];
};

const paintOf = new WeakMap();

// paint() now, and again whenever the colour scheme changes, and for paper, which is light.
export const paintInScheme = (canvas, paint) => {
  paintOf.set(canvas, paint);
  paint();
};

export const followColourScheme = () =>
  darkScheme().addEventListener("change", () => {
    for (const canvas of document.querySelectorAll("canvas")) paintOf.get(canvas)?.();
  });
