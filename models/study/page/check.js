// The check of a trace: every value and every vector-Jacobian product is computed again by the rules, every sum is
// added again, and every gradient must be where the walk through the tape would have left it.
import { oncePer } from "./once.js";
import { ruleOf } from "./rules.js";
import { largest, sameShape } from "./tensor.js";
import { checkDirection } from "./three_ways.js";
import { callOf, isCut } from "./trace.js";

/** How far a contribution may be from the rule's, in units of the largest number that it is made of. */
export const toleranceOf = (dtype) => (dtype === "f32" ? 1e-5 : 1e-12);

// The smallest normal number: what is smaller has lost its digits.
const smallestOf = (dtype) => (dtype === "f32" ? 2 ** -126 : 2 ** -1022);

const rounded = (dtype) => (dtype === "f32" ? Math.fround : Number);
const same = (a, b) => a === b || (a !== a && b !== b);

/** The largest |expected - given| / size, and its position. Something else than a number is infinitely far. */
export function differenceOf(expected, given, size, dtype) {
  const round = rounded(dtype), smallest = smallestOf(dtype);
  let worst = { difference: 0, position: -1 };
  for (let n = 0; n < given.size; ++n) {
    const a = round(expected.data[n]), b = given.data[n];
    if (same(a, b) || Math.abs(a - b) <= smallest) continue;
    const error = Math.abs(a - b) / size, difference = error < Infinity ? error : Infinity;
    if (difference > worst.difference) worst = { difference, position: n };
  }
  return worst;
}

// ---- the gradients that the walk leaves behind it

// For each record, what the records after it and the seeds have sent to its outputs, and to each input before it adds
// its own contribution: lists of tensors of the document, to be added up. The last list of each node is its gradient.
// A trace of a tape that nobody has walked back has gradients of another time, if any.
function walkOf(trace) {
  const sent = trace.nodes.map(() => []);
  for (const { node, cotangent } of trace.seeds) sent[node] = [...sent[node], cotangent];
  const records = trace.records.map(() => null), last = trace.nodes.map(() => -1);
  for (let index = trace.records.length - 1; index >= 0; --index) {
    const record = trace.records[index];
    const outputs = record.outputs.map((n) => sent[n]);
    const before = record.inputs.map((n, i) => {
      const held = sent[n], contribution = record.contributions[i];
      if (contribution) sent[n] = [contribution.after];
      if (contribution || last[n] < 0) last[n] = index;
      return held;
    });
    records[index] = { outputs, before };
  }
  return { ran: trace.records.some((record) => record.reached), records, final: sent, last };
}

const walkIn = oncePer(walkOf);

/** Compares a tensor of the document with the sum of others: -1, or the first position that differs; null unknown. */
function compareSum(trace, held, terms, dtype) {
  if (!held || terms.length === 0) return !held && terms.length === 0 ? -1 : 0;
  if (terms.length === 1 && held.tensor !== undefined && held.tensor === terms[0]?.tensor) return -1;
  if (isCut(held) || terms.some(isCut)) return null;
  const given = trace.tensor(held), arrays = terms.map((term) => trace.tensor(term)), round = rounded(dtype);
  if (arrays.some((x) => x === null || !sameShape(x.shape, given.shape))) return 0;
  const [first, ...others] = arrays.map((x) => x.data);
  for (let n = 0; n < given.size; ++n) {
    let sum = first[n];
    for (const data of others) sum = round(sum + data[n]);
    if (!same(sum, given.data[n])) return n;
  }
  return -1;
}

// ---- one record

/** What a check finds, in the order of its weight. */
class Findings {
  constructor() {
    this.where = null;
    this.cut = false;
  }

  /** A comparison's position (see compareSum) with its place. */
  add(position, what, input) {
    if (position === null) this.cut = true;
    else if (position >= 0) this.where ??= { what, input, position };
  }
}

function checkSums(trace, index, findings) {
  const record = trace.records[index], walk = walkIn(trace), { outputs, before } = walk.records[index];
  if (!walk.ran) return;
  const dtypeOf = (n) => trace.nodes[n].dtype;
  const compare = (held, terms, n) => compareSum(trace, held, terms, dtypeOf(n));
  record.outputs.forEach((n, j) => {
    findings.add(compare(record.output_gradients[j], outputs[j], n), "output gradient", j);
    if (walk.last[n] < 0) findings.add(compare(trace.nodes[n].gradient, outputs[j], n), "output gradient", j);
  });
  record.inputs.forEach((n, i) => {
    const sent = record.contributions[i];
    if (sent) {
      findings.add(compare(sent.before, before[i], n), "before", i);
      const terms = sent.before ? [sent.before, sent.contribution] : [sent.contribution];
      findings.add(compare(sent.after, terms, n), "sum", i);
    }
    if (walk.last[n] === index) findings.add(compare(trace.nodes[n].gradient, walk.final[n], n), "gradient", i);
  });
}

