// A verdict in a sign and words.
import { el, formatNumber } from "./dom.js";

const signOfVerdict = (verdict) => ({ agrees: "✓", differs: "✗" })[verdict] ?? "–";

export const verdictSign = (verdict) =>
  el(
    "span",
    { class: `verdict ${verdictClass(verdict)}`, title: verdict ?? "not checked yet" },
    el("span", { "aria-hidden": "true" }, verdict ? signOfVerdict(verdict) : "…"),
    el("span", { class: "unseen" }, verdict ?? "not checked yet"),
  );

const verdictClass = (verdict) => (verdict === "agrees" || verdict === "differs" ? verdict : "other");

const whereText = (where, record, nodes) => {
  if (where.what === "direction") return "its forward has another derivative than its backward";
  const isOutput = where.what === "output gradient" || where.what === "forward";
  const node = nodes[(isOutput ? record.outputs : record.inputs)[where.input]];
  const what =
    {
      forward: "the value of",
      contribution: "the contribution to",
      sum: "before + this of",
      before: "the gradient before this of",
      gradient: "the final gradient of",
      "output gradient": "the gradient that arrives at",
    }[where.what];
  return `${what} ${node.name}, element ${where.position}`;
};

const reasons = {
  "not kept": "the tape did not keep all of its values; Tape tape({.keep = true}) does",
  "too large": "of one of its tensors the trace has only a part; TraceOptions::max_elements says how much it holds",
  "no rule": "the page has no rule of its own for this op, and its forward did not run again",
  surrogate: "its backward is not meant to be the derivative of its forward",
  "not reached": "the backward pass did not come here; its values agree with the page's own rule",
};

// A sentence: "✓ agrees: recomputed by the page's own rule, largest difference 2e−16".
export const verdictView = ({ verdict, difference, where }, record, nodes) => {
  const isOwn = Boolean(record.check), largest = `largest difference ${formatNumber(difference, 2)}`;
  const words =
    verdict === "agrees"
      ? `recomputed ${isOwn ? "by its own forward, along one direction" : "by the page's own rule"}, ${largest}`
      : verdict === "differs"
        ? `${where ? `${whereText(where, record, nodes)}; ` : ""}${largest}`
        : reasons[verdict];
  return el(
    "p",
    { class: "verdict-line" },
    el("span", { class: `verdict ${verdictClass(verdict)}` }, `${signOfVerdict(verdict)} ${verdict}`),
    `: ${words}`,
  );
};
