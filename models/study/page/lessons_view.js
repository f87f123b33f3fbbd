// The lessons: a list, and the chosen one with links into this trace.
import { arrayView } from "./array_view.js";
import { button, el } from "./dom.js";
import { lessonFigures } from "./lesson_figures.js";
import { lessons } from "./lessons.js";
import { formulaMath } from "./mathml.js";
import { placeText } from "./places.js";

// Every other piece between backticks is code.
const paragraphOf = (text) =>
  el("p", {}, text.split("`").map((piece, n) => (n % 2 === 1 ? el("code", {}, piece) : piece)));

const partOfLesson = (part) => {
  const formulas = [part.formula, part.beside].filter(Boolean);
  if (formulas.length > 0) return el("div", { class: "formula" }, formulas.map((formula) => formulaMath(formula)));
  return part.figure ? lessonFigures[part.figure]() : paragraphOf(part);
};

const figureView = ({ figure }, trace) => {
  const shown = figure?.(trace);
  return shown?.array ? arrayView(shown.array, { label: shown.name, maxCells: 256 }) : null;
};

const lookView = ({ look, figure, command }, trace) => {
  const found = look(trace);
  if (found.length === 0)
    return el("p", { class: "lesson-look" }, "Nothing in this trace shows it: ", el("code", {}, command), " writes a page that does.");
  return el("div", { class: "lesson-look" },
    el("h4", {}, "In this trace"),
    el("ul", {}, found.map(({ says, place }) => el("li", {}, el("a", { href: placeText(place) }, says)))),
    figureView({ figure }, trace));
};

const listOfLessons = (all, chosen, go) =>
  el("nav", { class: "exercise-list", "aria-label": "lessons" },
    el("ol", {}, all.map((lesson) =>
      el("li", {}, button(lesson.title, () => go({ lesson: lesson.id }), {
        id: `lesson-${lesson.id}`, "aria-current": lesson === chosen ? "true" : null,
      })))));

export const lessonsView = {
  id: "lessons",
  title: "Lessons",
  lead: "Read why gradients are what they are, move the figures, and follow the links to the same thing in these numbers.",
  applies: () => true,
  render: (root, { trace, place, go }) => {
    const all = lessons(), at = Math.max(0, all.findIndex(({ id }) => id === place.lesson)), next = all[at + 1];
    root.append(el("div", { class: "exercises" },
      listOfLessons(all, all[at], go),
      el("article", { class: "lesson" },
        el("h3", {}, all[at].title), all[at].parts.map(partOfLesson), lookView(all[at], trace),
        next
          ? button(`Next: ${next.title}`, () => go({ lesson: next.id }), { id: "lesson-next" })
          : button("On to the exercises", () => go({ view: "exercises" }), { id: "lesson-next" }))));
  },
};
