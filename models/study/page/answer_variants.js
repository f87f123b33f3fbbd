// Typical wrong answers to an exercise, made from the right one: each with a sentence that says what it has missed.
import { readerOf } from "./scanner.js";

// ---- an answer as lines of {name, tree}; a tree is {op, parts} or {op: "name" | "number", text}

const leaf = (op, text) => ({ op, text, parts: [] });
const node = (op, ...parts) => ({ op, parts });

const answerGrammar = {
  lines() {
    const lines = [];
    do {
      this.space();
      const target = this.match(/[A-Za-z_]\w*'?\s*=/y);
      lines.push({ name: target && target.slice(0, -1).trim(), tree: this.sum() });
    } while (this.takes(";"));
    return lines;
  },
  space() {
    this.match(/\s*/y);
  },
  takes(...tokens) {
    this.space();
    return tokens.find((token) => this.take(token));
  },
  chain(operand, signs) {
    let left = operand();
    for (let sign; (sign = this.takes(...signs)); ) left = node(sign, left, operand());
    return left;
  },
  sum() {
    return this.chain(() => this.product(), ["+", "-"]);
  },
  product() {
    return this.chain(() => this.signed(), ["*", "/", "@"]);
  },
  signed() {
    return this.takes("-") ? node("negative", this.signed()) : this.transposed();
  },
  transposed() {
    const value = this.primary();
    return this.takes("^T") ? node("^T", value) : value;
  },
  primary() {
    this.space();
    const number = this.match(/[\d.]+/y);
    if (number) return leaf("number", number);
    if (this.takes("(")) return this.closed(this.sum());
    const name = this.match(/[A-Za-z_]\w*'?/y);
    if (!this.takes("(")) return leaf("name", name);
    const parts = [this.sum()];
    while (this.takes(",")) parts.push(this.sum());
    return this.closed(node(name, ...parts));
  },
  closed(tree) {
    this.need(")");
    return tree;
  },
};
export const answerLines = (text) => readerOf(text, answerGrammar).lines();

const strengths = { "+": 1, "-": 1, "*": 2, "/": 2, "@": 2, negative: 3, "^T": 4 };
const written = (tree, around = 0) => {
  const { op, parts, text } = tree, strength = strengths[op];
  if (text) return text;
  if (!strength) return `${op}(${parts.map((part) => written(part)).join(", ")})`;
  const [a, b] = parts;
  const inner = op === "negative" ? `-${written(a, 3)}` : op === "^T" ? `${written(a, 4)}^T`
    : `${written(a, strength)} ${op} ${written(b, strength + 1)}`;
  return strength < around ? `(${inner})` : inner;
};
export const answerText = (lines) => lines.map(({ name, tree }) => (name ? `${name} = ` : "") + written(tree)).join("; ");

// ---- what can be done wrong at one place: [tree instead, what it has missed]

const mistakesAt = {
  "+": ([a, b]) => [[a, `A term is missing: ${written(b)}.`], [b, `A term is missing: ${written(a)}.`],
    [node("-", a, b), `The sign of ${written(b, 2)} is wrong: it is added.`]],
  "-": ([a, b]) => [[a, `A term is missing: subtract ${written(b, 2)}.`],
    [node("negative", b), `A term is missing: ${written(a)}.`], [b, `Only the second term, and with the other sign: ${written(a)} is missing.`],
    [node("+", a, b), `The sign of ${written(b, 2)} is wrong: it is subtracted.`],
    [node("-", b, a), `The sign: it is ${written(a)} minus ${written(b, 2)}.`]],
  "*": ([a, b]) => [[a, `A factor is missing: ${written(b)}.`], [b, `A factor is missing: ${written(a)}.`],
    [node("/", a, b), `Multiply by ${written(b, 3)}, and do not divide.`]],
  "/": ([a, b]) => [[a, `The division by ${written(b, 3)} is missing.`],
    [node("*", a, b), `Divide by ${written(b, 3)}, and do not multiply.`], [b, `${written(a)} is missing, which ${written(b, 3)} divides.`]],
  "@": ([a, b]) => [[node("@", b, a), `The factors of the matrix product are exchanged: it is ${written(node("@", a, b))}.`],
    [node("@", node("^T", a), b), `A transposition too many: ${written(a)} stays as it is.`],
    [node("@", a, node("^T", b)), `A transposition too many: ${written(b)} stays as it is.`],
    [node("@", node("^T", b), node("^T", a)), `This is the transpose of ${written(node("@", a, b))}.`],
    [node("*", a, b), `The product of ${written(a)} and ${written(b)} is one of matrices, @.`],
    [a, `A factor is missing: @ ${written(b, 3)}.`], [b, `A factor is missing: ${written(a)} @.`]],
  "^T": ([a]) => [[a, `A forgotten transposition: ${written(a)}^T.`]],
  negative: ([a]) => [[a, "The sign: it is negative."]],
  softmax: ([a]) => [[a, "The softmax is missing."]],
};
const reductionMistakes = (op, [a, axis]) => {
  const other = op === "sum" ? "mean" : "sum", along = axis ? `, ${written(axis)}` : "";
  const found = [[node(other, a, ...(axis ? [axis] : [])), `A ${other} stands where a ${op} belongs: ${op}(${written(a)}${along}).`],
    [a, `Not reduced yet: take the ${op} of ${written(a)}${axis ? ` along axis ${written(axis)}` : ""}.`]];
  if (axis) {
    const turned = written(axis) === "0" ? "1" : "0";
    found.push([node(op, a, leaf("number", turned)), `The wrong axis: the ${op} of ${written(a)} goes along axis ${written(axis)}.`],
      [node(op, a), `An axis is missing: ${op}(a) takes all elements, and ${op}(a, ${written(axis)}) those along axis ${written(axis)}.`]);
  }
  return found;
};
const functionMistakes = (op, [a]) => {
  const derivative = op === "tanh" && [node("-", leaf("number", "1"), node("square", node("tanh", a))), `This has the derivative of tanh where tanh itself belongs.`];
  return [[a, `${op}(${written(a)}) belongs where ${written(a)} stands.`], ...(derivative ? [derivative] : [])];
};
const confusion = (other, name) => `${other} stands where ${name} belongs.`;
const nameMistakes = (name, values) =>
  name in values
    ? [...Object.keys(values).map((other) => [leaf("name", other), confusion(other, name)]),
      [leaf("number", "1"), `${name} is missing: 1 stands where it belongs.`]]
    : [];

const wrongAt = (tree, values) => {
  const { op, parts, text } = tree;
  if (op === "name") return nameMistakes(text, values);
  if (op === "number") return text === "1" ? [[leaf("number", "0"), "The 1 is missing."]] : [];
  if (mistakesAt[op]) return mistakesAt[op](parts);
  return op === "sum" || op === "mean" ? reductionMistakes(op, parts) : functionMistakes(op, parts);
};

// Calls see(tree with one mistake, sentence) for each place of the tree.
const eachVariant = (tree, values, see) => {
  for (const [instead, says] of wrongAt(tree, values)) see(instead, says);
  tree.parts.forEach((part, k) =>
    eachVariant(part, values, (instead, says) => see({ ...tree, parts: tree.parts.with(k, instead) }, says)));
};

const mapped = (tree, change) => change({ ...tree, parts: tree.parts.map((part) => mapped(part, change)) });
// a (b - c) as a b - a c.
const expanded = (tree) =>
  mapped(tree, ({ op, parts, ...rest }) => {
    const [a, b] = parts, sum = "+-".includes(b?.op ?? "none") ? b : "+-".includes(a?.op ?? "none") && op !== "@" ? a : null;
    if ((op !== "*" && op !== "/") || !sum || (op === "/" && sum === b)) return { op, parts, ...rest };
    return node(sum.op, ...sum.parts.map((part) => (sum === b ? node(op, a, part) : node(op, part, b))));
  });
const namesIn = ({ op, text, parts }) => (op === "name" ? [text] : parts.flatMap(namesIn));

// The parts of an answer, which may have been taken for all of it.
const eachPart = (tree, see) => {
  for (const part of tree.parts.filter(({ op }) => op !== "number")) {
    see(part);
    eachPart(part, see);
  }
};

// The answers in which another name stands everywhere for one.
const renamed = (lines, name, values) =>
  Object.keys(values).map((other) => {
    const rename = (tree) => mapped(tree, (each) => (each.text === name ? leaf("name", other) : each));
    return { lines: lines.map((line) => ({ ...line, tree: rename(line.tree) })), says: confusion(other, name) };
  });

// Answers with one mistake, {lines, says}, where `values` has the names that can be confused.
export const variantsOf = (lines, values) => {
  const found = [];
  lines.forEach(({ name, tree }, k) => {
    const add = (instead, says) => found.push({ lines: lines.with(k, { name, tree: instead }), says });
    eachVariant(tree, values, add);
    if (written(expanded(tree)) !== written(tree)) eachVariant(expanded(tree), {}, add);
  });
  const used = new Set(lines.flatMap(({ tree: each }) => namesIn(each)));
  for (const name of used) if (name in values) found.push(...renamed(lines, name, values));
  const { tree } = lines.at(-1);
  for (const [op, axis] of [["sum", "0"], ["sum", "1"], ["mean", "0"], ["mean", "1"]])
    found.push({ lines: lines.with(-1, { name: null, tree: node(op, tree, leaf("number", axis)) }),
      says: `The ${op} along axis ${axis} is too much: each element has a gradient of its own.` });
  return found;
};
// Answers with two mistakes, of which none confuses names.
export const variantsOfVariants = (lines) =>
  variantsOf(lines, {}).flatMap((one) =>
    variantsOf(one.lines, {}).map((two) => ({ lines: two.lines, says: `${one.says} ${two.says}` })));
export const partsOfAnswer = (lines) => {
  const found = [], before = lines.slice(0, -1);
  eachPart(lines.at(-1).tree, (part) =>
    found.push({ lines: [...before, { name: null, tree: part }], says: `This is ${written(part)}, a part of the answer: something is still to be done with it.` }));
  return found;
};
