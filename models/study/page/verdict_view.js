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
  const isOutput = where.what === "output gradient";
  const node = nodes[(isOutput ? record.outputs : record.inputs)[where.input]];
  const what =
    {
      contribution: "the contribution to",
      sum: "before + this of",
      before: "the gradient before this of",
      gradient: "the final gradient of",
      "output gradient": "the gradient that arrives at",
    }[where.what] ?? where.what;
  return `${what} ${node.name}, element ${where.position}`;
};

const reasons = {
  "not captured": "one of its tensors was too large to be kept, so there is nothing to recompute it from",
  "no rule": "the page has no rule of its own for this op",
  "not reached": "the backward pass did not come here",
};

// A sentence: "✓ agrees: recomputed by the page's own rule, largest difference 2e−16".
export const verdictView = ({ verdict, difference, where }, record, nodes) => {
  const largest = `largest difference ${formatNumber(difference, 2)}`;
  const words =
    verdict === "agrees"
      ? `recomputed by the page's own rule, ${largest}`
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
