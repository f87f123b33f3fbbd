// The exercises: a list, and the chosen one with a field whose text is judged as it is typed.
import { judgeAnswer, openExercise } from "./answers.js";
import { arrayView } from "./array_view.js";
import { button, el, formatNumber } from "./dom.js";
import { exercises } from "./exercises.js";
import { shapeOf } from "./expression.js";
import { formulaMath } from "./mathml.js";
import { movedPlace, placeText } from "./places.js";

// The work of the reader so far, by exercise: {opened, text, hints, shown, solved}. Texts and what is solved are kept
// where the browser stores them, and what is solved in a link as well.
const exerciseProgress = new Map();
const storedUnder = "retrace exercises";
const storedProgress = () => {
  try {
    return JSON.parse(localStorage.getItem(storedUnder)) ?? {};
  } catch {
    return {};
  }
};
const storeProgress = () => {
  const kept = storedProgress();
  for (const [id, { text, solved }] of exerciseProgress) kept[id] = { text, solved };
  try {
    localStorage.setItem(storedUnder, JSON.stringify(kept));
  } catch {
    // The link keeps what is solved.
  }
};
const progressOf = (exercise, place) => {
  const { id } = exercise;
  if (!exerciseProgress.has(id)) {
    const { text = "", solved = false } = storedProgress()[id] ?? {}, inLink = `${place.solved ?? ""}`.split(" ").includes(id);
    exerciseProgress.set(id, { opened: openExercise(exercise), text, hints: 0, shown: false, solved: solved || inLink });
  }
  return exerciseProgress.get(id);
};

const codeOf = (text) => el("code", {}, text);
const titleOf = ({ title, of }) => [`${title}: `, codeOf(`d${of}`)];

const listOf = (all, chosen, { go, place }) => {
  const solved = (exercise) => progressOf(exercise, place).solved;
  const link = el("a", { id: "exercise-link" }, "a link that keeps them");
  const count = el("p", { class: "quiet" }), items = el("ol");
  const marks = all.map((exercise) => {
    const mark = el("span", { class: "exercise-mark" }), { id } = exercise;
    const attributes = { id: `exercise-${id}`, "aria-current": exercise === chosen ? "true" : null };
    items.append(el("li", {}, button([...titleOf(exercise), mark], () => go({ exercise: id }), attributes)));
    return mark;
  });
  const refresh = () => {
    marks.forEach((mark, k) => (mark.textContent = solved(all[k]) ? " ✓ solved" : ""));
    const done = all.filter(solved).map(({ id }) => id);
    link.href = placeText(movedPlace(place, { exercise: chosen.id, solved: done.join(" ") || null }));
    count.replaceChildren(`${done.length} of ${all.length} solved`, ...(done.length ? ["; ", link] : []));
  };
  refresh();
  return { element: el("nav", { class: "exercise-list", "aria-label": "exercises" }, items, count), refresh };
};

// ---- what is given

const roleOf = ({ leaves, constants, cotangents, forward }, name) => {
  if (name in leaves || name in (constants ?? {})) return "";
  return name in cotangents || !forward.includes(`${name} = `) ? ", a gradient" : ", computed";
};
const givenView = (opened) => {
  const { values } = opened, names = Object.keys(values);
  const written = (name) => {
    const x = values[name];
    return [codeOf(name), x.rank ? ` ${shapeOf(x)}` : ` = ${formatNumber(x.item())}`, roleOf(opened, name)];
  };
  const numbers = el("details", {}, el("summary", {}, "their numbers"));
  numbers.addEventListener("toggle", () => {
    if (!numbers.open || numbers.children.length > 1) return;
    const arrays = names.filter((name) => values[name].rank > 0);
    numbers.append(el("div", { class: "arrays" }, arrays.map((name) => arrayView(values[name], { label: name }))));
  });
  return [el("p", {}, "You have ", names.map((name, k) => [k ? "; " : "", written(name)]), "."), numbers];
};

const notationView = () =>
  el("details", {}, el("summary", {}, "what can be typed"),
    el("dl", { class: "exercise-notation" }, [
      ["a + b, a - b, a * b, a / b, a^2", "element by element; lengths of 1 are repeated"],
      ["a @ b", "the matrix product"],
      ["a^T", "the transpose; a.T and transpose(a) as well"],
      ["np.sum(a, axis=1), a.sum(1), torch.exp(a)", "as in NumPy and PyTorch"],
      ["a[0], diag(a)", "a row; the matrix with this diagonal"],
      ["sum(a, 1), mean(a, 0), max(a, 1)", "along an axis, which stays with length 1; sum(a) of all elements"],
      ["exp, log, sqrt, square, abs, tanh, sigmoid, softmax", "functions, such as tanh(a)"],
      ["g = a * b; g + c", "names for intermediate results"],
    ].map(([typed, says]) => [el("dt", {}, codeOf(typed)), el("dd", {}, says)])));

