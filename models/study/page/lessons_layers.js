// Lessons on reading the page, and on what stands around attention and memories in a network.
import { arrivedAt, firstRecord, isOp, lookAt, onTape, sentBy, sizeText } from "./lesson_links.js";

// {name, array} of what a function reads from the first record that is so.
const figureOf = (trace, isSo, name, read) => {
  const record = firstRecord(trace, isSo);
  return record < 0 ? null : { name, array: read(trace, record) };
};

const lastReached = (trace) => trace.records.findLastIndex(({ reached }) => reached);

const readingLesson = {
  id: "reading",
  title: "How to read this page",
  parts: [
    "A tape is a list of records, one for each call of an op, in the order in which they ran. A record has read some " +
      "tensors and written others; `%7` is what record 7 wrote, if it has no name. On its card the op's own letters stand, " +
      "and beside them which tensor each of them is.",
    "A letter with a d before it is a gradient: how fast the loss rises with each number of that tensor. It has the shape of " +
      "the tensor, number for number. Going back, a record gets the gradient of its output, and sends one to each input:",
    { formula: "y = f(x), dx = J^T dy" },
    "Colours are sizes: orange is above 0, blue below. Point at a cell, or move by the arrow keys, and its number is read out. " +
      "A tick says that this page has computed the same by a rule of its own; a cross, that it has not, and then one of " +
      "the two is wrong.",
  ],
  look: (trace) => {
    const record = lastReached(trace);
    if (record < 0) return [];
    return [{ says: `record ${record}, ${trace.records[record].op}, where the backward begins: ` +
      sizeText("dy", arrivedAt(trace, record)), place: onTape(record) }];
  },
  figure: (trace) => (lastReached(trace) < 0 ? null : { name: "dy", array: arrivedAt(trace, lastReached(trace)) }),
  command: "retrace study attention --out attention.html",
};

// A sum whose first term goes on unchanged: both have its shape.
const isResidual = (trace) => ({ op, inputs, outputs }) => {
  if (op === "residual_layer_norm") return true;
  if (op !== "add" || inputs.length !== 2) return false;
  const shapes = [...inputs, ...outputs].map((node) => trace.nodes[node].shape.join());
  return new Set(shapes).size === 1 && inputs.every((node) => !trace.nodes[node].leaf);
};

const residualLesson = {
  id: "residual",
  title: "Why residuals help",
  parts: [
    "A residual adds what a layer has computed to what it was given, instead of putting it in its place:",
    { formula: "y = x + f(x), dx = dy + J^T dy" },
    "An addition sends its gradient to both terms as it is. So x receives dy whole, and what comes back through the " +
      "layer is added to it. However small the Jacobian of the layer is, the gradient does not vanish on this path.",
    "In a deep network these additions form one road from the loss to the first layer. Multiplied out, the gradient is a " +
      "sum over all ways through or around each layer; the shortest of them has no factor at all. Without residuals only " +
      "the longest way is left, a product of all Jacobians, which dies out or explodes.",
    "The price is that everything on that road is added up, so that its numbers grow from layer to layer. A layer norm " +
      "takes care of that.",
  ],
  look: (trace) =>
    lookAt(trace, isResidual(trace), (record) => `record ${record}, a sum: ${sizeText("dy", arrivedAt(trace, record))} ` +
      `arrives, and ${sizeText("da", sentBy(trace, record))} goes on`, onTape),
  figure: (trace) => figureOf(trace, isResidual(trace), "dy", arrivedAt),
  command: "retrace study rmc --out rmc.html",
};

const isNorm = isOp("layer_norm", "residual_layer_norm");

const normLesson = {
  id: "norm",
  title: "What a layer norm takes away",
  parts: [
    "A layer norm moves each row to the mean 0 and stretches it to the variance 1. Then it gives each column a factor and a " +
      "shift of its own, which are learned:",
    { formula: "h = (x - mean x) / sqrt(var x + eps), y = gamma h + beta",
      beside: "dh = dy gamma, dx = (dh - mean dh - h mean(dh h)) / sqrt(var x + eps)" },
    "Two things about a row have no effect on the output: its mean and its length. So the gradient must not point there, and " +
      "the two means that the formula takes away see to that. Each row of `dx` adds up to 0, and its product with `h` is " +
      "0 as well, but for the little that eps lets through.",
    "What is left is divided by the standard deviation: a row of small numbers gets a large gradient, and a row of large " +
      "ones a small gradient. For a sum of all outputs without gamma the gradient is 0 everywhere, so that such a loss " +
      "checks nothing.",
  ],
  look: (trace) =>
    lookAt(trace, isNorm, (record) => `record ${record}: ${sizeText("dy", arrivedAt(trace, record))} arrives, ` +
      `${sizeText("dx", sentBy(trace, record))} leaves`, onTape),
  figure: (trace) => figureOf(trace, isNorm, "dx, whose rows add up to 0", sentBy),
  command: "retrace study layer-norm --out norm.html",
};

