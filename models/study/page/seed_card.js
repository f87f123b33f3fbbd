// The card of the seed: what the loss is, and the gradients with which its backward pass begins.
import { el } from "./dom.js";
import { formulaMath } from "./mathml.js";
import { placeText } from "./places.js";
import { isLossItself, makerOf } from "./tape_graph.js";
import { tensorView } from "./tensor_view.js";

// A sentence on the loss of a trace, whose seeds are at its results.
export const lossView = (trace) =>
  isLossItself(trace)
    ? ["The loss L is the result itself, one number, and its derivative by itself is 1."]
    : ["The loss is ", formulaMath("L = sum R y"), ": each element of a result y counts with its own number in R, so R " +
      "is the gradient that arrives there first."];

const seedView = (trace, { node, cotangent }) => {
  const maker = makerOf(trace, node), place = { view: "tape", record: maker };
  return el("div", { class: "value" },
    tensorView(trace, cotangent, { label: `dL / d ${trace.nodes[node].name}` }),
    el("p", { class: "array-note" }, maker < 0
      ? "left in this leaf by an earlier backward pass"
      : ["arrives at ", el("a", { href: placeText(place) }, `record ${maker}, ${trace.records[maker].op}`)]));
};

export const seedCard = ({ trace }) =>
  el("article", { class: "card", "aria-label": "the seed" },
    el("header", {}, el("h3", {}, "The seed")),
    el("p", {}, lossView(trace)),
    el("div", { class: "arrays" }, trace.seeds.map((seed) => seedView(trace, seed))));
