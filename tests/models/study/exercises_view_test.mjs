// The view of the exercises: what is typed is judged, hints come one by one, and the answer only when asked for.
import assert from "node:assert/strict";
import { test } from "node:test";

import { exercises } from "../../../models/study/page/exercises.js";
import { exercisesView } from "../../../models/study/page/exercises_view.js";
import { element, standIn } from "./page_stand_in.mjs";

standIn();

const rendered = (exercise) => {
  const moves = [], root = element("div");
  exercisesView.render(root, { place: { view: "exercises", exercise }, go: (change) => moves.push(change) });
  return { root, moves };
};
const type = (root, text) => {
  const input = root.byId("exercise-answer");
  input.value = text;
  input.fire("input");
  input.fire("keydown", { key: "Enter" });
  return root.withClass("exercise-verdict")[0];
};
const buttonWith = (root, text) => root.tagged("button").find((one) => one.textContent.startsWith(text));
const captions = (root) => root.tagged("figcaption").map(({ textContent }) => textContent);
const answerOf = (id) => exercises().find((exercise) => exercise.id === id).answer;

test("every exercise is shown with its formula, its names and an empty field", () => {
  for (const { id, of, answer } of exercises()) {
    const { root } = rendered(id);
    assert.equal(root.tagged("math").length, 1, id);
    assert.equal(root.tagged("label")[0].textContent, `d${of} = `);
    assert.equal(root.tagged("label")[0].attributes.for, "exercise-answer");
    assert.equal(root.byId("exercise-answer").value, "");
    assert.ok(!root.textContent.includes(answer), id);
    const current = root.tagged("button").filter(({ attributes }) => attributes["aria-current"] === "true");
    assert.deepEqual(current.map(({ attributes }) => attributes.id), [`exercise-${id}`]);
  }
});

test("names are told with their shapes and their roles", () => {
  const text = rendered("attention-ds").root.withClass("exercise")[0].textContent;
  assert.match(text, /q \[4, 3\]; k \[4, 3\]; v \[4, 3\]; d = 3; mask \[4, 4\]; s \[4, 4\], computed/);
  assert.match(text, /dy \[4, 3\], a gradient; dw \[4, 4\], a gradient\./);
  assert.match(rendered("layer-norm-dx").root.textContent, /v \[3, 1\], computed; n \[3, 4\], computed/);
});

test("a mistake is named, with the reader's array and its difference", () => {
  const { root } = rendered("attention-dq");
  const verdict = type(root, "ds @ k");
  assert.match(verdict.textContent, /^✗ 1 \/ sqrt\(d\) is missing/);
  assert.match(verdict.className, /mistake/);
  assert.equal(verdict.attributes.role, "status");
  assert.deepEqual(captions(root).slice(-2), ["your dq 4 × 3 f64", "your dq minus the exact one 4 × 3 f64"]);
});

test("an error points at its place", () => {
  const { root } = rendered("attention-dk");
  assert.match(type(root, "ds^T @ qq").textContent, /^\? there is no qq; did you mean q\?/);
  assert.equal(root.withClass("exercise-place")[0].textContent, "ds^T @ qq\n       ↑");
  assert.equal(type(root, "  ").textContent, "");
  assert.equal(root.withClass("exercise-place").length, 0);
});

test("a solved exercise is marked, counted, and stays solved with its text", () => {
  const { root } = rendered("linear-db");
  assert.match(root.tagged("nav")[0].textContent, /0 of 16 solved/);
  assert.match(type(root, "sum(dy, 0)").textContent, /^✓ Exact/);
  assert.match(root.tagged("nav")[0].textContent, /1 of 16 solved/);
  const again = rendered("linear-db").root;
  assert.equal(again.byId("exercise-answer").value, "sum(dy, 0)");
  assert.match(again.withClass("exercise-verdict")[0].textContent, /^✓ Exact/);
  assert.match(again.byId("exercise-linear-db").textContent, /✓ solved/);
  assert.doesNotMatch(again.byId("exercise-linear-dx").textContent, /solved/);
});

test("what is typed is judged without Enter, too, a moment later", () => {
  const { root } = rendered("linear-dW"), real = globalThis.setTimeout;
  let later = null;
  globalThis.setTimeout = (work) => (later = work);
  root.byId("exercise-answer").value = "dy^T @ x";
  root.byId("exercise-answer").fire("input");
  globalThis.setTimeout = real;
  assert.equal(root.withClass("exercise-verdict")[0].textContent, "");
  later();
  assert.match(root.withClass("exercise-verdict")[0].textContent, /^✓ Exact/);
});

test("hints come one by one, and the answer when it is asked for", () => {
  const { root } = rendered("lstm-dc"), { hints } = exercises().find(({ id }) => id === "lstm-dc");
  assert.ok(!root.textContent.includes(hints[0]));
  buttonWith(root, "Hint (2 left)").fire("click");
  assert.ok(root.textContent.includes(hints[0]) && !root.textContent.includes(hints[1]));
  buttonWith(root, "Hint (1 left)").fire("click");
  assert.ok(root.textContent.includes(hints[1]));
  assert.equal(buttonWith(root, "No more hints").disabled, true);
  buttonWith(root, "Show the answer").fire("click");
  assert.ok(root.textContent.includes(`dc = ${answerOf("lstm-dc")}`));
  assert.equal(buttonWith(root, "Hide the answer").attributes["aria-expanded"], "true");
  buttonWith(root, "Hide the answer").fire("click");
  assert.ok(!root.textContent.includes(answerOf("lstm-dc")));
});

test("the list and the next button lead to other exercises", () => {
  const { root, moves } = rendered("softmax-dx");
  root.byId("exercise-attention-dv").fire("click");
  root.byId("exercise-next").fire("click");
  assert.deepEqual(moves, [{ exercise: "attention-dv" }, { exercise: "layer-norm-dx" }]);
  assert.equal(rendered("cross-entropy-dx").root.byId("exercise-next"), undefined);
  assert.match(rendered("nonsense").root.tagged("h3")[0].textContent, /^Softmax/);
});

test("the numbers of all names are there when they are opened", () => {
  const { root } = rendered("attention-dw");
  const numbers = root.tagged("details").find((one) => one.textContent.startsWith("their numbers"));
  assert.deepEqual(captions(numbers), []);
  numbers.open = true;
  numbers.fire("toggle");
  numbers.fire("toggle");
  const names = captions(numbers).map((caption) => caption.split(" ")[0]);
  assert.deepEqual(names, ["q", "k", "v", "mask", "s", "w", "y", "dy"]);
});

test("it applies to every trace", () => assert.equal(exercisesView.applies({}), true));

test("what is solved is in a link, and texts are kept where there is storage", () => {
  const stored = new Map();
  globalThis.localStorage = { getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value) };
  const { root } = rendered("linear-db");
  type(root, "np.sum(dy, axis=0)");
  const link = root.byId("exercise-link").href;
  assert.ok(new URLSearchParams(link.slice(1)).get("solved").split(" ").includes("linear-db"), link);
  assert.equal(JSON.parse(stored.get("retrace exercises"))["linear-db"].text, "np.sum(dy, axis=0)");
  delete globalThis.localStorage;
  type(rendered("linear-dx").root, "dy @ W"); // without storage, nothing fails
});