/** Why a record lacks something that its rule reads: "not kept" or "too large"; null if it has everything. */
function lackOf(trace, { inputs, outputs, output_gradients: arrived, contributions }) {
  const values = [...inputs, ...outputs].map((n) => trace.nodes[n].value);
  if (values.some((held) => !held)) return "not kept";
  return [...values, ...arrived, ...contributions.map((sent) => sent?.contribution)].some(isCut) ? "too large" : null;
}

/** The vector-Jacobian products of a record by its rule: an array per input, or null. */
export function recompute(trace, index) {
  const call = callOf(trace, index);
  return ruleOf(call.op, call.attributes).vjp(call);
}

function checkForward(trace, index, call, rule, findings) {
  const sizes = call.inputs.map(largest), computed = rule.forward(call);
  call.outputs.forEach((given, j) => {
    const expected = computed[j], { dtype } = trace.nodes[trace.records[index].outputs[j]];
    if (!sameShape(expected.shape, given.shape)) return findings.add(0, "forward", j);
    const found = differenceOf(expected, given, Math.max(...sizes, largest(expected)) || 1, dtype);
    if (found.difference > toleranceOf(dtype)) findings.add(found.position, "forward", j);
  });
}

function checkContributions(trace, index, call, rule, findings) {
  const record = trace.records[index], products = rule.vjp(call);
  const size = Math.max(rule.size?.(call) ?? 0, ...call.outputGradients.map((dy) => (dy ? largest(dy) : 0)));
  return record.inputs.map((n, i) => {
    if (!call.wants[i]) return null;
    const expected = products[i], sent = record.contributions[i], { dtype } = trace.nodes[n];
    if (!sent) {
      if (expected && largest(expected) > 0) findings.add(0, "contribution", i);
      return null;
    }
    const given = trace.tensor(sent.contribution);
    if (!expected || !given || !sameShape(expected.shape, given.shape)) {
      findings.add(0, "contribution", i);
      return { difference: Infinity, position: 0 };
    }
    const found = differenceOf(expected, given, Math.max(size, largest(expected)) || 1, dtype);
    if (found.difference > toleranceOf(call.dtype)) findings.add(found.position, "contribution", i);
    return found;
  });
}

// An op of the user's own is checked along one direction, if its forward could run again.
function checkByRule(trace, index, findings) {
  const record = trace.records[index], rule = ruleOf(record.op, record.attributes);
  if (!rule) {
    const found = record.reached ? checkDirection(trace, record) : null;
    if (found?.verdict === "differs") findings.add(0, "direction", 0);
    const unchecked = record.attributes.surrogate ? "surrogate" : "no rule";
    return { verdict: found?.verdict ?? unchecked, inputs: record.inputs.map(() => found) };
  }
  const call = callOf(trace, index);
  checkForward(trace, index, call, rule, findings);
  if (!record.reached) return { verdict: "not reached", inputs: record.inputs.map(() => null) };
  return { verdict: "agrees", inputs: checkContributions(trace, index, call, rule, findings) };
}

/**
 * Checks one record: {verdict, difference, where, inputs}.
 * verdict: "agrees", "differs", "not kept" (the tape did not hold a value), "too large" (the trace has only a part of
 * a tensor), "no rule", "surrogate" (no derivative by intent), "not reached" (its values agree);
 * difference: the largest of a contribution, relative to the largest number that it is made of;
 * where: null, or {what, input, position} of the first difference: what is "forward" or "output gradient" (input is then
 * the output), "contribution", "sum" (before + this is not after), "before", "gradient" (the final one of the input) or
 * "direction" (see three_ways.js);
 * inputs: {difference, position} of each contribution, or null.
 */
export function checkRecord(trace, index) {
  const record = trace.records[index], findings = new Findings(), lack = lackOf(trace, record);
  checkSums(trace, index, findings);
  const found = lack ? { verdict: lack, inputs: record.inputs.map(() => null) } : checkByRule(trace, index, findings);
  let { verdict } = found;
  if (verdict === "agrees" && findings.cut) verdict = "too large";
  if (findings.where) verdict = "differs";
  const difference = found.inputs.reduce((worst, one) => Math.max(worst, one?.difference ?? 0), 0);
  return { verdict, difference, where: findings.where, inputs: found.inputs };
}

/** The verdicts of all records, in the order of the tape. */
export const checkAll = (trace) => trace.records.map((_, index) => checkRecord(trace, index));