// ---- the answer

const marks = { exact: "✓", error: "?" };
const verdictOf = ({ kind, says }) => [el("span", { "aria-hidden": "true" }, `${marks[kind] ?? "✗"} `), says];

// The text with a sign below the place of an error.
const placeView = (text, place) =>
  el("pre", { class: "exercise-place", "aria-hidden": "true" }, `${text}\n${" ".repeat(place)}↑`);

const detailsOf = (asks, text, { kind, place, result, difference }) => {
  if (!result) return [placeView(text, place)];
  const arrays = [arrayView(result, { label: `your ${asks}` })];
  if (difference && kind !== "exact") arrays.push(arrayView(difference, { label: `your ${asks} minus the exact one` }));
  return [el("div", { class: "arrays" }, arrays)];
};

// A field whose text is judged a moment after each change, and at once by Enter.
const answerField = (progress, solved) => {
  const { opened } = progress;
  const status = el("p", { class: "exercise-verdict", role: "status" }), details = el("div");
  let waiting = null;
  const judge = () => {
    clearTimeout(waiting);
    progress.text = input.value;
    status.className = "exercise-verdict";
    if (!input.value.trim()) return status.replaceChildren(), details.replaceChildren();
    const judged = judgeAnswer(opened, input.value);
    status.classList.add(judged.kind);
    status.replaceChildren(...verdictOf(judged));
    details.replaceChildren(...detailsOf(opened.asks, input.value, judged));
    if (judged.kind === "exact" && !progress.solved) solved();
    storeProgress();
  };
  const input = el("input", {
    type: "text", id: "exercise-answer", value: progress.text, autocomplete: "off", autocapitalize: "off",
    spellcheck: "false", placeholder: "an expression",
    oninput: () => {
      clearTimeout(waiting);
      waiting = setTimeout(judge, 250);
    },
    onkeydown: (event) => event.key === "Enter" && judge(),
  });
  judge();
  const label = el("label", { for: "exercise-answer" }, codeOf(`${opened.asks} = `));
  return [el("div", { class: "exercise-field" }, label, input), status, details];
};

// Hints one after the other, and the answer when it is asked for.
const helpView = (progress) => {
  const { hints, asks, answer } = progress.opened, said = el("div", { "aria-live": "polite" });
  const hint = button("", () => show({ hints: progress.hints + 1 }));
  const whole = button("", () => show({ shown: !progress.shown }));
  const show = (change) => {
    Object.assign(progress, change);
    const left = hints.length - progress.hints;
    hint.textContent = left ? `Hint (${left} left)` : "No more hints";
    hint.disabled = left === 0;
    whole.textContent = progress.shown ? "Hide the answer" : "Show the answer";
    whole.setAttribute("aria-expanded", progress.shown);
    said.replaceChildren(
      ...hints.slice(0, progress.hints).map((text) => el("p", {}, text)),
      ...(progress.shown ? [el("p", {}, "One answer: ", codeOf(`${asks} = ${answer}`))] : []));
  };
  show({});
  return [el("div", { class: "exercise-buttons" }, hint, whole), said];
};

const exercisePanel = (exercise, next, context, solved) => {
  const progress = progressOf(exercise, context.place), { opened } = progress;
  const arrivals = Object.entries(opened.cotangents);
  const arrays = Object.entries(opened.values).filter(([, x]) => x.rank > 0);
  const shapes = Object.fromEntries(arrays.map(([name, x]) => [name, x.shape]));
  return el("div", { class: "exercise" },
    el("h3", {}, titleOf(exercise)),
    el("div", { class: "exercise-formula" }, formulaMath(opened.formula, shapes)),
    el("p", {}, "Write ", codeOf(opened.asks), `, the gradient of ${opened.of}, ${shapeOf(opened.exact)}. `,
      arrivals.map(([name, output]) => [codeOf(name), " arrives at ", codeOf(output), ". "])),
    givenView(opened),
    answerField(progress, () => {
      progress.solved = true;
      solved();
    }),
    helpView(progress), notationView(),
    next && button(["Next: ", titleOf(next)], () => context.go({ exercise: next.id }), { id: "exercise-next" }));
};

export const exercisesView = {
  id: "exercises",
  title: "Exercises",
  lead: "Write the gradient that flows back: the page computes what you type, and says which path or factor it lacks.",
  applies: () => true,
  render: (root, context) => {
    const all = exercises(), at = Math.max(0, all.findIndex(({ id }) => id === context.place.exercise));
    const list = listOf(all, all[at], context);
    const panel = exercisePanel(all[at], all[at + 1], context, list.refresh);
    root.append(el("div", { class: "exercises" }, list.element, panel));
  },
};
