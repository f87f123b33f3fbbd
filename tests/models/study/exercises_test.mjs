// The exercises: their answers are derivatives, right answers in any words are exact, and mistakes are recognised.
import assert from "node:assert/strict";
import { test } from "node:test";

import { exerciseValues, judgeAnswer, openExercise } from "../../../models/study/page/answers.js";
import { exercises } from "../../../models/study/page/exercises.js";
import { evaluateExpression } from "../../../models/study/page/expression.js";
import { parseFormula } from "../../../models/study/page/formula.js";
import { ndArray } from "../../../models/study/page/tensor.js";

const opened = new Map(exercises().map((exercise) => [exercise.id, openExercise(exercise)]));
const judged = (id, text) => judgeAnswer(opened.get(id), text);
const linesOf = (program) => program.split("; ").map((line) => line.split(/ = (.*)/s));

// The sum of the outputs times what arrives at them, where element k of `of` is changed once it is there.
const scalarOf = ({ forward, of, cotangents, values }, k, change) => {
  const now = { ...values };
  const nudge = (name) => {
    if (name !== of) return;
    now[name] = ndArray(now[name].shape, Array.from(now[name].data, (x, n) => (n === k ? x + change : x)));
  };
  nudge(of);
  for (const [name, text] of linesOf(forward)) {
    now[name] = evaluateExpression(text, now);
    nudge(name);
  }
  const terms = Object.entries(cotangents).map(([name, output]) => `sum(${name} * ${output})`);
  return evaluateExpression(terms.join(" + "), now).item();
};

test("there are exercises for what backpropagation through attention is made of", () => {
  const wanted = ["softmax-dx", "layer-norm-dx", "layer-norm-dgamma", "sigmoid-gate-dz", "linear-dW", "linear-dx",
    "linear-db", "attention-dv", "attention-dw", "attention-ds", "attention-dq", "attention-dk", "lstm-dc", "lstm-dz_f",
    "relational-gate-dm", "cross-entropy-dx"];
  assert.deepEqual([...opened.keys()], wanted);
});

test("every answer is the derivative, by central differences", () => {
  for (const exercise of opened.values()) {
    const { id, of, values, exact } = exercise, step = 1e-5;
    values[of].data.forEach((_, k) => {
      if (values[of].data[k] === -Infinity) return;
      const difference = (scalarOf(exercise, k, step) - scalarOf(exercise, k, -step)) / (2 * step);
      assert.ok(Math.abs(difference - exact.data[k]) < 1e-8, `${id}[${k}]: ${difference}, ${exact.data[k]}`);
    });
  }
});

test("every gradient is large enough to be told from another, and no name gives the answer away", () => {
  for (const { id, exact, values, asks } of opened.values()) {
    assert.ok(exact.data.some((x) => Math.abs(x) > 0.05), id);
    assert.ok(exact.data.every(Number.isFinite), id);
    assert.ok(!(asks in values), id);
  }
});

test("the formula that is shown defines what the forward computes", () => {
  for (const { id, formula, forward } of opened.values()) {
    const shown = parseFormula(formula).map(({ target }) => target.text);
    assert.deepEqual(shown, linesOf(forward).map(([name]) => name), id);
  }
});

test("every answer is exact, and has hints that do not say it", () => {
  for (const { id, answer, hints } of opened.values()) {
    assert.equal(judged(id, answer).kind, "exact", id);
    assert.ok(hints.length >= 2, id);
    for (const hint of hints) assert.ok(!hint.includes(answer), id);
  }
});

