// How the gradient flows back through time: its norm at each step, and what each state feels of each input.
import { rangeBetween, rangeOf } from "./array_colours.js";
import { arrayView } from "./array_view.js";
import { el } from "./dom.js";
import { flowChart } from "./flow_chart.js";
import { curvesOf, flowSentence, logMatrix } from "./flow_numbers.js";
import { numberOf } from "./trace.js";

const flowSentences = (curves) =>
  el(
    "ul",
    { class: "flow-sentences" },
    curves.map((curve) => el("li", {}, flowSentence(curve))),
  );

const derivativeNorm = (title, t) => `|∂${/\s/.test(title) ? `(${title})` : title}_${t} / ∂x_s|`;

// 1 is neither growth nor decay: colours diverge around log10 1 = 0.
const rangeOfLogarithms = (data) => {
  const { low, high } = rangeOf(data), size = Math.max(-low, high, 1);
  return rangeBetween(-size, size);
};

const flowMatrix = ({ title, matrix, times }) => {
  const logs = logMatrix(matrix), steps = Array.from({ length: times }, (_, t) => String(t));
  return el(
    "section",
    { class: "flow-matrix" },
    el("h3", {}, `What ${title} feels of each input`),
    arrayView(logs, {
      label: `log10 ${derivativeNorm(title, "t")}, t down, s across`,
      mask: (flat) => logs.data[flat] === -Infinity,
      range: rangeOfLogarithms(logs.data),
      maxCells: 16384,
      rows: steps,
      columns: steps,
    }),
    el("p", {}, `${flowSentence({ name: derivativeNorm(title, times - 1), values: matrix.at(-1).map(numberOf) })}.`),
  );
};

const missingMatrix = ({ title }) =>
  el(
    "p",
    { class: "quiet" },
    `${derivativeNorm(title, "t")} was left out: it takes too many vector-Jacobian products, one per element of each ` +
      "state. Fewer steps or a smaller state show it.",
  );

// The outputs of an attention are no states: none is made from the one before it.
const isRecurrent = (flows) => flows.some(({ title }) => title === "h" || title === "c" || title === "memory");

const whyItVanishes = (flows) => [
  !isRecurrent(flows) &&
    "No step is made from the one before it: attention leads from every x_s that it sees straight to y_t. The distance " +
      "between s and t does not matter, only what the weights let through.",
  isRecurrent(flows) &&
    "Each step back multiplies the gradient by the Jacobian of that step. Where that is a matrix times the slope of a tanh, " +
      "as for h' = tanh(W x + U h + b), the product over many steps shrinks or grows like a power: it vanishes, or it explodes.",
  flows.some(({ title }) => title === "c") &&
    " The cell of an LSTM has another way, c' = f c + i g: along it the gradient is multiplied by the forget gate f " +
      "alone, and stays alive for as long as f is near 1.",
  flows.some(({ title }) => title === "memory") &&
    " What a slot of a gated memory keeps of itself is multiplied by its forget gate alone: where that is near 1, " +
      "nearly all of the gradient stays.",
];

const renderFlow = (root, { trace: { flows } }) => {
  const curves = curvesOf(flows),
    states = flows.filter(({ title }) => title !== "x");
  root.append(
    flowChart(curves, flows[0].times, "|∂loss / ∂state_t| by step t, on a log scale"),
    flowSentences(curves),
    el("p", { class: "flow-why" }, whyItVanishes(flows)),
    el("div", { class: "flow-matrices" }, states.map((flow) => (flow.matrix ? flowMatrix(flow) : missingMatrix(flow)))),
    el(
      "p",
      { class: "quiet" },
      "In the arrays 0 is a norm of 1: what is above has grown on its way, what is below has shrunk. A dot is exactly " +
        "0: no path leads from that input to that state.",
    ),
  );
};

export const flowView = {
  id: "flow",
  title: "Gradient flow",
  lead:
    "Follow each curve from the last step back to the first: where it falls by powers of ten, what came early has " +
    "hardly any say in what is learned.",
  applies: ({ flows }) => flows.length > 0,
  render: renderFlow,
};
