// The first view: says what the page shows, and where to go.
import { el } from "./dom.js";
import { momentsOf } from "./moments.js";
import { placeText } from "./places.js";
import { lossView } from "./seed_card.js";

const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

const storyView = (trace) => {
  const { reached } = momentsOf(trace), { records, nodes } = trace;
  const leaves = nodes.filter((node) => node.leaf && node.wants_gradient);
  return el("p", {}, `One forward pass computed this from ${counted(leaves.length, "tensor")} that want gradients, in ` +
    `${counted(records.length, "record")}: calls of ops, in the order in which they ran. `,
    reached > 0 && ["Then the gradient of a loss went back through ", counted(reached, "record"), ". ", lossView(trace)]);
};

// The other views that the page has, with what to look for in each.
export const startView = (others) => ({
  id: "start",
  title: "Start here",
  lead:
    "All numbers of one forward pass and its backward pass: read them, step through them, and see where each gradient " +
    "comes from.",
  applies: () => true,
  render: (root, { trace }) => {
    const link = (place, words) => el("a", { href: placeText(place) }, words);
    root.append(
      storyView(trace),
      el("p", {}, "The line at the top says which of them this page has computed again, by rules of its own, and whether " +
        "they agree."),
      el("h3", {}, "Where to look"),
      el("dl", { class: "guide" },
        trace.seeds.length > 0 && [el("dt", {}, link({ view: "tape", phase: "seed" }, "The seed")),
          el("dd", {}, "The backward pass step by step, from its first gradient.")],
        others.filter((view) => view.applies(trace)).map(({ id, title, lead, fact }) =>
          [el("dt", {}, link({ view: id }, title)), el("dd", {}, lead, fact && [" ", el("strong", {}, fact(trace))])])));
  },
});