const otherWords = {
  "softmax-dx": ["y*dy - y*sum(y*dy, axis=-1)", "dy * y - y * sum(y * dy, axis=1, keepdims=True)",
    "p = exp(x) / sum(exp(x), 1); p * (dy - sum(p * dy, 1))"],
  "layer-norm-dx": ["r = 1 / sqrt(v + eps); g = gamma * dy; r * (g - mean(g, -1)) - r * n * mean(n * g, -1)",
    "s = sqrt(v + eps); c = x - mean(x, 1); g = dy * gamma; g / s - sum(g, 1) / 4 / s - c * sum(g * c, 1) / (4 * s^3)"],
  "layer-norm-dgamma": ["sum(n * dy, axis=0)", "sum(n * dy, axis=0, keepdims=False)", "3 * mean(dy * n, 0)",
    "sum(dy * (x - mean(x, 1)) / sqrt(v + eps), 0)"],
  "sigmoid-gate-dz": ["dg = dy * a - dy * b; dg * (g - g^2)", "dy * (a - b) * sigmoid(z) * sigmoid(-z)",
    "dy * a * g * (1 - g) - dy * b * g * (1 - g)", "-dy * (b - a) * g * (1 - g)", "(1 - g) * dy * (y - b)"],
  "linear-dW": ["transpose(dy) @ x", "matmul(dy^T, x)", "(x^T @ dy)^T", "dy.T @ x"],
  "linear-dx": ["matmul(dy, W)", "(W^T @ dy^T)^T", "transpose(transpose(W) @ transpose(dy))"],
  "linear-db": ["sum(dy, axis=0)", "4 * mean(dy, 0)", "sum(dy, -2)", "sum(dy, axis=0, keepdims=False)"],
  "attention-dv": ["w' @ dy", "softmax(s)^T @ dy", "(dy^T @ w)^T", "softmax(q @ k^T / sqrt(d) + mask)^T @ dy"],
  "attention-dw": ["(v @ dy^T)^T", "matmul(dy, transpose(v))"],
  "attention-ds": ["w * dw - w * sum(w * dw, 1)", "w * (dy @ v^T - sum(dy * y, 1))"],
  "attention-dq": ["ds / sqrt(d) @ k", "ds @ k * d^-0.5", "ds @ (k / sqrt(3))", "ds @ k / 1.7320508075688772"],
  "attention-dk": ["(ds / sqrt(d))^T @ q", "(q^T @ ds)^T / sqrt(d)", "matmul(transpose(ds), q) / sqrt(d)"],
  "lstm-dc": ["f * (dc' + o * dh' * (1 - tanh(c')^2))", "t = tanh(c'); dc = f * dc' + f * dh' * o * (1 - t * t)",
    "(dc' + dh' * o - dh' * h' * tanh(c')) * f"],
  "lstm-dz_f": ["dc = dc' + o * dh' * (1 - tanh(c')^2); dc * c * f * (1 - f)",
    "t = tanh(c'); (dc' + o * dh' * (1 + t) * (1 - t)) * c * (f - f^2)",
    "(dc' + dh' * o * (1 - tanh(c') * tanh(c'))) * (c' - i * g) * (1 - f)"],
  "relational-gate-dm": ["f * dm' + (1 - tanh(m)^2) * ((dm' * m * (1 - f) * f) @ U)",
    "t = tanh(m); dm' * f + (dm' * m * f * (1 - f)) @ U * (1 - t * t)"],
  "cross-entropy-dx": ["(p - t) * dl / 3", "dl / n * (softmax(x) - t)", "-(t - p) * dl / n", "dl * p / n - dl * t / n"],
};
test("a right answer in other words is no mistake", () => {
  for (const id of opened.keys()) {
    assert.ok(otherWords[id].length >= 2, id);
    for (const text of otherWords[id]) assert.equal(judged(id, text).kind, "exact", `${id}: ${text}`);
  }
});

