// Formulas as MathML: what each construct becomes, and that the markup of every op's formulas is sound.
import assert from "node:assert/strict";
import { test } from "node:test";

import { formulaMath, formulaTree } from "../../../models/study/page/mathml.js";
import { formulasOfTheTable, withoutTheProgram } from "./formulas.mjs";

const sizes = { msub: 2, msup: 2, mfrac: 2, munder: 2, msqrt: 1 };
const others = ["math", "mtable", "mtr", "mtd", "mrow", "mi", "mn", "mo", "mtext", "mspace"];
const tags = new Set([...Object.keys(sizes), ...others]);
// Every element is of MathML Core, and has as many children as its tag demands.
const checkTree = (made) => {
  if (typeof made === "string") return;
  assert.ok(tags.has(made.tag), made.tag);
  if (made.tag in sizes) assert.equal(made.children.length, sizes[made.tag], made.tag);
  made.children.forEach(checkTree);
};
const textOf = (made) => (typeof made === "string" ? made : made.children.map(textOf).join(""));
const all = (made) => (typeof made === "string" ? [] : [made, ...made.children.flatMap(all)]);
const find = (made, tag) => all(made).filter((one) => one.tag === tag);
const textsOf = (formula, tag) => find(formulaTree(formula), tag).map(textOf);

test("a quotient is a fraction without the parentheses, and a root stands over what was in them", () => {
  const [fraction] = find(formulaTree("dx = (g - mean g) / sqrt(v + eps)"), "mfrac");
  assert.equal(textOf(fraction.children[0]), "g−meang");
  assert.equal(fraction.children[1].tag, "msqrt");
  assert.equal(textOf(fraction.children[1]), "v+ε");
  assert.deepEqual(textsOf("y = 1 / (2 y)", "mfrac"), ["12y"]);
});

test("parentheses stay around a factor and around the base of a power", () => {
  assert.equal(textOf(formulaTree("dx = dy (1 - (tanh u)^2)")), "dx=dy(1−(tanh\u2061u)2)");
});

test("powers and transposes are superscripts, parts of a name subscripts", () => {
  assert.deepEqual(textsOf("y = a^T e^(x - 1)", "msup"), ["a⊤", "ex−1"]);
  assert.deepEqual(textsOf("z_i = x0 b_f c'", "msub"), ["zi", "x0", "bf"]);
  assert.deepEqual(textsOf("y = dc'", "msup"), ["c′"]);
});

test("the d of a gradient is upright, beside its name", () => {
  const [d] = find(formulaTree("dgamma = x"), "mi");
  assert.deepEqual([textOf(d), d.attributes.mathvariant], ["d", "normal"]);
  assert.deepEqual(textsOf("dgamma = d", "mi"), ["d", "γ", "d"]);
});

test("cases stand below each other", () => {
  const rows = find(formulaTree("dx = dy where x > 0, dy / 2 where x = 0, else 0"), "mtr").map(textOf);
  assert.deepEqual(rows.slice(1), ["dy where x>0", "dy2 where x=0", "0 otherwise"]);
});

test("a name's shape stands below its first use alone", () => {
  const made = formulaTree("y = x w, z = x", { x: [2, 3], dx: [9] });
  assert.deepEqual(find(made, "munder").map(textOf), ["x[2, 3]"]);
  assert.deepEqual(textsOf("y = k^T, z = x^2 k'", "munder"), []);
  const raised = formulaTree("y = k^T, z = x^2 k'", { k: [5, 4, 3], x: [2], "k'": [1] });
  assert.deepEqual(find(raised, "munder").map(textOf), ["k⊤[5, 3, 4]", "x2[2]", "k′[1]"]);
  const indexed = formulaTree("dx0 = x0", { x: [1], x0: [2], dx0: [3] });
  assert.deepEqual(find(indexed, "munder").map(textOf), ["dx0[3]", "x0[2]"]);
});

test("fences are high around a fraction alone, not around a name with its shape", () => {
  const isHigh = (text) => /<mo stretchy="true">\(/.test(formulaMath(text, { x: [2, 3] }));
  assert.equal(isHigh("y = f(x)"), false);
  assert.equal(isHigh("y = (a / b)^2"), true);
  assert.doesNotMatch(formulaMath("y = a^T", { a: [2, 3] }), / style=/, "a strict policy allows no style of an element");
});

test("what is not in the notation stays as it is written, and harmless", () => {
  const markup = formulaMath('y = </script><b a="&">');
  assert.equal(markup.includes("<b"), false);
  assert.equal(textOf(formulaTree("y = <a, b>")), "y = <a, b>");
});

test("every formula of every op becomes sound MathML", { skip: withoutTheProgram }, () => {
  for (const { op, formula } of formulasOfTheTable()) {
    const made = formulaTree(formula);
    checkTree(made);
    assert.notEqual(made.children[0].tag, "mtext", `${op}: ${formula}`);
    // Digits are never renamed, so those of the formula are those of the markup, in order.
    const digits = (text) => text.replace(/\D/g, "");
    assert.equal(digits(textOf(made)), digits(formula), op);
    const markup = formulaMath(formula);
    assert.equal(markup.match(/<\w/g).length, markup.match(/<\//g).length);
  }
});
