// The gradients of matrices as sums of outer products, on real traces.
import assert from "node:assert/strict";
import { test } from "node:test";

import { formulaTree } from "../../../models/study/page/mathml.js";
import { linearMaps, outerProductOf, outerProducts, partsOf } from "../../../models/study/page/outer_products.js";
import { outerProductsView } from "../../../models/study/page/outer_products_view.js";
import { add, largest, subtract, zeros } from "../../../models/study/page/tensor.js";
import { element, standIn } from "./page_stand_in.mjs";
import { studyOf } from "./study_traces.mjs";

standIn();

const near = (a, b, what) => assert.ok(largest(subtract(a, b)) < 1e-13, what);
const gradientOf = (trace, node) => trace.tensor(trace.nodes[node].gradient);

const checkSums = (trace, names) => {
  const maps = linearMaps(trace);
  for (const name of names) assert.ok(maps.some((map) => map.name === name), name);
  for (const map of maps) {
    const sum = outerProducts(trace, map), { terms, rests, shape } = sum;
    assert.ok(sum.agrees, `${map.name}: ${sum.difference}`);
    const added = terms.reduce((total, term) => add(total, outerProductOf(term)), zeros(shape));
    near(added, sum.given, map.name);
    if (sum.isAll) near(added, gradientOf(trace, map.node), `${map.name}, gradient`);
    for (let first = 0; first <= terms.length; ++first) {
      const { partial, rest } = partsOf(sum, first);
      near(add(partial, rest), sum.given, `${map.name}, the first ${first}`);
      assert.ok(Math.abs(Math.hypot(...rest.data) - rests[first] * Math.hypot(...sum.given.data)) < 1e-12, "rest");
      if (first > 0) assert.ok(first === 1 || terms[first - 2].size >= terms[first - 1].size, "order");
    }
    assert.equal(rests.at(-1), 0);
  }
  return maps;
};

test("the outer products of each matrix add up to its gradient", () => {
  checkSums(studyOf("multi-head-attention"), ["query.weight", "key.weight", "value.weight"]);
  checkSums(studyOf("multi-head-attention", "--dtype", "f64", "--causal", "--tokens", "6"), ["query.weight"]);
  checkSums(studyOf("rmc", "--tokens", "2"), []);
  const plain = studyOf("--expr", "matmul(x, w) + matmul(y, w)", ...["x=3x4", "y=2x3x4", "w=4x5"].flatMap((one) => ["--input", one]));
  const [map] = checkSums(plain, ["w"]), { terms, isAll } = outerProducts(plain, map);
  assert.deepEqual([terms.length, map.records.length, isAll], [9, 2, true]);
  assert.equal(terms.filter(({ name }) => /^y\[1, \d, :\]$/.test(name)).length, 3);
});

test("fused layers with an activation have its slope in dy", () => {
  const trace = studyOf("--expr", "linear(x, w, b)", ...["x=3x4", "w=5x4", "b=5"].flatMap((one) => ["--input", one]));
  assert.equal(checkSums(trace, ["w"]).length, 1);
  assert.ok(checkSums(studyOf("attention-model", "--fused"), []).some(({ records }) =>
    records.some((index) => index >= 0)));
});

test("a matrix over time has the rows of all steps", () => {
  const trace = studyOf("lstm", "--tokens", "5"), map = linearMaps(trace).find(({ name }) => name === "weight_hh");
  const { terms } = outerProducts(trace, map);
  assert.equal(map.records.length, 5);
  assert.equal(new Set(terms.map(({ record }) => record)).size, 5);
});

test("what was changed on the tape is seen", () => {
  const trace = studyOf("multi-head-attention"), [map] = linearMaps(trace);
  trace.tensor(trace.records[map.records[0]].contributions[1].contribution).data[5] += 1e-9;
  assert.ok(!outerProducts(trace, map).agrees);
});

test("the view adds terms by its slider, its list and its keys", () => {
  const trace = studyOf("multi-head-attention"), moves = [], root = element("div");
  const context = (place) => ({ trace, place, verdicts: [], go: (change) => moves.push(change) });
  const update = outerProductsView.render(root, context({ record: linearMaps(trace)[1].records[0] }));
  const text = () => root.withClass("moment-text")[0].textContent;
  assert.match(text(), /^the first of 4 outer products: [\d.]+ % of \|dW\| is left$/);
  assert.match(root.withClass("verdict")[0].textContent, /✓ The sum is dW, exactly/);
  root.byId("outer-first-forward").fire("click");
  assert.deepEqual(moves.pop(), { first: 2 });
  root.byId("term-3").fire("click");
  assert.deepEqual(moves.pop(), { first: 4 });
  update(context({ node: linearMaps(trace)[1].node, first: 4 }));
  assert.match(text(), /the first 4 of 4 outer products: 0 % of \|dW\| is left/);
  assert.ok(root.byId("outer-first-forward").disabled);
  assert.equal(outerProductsView.onKey("ArrowRight", context({ first: 2 })), true);
  assert.deepEqual(moves.pop(), { first: 3 });
  assert.equal(outerProductsView.applies(studyOf("softmax")), false);
});

test("the formulas can be read", () => {
  for (const formula of ["dW = sum_i dy[i]^T x[i]", "dW = sum_i x[i]^T dy[i]"])
    assert.equal(formulaTree(formula).children[0].tag, "mtable", formula);
});

test("one term is spoken of as one", () => {
  const trace = studyOf("lstm", "--tokens", "1"), root = element("div");
  const map = linearMaps(trace).find((one) => outerProducts(trace, one).terms.length === 1);
  outerProductsView.render(root, { trace, place: { node: map.node }, verdicts: [], go: () => {} });
  assert.match(root.withClass("moment-text")[0].textContent, /^the only outer product: 0 % /);
  assert.match(root.withClass("verdict-line")[0].textContent, /its one term differs .* It comes from record \d+/);
});

test("an address without such a number of terms leads to one that is there", () => {
  const trace = studyOf("multi-head-attention");
  for (const [first, says] of [["2.5", /^the first of 4/], ["x", /^the first of 4/], [0, /^the first of 4/], [9, /^the first 4 of 4/]]) {
    const root = element("div");
    outerProductsView.render(root, { trace, place: { first }, verdicts: [], go: () => {} });
    assert.match(root.withClass("moment-text")[0].textContent, says);
  }
});
