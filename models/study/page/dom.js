// Elements and numbers, as every view makes them.

const withChildren = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value;  // a strict policy lets no attribute do it
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
};

// el("p", {class: "lead", onclick: f}, "text", [more, ...]): a null attribute or child is left out.
export const el = (tag, attributes, ...children) => withChildren(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) =>
  withChildren(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

export const button = (text, onclick, attributes) => el("button", { type: "button", onclick, ...attributes }, text);

const typographic = (digits) => digits.replaceAll("-", "−").replace("e+", "e");

const unusualNumber = (x) => (Number.isNaN(x) ? "NaN" : x > 0 ? "∞" : "−∞");

// In four significant digits: "0.2492", "−1.3", "4.1e−17".
export const formatNumber = (x, digits = 4) => {
  if (!Number.isFinite(x)) return unusualNumber(x);
  const size = Math.abs(x);
  if (x === 0 || (Number.isInteger(x) && size < 1e6)) return typographic(String(x));
  if (size >= 1e-3 && size < 1e5) return typographic(String(Number(x.toPrecision(digits))));
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  return typographic(`${Number(mantissa)}e${exponent}`);
};

// The shortest digits that are this number and no other of its dtype.
export const exactNumber = (x, dtype = "f64") => {
  if (!Number.isFinite(x)) return unusualNumber(x);
  if (dtype !== "f32") return typographic(String(x));
  let digits = 1;
  while (digits < 9 && Math.fround(Number(x.toPrecision(digits))) !== Math.fround(x)) ++digits;
  return typographic(String(Number(x.toPrecision(digits))));
};

export const shapeText = (shape) => (shape.length === 0 ? "one number" : shape.join(" × "));
