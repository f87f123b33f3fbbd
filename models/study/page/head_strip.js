// A choice among heads by small pictures of their weights.
import { rangeWithoutOutliers } from "./array_colours.js";
import { pictureOf } from "./array_view.js";
import { numbersOf } from "./attention_numbers.js";
import { button, el, formatNumber } from "./dom.js";

const side = 44;

const largestIn = (array) => array?.data.reduce((most, x) => (Math.abs(x) > most ? Math.abs(x) : most), 0) ?? 0;

const headButton = (trace, attention, sample, head, share, choose) => {
  const { weights, hidden } = numbersOf(trace, attention, { sample, head });
  const options = () => ({ range: rangeWithoutOutliers(weights.data), mask: hidden, width: side, height: side });
  const bar = el("span", { class: "head-bar", style: `width:${Math.round(100 * share)}%` });
  const contents = [weights && pictureOf(weights, options()), el("span", {}, `head ${head}`), bar];
  return button(contents, () => choose(head), { id: `head-${head}` });
};

// {element (null for one head), show(head)}. The bar below a picture says how large the gradients of its scores are.
export const headStrip = (trace, attention, sample, choose) => {
  if (attention.heads === 1) return { element: null, show: () => {} };
  const heads = [...Array(attention.heads).keys()];
  const sizes = heads.map((head) => largestIn(numbersOf(trace, attention, { sample, head }).dScores));
  const most = Math.max(...sizes);
  const buttons = heads.map((head) => headButton(trace, attention, sample, head, sizes[head] / (most || 1), choose));
  const about = `Heads by their weights; bars by their largest |dS|, ${formatNumber(most, 3)} at most.`;
  return {
    element: el("div", { class: "head-strip", role: "group", "aria-label": about, title: about }, buttons),
    show: (head) => buttons.forEach((one, n) => one.setAttribute("aria-pressed", String(n === head))),
  };
};
