// The rules beside the backward functions of C++: traces of every case of the gradient-check tables agree, and no
// change of a single gradient value goes unseen.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { checkAll, checkRecord, toleranceOf } from "../../../models/study/page/check.js";
import { rules } from "../../../models/study/page/rules.js";
import { openTrace } from "../../../models/study/page/trace.js";
import { unseenChanges } from "./tensor_changes.mjs";

const program = join(process.env.RETRACE_BINARY_DIR ?? "build/debug", "bin", "case_traces");
if (!existsSync(program)) {
  console.log(`skipped: there is no ${program}`);
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "case_traces_"));
after(() => rmSync(folder, { recursive: true }));
execFileSync(program, [folder]);
const files = readdirSync(folder).sort();
const dataOf = (file) => JSON.parse(readFileSync(join(folder, file), "utf8"));

/** Whether nobody but the author of the op knows its formulas. */
const hasNoRule = ({ attributes }) => attributes.custom;
/** The verdict that the page has to give: what is not finite, and a gradient as an op, cannot run again. */
function expectedVerdict(trace, { op, attributes, output_gradients: [dy] }) {
  if (op === "on_gradient") return "surrogate";
  const isFinite = dy && trace.tensor(dy).data.every(Number.isFinite);
  return op === "gradient" || (attributes.custom && !isFinite) ? "no rule" : "agrees";
}

/** Lines for the records of a trace with a verdict that is not expected. */
function complaints(trace) {
  return checkAll(trace).flatMap(({ verdict, difference, where }, index) => {
    const { op } = trace.records[index];
    const expected = [expectedVerdict(trace, trace.records[index]), "not reached"];
    return expected.includes(verdict) ? [] : [`${index} ${op}: ${verdict} ${difference} ${JSON.stringify(where)}`];
  });
}

test("every record of every case agrees", () => {
  const all = [];
  const seen = new Set();
  let records = 0, reached = 0, worst = { f64: 0, f32: 0 };
  for (const file of files) {
    const trace = openTrace(dataOf(file));
    all.push(...complaints(trace).map((line) => `${file} ${line}`));
    for (const { op, attributes, reached } of trace.records) if (reached) seen.add(attributes.custom ? "custom" : op);
    for (const { verdict, difference } of checkAll(trace)) {
      const dtype = file.includes(".f32.") ? "f32" : "f64";
      records += 1;
      reached += verdict === "not reached" ? 0 : 1;
      if (difference < Infinity) worst[dtype] = Math.max(worst[dtype], difference);
    }
  }
  console.log(`${files.length} traces, ${records} records, ${reached} reached; worst: ${JSON.stringify(worst)}`);
  assert.deepEqual(all, []);
  assert.deepEqual([...seen].sort(), [...Object.keys(rules()), "custom"].sort(), "each rule meets its op");
  assert.ok(reached > 10000 && reached > 0.9 * records);
});

test("an op of the user's own is red where its backward is not the derivative of its forward", () => {
  for (const dtype of ["f64", "f32"])
    for (const way of ["backward", "dual", "difference", "contribution"]) {
      const data = dataOf(`custom_op.0.${dtype}.json`), [record] = data.trace.records, trace = openTrace(data);
      if (way === "contribution") trace.tensor(record.contributions[0].contribution).data.forEach((x, n, all) => (all[n] = 1.1 * x));
      else record.check[way] *= 1.1;
      assert.equal(checkRecord(trace, 0).verdict, "differs", `${dtype} ${way}`);
    }
});

// ---- single numbers, changed at random

