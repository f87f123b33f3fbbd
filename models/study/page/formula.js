// Reads the formulas of ops, in the notation that core/tape/op_info.h of the library documents: "y = x W^T + b".
import { TextError, readerOf } from "./scanner.js";

// A list of equations becomes a list of
//   {kind: "equation", target, relation: "=" or "+=", pieces: [{value, condition}], along: "axis 1" or ""}
//   {kind: "membership", target, values}, {kind: "each", text: "for each step"}, {kind: "dots"}
// and an expression one of
//   number {text}, name {text}, dots, all
//   sum {terms: [{sign, value}]}, quotient {numerator, denominators}, product {factors}, power {base, exponent},
//   transposed {base}, group {value}, size {value}, apply {name, argument}, call {name, parts},
//   reduce {name, over, body}, index {of, positions}, range {bounds}, list {parts, separator},
//   comparison {values, relations}
const formulaFunctions = new Set(["tanh", "ln", "sqrt", "sin", "cos", "sigmoid"]);
const formulaReductions = new Set(["sum", "prod", "mean", "min", "max"]);
const formulaRelations = [" = ", " != ", " < ", " > ", " <= ", " >= "];

const formulaGrammar = {
  equations() {
    const result = [];
    do result.push(this.item());
    while (this.take(", "));
    if (this.rest) this.fail("the end");
    return result;
  },

  item() {
    if (this.take("...")) return { kind: "dots" };
    const each = this.match(/for each \w+( backwards)?/y);
    if (each) return { kind: "each", text: each };
    const target = this.target();
    if (this.take(" in {")) {
      const values = this.listUntil("}");
      return { kind: "membership", target, values };
    }
    const relation = this.take(" = ") ? "=" : (this.need(" += "), "+=");
    return { kind: "equation", target, relation, pieces: this.pieces(), along: this.along() };
  },
  target() {
    if (this.take("[")) return this.bracket();
    const name = this.name();
    return this.sees("[") ? this.index(name) : name;
  },
  // Whether an equation begins here, rather than the next piece of "a where c, b where d".
  beginsAnItem() {
    const here = this.place;
    try {
      if (this.take("...") || this.take("for each ")) return true;
      this.target();
      return this.sees(" = ") || this.sees(" += ") || this.sees(" in {");
    } catch (error) {
      if (error instanceof TextError) return false;
      throw error;
    } finally {
      this.place = here;
    }
  },
  pieces() {
    const result = [{ value: this.expression(), condition: null }];
    if (!this.take(" where ")) return result;
    result[0].condition = this.condition();
    while (this.sees(", ")) {
      const here = this.place;
      this.take(", ");
      if (this.take("else ")) return [...result, { value: this.expression(), condition: null }];
      if (this.beginsAnItem()) {
        this.place = here;
        break;
      }
      const value = this.expression();
      this.need(" where ");
      result.push({ value, condition: this.condition() });
    }
    return result;
  },
  along() {
    if (!this.take(" along ")) return "";
    return this.match(/no axis|the repeated axes|axis -?\d+|axes -?\d+( and -?\d+)*/y) ?? this.fail("an axis");
  },

  condition() {
    const values = [this.expression()], seen = [];
    for (let relation; (relation = formulaRelations.find((one) => this.take(one))); values.push(this.expression()))
      seen.push(relation.trim());
    return seen.length ? { kind: "comparison", values, relations: seen } : values[0];
  },
  expression() {
    const terms = [{ sign: this.take("-") ? "-" : "", value: this.quotient() }];
    for (;;)
      if (this.take(" + ")) terms.push({ sign: "+", value: this.quotient() });
      else if (this.take(" - ")) terms.push({ sign: "-", value: this.quotient() });
      else return terms.length === 1 && !terms[0].sign ? terms[0].value : { kind: "sum", terms };
  },
  quotient() {
    const numerator = this.product(), denominators = [];
    while (this.take(" / ")) denominators.push(this.product());
    return denominators.length ? { kind: "quotient", numerator, denominators } : numerator;
  },
  product() {
    const factors = [this.factor()];
    while (/^ (?!([-+/=<>]|[+!<>]=) |where |along |in \{)/.test(this.rest)) {
      this.need(" ");
      factors.push(this.factor());
    }
    return factors.length === 1 ? factors[0] : { kind: "product", factors };
  },
  factor() {
    const base = this.primary();
    if (!this.take("^")) return base;
    if (this.match(/T(?!\w)/y)) return { kind: "transposed", base };
    const negative = this.take("-"), power = this.primary();
    return { kind: "power", base, exponent: negative ? { kind: "sum", terms: [{ sign: "-", value: power }] } : power };
  },
  primary() {
    const number = this.match(/\d[\d.]*(e[-+]\d+)?/y);
    if (number) return { kind: "number", text: number };
    if (this.take("(")) return { kind: "group", value: this.closed(")") };
    if (this.take("|")) return { kind: "size", value: this.closed("|") };
    if (this.take("[")) return this.bracket();
    const name = this.name();
    if (formulaReductions.has(name.text) && !this.sees("(")) return this.reduction(name.text);
    if (this.take("(")) return this.indexed({ kind: "call", name: name.text, parts: this.listUntil(")") });
    if (formulaFunctions.has(name.text)) {
      this.need(" ");
      return { kind: "apply", name: name.text, argument: this.factor() };
    }
    return this.indexed(name);
  },
  closed(end) {
    const value = this.expression();
    this.need(end);
    return value;
  },
  name() {
    // In sum_k, k is what the sum is over, and no part of a name.
    const text = this.match(/(sum|prod)(?=_)|[A-Za-z]\w*'?/y) ?? this.fail("a name");
    return { kind: "name", text };
  },
  reduction(name) {
    let over = null;
    if (this.take("_(")) {
      over = this.condition();
      this.need(")");
    } else if (this.take("_")) {
      over = this.name();
    }
    this.need(" ");
    return { kind: "reduce", name, over, body: this.product() };
  },

  // [a > b], [2, 3] and [x0; x1], after the "[".
  bracket() {
    const parts = [], separators = new Set();
    if (this.take("]")) return { kind: "list", parts, separator: "," };
    do {
      parts.push(this.take("...") ? { kind: "dots" } : this.condition());
      for (const one of [", ", "; "]) if (this.sees(one)) separators.add(one.trim());
    } while (this.take(", ") || this.take("; "));
    this.need("]");
    return { kind: "list", parts, separator: [...separators][0] ?? "," };
  },
  listUntil(end) {
    const parts = [];
    do parts.push(this.take("[") ? this.bracket() : this.expression());
    while (this.take(", "));
    this.need(end);
    return parts;
  },
  indexed(of) {
    return this.sees("[") ? this.index(of) : of;
  },
  index(of) {
    this.need("[");
    const positions = [];
    do positions.push(this.position());
    while (this.take(", "));
    this.need("]");
    return { kind: "index", of, positions };
  },
  position() {
    if (this.take("...")) return { kind: "dots" };
    const bounds = [this.sees(":") ? null : this.expression()];
    while (this.take(":")) bounds.push(/^[-\w]/.test(this.rest) ? this.expression() : null);
    return bounds.length === 1 ? bounds[0] : { kind: "range", bounds };
  },
};

// The equations of a formula. Throws TextError, with the place, where it violates the notation.
export const parseFormula = (text) => readerOf(text, formulaGrammar).equations();
