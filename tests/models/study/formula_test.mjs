// The reader of formulas: what it makes of each construct, and that it loses nothing of any formula of an op.
import assert from "node:assert/strict";
import { test } from "node:test";

import { parseFormula } from "../../../models/study/page/formula.js";
import { TextError } from "../../../models/study/page/scanner.js";
import { formulasOfTheTable, withoutTheProgram } from "./formulas.mjs";

// An expression as the notation has it.
const writers = {
  number: (part) => part.text,
  name: (part) => part.text,
  dots: () => "...",
  sum: ({ terms }) =>
    terms.map(({ sign, value }, k) => (sign ? (k ? ` ${sign} ` : sign) : "") + written(value)).join(""),
  quotient: ({ numerator, denominators }) => [numerator, ...denominators].map(written).join(" / "),
  product: ({ factors }) => factors.map(written).join(" "),
  power: ({ base, exponent }) => `${written(base)}^${written(exponent)}`,
  transposed: ({ base }) => `${written(base)}^T`,
  group: ({ value }) => `(${written(value)})`,
  size: ({ value }) => `|${written(value)}|`,
  apply: ({ name, argument }) => `${name} ${written(argument)}`,
  call: ({ name, parts }) => `${name}(${parts.map(written).join(", ")})`,
  reduce: ({ name, over, body }) => `${name}${overText(over)} ${written(body)}`,
  index: ({ of, positions }) => `${written(of)}[${positions.map(written).join(", ")}]`,
  range: ({ bounds }) => bounds.map((bound) => (bound ? written(bound) : "")).join(":"),
  list: ({ parts, separator }) => `[${parts.map(written).join(`${separator} `)}]`,
  comparison: ({ values, relations }) =>
    values.map((value, k) => (k ? ` ${relations[k - 1]} ` : "") + written(value)).join(""),
};
const written = (part) => writers[part.kind](part);
const overText = (over) => (!over ? "" : over.kind === "name" ? `_${over.text}` : `_(${written(over)})`);
const pieceText = ({ value, condition }, k) =>
  (k && !condition ? "else " : "") + written(value) + (condition ? ` where ${written(condition)}` : "");
const itemText = (item) => {
  if (item.kind === "dots") return "...";
  if (item.kind === "each") return item.text;
  if (item.kind === "membership") return `${written(item.target)} in {${item.values.map(written).join(", ")}}`;
  const pieces = item.pieces.map(pieceText).join(", ");
  return `${written(item.target)} ${item.relation} ${pieces}${item.along && ` along ${item.along}`}`;
};
const writtenAgain = (text) => parseFormula(text).map(itemText).join(", ");

const valueOf = (text) => parseFormula(text)[0].pieces[0].value;

test("products bind more tightly than quotients, and quotients than sums", () => {
  const value = valueOf("y = a b / c d + e");
  assert.equal(value.kind, "sum");
  assert.equal(value.terms[0].value.kind, "quotient");
  assert.deepEqual(value.terms[0].value.denominators[0].factors.map(written), ["c", "d"]);
});

test("a reduction takes the product that follows, a function the factor", () => {
  const { terms } = valueOf("y = g - mean g - n mean g n");
  assert.deepEqual(terms.map(({ sign }) => sign), ["", "-", "-"]);
  assert.equal(terms[2].value.factors[1].kind, "reduce");
  assert.equal(written(terms[2].value.factors[1].body), "g n");
  assert.deepEqual(valueOf("y = i tanh c").factors.map(({ kind }) => kind), ["name", "apply"]);
  assert.equal(valueOf("y = tanh x y").factors.length, 2);
});

test("powers and transposes bind tightest, and a power may be negative", () => {
  assert.equal(valueOf("y = 2 x^2").factors[1].kind, "power");
  assert.equal(valueOf("y = a^T b").factors[0].kind, "transposed");
  assert.equal(valueOf("y = a^Tb").kind, "power");
  assert.equal(written(valueOf("y = e^-|x|").exponent), "-|x|");
});

test("the cases of an equation end where the next equation begins", () => {
  const [cases, next] = parseFormula("da = dy where a > b, dy / 2 where a = b, else 0, db = dy");
  assert.equal(cases.pieces.length, 3);
  assert.equal(cases.pieces[2].condition, null);
  assert.equal(next.target.text, "db");
  const [alone, following] = parseFormula("dx = dy where x > 0, y += dx along axes 0 and 2");
  assert.equal(alone.pieces.length, 1);
  assert.equal(following.relation, "+=");
  assert.equal(following.along, "axes 0 and 2");
});

test("what violates the notation is refused, with the place", () => {
  const wrong = ["dx = dy with, the axes", "y = a b da = dy", "y = x, repeated", "y = (x", "y == x", "y = tanh", "y = ",
    "", "y = x along the way", "y = <a, b>", "y = x[0", "y = 1 +", "y = x "];
  for (const prose of wrong) assert.throws(() => parseFormula(prose), TextError, prose);
  assert.throws(() => parseFormula("y = (x"), { place: 6, message: 'expected ")" at the end' });
  assert.throws(() => parseFormula("y = a b da = dy"), { place: 10 });
});

test("every formula of every op is read, and nothing of it is lost", { skip: withoutTheProgram }, () => {
  const formulas = formulasOfTheTable();
  const ops = new Set(formulas.map(({ op }) => op));
  assert.ok(ops.size > 60, `${ops.size} ops`);
  for (const op of ["matmul", "attention", "lstm_sequence", "gated_memory", "slice", "residual_layer_norm"])
    assert.ok(ops.has(op), `${op} was never recorded`);
  for (const { op, formula } of formulas) assert.equal(writtenAgain(formula), formula, op);
});
