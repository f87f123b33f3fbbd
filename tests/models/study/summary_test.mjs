// The summary of the page's own check.
import assert from "node:assert/strict";
import { test } from "node:test";

import { inSlices, summaryOf, summaryText } from "../../../models/study/page/summary.js";
import { openTrace } from "../../../models/study/page/trace.js";

const agrees = (difference) => ({ verdict: "agrees", difference });
const differs = (what) => ({ verdict: "differs", difference: 0.5, where: { what } });
const unchecked = (verdict) => ({ verdict, difference: 0 });

/** The summary of records with these verdicts, in a trace of these checks of the leaf x, whose gradient is 2. */
const summaryWith = (verdicts, ...checks) => {
  const value = { tensor: "two" };
  const nodes = [{ name: "x", leaf: true, dtype: "f64", shape: [], value, gradient: value, wants_gradient: true }];
  const records = verdicts.map(() => ({ op: "exp", inputs: [0], outputs: [], output_gradients: [], contributions: [], attributes: {} }));
  const trace = { format: "retrace.trace", version: 1, nodes, records, checks: checks.map((it) => ({ node: 0, position: 0, ...it })) };
  return summaryOf(openTrace({ trace, tensors: { two: { dtype: "f64", shape: [], values: [2] } } }), verdicts);
};

test("it is green if everything agrees, with the largest difference", () => {
  const summary = summaryWith([agrees(0), agrees(3e-17), unchecked("not reached")], { tape: 2, dual: 2, difference: 2 });
  assert.equal(summary.verdict, "green");
  assert.equal(summaryText(summary),
    "2 of 2 records checked: all agree in values and gradients, largest difference 3e−17. " +
    "1 not reached by the backward pass. 1 number agrees by three ways");
});

test("it is amber if something was not checked, with the reason and the remedy of each kind", () => {
  for (const [kind, remedy] of [["not kept", /\.keep = true/], ["too large", /max_elements/], ["no rule", /run on f64/],
    ["surrogate", /not meant to be the derivative/]]) {
    const summary = summaryWith([agrees(0), agrees(0), unchecked(kind)]);
    assert.equal(summary.verdict, "amber");
    assert.match(summaryText(summary), new RegExp(`^2 of 3 records checked: all agree.* 1 not checked \\(${kind}\\)`));
    assert.match(summaryText(summary), remedy);
  }
  assert.equal(summaryWith([agrees(0)], { tape: 2, dual: "NaN", difference: 2 }).verdict, "amber");
  assert.equal(summaryWith([unchecked("not reached")]).verdict, "amber");
  assert.equal(summaryWith([]).verdict, "amber");
});

test("it is red if a record differs, and leads to the first wrong value, then to the last wrong gradient", () => {
  const summary = summaryWith([differs("sum"), differs("forward"), agrees(0), differs("contribution"), unchecked("not kept")]);
  assert.deepEqual([summary.verdict, summary.checked, summary.differing], ["red", 4, 3]);
  assert.deepEqual(summary.problems.map(({ place }) => place.record), [1, 3, 0]);
  assert.equal(summary.problems[0].says, "record 1, exp");
  assert.match(summaryText(summary), /^4 of 5 records checked: 3 differ, largest difference 0.5\. 1 not checked/);
});

test("it is red if one of three ways to a number differs from the others, or the number from the gradient", () => {
  const right = { tape: 2, dual: 2, difference: 2 };
  for (const wrong of [{ tape: 2.2 }, { dual: 2.2 }, { difference: 2.2 }, { tape: 2.2, dual: 2.2, difference: 2.2 },
    { dual: "NaN", difference: 2.2 }, { dual: "Infinity" }]) {
    const summary = summaryWith([agrees(0)], { ...right, ...wrong });
    assert.equal(summary.verdict, "red", JSON.stringify(wrong));
    assert.deepEqual(summary.problems, [{ place: { view: "tape", record: 0 }, says: "the gradient of x by three ways" }]);
  }
});

test("work in slices does everything in order and lets others run in between", async () => {
  const done = [];
  const others = setTimeout(() => done.push("other"), 0);
  await inSlices(
    3,
    (n) => {
      for (const end = performance.now() + 3; performance.now() < end;);
      done.push(n);
    },
    2,
  );
  clearTimeout(others);
  assert.deepEqual(
    done.filter((n) => n !== "other"),
    [0, 1, 2],
  );
  assert.ok(done.indexOf("other") >= 0 && done.indexOf("other") < 3);
});

test("an error of the work is told", async () => {
  await assert.rejects(
    inSlices(1, () => {
      throw new Error("broken");
    }),
    /broken/,
  );
});
