// Jacobians of records of real traces: against differences of the rules' forward, and as the view shows them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { factsOf, knownForm } from "../../../models/study/page/jacobian_facts.js";
import {
  jacobianInputs, jacobianOf, largestStretch, longestJacobian, partName, rowsOfInput,
} from "../../../models/study/page/jacobian.js";
import { jacobianView } from "../../../models/study/page/jacobian_view.js";
import { parseFormula } from "../../../models/study/page/formula.js";
import { ruleOf } from "../../../models/study/page/rules.js";
import { NdArray, largest, ndArray, subtract } from "../../../models/study/page/tensor.js";
import { element, standIn } from "./page_stand_in.mjs";
import { studyOf } from "./study_traces.mjs";

standIn();

const recordOf = (trace, op) => trace.records.findIndex((record) => record.op === op);

// J^T by central differences of the forward, element by element.
const byDifferences = ({ call, places, reached }, input, step = 1e-5) => {
  const { forward } = ruleOf(call.op, call.attributes), x = call.inputs[input];
  const outputsAt = (place, change) => {
    const moved = new NdArray("f64", x.shape, Float64Array.from(x.data));
    moved.data[place] += change;
    return forward({ ...call, inputs: call.inputs.map((one, n) => (n === input ? moved : one)) });
  };
  const rows = Array.from(places, (place) => {
    const above = outputsAt(place, step), below = outputsAt(place, -step);
    return reached.map((at) => (above[at.output].data[at.place] - below[at.output].data[at.place]) / (2 * step));
  });
  return ndArray([places.length, reached.length], rows);
};

// Every row of every input of every record, and all rows at once.
const checkTrace = (trace) => {
  const checked = new Set();
  trace.records.forEach(({ op }, index) => {
    for (const input of jacobianInputs(trace, index)) {
      const { count } = rowsOfInput(trace, index, input);
      for (const row of [...Array(count).keys(), null]) {
        const part = jacobianOf(trace, index, input, row), what = `record ${index} ${op}, input ${input}, row ${row}`;
        if (!part.transposed) continue;
        assert.ok(part.agrees, `${what}: ${part.difference}`);
        if (ruleOf(op).forward)
          assert.ok(largest(subtract(byDifferences(part, input), part.transposed)) < 1e-7, `${what}: differences`);
        checked.add(op);
      }
    }
  });
  return checked;
};

test("J is what differences of the forward say, and J^T dy what the tape sent", () => {
  const small = ["--tokens", "2", "--size", "4"];
  const seen = [
    ["softmax"], ["layer-norm"], ["multi-head-attention", "--causal", ...small], ["lstm", ...small],
    ["gru", "--fused", ...small], ["relational-memory", "--fused", ...small], ["attention-model", "--fused"],
  ].flatMap((options) => [...checkTrace(studyOf(...options))]);
  for (const op of ["softmax", "matmul", "scale", "reshape", "transpose", "sigmoid", "tanh", "mul", "add", "slice", "layer_norm", "linear", "gru_sequence"])
    assert.ok(seen.includes(op), op);
});

test("what was changed on the tape is seen", () => {
  const trace = studyOf("softmax"), { contribution } = trace.records[0].contributions[0];
  assert.ok(jacobianOf(trace, 0, 0, 1).agrees);
  trace.tensor(contribution).data[9] += 1e-9;
  assert.ok(jacobianOf(trace, 0, 0, 0).agrees);
  assert.ok(!jacobianOf(trace, 0, 0, 1).agrees);
  assert.ok(!jacobianOf(trace, 0, 0, null).agrees);
});

