// The tape in order, with a slider through its forward and its backward pass and the card of the record at hand.
import { button, el } from "./dom.js";
import { momentOf, momentText, momentsOf, placeOfMoment, recordAt } from "./moments.js";
import { recordCard } from "./record_card.js";
import { seedCard } from "./seed_card.js";
import { makerOf } from "./tape_graph.js";
import { tapeList } from "./tape_list.js";

const sliderOf = (count, move) =>
  el("input", {
    type: "range",
    id: "moment",
    min: "0",
    max: String(count - 1),
    "aria-label": "moment of the forward and backward pass",
    oninput: (event) => move(Number(event.target.value)),
  });

const controlsOf = (slider, text, moveBy, moveTo, count) =>
  el(
    "div",
    { class: "moment" },
    el(
      "div",
      { class: "moment-buttons" },
      button("|◀", () => moveTo(0), { "aria-label": "first step", id: "step-first" }),
      button("◀", () => moveBy(-1), { "aria-label": "step back", id: "step-back" }),
      button("▶", () => moveBy(1), { "aria-label": "step forward", id: "step-forward" }),
      button("▶|", () => moveTo(count - 1), { "aria-label": "last step", id: "step-last" }),
    ),
    el(
      "div",
      { class: "moment-slider" },
      slider,
      el(
        "div",
        { class: "moment-halves", "aria-hidden": "true" },
        el("span", {}, "forward →"),
        el("span", {}, "backward →"),
      ),
    ),
    text,
  );

const goTo = (context, moment) => context.go(placeOfMoment(context.trace, moment));

const goBy = (context, steps) => goTo(context, momentOf(context.trace, context.place) + steps);

const renderTape = (root, firstContext) => {
  let context = firstContext;
  const { trace } = context,
    count = momentsOf(trace).all.length;
  const slider = sliderOf(count, (moment) => goTo(context, moment));
  const told = el("p", { class: "moment-text", "aria-live": "polite" }),
    card = el("div", { class: "tape-card" });
  const list = tapeList(context, (record) =>
    context.go({ record, phase: context.place.phase === "forward" ? "forward" : null }),
  );
  const update = (next) => {
    context = next;
    const moment = momentOf(trace, context.place),
      record = recordAt(trace, context.place),
      isSeed = record === null,
      text = momentText(trace, context.place);
    list.show(context, moment, isSeed ? makerOf(trace, trace.seeds[0].node) : record);  // first, because it reads sizes
    slider.value = moment;
    slider.setAttribute("aria-valuetext", text);
    told.textContent = text;
    card.replaceChildren(isSeed ? seedCard(context) : recordCard(context, record, context.place.phase !== "forward"));
  };
  list.openAround(recordAt(trace, context.place) ?? trace.records.length - 1);
  root.append(
    controlsOf(
      slider,
      told,
      (steps) => goBy(context, steps),
      (moment) => goTo(context, moment),
      count,
    ),
    el("div", { class: "tape" }, list.element, card),
  );
  update(context);
  context.whenChecked.then(() => list.element.isConnected && list.paint());
  return update;
};

const stepsOfKeys = { ArrowRight: 1, j: 1, ArrowLeft: -1, k: -1 };

export const tapeView = {
  id: "tape",
  title: "Tape",
  lead:
    "Step through the forward pass and back again: a value (y) appears once it is computed, a gradient (dy) once every " +
    "record after it has sent its part.",
  applies: ({ records }) => records.length > 0,
  render: renderTape,
  opens: (place) => (place.record !== undefined || place.phase !== undefined) && place.head === undefined,
  onKey: (key, context) => {
    if (key === "Home") goTo(context, 0);
    else if (key === "End") goTo(context, Infinity);
    else if (key in stepsOfKeys) goBy(context, stepsOfKeys[key]);
    else return false;
    return true;
  },
};
