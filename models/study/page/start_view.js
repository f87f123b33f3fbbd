// The first view: the whole computation in one drawing, four questions with the answers of its numbers, and where to go.
import { attentionsOf } from "./attention_places.js";
import { el } from "./dom.js";
import { momentsOf } from "./moments.js";
import { overviewGraph } from "./overview_graph.js";
import { answersOf, wrongAnswer } from "./overview_questions.js";
import { overviewDrawing, stepOfOverview } from "./overview_view.js";
import { roomIn, stepAfterKey, stepperOf } from "./place_controls.js";
import { placeText } from "./places.js";
import { lossView } from "./seed_card.js";

const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

// "attention with 2 heads over 4 tokens", or "recall, attention, test sample 3 (2 heads, 4 tokens)"
export const titleInWords = (trace) => {
  const [attention] = attentionsOf(trace), { steps } = overviewGraph(trace), { title } = trace.document;
  const heads = attention && attention.heads > 1 ? `${attention.heads} heads` : "";
  const length = steps > 1 ? `${steps} steps` : attention ? counted(attention.keys, "token") : "";
  if (!title.includes(",")) return `${title}${heads && ` with ${heads}`}${length && ` over ${length}`}`;
  const sizes = [heads, length].filter(Boolean).join(", ");
  return sizes ? `${title} (${sizes})` : title;
};

const storyView = (trace) => {
  const { reached } = momentsOf(trace), { records } = trace;
  return el("p", { class: "overview-story" }, el("strong", {}, titleInWords(trace)), `: ${counted(records.length, "record")} forward`,
    reached > 0 && `, ${reached} of them back`, ". ", reached > 0 && lossView(trace));
};

const questionView = ({ asks, says, place }) =>
  el("div", {}, el("dt", {}, el("a", { href: placeText(place) }, asks)), el("dd", {}, says));

const questionsView = ({ trace, verdicts, whenChecked }) => {
  const last = el("div", {}, el("dt", {}, "Is anything wrong?"), el("dd", {}, "The page is still checking ..."));
  whenChecked?.then(() => last.replaceWith(questionView(wrongAnswer(trace, verdicts))));
  return el("section", {}, el("h3", {}, "Questions"), el("dl", { class: "questions" }, answersOf(trace).map(questionView), last));
};

const guideView = (trace, others) => {
  const link = (place, words) => el("a", { href: placeText(place) }, words);
  return el("section", {}, el("h3", {}, "Where to look"),
    el("dl", { class: "guide" },
      trace.seeds.length > 0 && [el("dt", {}, link({ view: "tape", phase: "seed" }, "The seed")),
        el("dd", {}, "The backward pass step by step, from its first gradient.")],
      others.filter((view) => view.applies(trace)).map(({ id, title, lead, fact }) =>
        [el("dt", {}, link({ view: id }, title)), el("dd", {}, lead, fact && [" ", el("strong", {}, fact(trace))])])));
};

const renderStart = (others) => (root, firstContext) => {
  let context = firstContext, drawing = null, width = 0;
  const { trace } = context, { steps, groups } = overviewGraph(trace), place = el("div");
  const stepper = stepperOf(steps, "step", "overview-step", (t) => context.go({ t }));
  const show = () => {
    const step = stepOfOverview(trace, context.place);
    stepper.show(step, `step ${step} of ${steps - 1}`);
    drawing?.show(step);
  };
  const draw = () => {
    if (groups.length === 0 || roomIn(root) === width) return;
    width = roomIn(root);
    drawing = overviewDrawing(trace, width);
    place.replaceChildren(drawing.element);
    show();
  };
  root.append(storyView(trace), ...(steps > 1 ? [stepper.element] : []), place, questionsView(context), guideView(trace, others));
  draw();
  if (globalThis.ResizeObserver) new ResizeObserver(() => root.isConnected && draw()).observe(root);
  return (next) => {
    context = next;
    show();
  };
};

// The other views that the page has, with what to look for in each.
export const startView = (others) => ({
  id: "start",
  title: "Overview",
  lead:
    "The whole computation in one drawing: follow a value from the left to the loss, and its gradient back. Each box opens " +
    "its numbers.",
  applies: () => true,
  render: renderStart(others),
  onKey: (key, { trace, place, go }) => {
    const { steps } = overviewGraph(trace), next = steps > 1 ? stepAfterKey(key, stepOfOverview(trace, place), steps) : null;
    if (next !== null) go({ t: next });
    return next !== null;
  },
});
