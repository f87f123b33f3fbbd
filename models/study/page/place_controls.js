// Controls that move within a view: a choice of a few, and a slider through steps with its buttons.
import { button, el } from "./dom.js";

// "head 0", "head 1", ...
export const numbered = (name, count) => Array.from({ length: count }, (_, n) => `${name} ${n}`);

// A choice among names: {element, show(chosen)}. Nothing to choose from is not shown.
export const choiceOf = (label, id, names, choose) => {
  const select = el(
    "select",
    { id, onchange: (event) => choose(Number(event.target.value)) },
    names.map((name, n) => el("option", { value: String(n) }, name)),
  );
  return {
    element: names.length > 1 ? el("label", { class: "choice" }, el("span", {}, label), " ", select) : null,
    show: (chosen) => (select.value = String(chosen)),
  };
};

// Steps in order: {element, show(at, text)}.
export const stepperOf = (count, label, id, moveTo) => {
  let now = 0;
  const slider = el("input", {
    type: "range",
    id,
    min: "0",
    max: String(count - 1),
    "aria-label": label,
    oninput: (event) => moveTo(Number(event.target.value)),
  });
  const text = el("p", { class: "moment-text", "aria-live": "polite" });
  const back = button("◀", () => moveTo(now - 1), { "aria-label": `previous ${label}`, id: `${id}-back` }),
    forward = button("▶", () => moveTo(now + 1), { "aria-label": `next ${label}`, id: `${id}-forward` });
  return {
    element: el(
      "div",
      { class: "moment stepper" },
      count > 1 && el("div", { class: "moment-buttons" }, back, forward),
      count > 1 && el("div", { class: "moment-slider" }, slider),
      text,
    ),
    show: (at, words) => {
      now = at;
      slider.value = at;
      slider.setAttribute("aria-valuetext", words);
      back.disabled = at === 0;
      forward.disabled = at === count - 1;
      text.textContent = words;
    },
  };
};

// The number that a key leads to from one of `count`; null for another key.
export const stepAfterKey = (key, at, count) => {
  const to = { ArrowRight: at + 1, j: at + 1, ArrowLeft: at - 1, k: at - 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : Math.max(0, Math.min(count - 1, to));
};

// Names beside an array, one of which is marked: {elements, mark(which)}.
export const markedNames = (names) => {
  const elements = names.map((name) => el("span", { class: "step-name" }, name));
  const mark = (now) => elements.forEach((one, n) => (one.className = n === now ? "step-name now" : "step-name"));
  return { elements, mark };
};

// The width that a view has for its arrays.
export const roomIn = (root) => root.clientWidth || 1100;

// New contents; what had the focus has it again, if it is there under the same id.
export const replaceContents = (root, ...contents) => {
  const focused = document.activeElement?.id;
  root.replaceChildren(...contents);
  if (focused && document.activeElement.id !== focused) document.getElementById(focused)?.focus();
};
