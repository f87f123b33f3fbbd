// Formulas of ops as native MathML: first a tree of {tag, attributes, children}, of which a page makes elements and
// a program without a page makes text.
import { parseFormula } from "./formula.js";
import { TextError } from "./scanner.js";

const greekLetters = { gamma: "γ", beta: "β", eps: "ε", pi: "π" };
const mathSigns = { "-": "−", "!=": "≠", "<=": "≤", ">=": "≥" };
const mathNamespace = "http://www.w3.org/1998/Math/MathML";

const mathNode = (tag, ...children) => ({ tag, attributes: {}, children });
const withAttributes = (attributes, made) => ({ ...made, attributes });
const mathRow = (...children) => mathNode("mrow", ...children);
const mathOperator = (sign) => mathNode("mo", mathSigns[sign] ?? sign);
// A "-" before a term binds more tightly than one between two.
const mathPrefix = (sign) => withAttributes({ form: "prefix" }, mathOperator(sign));
const mathText = (text) => mathNode("mtext", text);
// Fences are as high as a fraction between them, but not as the shapes below names: fonts without such parts of fences
// would draw them three lines high.
const isTall = (made) => made.tag === "mfrac" || made.tag === "mtable" || (made.children?.some(isTall) ?? false);
const mathFenced = (left, made, right) => {
  const fence = (sign) => withAttributes({ stretchy: String(isTall(made)) }, mathOperator(sign));
  return mathRow(fence(left), made, fence(right));
};
const mathBetween = (made, between) => mathRow(...made.flatMap((one, k) => (k ? [between(k), one] : [one])));
const mathSeparated = (made, separator) =>
  mathBetween(made, () => withAttributes({ separator: "true" }, mathNode("mo", separator)));
const mathFunction = (name, ...argument) => mathRow(mathNode("mi", name), mathNode("mo", "\u2061"), ...argument);
const mathSpace = withAttributes({ width: "0.17em" }, mathNode("mspace"));
const mathWideSpace = withAttributes({ width: "0.4em" }, mathNode("mspace"));
const isWord = ({ base, shown }) => (base ? isWord(base) : shown?.length > 1);
const withoutParentheses = (part) => (part.kind === "group" ? part.value : part);

