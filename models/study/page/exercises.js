// "Write the backward": the exercises. One exercise asks for the gradient of `of`:
//   formula      the forward, in the notation of the ops;  forward    the same as expressions, in order
//   leaves       shapes of the inputs, which are drawn;    constants  inputs that are given
//   cotangents   the gradients that arrive, which are drawn, and at which output
//   backward     gradients that are already known
//   answer       the rule;                                 mistakes   expressions and what each of them has missed
const attentionForward = {
  title: "Attention", formula: "s = q k^T / sqrt(d) + mask, w = softmax(s), y = w v",
  forward: "s = q @ k^T / sqrt(d) + mask; w = softmax(s); y = w @ v",
  leaves: { q: [4, 3], k: [4, 3], v: [4, 3] },
  constants: { d: 3, mask: [0, 1, 2, 3].map((i) => [0, 1, 2, 3].map((j) => (j > i ? -Infinity : 0))) },
  cotangents: { dy: "y" },
};
const linearForward = {
  title: "Linear map", formula: "y = x W^T + b", forward: "y = x @ W^T + b",
  leaves: { x: [4, 3], W: [3, 3], b: [3] }, cotangents: { dy: "y" },
};
const layerNormForward = {
  title: "Layer norm",
  formula: "v = mean (x - mean x)^2 along axis 1, n = (x - mean x) / sqrt(v + eps) along axis 1, y = n gamma + beta",
  forward: "v = mean(square(x - mean(x, 1)), 1); n = (x - mean(x, 1)) / sqrt(v + eps); y = n * gamma + beta",
  leaves: { x: [3, 4], gamma: [4], beta: [4] }, constants: { eps: 1e-5 }, cotangents: { dy: "y" },
};
const lstmForward = {
  title: "LSTM cell",
  formula: "i = sigmoid z_i, f = sigmoid z_f, g = tanh z_g, o = sigmoid z_o, c' = f c + i g, h' = o tanh c'",
  forward: "i = sigmoid(z_i); f = sigmoid(z_f); g = tanh(z_g); o = sigmoid(z_o); c' = f * c + i * g; h' = o * tanh(c')",
  leaves: { z_i: [2, 3], z_f: [2, 3], z_g: [2, 3], z_o: [2, 3], c: [2, 3] }, cotangents: { "dh'": "h'", "dc'": "c'" },
};
const throughH = "dh' * o * (1 - square(tanh(c')))";

const divideBySqrt = "1 / sqrt(d) is missing: the forward divides the scores, and so does the backward.";
const divideOnce = "Divide by sqrt(d), as the forward does: d is its square.";
const softmaxSkipped = "The softmax was skipped: what arrives at the scores is ds.";
const notTheOutput = "What flows back is dy, the gradient that arrived, and not the output y.";
const notSummed = "Not summed yet: every row uses the same one, so add up the rows.";
const rowsNormalised = "The sum goes over the wrong axis: softmax normalises each row, along axis 1.";
const sumNeedsWeights = "The sum needs its weights: each gradient comes through its own output of the softmax.";
const pathThroughH = "Only one of two paths: c' also reaches the loss through h', by dh' o (1 - (tanh c')^2).";
const pathThroughC = "Only one of two paths: dc', which the next step sent to c', is missing.";
const sigmoidHalf = (f) => `The factor 1 - ${f} is missing: the derivative of a sigmoid is ${f} (1 - ${f}).`;

