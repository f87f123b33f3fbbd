// The page: opens the trace, shows the view of a place, and checks every record between two paints.
import { followColourScheme } from "./array_colours.js";
import { checkRecord } from "./check.js";
import { button, el } from "./dom.js";
import { readData } from "./page_data.js";
import { movedPlace, parsePlace, placeText } from "./places.js";
import { inSlices, summaryOf, summaryText } from "./summary.js";
import { openTrace } from "./trace.js";
import { openingView, views } from "./views.js";

const byId = (id) => document.getElementById(id);

// Browsers allow few changes of the address per second, so that quick steps within a view are written as one,
// unless a link has led elsewhere meanwhile.
const addressWriter = () => {
  let waiting = null;
  return (place, isNewView) => {
    clearTimeout(waiting);
    if (isNewView) history.pushState(null, "", placeText(place));
    else {
      const { hash } = location;
      waiting = setTimeout(() => location.hash === hash && history.replaceState(null, "", placeText(place)), 150);
    }
  };
};

const selectTab = (id) => {
  for (const tab of byId("tabs").children) {
    const selected = tab.id === `tab-${id}`;
    tab.setAttribute("aria-selected", selected);
    tab.tabIndex = selected ? 0 : -1;
  }
};

const contextOf = (page) => ({
  trace: page.trace,
  verdicts: page.verdicts,
  whenChecked: page.whenChecked,
  place: page.place,
  go: (change) => {
    const before = page.place.view;
    show(page, movedPlace(page.place, change));
    page.writeAddress(page.place, page.place.view !== before);
  },
});

const sectionOf = (view, root, attributes) =>
  el("section", attributes, el("h2", { class: "unseen" }, view.title), el("p", { class: "lead" }, view.lead), root);

const emptyRootOf = (view) => el("div", { class: `view view-${view.id}` });

const showAnew = (page, view) => {
  const root = emptyRootOf(view),
    focused = document.activeElement?.id;
  page.view = view;
  selectTab(view.id);
  byId("content").replaceChildren(
    sectionOf(view, root, { role: "tabpanel", id: "panel", "aria-labelledby": `tab-${view.id}` }),
  );
  page.update = view.render(root, contextOf(page)) ?? null;
  if (focused && document.activeElement?.id !== focused) byId(focused)?.focus();
};

// On paper the other views follow the one that is shown.
const showForPrint = (page) => {
  for (const view of page.views.filter((one) => one !== page.view)) {
    const root = emptyRootOf(view);
    byId("content").append(sectionOf(view, root, { class: "printed" }));
    view.render(root, contextOf(page));
  }
};

const endPrint = () => {
  for (const section of [...byId("content").children].slice(1)) section.remove();
};

const show = (page, place) => {
  const view = page.views.find(({ id }) => id === place.view) ?? openingView(page.views, place);
  page.place = { ...place, view: view.id };
  if (page.view === view && page.update) page.update(contextOf(page));
  else showAnew(page, view);
};

const keys = [
  ["→ or j", "one step forward"],
  ["← or k", "one step back"],
  ["Home, End", "to the first and to the last step"],
  ["Tab", "to the next control; arrow keys read an array's numbers or choose a view"],
  ["n", "to the next problem that the check found"],
  ["?", "this help"],
];

const makeHelp = () =>
  byId("help").append(
    el("h2", { id: "help-title" }, "Keys"),
    el(
      "dl",
      { class: "keys" },
      keys.map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]),
    ),
    el("form", { method: "dialog" }, el("button", {}, "close")),
  );

// Keys of the page; a control that has used a key for itself has prevented its default.
const onKey = (page, event) => {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest("input:not([type=range]), textarea, select, dialog")) return;
  if (event.key === "?") return byId("help").showModal();
  if (event.target.closest("input, [role=tablist], [role=application]")) return;
  if (event.key === "n" && page.problems.length > 0) goToProblem(page, page.problem + 1);
  else if (page.view.onKey?.(event.key, contextOf(page))) event.preventDefault();
};

const onTabKey = (event) => {
  const tabs = [...byId("tabs").children],
    at = tabs.indexOf(event.target);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
  if (next === undefined || at < 0) return;
  event.preventDefault();
  const tab = tabs.at(next % tabs.length);
  tab.click();
  tab.focus();
};

const makeTabs = (page) => {
  byId("tabs").append(
    ...page.views.map((view) =>
      el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${view.id}`,
          "aria-controls": "panel",
          onclick: () => page.view !== view && contextOf(page).go({ view: view.id }),
        },
        view.title,
      ),
    ),
  );
  byId("tabs").addEventListener("keydown", onTabKey);
};

const signsOfVerdict = { green: "✓ ", amber: "! ", red: "✗ " };

const goToProblem = (page, number) => {
  page.problem = number % page.problems.length;
  contextOf(page).go({ phase: null, ...page.problems[page.problem].place });
};

const problemsView = (page) => [
  `✗ ${page.problems.length === 1 ? "a problem" : `${page.problems.length} problems`}: `,
  el("a", { href: placeText(page.problems[0].place), id: "first-problem" }, page.problems[0].says),
  " ",
  button("next problem (n)", () => goToProblem(page, page.problem + 1), { id: "next-problem" }),
];

// For programs that look at the page: a record that the backward did not reach is checked, too.
const tell = (page) => {
  const summary = summaryOf(page.trace, page.verdicts),
    { verdict, records, checked, unchecked, differing, problems } = summary;
  Object.assign(page, { problems, problem: -1 });
  byId("summary").replaceChildren(
    el("span", { class: `verdict ${verdict}`, "aria-hidden": "true" }, signsOfVerdict[verdict]),
    summaryText(summary),
  );
  if (problems.length > 0) byId("problems").append(...problemsView(page));
  Object.assign(document.documentElement.dataset, {
    records,
    checked: checked + (unchecked["not reached"] ?? 0),
    mismatches: differing,
    verdict,
    ready: "true",
  });
};

// Puts notes of several lines, such as a question, first, and the others in a column next to them.
const notesView = (notes) => {
  const paragraphs = (some) => some.map((note) => el("p", { class: "note" }, note));
  const isLong = (note) => note.includes("\n"), long = notes.filter(isLong), short = notes.filter((note) => !isLong(note));
  return long.length === 0 ? paragraphs(short) : [...paragraphs(long), el("div", {}, paragraphs(short))];
};

const openPage = async () => {
  const trace = openTrace(await readData(byId("trace-data")));
  const page = {
    trace,
    verdicts: [],
    views: views().filter((view) => view.applies(trace)),
    writeAddress: addressWriter(),
    problems: [],
  };
  document.title = `${trace.document.title} · Retrace`;
  byId("title").textContent = trace.document.title;
  byId("notes").append(...notesView(trace.document.notes ?? []));
  page.whenChecked = inSlices(trace.records.length, (index) => (page.verdicts[index] = checkRecord(trace, index))).then(
    () => page.verdicts,
  );
  makeTabs(page);
  makeHelp();
  byId("show-help").addEventListener("click", () => byId("help").showModal());
  followColourScheme();
  const showAddress = () => show(page, parsePlace(location.hash));
  addEventListener("hashchange", showAddress);
  addEventListener("popstate", showAddress);
  addEventListener("keydown", (event) => onKey(page, event));
  addEventListener("beforeprint", () => showForPrint(page));
  addEventListener("afterprint", endPrint);
  showAddress();
  return page.whenChecked.then(() => tell(page));
};

if (typeof document !== "undefined") openPage();
