// The tape in order, with a slider through its forward and its backward pass and the card of the record at hand.
import { button, el } from "./dom.js";
import { momentOf, momentText, placeOfMoment } from "./moments.js";
import { recordCard } from "./record_card.js";
import { tapeList } from "./tape_list.js";

const sliderOf = (count, move) =>
  el("input", {
    type: "range",
    id: "moment",
    min: "0",
    max: String(2 * count - 1),
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
      button("▶|", () => moveTo(2 * count - 1), { "aria-label": "last step", id: "step-last" }),
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

const recordCountOf = ({ trace }) => trace.records.length;

const goTo = (context, moment) => context.go(placeOfMoment(moment, recordCountOf(context)));

const goBy = (context, steps) => goTo(context, momentOf(context.place, recordCountOf(context)) + steps);

const renderTape = (root, firstContext) => {
  let context = firstContext;
  const count = recordCountOf(context);
  const slider = sliderOf(count, (moment) => goTo(context, moment));
  const text = el("p", { class: "moment-text", "aria-live": "polite" }),
    card = el("div", { class: "tape-card" });
  const list = tapeList(context, (record) => context.go({ record }));
  const update = (next) => {
    context = next;
    const moment = momentOf(context.place, count),
      { record, phase } = placeOfMoment(moment, count);
    list.show(context, moment, record);  // first, because it reads sizes
    slider.value = moment;
    slider.setAttribute("aria-valuetext", momentText(moment, count));
    text.textContent = momentText(moment, count);
    card.replaceChildren(recordCard(context, record, phase !== "forward"));
  };
  list.openAround(placeOfMoment(momentOf(context.place, count), count).record);
  root.append(
    controlsOf(
      slider,
      text,
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
    "Step through the forward pass and back again: a value appears once it is computed, a gradient once every record " +
    "behind it has sent its part.",
  applies: ({ records }) => records.length > 0,
  render: renderTape,
  opens: (place) => place.record !== undefined && place.head === undefined,
  onKey: (key, context) => {
    if (key === "Home") goTo(context, 0);
    else if (key === "End") goTo(context, 2 * recordCountOf(context) - 1);
    else if (key in stepsOfKeys) goBy(context, stepsOfKeys[key]);
    else return false;
    return true;
  },
};