export const exercises = () => [
  {
    id: "softmax-dx", title: "Softmax", of: "x",
    formula: "y = softmax(x)", forward: "y = softmax(x)", leaves: { x: [3, 4] }, cotangents: { dy: "y" },
    answer: "y * (dy - sum(dy * y, 1))",
    hints: ["Each x of a row changes every y of that row: the derivative of y_j by x_i is y_j ([i = j] - y_i).",
      "So dx_i is dy_i y_i minus y_i times the sum of dy_j y_j along the row."],
    mistakes: [
      ["dy * y", "One term of two: the y of a row sum to 1, so each x also lowers the others. Subtract y sum(dy y, 1)."],
      ["dy * y * (1 - y)", "Only the diagonal of the Jacobian, as for a sigmoid: paths to the other y are missing."],
      ["y * (dy - sum(dy * y, 0))", rowsNormalised],
      ["y * (dy - sum(dy, 1))", sumNeedsWeights],
      ["dy - sum(dy * y, 1)", "The factor y in front is missing: where y is almost 0, x hardly matters."],
    ],
  },
  {
    id: "layer-norm-dx", of: "x", ...layerNormForward,
    answer: "g = dy * gamma; (g - mean(g, 1) - n * mean(g * n, 1)) / sqrt(v + eps)",
    hints: ["At n arrives g = dy gamma. x reaches n on three paths: directly, through its mean, and through v.",
      "The mean sends back -mean(g, 1), v sends back -n mean(g n, 1); sqrt(v + eps) divides everything."],
    mistakes: [
      ["(dy - mean(dy, 1) - n * mean(dy * n, 1)) / sqrt(v + eps)", "gamma is missing: what arrives at n is dy gamma."],
      ["dy * gamma / sqrt(v + eps)", "Only one of three paths: the mean and v depend on x, too."],
      ["g = dy * gamma; (g - n * mean(g * n, 1)) / sqrt(v + eps)",
        "The mean term is missing: mean x contains every x of the row, so subtract mean(g, 1)."],
      ["g = dy * gamma; (g - mean(g, 1)) / sqrt(v + eps)", "The path through v is missing: subtract n mean(g n, 1)."],
      ["g = dy * gamma; (g - mean(g, 0) - n * mean(g * n, 0)) / sqrt(v + eps)",
        "The means go over the wrong axis: each row is normalised by itself, along axis 1."],
      ["g = dy * gamma; (g - mean(g, 1) - n * mean(g * n, 1)) / (v + eps)",
        "Divide by the standard deviation, the root of v + eps, and not by the variance."],
    ],
  },
  {
    id: "layer-norm-dgamma", of: "gamma", ...layerNormForward,
    answer: "sum(dy * n, 0)",
    hints: ["gamma has an element per column, and each is used in every row.",
      "What is repeated gets the sum of the gradients of its repetitions, here along axis 0."],
    mistakes: [
      ["sum(dy, 0)", "This is dbeta: gamma is multiplied by n, so its gradient is, too."],
      ["sum(dy * n, 1)", "The sum goes over the wrong axis: gamma is repeated over the rows, axis 0."],
      ["sum(dy * x, 0)", "gamma is multiplied by the normalised n, and not by x."],
      ["dy * n", notSummed],
      ["sum(dy * n * gamma, 0)", "y is linear in gamma: its derivative is n alone. The factor gamma belongs to dx."],
    ],
  },
  {
    id: "sigmoid-gate-dz", title: "Sigmoid gate", of: "z",
    formula: "g = sigmoid z, y = g a + (1 - g) b", forward: "g = sigmoid(z); y = g * a + (1 - g) * b",
    leaves: { z: [2, 3], a: [2, 3], b: [2, 3] }, cotangents: { dy: "y" },
    answer: "dy * (a - b) * g * (1 - g)",
    hints: ["g reaches y on two paths: times a, and through 1 - g times b.",
      "Together they give dg = dy (a - b); then comes the derivative of the sigmoid, g (1 - g)."],
    mistakes: [
      ["dy * a * g * (1 - g)", "Only one of two paths: g also reaches y through (1 - g) b, which sends back -dy b."],
      ["-dy * b * g * (1 - g)", "Only one of two paths: g also reaches y through g a, which sends back dy a."],
      ["dy * (a + b) * g * (1 - g)", "The sign of the second path: the derivative of 1 - g is -1."],
      ["dy * (a - b) * g", sigmoidHalf("g")],
      ["dy * (a - b)", "This is dg: from g to z goes the derivative of the sigmoid, g (1 - g)."],
      ["dy * (a - b) * (1 - square(g))", "1 - g^2 is the derivative of tanh; that of a sigmoid is g (1 - g)."],
    ],
  },
  {
    id: "linear-dW", of: "W", ...linearForward,
    answer: "dy^T @ x",
    hints: ["Each row of x adds an outer product: of its outputs' gradients and its inputs.",
      "W has a row per output and a column per input. The sum over the rows of x is a matrix product."],
    mistakes: [
      ["x^T @ dy", "This is the transpose: W has a row per output, so dy comes first."],
      ["dy @ x^T", "A transposition in the wrong place: each row of x adds to dW, so transpose dy."],
      ["sum(dy, 0)^T @ sum(x, 0)", "A product of sums is not the sum of the products: each row's dy meets its own x."],
      ["dy^T @ x / 4", "The sum over the rows, and not their mean: if the loss is a mean, dy is divided already."],
      ["dy^T @ y", "The derivative by W contains the input x, and not the output y."],
      ["dy^T @ x * W", "y is linear in W, so its derivative does not contain W."],
    ],
  },
  {
    id: "linear-dx", of: "x", ...linearForward,
    answer: "dy @ W",
    hints: ["Input i reaches every output o through W[o, i].",
      "The forward sums over the columns of W, so the backward sums over its rows."],
    mistakes: [
      ["dy @ W^T", "A transposition too many: the forward multiplies by W^T, so the backward by W."],
      ["sum(dy, 0) @ W", "Each row of x has a gradient of its own: do not sum over the rows."],
      ["dy * sum(W, 1)^T", "The rows of W were summed before they met dy: use the matrix product."],
      ["dy @ W * x", "y is linear in x, so its derivative does not contain x."],
      ["(dy - b) @ W", "The bias is only added: it changes no gradient of x."],
    ],
  },
  {
    id: "linear-db", of: "b", ...linearForward,
    answer: "sum(dy, 0)",
    hints: ["b is added to every row.", "What is repeated gets the sum of the gradients of its repetitions."],
    mistakes: [
      ["dy", notSummed],
      ["sum(dy, 1)", "The sum goes over the wrong axis: b has an element per output, so sum over the rows, axis 0."],
      ["sum(dy)", "One number for all outputs: sum over the rows alone, axis 0."],
      ["sum(dy * b, 0)", "b is only added, so its derivative is 1, and not b."],
      ["sum(dy @ W, 0)", "This has passed through W, but b is added after the product."],
    ],
  },
  {
    id: "attention-dv", of: "v", ...attentionForward,
    answer: "w^T @ dy",
    hints: ["Row j of v reaches every output i, with the weight w[i, j].",
      "So row j of dv is the sum of all dy_i with these weights, a sum over the rows of w."],
    mistakes: [
      ["w @ dy", "A forgotten transposition: w leads from values j to outputs i, so gradients return by w^T."],
      ["softmax(q @ k^T / sqrt(d))^T @ dy", "A forgotten mask: the forward's weights, w, are made with it."],
      ["w^T @ dy / sqrt(d)", "sqrt(d) divides the scores and has done its work in w: v never meets it."],
      ["w^T @ y", notTheOutput],
      ["softmax(s, 0)^T @ dy", rowsNormalised],
    ],
  },
  {
    id: "attention-dw", of: "w", ...attentionForward,
    answer: "dy @ v^T",
    hints: ["w[i, j] multiplies row j of v, and adds it to row i of y.",
      "So dw[i, j] is the dot product of dy_i and v_j."],
    mistakes: [
      ["v @ dy^T", "This is the transpose: row i of w belongs to row i of dy, so dy comes first."],
      ["dy @ v^T / sqrt(d)", "sqrt(d) stands between the scores and q, k: it is not on the way from y to w."],
      ["y @ v^T", notTheOutput],
      ["w * (dy @ v^T)", "The factor w belongs to the softmax, which comes later on the way back."],
      ["dy @ k^T", "y is made of the values: the keys made the scores."],
    ],
  },
  {
    id: "attention-ds", of: "s", ...attentionForward,
    backward: "dw = dy @ v^T",
    answer: "w * (dw - sum(dw * w, 1))",
    hints: ["From s to w leads the softmax of each row, so its rule leads back.",
      "Masked scores need no care of their own: their w is 0."],
    mistakes: [
      ["w * dw", "One term of two: the w of a row sum to 1, so each s also lowers the others. Subtract w sum(dw w)."],
      ["w * (dw - sum(dw * w, 0))", rowsNormalised],
      ["w * (dw - sum(dw, 1))", sumNeedsWeights],
      ["w * (dw - sum(dw * w, 1)) / sqrt(d)", "sqrt(d) comes later: s is divided already, between q k^T and s."],
      ["p = softmax(q @ k^T / sqrt(d)); p * (dw - sum(dw * p, 1))",
        "A forgotten mask: this sends gradients to scores that the forward never used. Use w."],
      ["dw - sum(dw * w, 1)", "The factor w in front is missing; without it masked scores have gradients, too."],
    ],
  },
  {
    id: "attention-dq", of: "q", ...attentionForward,
    backward: "dw = dy @ v^T; ds = w * (dw - sum(dw * w, 1))",
    answer: "ds @ k / sqrt(d)",
    hints: ["s[i, j] is the dot product of q_i and k_j, divided by sqrt(d).",
      "So dq_i is the sum of all k_j with the weights ds[i, j], divided by sqrt(d)."],
    mistakes: [
      ["ds @ k", divideBySqrt],
      ["ds^T @ k / sqrt(d)", "A transposition too many: a query's sum goes over the keys, the columns of ds."],
      ["ds @ k / d", divideOnce],
      ["ds @ q / sqrt(d)", "The derivative of q k^T by q contains k."],
      ["dw @ k / sqrt(d)", softmaxSkipped],
    ],
  },
  {
    id: "attention-dk", of: "k", ...attentionForward,
    backward: "dw = dy @ v^T; ds = w * (dw - sum(dw * w, 1))",
    answer: "ds^T @ q / sqrt(d)",
    hints: ["s[i, j] is the dot product of q_i and k_j, divided by sqrt(d): each key meets every query.",
      "So dk_j is the sum of all q_i with the weights ds[i, j]: over the rows of ds."],
    mistakes: [
      ["ds @ q / sqrt(d)", "A forgotten transposition: a key's sum goes over the queries, the rows of ds."],
      ["ds^T @ q", divideBySqrt],
      ["ds^T @ q / d", divideOnce],
      ["ds^T @ k / sqrt(d)", "The derivative of q k^T by k contains q."],
      ["dw^T @ q / sqrt(d)", softmaxSkipped],
    ],
  },
  {
    id: "lstm-dc", of: "c", ...lstmForward,
    answer: `(dc' + ${throughH}) * f`,
    hints: ["c' has two gradients: dc', from the next step, and what h' = o tanh c' sends back.",
      "Add them up; from c' to c goes the factor f."],
    mistakes: [
      ["dc' * f", pathThroughH],
      [`${throughH} * f`, pathThroughC],
      [`dc' + ${throughH}`, "This is the whole gradient of c'; from c' to c goes the forget gate f."],
      ["(dc' + dh' * (1 - square(tanh(c')))) * f", "The output gate is missing: h' = o tanh c'."],
      ["(dc' + dh' * o * (1 - tanh(c'))) * f", "The square is missing: the derivative of tanh is 1 - tanh^2."],
      ["(dc' + dh' * o * (1 - square(c'))) * f", "1 - y^2 needs y = tanh c', and here stands c' itself."],
    ],
  },
  {
    id: "lstm-dz_f", of: "z_f", ...lstmForward,
    answer: `(dc' + ${throughH}) * c * f * (1 - f)`,
    hints: ["First the whole gradient of c', on its two paths, as for dc.",
      "f is multiplied by c; then comes the derivative of the sigmoid."],
    mistakes: [
      ["dc' * c * f * (1 - f)", pathThroughH],
      [`${throughH} * c * f * (1 - f)`, pathThroughC],
      [`(dc' + ${throughH}) * c`, "This is df: from f to z_f goes the derivative of the sigmoid, f (1 - f)."],
      [`(dc' + ${throughH}) * c * f`, sigmoidHalf("f")],
      [`(dc' + ${throughH}) * c' * f * (1 - f)`, "f is multiplied by the old cell c, and not by c'."],
      [`(dc' + ${throughH}) * g * f * (1 - f)`, "g belongs to the input gate: the forget gate is multiplied by c."],
    ],
  },
  {
    id: "relational-gate-dm", title: "Gate of a relational memory", of: "m",
    formula: "i = sigmoid z_i, f = sigmoid(p + tanh(m) U^T), m' = i tanh c + f m",
    forward: "i = sigmoid(z_i); f = sigmoid(p + tanh(m) @ U^T); m' = i * tanh(c) + f * m",
    leaves: { m: [3, 4], U: [4, 4], p: [4], z_i: [3, 4], c: [3, 4] }, cotangents: { "dm'": "m'" },
    answer: "dz = dm' * m * f * (1 - f); dm' * f + dz @ U * (1 - square(tanh(m)))",
    hints: ["m reaches m' on two paths: f keeps it, and it decides what f is.",
      "For the second, what arrives inside of the sigmoid is dz = dm' m f (1 - f); go on through U and tanh."],
    mistakes: [
      ["dm' * f", "Only one of two paths, the one that keeps the memory: m also decides f, through tanh and U."],
      ["dz = dm' * m * f * (1 - f); dz @ U * (1 - square(tanh(m)))",
        "Only one of two paths, the one through the gate: m is also multiplied by f, which adds dm' f."],
      ["dz = dm' * m * f * (1 - f); dm' * f + dz @ U", "The derivative of tanh, 1 - (tanh m)^2, is missing."],
      ["dz = dm' * m * f * (1 - f); dm' * f + dz @ U^T * (1 - square(tanh(m)))",
        "A transposition too many: the forward multiplies by U^T, so the backward by U."],
      ["dz = dm' * m * f; dm' * f + dz @ U * (1 - square(tanh(m)))", sigmoidHalf("f")],
      ["dz = dm' * f * (1 - f); dm' * f + dz @ U * (1 - square(tanh(m)))",
        "f is multiplied by m, so what arrives at f is dm' m."],
    ],
  },
  {
    id: "cross-entropy-dx", title: "Cross-entropy", of: "x",
    formula: "p = softmax(x), l = -(sum t ln p) / n", forward: "p = softmax(x); l = -sum(t * log(p)) / n",
    leaves: { x: [3, 4] }, constants: { n: 3, t: [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]] }, cotangents: { dl: "l" },
    answer: "dl * (p - t) / n",
    hints: ["ln softmax(x) = x - ln sum e^x: the first term has the derivative 1, the second has p.",
      "A row of t sums to 1, so the gradient of a row's loss is p - t."],
    mistakes: [
      ["dl * (p - t)", "1 / n is missing: the loss is the mean over the rows."],
      ["dl * (t - p) / n", "The sign: the loss falls as the right logit rises, where the gradient is p - 1, below 0."],
      ["dl * p / n", "The label is missing: subtract t, which is 1 at the right class."],
      ["-dl * t / p / n", "This is dp: between p and x lies the softmax, which leaves p - t."],
      ["dl * (x - t) / n", "Logits stand where probabilities belong: p - t."],
      ["dl * (softmax(x, 0) - t) / n", "This softmax goes along the wrong axis: the classes are the columns, axis 1."],
    ],
  },
];