test("formulas of Jacobians can be read and give their numbers", () => {
  const expression = "softmax(a) + sigmoid(b) * tanh(c) + exp(d) + square(e) + relu(f) + log_softmax(g)";
  const inputs = ["a", "b", "c", "d", "e", "f", "g"].flatMap((name) => ["--input", `${name}=2x4`]);
  const traces = [studyOf("--expr", expression, ...inputs), studyOf("layer-norm"), studyOf("softmax", "--dtype", "f32")];
  const formulas = new Map();
  for (const trace of traces)
    trace.records.forEach((_, index) => {
      if (!jacobianInputs(trace, index).includes(0)) return;
      const form = knownForm(jacobianOf(trace, index, 0, 1), 0);
      if (!form) return;
      assert.ok(form.difference < (trace.nodes[0].dtype === "f32" ? 1e-6 : 1e-14), `${form.formula}: ${form.difference}`);
      formulas.set(trace.records[index].op, form.formula);
      parseFormula(form.formula);
    });
  assert.equal(formulas.get("softmax"), "J = diag(y) - y y^T");
  for (const op of ["sigmoid", "tanh", "exp", "square", "relu"])
    assert.match(formulas.get(op), /^J = diag\(/, op);
});

test("the Jacobian of a row of a product is the other factor", () => {
  const plain = studyOf("--expr", "matmul(a, b)", "--input", "a=3x4", "--input", "b=4x5");
  for (const [trace, formula] of [[plain, "J = b^T"], [studyOf("multi-head-attention"), "J = b"]]) {
    const form = knownForm(jacobianOf(trace, recordOf(trace, "matmul"), 0, 2), 0);
    assert.deepEqual([form.formula, form.difference], [formula, 0]);
  }
});

test("what is said of a Jacobian is true", () => {
  const facts = (entries, shape) =>
    factsOf({ transposed: ndArray(shape, entries), dy: ndArray([shape[1], 1], Array(shape[1]).fill(1)), product: ndArray([1, 1], [1]) });
  assert.match(facts([2, 0, 0, 3], [2, 2])[0], /diagonal/);
  assert.match(facts([1, 0, 1, 0, 1, 1], [3, 2])[0], /ones and zeros/);
  assert.match(facts([2, 1, 1, 3], [2, 2])[0], /symmetric/);
  assert.match(facts([1, -2, -1, 2], [2, 2])[0], /sums to 0/);
  assert.doesNotMatch(facts([1, 2, -1, 2], [2, 2]).join(), /symmetric|sums|diagonal|zeros/);
  assert.ok(Math.abs(largestStretch(ndArray([2, 2], [3, 0, 4, 5])) - Math.sqrt(45)) < 1e-9);
  assert.equal(largestStretch(ndArray([2, 2], [0, 0, 0, 0])), 0);
});

test("all rows at once have a block for each, where rows do not change each other", () => {
  const facts = (trace, op, input) => factsOf(jacobianOf(trace, recordOf(trace, op), input, null)).join();
  assert.match(facts(studyOf("softmax"), "softmax", 0), /a block for each row/);
  const product = studyOf("--expr", "matmul(a, b)", "--input", "a=4x4", "--input", "b=4x4");
  assert.match(facts(product, "matmul", 0), /a block for each row/);
  assert.doesNotMatch(facts(product, "matmul", 1), /block/);
});

test("an output is shown if it depends on the row, or is its own and flat there", () => {
  const product = studyOf("--expr", "matmul(a, b)", "--input", "a=3x3", "--input", "b=3x3");
  assert.deepEqual(jacobianOf(product, 0, 1, 0).reached.map(({ place }) => place), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  const flat = studyOf("--expr", "relu(a)", "--input", "a=[[-1,-2],[3,4]]");
  assert.deepEqual([...jacobianOf(flat, 0, 0, 0).transposed.data], [0, 0, 0, 0]);
});

test("parts have the names of their indices", () => {
  assert.equal(partName("x", [2, 3], [3, 4, 5]), "x[1, :]");
  assert.equal(partName("x", [2, 3], [1, 4]), "x[:, 1]");
  assert.equal(partName("x", [2, 3], [0, 1, 2, 3, 4, 5]), "x");
  assert.equal(partName("loss", [], [0]), "loss");
});

const rendered = (trace, place = {}) => {
  const moves = [], root = element("div"), context = { trace, verdicts: [], place, go: (change) => moves.push(change) };
  const update = jacobianView.render(root, context);
  return { root, moves, update: (at) => update({ ...context, place: at }) };
};

test("the view opens at a softmax, steps through the records, and writes a sum out", () => {
  const trace = studyOf("attention"), { root, moves, update } = rendered(trace);
  assert.match(root.withClass("moment-text")[0].textContent, /softmax/);
  assert.match(root.withClass("verdict")[0].textContent, /✓ agrees/);
  assert.match(root.withClass("jacobian-sum")[0].textContent, /^dx\[\d, \d, 0\] = .* · .* = /);
  assert.deepEqual(root.withClass("array-name").map(({ textContent }) => textContent), ["Jᵀ", "dy", "Jᵀ dy", "dx of the tape"]);
  root.byId("jacobian-record-forward").fire("click");
  assert.equal(trace.records[moves.pop().record].op, "matmul");
  update({ record: recordOf(trace, "softmax"), whole: 1 });
  assert.match(root.textContent, /how y changes with x/);
});

test("what is too large says so", () => {
  const trace = studyOf("softmax", "--size", String(longestJacobian + 1)), { root } = rendered(trace);
  assert.match(root.textContent, /Too large to be shown: this row has 65 inputs/);
});

test("a Jacobian that is not finite accuses nobody, and numbers that are not finite reach no other row", () => {
  const trace = studyOf("--expr", "log(x)", "--input", "x=[[1,-1],[0,2]]"), bad = jacobianOf(trace, 0, 0, 1);
  assert.deepEqual(bad.reached.map(({ place }) => place), [2, 3]);
  assert.equal(bad.agrees, null);
  const fine = jacobianOf(trace, 0, 0, 0);
  assert.deepEqual([...fine.transposed.data].map(Math.abs), [1, 0, 0, 1]);
  assert.equal(fine.agrees, true);
  const root = element("div");
  jacobianView.render(root, { trace, place: { record: 0, row: 1 }, verdicts: [], go: () => {} });
  assert.match(root.withClass("verdict-line")[0].textContent, /^– not compared: J has entries that are not finite/);
});

test("an address without such a row leads to one that is there", () => {
  const trace = studyOf("softmax");
  for (const row of ["1.5", "x", -1, 99]) {
    const root = element("div");
    jacobianView.render(root, { trace, place: { record: 0, row }, verdicts: [], go: () => {} });
    assert.match(root.withClass("verdict-line")[0].textContent, /agrees/, row);
  }
});