function generator(state) {
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** All places of the document that hold a gradient: the record to which each belongs, and the object and key of it. */
function gradientsOf({ records, nodes }) {
  const places = records.flatMap(({ output_gradients: arrived, contributions }, index) => [
    ...arrived.map((_, key) => ({ index, what: "output gradient", owner: arrived, key })),
    ...contributions.flatMap((sent, input) =>
      Object.keys(sent ?? {}).map((key) => ({ index, what: key, owner: sent, key, input }))),
  ]);
  for (const [n, node] of nodes.entries()) {
    const isLast = ({ inputs, contributions }) => inputs.some((input, i) => input === n && contributions[i]);
    const index = records.findIndex(isLast);  // the walk ends at the first record
    if (node.leaf && index >= 0) places.push({ index, what: "gradient", owner: node, key: "gradient" });
  }
  return places.filter(({ owner, key }) => owner[key]?.tensor !== undefined);
}

/** Adds 1e-9 to 10 to one number of a tensor; null if it has none of ordinary size. */
function changedAt(tensor, random) {
  const bytes = Buffer.from(tensor.data, "base64"), count = bytes.length / 8;
  const position = Math.floor(random() * count), change = (random() < 0.5 ? -1 : 1) * 10 ** (10 * random() - 8.999);
  if (tensor.dtype !== "f64" || count === 0 || !(Math.abs(bytes.readDoubleLE(8 * position)) < 1e3)) return null;
  bytes.writeDoubleLE(bytes.readDoubleLE(8 * position) + change, 8 * position);
  return { tensor: { ...tensor, data: bytes.toString("base64") }, told: `[${position}] + ${change}` };
}

const oneOf = (list, random) => list[Math.floor(random() * list.length)];
const candidates = () => files.filter((file) => !/f32|not_finite/.test(file));

test("a thousand random changes of single gradient values each turn their record red", () => {
  const random = generator(19), kinds = {};
  for (let changes = 0; changes < 1000; ) {
    const file = oneOf(candidates(), random), data = dataOf(file), place = oneOf(gradientsOf(data.trace), random);
    const changed = place && changedAt(data.tensors[place.owner[place.key].tensor], random);
    if (!changed) continue;
    data.tensors.changed = changed.tensor;
    place.owner[place.key] = { tensor: "changed" };
    const trace = openTrace(data), { index, what, input } = place, found = checkRecord(trace, index);
    const told = `${file}: record ${index}, ${what}${changed.told}`;
    assert.equal(found.verdict, "differs", told);
    if (what === "contribution" && !hasNoRule(trace.records[index]))
      assert.ok(found.inputs[input].difference > toleranceOf("f64"), `${told}: the rule did not see it`);
    kinds[what] = (kinds[what] ?? 0) + 1;
    changes += 1;
  }
  console.log(JSON.stringify(kinds));
  assert.equal(Object.keys(kinds).length, 5);
});

// Where a number is changed in all places at once, all sums are right and the rules alone can see it.
test("a thousand random changes of whole gradients are seen, wherever these are repeated", () => {
  const random = generator(23);
  for (let changes = 0; changes < 1000; ) {
    const file = oneOf(candidates(), random), data = dataOf(file), { records, seeds } = data.trace;
    if (records.some(hasNoRule)) continue;
    const places = gradientsOf(data.trace), name = places.length > 0 && oneOf(places, random);
    const held = name && name.owner[name.key].tensor;
    if (!held || seeds.some(({ cotangent }) => cotangent.tensor === held)) continue;
    const changed = changedAt(data.tensors[held], random);
    if (!changed) continue;
    data.tensors[held] = changed.tensor;
    const trace = openTrace(data), owners = places.filter(({ owner, key }) => owner[key].tensor === held);
    const verdicts = owners.map(({ index }) => checkRecord(trace, index).verdict);
    assert.ok(verdicts.includes("differs"), `${file}: ${held}${changed.told}`);
    changes += 1;
  }
});

// ---- every tensor

// Something has no effect in edges, in a variance of one number, in x - x and where relu is closed everywhere; and a
// product of two dozen numbers may be smaller than their roundings.
test("every tensor of every case, changed by 0.1 %, turns a record red", () => {
  const all = [];
  let changes = 0;
  for (const file of candidates()) {
    if (/^(edges|limits|hidden|(std|var|standard_deviation)\.4|prod\.0|sub\.10|rnn_sequence\.1\.|fused_recurrent\.40)/.test(file)) continue;
    const { count, unseen } = unseenChanges(dataOf(file));
    all.push(...unseen.map((told) => `${file}: ${told}`));
    changes += count;
  }
  assert.deepEqual(all, []);
  assert.ok(changes > 50000, `${changes}`);
});
