// The texts of the lessons. A part of a lesson is a paragraph, {formula, beside} or {figure}; `code` is marked in
// paragraphs. look(trace) finds places to look at in the reader's own trace, [{says, place}]; if it finds none, the
// lesson names the `command` that shows one. figure(trace), if there is one, gives {name, array}: one of its arrays.
import { attentionsOf } from "./attention_places.js";
import { asJacobian, hasJacobian, isOp, lookAt, onTape } from "./lesson_links.js";
import { attentionLessons } from "./lessons_attention.js";
import { layerLessons } from "./lessons_layers.js";
import { linearMaps } from "./outer_products.js";
import { makerOf } from "./tape_graph.js";

// The product of a gate and what it lets through: one factor came out of a sigmoid, the other one did not.
const isGating = (trace) => ({ op, inputs }) => {
  const factors = op === "mul" ? inputs.map((node) => trace.records[makerOf(trace, node)]?.op) : [];
  return factors.includes("sigmoid") && !factors.includes("tanh");
};

const productLesson = {
  id: "product",
  title: "What a vector-Jacobian product is",
  parts: [
    "A record has computed y from x. Near these very numbers the op is a matrix J: a small step h of the input moves " +
      "the output by J h, and J[o, i] says how fast output o changes with input i.",
    { formula: "x' = x + h, y' = y + J h" },
    "The loss is one number, and `dy` says how fast it changes with each output. Through this record the step changes " +
      "it by `dy` · J h. Sorted by the numbers of h instead, the factor of each of them is the gradient of that input:",
    { formula: "dx = J^T dy" },
    "This product is all that a backward pass asks of a record. It never builds J: for 512 rows of 512 numbers that " +
      "matrix would have 69 billion entries, while the formula of the op, `dx = y (dy - sum dy y)` for a softmax, needs " +
      "a few operations per number. And since the loss is one number, one product per record, from the last to the " +
      "first, gives the gradients of all inputs at once.",
    "Where a value is used twice, each use sends its own product, and they are added: before + this = after.",
  ],
  look: (trace) => [
    ...["softmax", "layer_norm", "tanh", "sigmoid", "matmul"].flatMap((op) =>
      lookAt(trace, hasJacobian(trace, isOp(op)), (record) => `J and its product for record ${record}, ${op}`, asJacobian),
    ).slice(0, 1),
    ...lookAt(trace, ({ contributions }) => contributions.some((sent) => sent?.before),
      (record) => `record ${record}, which adds to a gradient that was there before`, onTape),
  ],
  command: "retrace study softmax --out softmax.html",
};

const saturationLesson = {
  id: "saturation",
  title: "Why a softmax saturates",
  parts: [
    "A softmax turns scores into weights that add up to 1. Its Jacobian is made of the weights alone:",
    { formula: "y = softmax(c s), J = diag(y) - y y^T" },
    "On the diagonal stands y (1 − y), at most a quarter, and beside it −y y. When one weight comes close to 1 all " +
      "others come close to 0, and with them every entry of J: whatever gradient arrives, almost nothing leaves. The " +
      "row is saturated. It may be wrong, but it cannot learn that through its scores.",
    { figure: "saturation" },
    "What decides is how far apart the scores lie. Two scores that differ by 1 share the weight 73 : 27, by 5 already " +
      "99.3 : 0.7, by 10 it is 99.995 : 0.005, and the slope is 0.00005. This is why attention divides its scores, why " +
      "they are normalised, and why large weights early in a training are hard to undo. The opposite end is no better " +
      "for choosing: with c near 0 all weights are alike.",
  ],
  look: (trace) => [
    ...lookAt(trace, hasJacobian(trace, isOp("softmax")), (record) => `the Jacobian of the softmax of record ${record}`, asJacobian),
    ...lookAt(trace, isOp("softmax"), (record) => `the card of record ${record}`, onTape),
  ],
  command: "retrace study attention --out attention.html",
};

