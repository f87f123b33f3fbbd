// Opens at the first record that is not finite.
import { el, exactNumber } from "./dom.js";
import { firstNotFinite } from "./not_finite.js";
import { placeText } from "./places.js";
import { elementName, recordCard } from "./record_card.js";

const elementText = (trace, { node, position, value }) => {
  const where =
    position === null
      ? `${trace.nodes[node].name}, beyond its first elements,`
      : elementName(trace.nodes[node], position);
  return [el("span", { class: "code" }, where), " is ", el("strong", {}, exactNumber(value))];
};

const recordText = (trace, found, place) => {
  const { op, path } = trace.records[found.record];
  return [el("a", { href: placeText(place) }, `record ${found.record}, ${op}`), path && ` in ${path}`];
};

// In the order in which they happened; what happened first is marked.
const storyOf = (trace, { leaf, forward, backward }) => {
  const items = [];
  if (leaf) items.push(["Before the first record: ", elementText(trace, leaf), ", an input of the computation."]);
  if (forward)
    items.push([
      "Forward, first in ",
      recordText(trace, forward, { view: "tape", record: forward.record, phase: "forward" }),
      ": ",
      elementText(trace, forward),
      ".",
    ]);
  if (backward)
    items.push([
      "Backward, first in ",
      recordText(trace, backward, { view: "tape", record: backward.record }),
      `: the gradient that ${backward.what} ${backward.what === "arrives" ? "at" : "to"} `,
      elementText(trace, backward),
      ".",
    ]);
  return el(
    "ol",
    { class: "story" },
    items.map((parts) => el("li", {}, parts)),
  );
};

const renderNotFinite = (root, context) => {
  const found = firstNotFinite(context.trace),
    first = found.forward ?? found.backward;
  root.append(storyOf(context.trace, found));
  if (first) root.append(recordCard(context, first.record, context.trace.records[first.record].reached));
};

export const nanView = {
  id: "nan",
  title: "Not finite",
  lead:
    "Look at the inputs of this record: it is the first whose numbers are not finite (X is NaN, ∞ an infinity); " +
    "what comes after it only passes them on.",
  applies: (trace) => Object.values(firstNotFinite(trace)).some(Boolean),
  opens: (place) => place.record === undefined,
  render: renderNotFinite,
};