test("each of at least five mistakes is recognised by its value, with its own sentence", () => {
  for (const { id, mistakes } of opened.values()) {
    assert.ok(mistakes.length >= 5, id);
    assert.equal(new Set(mistakes.map(({ says }) => says)).size, mistakes.length, id);
    for (const { text, says } of mistakes) {
      assert.match(says, /^\S.*\.$/);
      for (const words of [text, `0 + ${text}`.replace(/^0 \+ (.*); /, "$1; 0 + ")]) {
        const verdict = judged(id, words);
        assert.deepEqual([verdict.kind, verdict.says], ["mistake", says], `${id}: ${words}`);
      }
    }
  }
});

test("mistakes are recognised in other words, too", () => {
  assert.match(judged("attention-dq", "matmul(ds, k)").says, /^1 \/ sqrt\(d\) is missing/);
  assert.match(judged("attention-ds", "dw = dy @ v'; w * dw").says, /^One term of two/);
  assert.match(judged("softmax-dx", "y * dy - y * sum(dy * y, axis=0)").says, /wrong axis/);
  assert.match(judged("sigmoid-gate-dz", "g * (1 - g) * dy * a").says, /one of two paths/);
  assert.match(judged("lstm-dc", "o * dh' * (1 - tanh(c')^2) * f").says, /dc', which the next step sent/);
});

test("signs, factors and transposes are recognised in every exercise", () => {
  for (const { id, answer, exact } of opened.values()) {
    const lines = answer.split("; "), last = lines.pop(), before = lines.map((line) => `${line}; `).join("");
    const sign = judged(id, `${before}-(${last})`);
    assert.equal(sign.kind, "mistake", id);
    assert.match(sign.says, /sign/i, id);
    const half = judged(id, `${before}0.5 * (${last})`).says;
    assert.equal(half, "A constant factor: all elements are 0.5 times the exact ones.");
    if (exact.rank === 2) assert.match(judged(id, `${before}(${last})^T`).says, /transpos/, id);
  }
});

test("the largest difference is told with its place", () => {
  assert.deepEqual(judged("linear-db", "sum(dy, 0)").difference.shape, [3]);
  const { says } = judged("softmax-dx", "y * (dy - sum(dy * y, 1)) + 0.5 * dy");
  assert.match(says, /^Not yet: the largest difference is \S+, at \[\d, \d\]: \S+ instead of \S+\.$/);
  const nearly = judged("attention-dq", "ds @ k / 1.7320508");
  assert.equal(nearly.kind, "different");
  assert.match(nearly.says, /e−\d/);
});

test("a difference stands where it is", () => {
  const t = opened.get("cross-entropy-dx").values.t;
  const { says } = judged("cross-entropy-dx", "dl * (p - t) / n + dl * 7 * t * (p / max(p * t))^40");
  assert.equal(says.startsWith("Not yet: the largest difference is "), true, says);
  const [, row, column] = says.match(/\[(\d), (\d)\]/);
  assert.equal(t.at(Number(row), Number(column)), 1);
});

test("shapes, numbers that are not finite and what cannot be read are told apart", () => {
  assert.equal(judged("layer-norm-dx", "sum(dy, 1)").says, "dx has the shape of x, [3, 4], and this is [3, 1].");
  assert.equal(judged("linear-db", "2").kind, "shape");
  assert.match(judged("softmax-dx", "log(-square(x) - 1)").says, /is ∞, at \[0, 0\]: NaN instead of/);
  assert.equal(judged("attention-dv", "mask @ dy").kind, "different");
  const { kind, place, says } = judged("attention-dq", "ds @ kk");
  assert.deepEqual([kind, place, says.includes("did you mean k?")], ["error", 5, true]);
  assert.equal(judged("softmax-dx", "").kind, "error");
});

test("the values are the same every time", () => {
  for (const exercise of exercises()) {
    const again = exerciseValues(exercise);
    for (const [name, x] of Object.entries(opened.get(exercise.id).values)) assert.deepEqual(again[name], x, name);
  }
});

test("a sum without an axis is called that, where an axis makes the answer exact", () => {
  const said = judged("softmax-dx", "y * dy - y * sum(dy * y)");
  assert.equal(said.kind, "mistake");
  assert.match(said.says, /^An axis is missing: sum\(a\) adds up all elements, and sum\(a, 1\) those along axis 1/);
  assert.match(judged("softmax-dx", "y * dy - y * sum(dy)").says, /^An axis is missing: .* A factor is missing: y\.$/);
});

// What students type, none of it in the lists of the exercises.
const typical = {
  "softmax-dx": ["y * (1 - y)", "dy", "y * dy - sum(dy * y, 1)", "y * (dy - mean(dy * y, 1))", "y * (dy + sum(dy * y, 1))",
    "x * (dy - sum(dy * x, 1))", "y * (sum(dy * y, 1) - dy)"],
  "layer-norm-dx": ["g = dy * gamma; (g - mean(g, 1) - n * mean(g * n, 1)) / sqrt(v)",
    "g = dy * gamma; g - mean(g, 1) - n * mean(g * n, 1)", "g = dy * gamma; (g - sum(g, 1) - n * mean(g * n, 1)) / sqrt(v + eps)",
    "g = dy * gamma; (g - mean(g, 1) - n * sum(g * n, 1)) / sqrt(v + eps)", "gamma / sqrt(v + eps)",
    "g = dy * gamma; (g - mean(g, 1) - mean(g * n, 1)) / sqrt(v + eps)", "g = dy * gamma; (g - mean(g, 1) + n * mean(g * n, 1)) / sqrt(v + eps)"],
  "layer-norm-dgamma": ["sum(n, 0)", "mean(dy * n, 0)", "sum(dy * y, 0)", "sum(dy * n)", "dy"],
  "sigmoid-gate-dz": ["(a - b) * g * (1 - g)", "dy * (a - b) * z * (1 - z)", "dy * (b - a) * g * (1 - g)", "dy * g * (1 - g)",
    "dy * (a - b) * g * (1 + g)", "dy * (a - b) * (1 - g)"],
  "linear-dW": ["dy^T @ b", "x^T @ x", "dy * x", "y^T @ x", "sum(dy^T @ x, 0)", "-(dy^T @ x)"],
  "linear-dx": ["W", "x @ W", "y @ W", "W @ dy", "dy * W", "dy"],
  "linear-db": ["mean(dy, 0)", "sum(y, 0)", "b", "sum(x, 0)", "2 * sum(dy, 0)"],
  "attention-dv": ["w^T", "s^T @ dy", "w^T @ v", "dy @ w", "w * dy", "dy"],
  "attention-dw": ["dy^T @ v", "dy @ v", "dy @ q^T", "v @ v^T", "dy", "w @ v^T"],
  "attention-ds": ["w * (1 - w)", "w * (dw - mean(dw, 1))", "w * (dw - mean(dw * w, 1))", "dw - w * sum(dw, 1)", "dw",
    "w * (dw + sum(dw * w, 1))", "s * (dw - sum(dw * s, 1))"],
  "attention-dq": ["ds @ k * sqrt(d)", "ds @ v / sqrt(d)", "w @ k / sqrt(d)", "s @ k / sqrt(d)", "k @ ds / sqrt(d)", "ds / sqrt(d)"],
  "attention-dk": ["ds^T @ q * sqrt(d)", "ds^T @ v / sqrt(d)", "w^T @ q / sqrt(d)", "q^T @ ds / sqrt(d)", "s^T @ q / sqrt(d)", "ds^T / sqrt(d)"],
  "lstm-dc": ["dc'", "dh' * o * f", "(dc' + dh' * o * (1 - square(tanh(c')))) * i", "(dc' + dh' * o * (1 - square(tanh(c)))) * f",
    "f", "(dc' + dh' * o * tanh(c')) * f"],
  "lstm-dz_f": ["dc'", "(dc' + dh' * o * (1 - square(tanh(c')))) * f * (1 - f)", "(dc' + dh' * o * (1 - square(tanh(c')))) * c * i * (1 - i)",
    "(dc' + dh' * o * (1 - square(tanh(c')))) * c * (1 - f)", "(dc' + dh' * o) * c * f * (1 - f)", "c * f * (1 - f)"],
  "relational-gate-dm": ["dm'", "f", "dz = dm' * m * f * (1 - f); dm' * f + dz @ U * (1 - square(m))", "dz = dm' * f * (1 - f); dz @ U",
    "dz = dm' * m * f * (1 - f); dm' * f - dz @ U * (1 - square(tanh(m)))"],
  "cross-entropy-dx": ["(p - t) / n", "dl * p - t / n", "dl * (p + t) / n", "dl * (p - t) * n", "dl * (1 - t) / n", "p - t"],
};

test("nine of ten typical wrong answers get a sentence about what they miss", () => {
  const all = Object.entries(typical).flatMap(([id, texts]) => texts.map((text) => [id, text]));
  const without = all.filter(([id, text]) => judged(id, text).kind !== "mistake").map(([id, text]) => `${id}: ${text}`);
  assert.ok(all.length >= 93, `${all.length}`);
  assert.ok(without.length <= all.length / 10, `${without.length} of ${all.length}\n${without.join("\n")}`);
  for (const [id, text] of all) assert.notEqual(judged(id, text).kind, "exact", `${id}: ${text}`);
});

test("a made mistake says what is missed, not more", () => {
  const says = (id, text) => judged(id, text).says;
  assert.equal(says("sigmoid-gate-dz", "dy * g * (1 - g)"), "A factor is missing: a - b.");
  assert.equal(says("layer-norm-dgamma", "mean(dy * n, 0)").startsWith("A constant factor"), true);
  assert.match(says("sigmoid-gate-dz", "(a - b) * g * (1 - g)"), /dy/);
  assert.equal(says("softmax-dx", "x * (dy - sum(dy * y, 1))"), "x stands where y belongs.");
  assert.match(says("layer-norm-dx", "g = dy * gamma; (g - mean(g, 1) - n * mean(g * n, 1)) / sqrt(v)"), /eps/);
  assert.equal(says("lstm-dc", "dc'"), "This is dc', a part of the answer: something is still to be done with it.");
  assert.equal(says("attention-dw", "dw"), "dw is what is asked for: write it with q, k, v, d, mask, s, w, y, dy");
});

test("answers may be written as in NumPy, in PyTorch and on paper", () => {
  for (const text of ["y * (dy - np.sum(dy * y, axis=1, keepdims=True))", "y*(dy-(dy*y).sum(1))", "y · (dy − torch.sum(dy ⊙ y, dim=1, keepdim=True))",
    "y × (dy - (dy*y).sum(dim=-1))", "F.softmax(x, dim=1) * (dy - (dy * y).sum(-1))", "p = np.exp(x) / np.exp(x).sum(axis=1); p * (dy - (p*dy).sum(1))"])
    assert.equal(judged("softmax-dx", text).kind, "exact", text);
  for (const text of ["dy.T @ x", "torch.matmul(dy.t(), x)", "np.dot(dy.T, x)", "dy.transpose().dot(x)", "dy⊤ @ x", "torch.mm(dy.t(), x)"])
    assert.equal(judged("linear-dW", text).kind, "exact", text);
  assert.equal(judged("linear-db", "dy[0] + dy[1] + dy[2] + dy[-1]").kind, "exact");
  assert.equal(judged("linear-db", "sum(dy, 0) + diag(diag(b)) - b").kind, "exact");
  assert.equal(judged("lstm-dc", "(dc' + dh' * o * (1 - np.power(np.tanh(c'), 2))) * f").kind, "exact");
  assert.match(judged("linear-db", "dy[4]").says, /has rows 0 to 3/);
  assert.match(judged("linear-db", "dy[0").says, /this \[ is not closed/);
});