const gateLesson = {
  id: "gate",
  title: "Why a gate keeps gradients alive",
  parts: [
    "A plain recurrent network computes each state anew. On the way back its gradient meets the same matrix and the " +
      "slope of a tanh, which is at most 1, at every step:",
    { formula: "h' = tanh(x W^T + h U^T), dh = (dh' (1 - h'^2)) U" },
    "A product of many such factors shrinks to nothing or grows without bound. The cell of an LSTM is not computed " +
      "anew, it is kept and added to:",
    { formula: "c' = f c + i g, dc = dc' f" },
    "On this path there is no matrix and no tanh, only the gate f, number by number. Where the network wants to remember " +
      "it sets f close to 1, and the gradient of a loss far ahead arrives nearly whole; where it wants to forget, the " +
      "gradient ends, too, and rightly so.",
    { figure: "gate" },
    "At the start of a training nothing has been learned about f. With a bias of 0 it is near 0.5, and after 20 steps a " +
      "millionth is left. That is why forget gates start with a bias of 1 or more. The gates of a relational memory do " +
      "the same for its slots.",
  ],
  look: (trace) => {
    const gates = [
      ...lookAt(trace, isGating(trace), (record) => `record ${record}: a gate times what it lets through`, onTape),
      ...lookAt(trace, isOp("lstm_sequence", "gru_sequence", "gated_memory"),
        (record) => `record ${record}, ${trace.records[record].op}`, onTape),
    ];
    const flow = { says: "what is left of the gradient, step by step", place: { view: "flow" } };
    return trace.flows.some(({ title }) => gates.length > 0 || title === "h") ? [...gates, flow] : gates;
  },
  command: "retrace study lstm --tokens 8 --out lstm.html",
};

const isQuery = ({ name }) => /query|w_?q/i.test(name);

const queryLesson = {
  id: "query",
  title: "Where dW_q comes from",
  parts: [
    "The matrix of the queries is far from the loss. Its gradient comes back through the values, the softmax and the keys:",
    { formula: "q = x W^T, s = q k^T / sqrt(d), a = softmax(s), y = a v",
      beside: "da = dy v^T, ds = a (da - sum da a), dq = ds k / sqrt(d), dW = dq^T x" },
    "Read it row by row. `da` says of each key how fast the loss rises with its weight. `ds` compares: a key counts by how far " +
      "it lies above the average of its row, times the weight that it has. So each row of `ds` adds up to 0, and a row " +
      "with all of its weight on one key is nearly 0 everywhere.",
    "Then `dq` is a mix of keys with these numbers: a step against it turns the query towards keys that help and away " +
      "from those that harm. What all keys have in common cancels, which is why a bias of the keys gets no gradient at " +
      "all. At last `dW` is one outer product for each token, what came back to its query times what the token was. " +
      "W_q never hears which value was right: it only learns whom to ask.",
  ],
  look: (trace) => [
    ...linearMaps(trace).filter(isQuery).slice(0, 1).map(({ node, name }) => (
      { says: `${name}, token by token`, place: { view: "outer-products", node } })),
    ...attentionsOf(trace).slice(0, 1).filter(({ kind, record }) => kind === "composed" && trace.records[record].reached)
      .map(({ record }) => ({ says: `ds, which leaves the softmax of record ${record}`, place: onTape(record) })),
  ],
  command: "retrace study multi-head-attention --out attention.html",
};

// The record that divides the scores of a softmax; between them there may be a mask.
const divisionBefore = (trace, { inputs: [scores] }) => {
  let maker = makerOf(trace, scores);
  while (["add", "masked_fill", "where"].includes(trace.records[maker]?.op)) maker = makerOf(trace, trace.records[maker].inputs[0]);
  return ["scale", "div"].includes(trace.records[maker]?.op) ? maker : -1;
};

const divisionLesson = {
  id: "division",
  title: "The √d that was lost",
  parts: [
    "A score is a sum of d products. If the numbers of q and k are independent and have variance 1, each product has " +
      "variance 1, and their sum has variance d. Attention divides it by its standard deviation:",
    { formula: "s = q k^T / sqrt(d)" },
    "In the copies of the NumPy programs from which this project set out, the operator had changed: `scores * " +
      "np.sqrt(d_k)` stood where a division belongs. Each score is then d times too large.",
    { figure: "division" },
    "Nothing fails. The weights still add up to 1, the shapes are right, the output is an average of values as before. " +
      "But with 16 numbers in a head two rows of three have chosen one key before anything was learned, and their softmax " +
      "sends almost nothing back. In rows that are still undecided the backward multiplies by √d as well, so that their " +
      "gradients are d times too large. The loss does not tell; the numbers of the backward pass do.",
    "The factor has a second place, where it is lost more easily: the backward divides as well, `dq = ds k / sqrt(d)`. " +
      "Without it the gradients of q and k point the right way and are √d times too long, which a gradient check finds at once.",
  ],
  look: (trace) => {
    const softmaxes = trace.records.filter(({ op, reached }) => op === "softmax" && reached);
    const record = softmaxes.map((one) => divisionBefore(trace, one)).find((maker) => maker >= 0);
    return record === undefined ? [] : [{ says: `record ${record}, which divides the scores`, place: onTape(record) }];
  },
  command: "retrace study attention --size 64 --out attention.html",
};

export const lessons = () => {
  const { reading, loss, residual, norm, time } = layerLessons;
  return [
    reading, productLesson, saturationLesson, ...attentionLessons, queryLesson, divisionLesson, loss, residual, norm,
    gateLesson, time,
  ];
};