// The record that sends p - t: a fused loss, or the log-softmax before one.
const isLoss = ({ records }) => ({ op, outputs }) =>
  op === "cross_entropy" ||
  (op === "log_softmax" && records.some((one) => one.op === "nll" && one.inputs[0] === outputs[0]));

const lossLesson = {
  id: "loss",
  title: "Cross-entropy: p minus the answer",
  parts: [
    "A classifier gives a number to each answer. A softmax makes probabilities of them, and the loss is minus the " +
      "logarithm of the right one's, on average over the rows:",
    { formula: "p = softmax(x), L = -mean(log p_t), dx = (p - t) / n" },
    "The two backward steps, of the logarithm and of the softmax, cancel to that difference, where `t` is 1 at the right " +
      "answer and 0 elsewhere. Each gradient says at sight what is wrong: too much probability here, too little there. A row " +
      "adds up to 0, and no entry is larger than 1 / n.",
    "Computed together they are safe as well. A probability that has become 0 in the computer's numbers would make the " +
      "logarithm infinite and the gradient NaN; the difference stays as it should, close to −1. This is why the loss takes " +
      "scores and not probabilities, and why a softmax before it is a mistake: it would be applied twice.",
  ],
  look: (trace) =>
    lookAt(trace, isLoss(trace), (record) => `record ${record}: ${sizeText("dx", sentBy(trace, record))}, p minus the right answers`, onTape),
  figure: (trace) => figureOf(trace, isLoss(trace), "dx = (p − t) / n", sentBy),
  command: 'retrace study --expr "cross_entropy(x,[0,2,1])" --input x=3x4 --out loss.html',
};

const isRepeated = (trace) => ({ inputs, contributions }) =>
  inputs.some((node, n) => trace.nodes[node].parameter && contributions[n]?.before);

const isSequence = isOp("rnn_sequence", "lstm_sequence", "gru_sequence");

const timeLesson = {
  id: "time",
  title: "Backpropagation through time is a sum",
  parts: [
    "A recurrent network uses one matrix at every step. Written out over time it is a deep network whose layers share " +
      "their weights, and its backward pass is an ordinary one:",
    { formula: "h' = tanh(x W^T + h U^T), dU = da_1^T h_0 + da_2^T h_1 + da_3^T h_2" },
    "Each step sends its own part to the gradient of U, an outer product of what came back to it and of the state before " +
      "it. The parts are added as the walk passes: before + this = after, from the last step to the first one.",
    "What came back to a step has run through all later steps, and each of them was a factor. If the factors are small, early " +
      "steps send next to nothing, and the sum is made by the last few: the network learns what is near and not what is far. " +
      "If they are large, one early step outweighs all others. The sum alone does not show which; its terms do.",
  ],
  look: (trace) => {
    const flow = trace.flows.length > 0 ? [{ says: "what comes back to each step", place: { view: "flow" } }] : [];
    const parts = lookAt(trace, (one) => isRepeated(trace)(one) || isSequence(one),
      (record) => `record ${record}, ${trace.records[record].op}, which adds its part to the gradient of a weight`, onTape);
    return parts.length > 0 ? [...parts, ...flow] : [];
  },
  figure: (trace) => {
    const record = firstRecord(trace, isRepeated(trace));
    if (record < 0) return null;
    const { inputs, contributions } = trace.records[record];
    const input = inputs.findIndex((node, n) => trace.nodes[node].parameter && contributions[n]?.before);
    return { name: `its part of d ${trace.nodes[inputs[input]].name}`, array: sentBy(trace, record, input) };
  },
  command: "retrace study rnn --tokens 6 --out rnn.html",
};

export const layerLessons = {
  reading: readingLesson, residual: residualLesson, norm: normLesson, loss: lossLesson, time: timeLesson,
};