// A name's letters: d of a gradient, the name, digits and a part as its index, and the prime of the next step.
const nameTree = (text) => {
  const pattern = /^(d(?=[A-Za-z]))?([A-Za-z][A-Za-z0-9]*?)(\d*)(_\w*)?('?)$/;
  const [, gradient, base, digits, part, prime] = pattern.exec(text);
  const letters = mathNode("mi", greekLetters[base] ?? base);
  const index = [digits && mathNode("mn", digits), part && mathNode("mi", part.slice(1))].filter(Boolean);
  const indexed = index.length ? mathNode("msub", letters, mathSeparated(index, ",")) : letters;
  const primed = prime ? mathNode("msup", indexed, mathOperator("′")) : indexed;
  return gradient ? mathRow(withAttributes({ mathvariant: "normal" }, mathNode("mi", "d")), primed) : primed;
};

// A name of a trace in place of the one that a formula has: "d" of a gradient, its letters, and a number as its index.
const traceNameTree = (isGradient, name) => {
  const [, base, index] = /^([A-Za-z]+)(?:_?(\d+)|_([a-z]))?$/.exec(name)?.filter((part, n) => n < 2 || part) ?? [null, name];
  const letters = mathNode("mi", base), shown = index ? mathNode("msub", letters, mathText(index)) : letters;
  if (!isGradient) return shown;
  const prefix = withAttributes({ mathvariant: "normal" }, mathNode("mi", "d"));
  return mathRow(prefix, ...(base.length > 1 ? [mathSpace] : []), shown);
};

// f(x): the space of the notation does not always show what belongs to a function.
const appliedTree = (name, argument) =>
  name === "sqrt"
    ? mathNode("msqrt", treeOf(withoutParentheses(argument)))
    : mathFunction(name, ...(argument.kind === "group" ? [] : [mathSpace]), treeOf(argument));

const treesOf = {
  number: (part) => mathNode("mn", part.text),
  name: (part) => ({ ...(part.shown ? traceNameTree(part.isGradient, part.shown) : nameTree(part.text)), name: part.text }),
  dots: () => mathNode("mo", "…"),
  sum: (part) =>
    mathRow(...part.terms.flatMap(({ sign, value }, k) =>
      [...(sign ? [k ? mathOperator(sign) : mathPrefix(sign)] : []), treeOf(value)])),
  quotient: (part) =>
    part.denominators.reduce(
      (above, below) => mathNode("mfrac", above, treeOf(withoutParentheses(below))),
      treeOf(withoutParentheses(part.numerator))),
  product: ({ factors }) =>
    mathBetween(factors.map(treeOf), (k) => (isWord(factors[k]) || isWord(factors[k - 1]) ? mathWideSpace : mathSpace)),
  power: (part) => mathNode("msup", treeOf(part.base), treeOf(withoutParentheses(part.exponent))),
  transposed: (part) => ({ ...mathNode("msup", treeOf(part.base), mathNode("mi", "⊤")), transposed: true }),
  group: (part) => mathFenced("(", treeOf(part.value), ")"),
  size: (part) => mathFenced("|", treeOf(part.value), "|"),
  apply: (part) => appliedTree(part.name, part.argument),
  call: (part) =>
    part.name === "sqrt" && part.parts.length === 1
      ? appliedTree("sqrt", part.parts[0])
      : mathFunction(part.name, mathFenced("(", mathSeparated(part.parts.map(treeOf), ","), ")")),
  reduce: ({ name, over, body }) => {
    const sign = { sum: mathNode("mo", "∑"), prod: mathNode("mo", "∏") }[name] ?? mathNode("mi", name);
    return mathRow(over ? mathNode("munder", sign, treeOf(over)) : sign, mathSpace, treeOf(body));
  },
  index: ({ of, positions }) => mathRow(treeOf(of), mathFenced("[", mathSeparated(positions.map(treeOf), ","), "]")),
  range: ({ bounds }) => mathBetween(bounds.map((one) => (one ? treeOf(one) : mathRow())), () => mathOperator(":")),
  list: ({ parts, separator }) => mathFenced("[", mathSeparated(parts.map(treeOf), separator), "]"),
  comparison: ({ values, relations }) => mathBetween(values.map(treeOf), (k) => mathOperator(relations[k - 1])),
};
const treeOf = (part) => treesOf[part.kind](part);

const mathCell = (side, ...children) =>
  withAttributes({ class: `math-${side}` }, mathNode("mtd", ...children));
const pieceTree = ({ value, condition }, k) => {
  const when = condition ? [mathText(" where "), treeOf(condition)] : k ? [mathText(" otherwise")] : [];
  return mathNode("mtr", mathCell("left", treeOf(value)), mathCell("left", ...when));
};
const valueTree = ({ pieces, along }) => {
  const value =
    pieces.length === 1 && !pieces[0].condition
      ? treeOf(pieces[0].value)
      : mathRow(mathOperator("{"), mathNode("mtable", ...pieces.map(pieceTree)));
  return along ? mathRow(value, mathText(`  along ${along.replaceAll("-", "−")}`)) : value;
};
// An equation in three cells, so that those of a list stand below each other at their relation.
const equationCells = ({ target, relation, value }) => [
  mathCell("right", ...(target ? [target] : [])),
  mathCell("left", ...(relation ? [mathOperator(relation)] : [])),
  mathCell("left", value),
];
const equationTrees = {
  dots: () => ({ value: mathNode("mo", "⋮") }),
  each: (item) => ({ value: mathText(item.text) }),
  membership: (item) => ({
    target: treeOf(item.target),
    relation: "∈",
    value: mathFenced("{", mathSeparated(item.values.map(treeOf), ","), "}"),
  }),
  equation: (item) => ({ target: treeOf(item.target), relation: item.relation, value: valueTree(item) }),
};

// The shape below the first use of each name that has one: below a^T that of the transpose.
const withShapes = (made, shapes) => {
  const left = new Map(Object.entries(shapes));
  const walk = (part) => {
    if (typeof part === "string") return part;
    const name = part.tag === "msup" ? part.name ?? part.children[0].name : part.name, shape = left.get(name);
    if (!shape) return { ...part, children: part.children.map(walk) };
    left.delete(name);
    const lengths = part.transposed ? [...shape.slice(0, -2), ...shape.slice(-2).reverse()] : shape;
    return mathNode("munder", part, withAttributes({ class: "math-shape" }, mathText(`[${lengths.join(", ")}]`)));
  };
  return walk(made);
};

// Equations with other names for some of theirs, and for the gradients of these. What a sum runs over keeps its own.
const renamedParts = (part, names) => {
  if (Array.isArray(part)) return part.map((one) => renamedParts(one, names));
  if (part === null || typeof part !== "object") return part;
  if (part.kind === "name") {
    const isGradient = !Object.hasOwn(names, part.text) && /^d[A-Za-z]/.test(part.text);
    const name = isGradient ? part.text.slice(1) : part.text;
    return { ...part, isGradient, shown: Object.hasOwn(names, name) ? names[name] : undefined };
  }
  const isIndex = (key, value) => key === "over" && value?.kind === "name";
  const renamed = ([key, value]) => [key, isIndex(key, value) ? value : renamedParts(value, names)];
  return Object.fromEntries(Object.entries(part).map(renamed));
};

// The tree of a formula; what is not in the notation (a user's own op may say anything) stays as it is written.
// `shapes` gives shapes of names, which are then written below their first use: {x: [2, 3]}; `names` gives other names, also to gradients: {x: "scores"}.
export const formulaTree = (text, shapes = {}, names = {}) => {
  let equations;
  try {
    equations = renamedParts(parseFormula(text), names);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    return withAttributes({ alttext: text }, mathNode("math", mathText(text)));
  }
  const rows = equations.map((item) => mathNode("mtr", ...equationCells(equationTrees[item.kind](item))));
  // Fractions are as large as the rest, where tables would make them small.
  const table = withAttributes({ displaystyle: "true" }, mathNode("mtable", ...rows));
  return withAttributes({ alttext: text }, mathNode("math", withShapes(table, shapes)));
};

const escapedMarkup = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
export const mathMarkup = (made) => {
  if (typeof made === "string") return escapedMarkup(made);
  const attributes = Object.entries(made.attributes).map(([name, value]) => ` ${name}="${escapedMarkup(value)}"`);
  return `<${made.tag}${attributes.join("")}>${made.children.map(mathMarkup).join("")}</${made.tag}>`;
};
const mathElement = (made) => {
  if (typeof made === "string") return document.createTextNode(made);
  const element = document.createElementNS(mathNamespace, made.tag);
  for (const [name, value] of Object.entries(made.attributes)) element.setAttribute(name, value);
  element.append(...made.children.map(mathElement));
  return element;
};

// The formula as an element of the page; without a page, as text.
export const formulaMath = (text, shapes = {}, names = {}) => {
  const made = formulaTree(text, shapes, names);
  return typeof document === "undefined" ? mathMarkup(made) : mathElement(made);
};
