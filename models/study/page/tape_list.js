// The list of a tape's records, folded by scope. Only the rows in sight are elements, so that a long tape costs
// nothing.
import { el, shapeText } from "./dom.js";
import { knownAt } from "./moments.js";
import { foldTape, keysAround, openAtFirst, rowOfRecord, rowsInWindow, visibleItems } from "./tape_fold.js";
import { isNamed } from "./tape_graph.js";
import { verdictSign } from "./verdict_view.js";

const rowHeight = 28;

const knownText = (known, word) =>
  el(
    "span",
    { class: known ? "known" : "unknown", title: `${word} ${known ? "known" : "not known yet"}` },
    known ? (word === "value" ? "y" : "dy") : "·",
  );

// "differs" if one does, "agrees" if all do that the backward reached.
const verdictOfScope = (verdicts, { first, last }) => {
  const inside = verdicts.slice(first, last + 1);
  if (inside.length <= last - first || inside.includes(undefined)) return null;
  const kinds = new Set(inside.map(({ verdict }) => verdict));
  return ["differs", "not kept", "too large", "no rule", "surrogate", "agrees", "not reached"].find((kind) => kinds.has(kind));
};

// The verdict of a record or of a whole scope, and whether its value and gradient are known at this moment.
const stateOfItem = ({ trace, verdicts }, item, moment) => {
  const { first, last } = item.kind === "scope" ? item : { first: item.index, last: item.index };
  return {
    known: knownAt(trace, moment, first, last),
    verdict: item.kind === "scope" ? verdictOfScope(verdicts, item) : verdicts[item.index]?.verdict,
  };
};

const recordRow = (context, item, moment) => {
  const { trace } = context,
    { index } = item,
    { op, outputs } = trace.records[index],
    made = outputs.map((node) => trace.nodes[node]).filter(isNamed).map(({ name }) => name),
    { known, verdict } = stateOfItem(context, item, moment);
  return [
    el("span", { class: "row-number" }, String(index)),
    el("span", { class: "row-name" }, op, made.length > 0 && el("span", { class: "quiet" }, ` ${made.join(", ")}`)),
    el("span", { class: "row-shape" }, outputs.length > 0 ? shapeText(trace.nodes[outputs[0]].shape) : ""),
    knownText(known.value, "value"),
    knownText(known.gradient, "gradient"),
    verdictSign(verdict),
  ];
};

const scopeRow = (context, item, moment, isOpen) => {
  const { name, type } = context.trace.scopes[item.scope],
    { known, verdict } = stateOfItem(context, item, moment);
  return [
    el("span", { class: "row-fold", "aria-hidden": "true" }, isOpen ? "▾" : "▸"),
    el(
      "span",
      { class: "row-name" },
      name || type,
      name && type && type !== name ? el("span", { class: "quiet" }, ` ${type}`) : null,
    ),
    el("span", { class: "row-shape" }, isOpen ? "" : `${item.last - item.first + 1} records`),
    knownText(known.value, "value"),
    knownText(known.gradient, "gradient"),
    verdictSign(verdict),
  ];
};

class TapeList {
  constructor(context, choose) {
    const { records, scopes } = context.trace;
    this.choose = choose;
    this.root = foldTape(records, scopes);
    this.open = openAtFirst(this.root);
    this.painted = {};
    this.rows = el("div", { class: "rows", role: "none" });
    this.element = el(
      "div",
      {
        class: "tape-list",
        role: "tree",
        tabindex: "0",
        "aria-label": "records of the tape",
        id: "tape-list",
        onscroll: () => this.followScroll(),
        onkeydown: (event) => this.onKey(event),
        onclick: (event) => this.onClick(event),
      },
      this.rows,
    );
    this.fold();
  }

  fold() {
    this.items = visibleItems(this.root, this.open);
    this.rows.style.height = `${this.items.length * rowHeight}px`;
  }

  // Shows a moment; the row of its record is the current one and comes into sight.
  show(context, moment, record) {
    Object.assign(this, { context, moment, record, current: rowOfRecord(this.items, record) });
    this.reveal();
    this.paint();
  }

  // Before the rows are painted: to read a size after that makes the browser lay out all of them at once.
  reveal() {
    const top = this.current * rowHeight,
      { scrollTop, clientHeight } = this.element;
    if (clientHeight === 0) return;
    if (top < scrollTop || top + rowHeight > scrollTop + clientHeight) this.element.scrollTop = top - clientHeight / 2;
  }

  window() {
    const { scrollTop, clientHeight } = this.element;
    return rowsInWindow(scrollTop, clientHeight || 800, rowHeight, this.items.length);
  }

  // Not again after a scroll of our own.
  followScroll() {
    const { first, end } = this.window();
    if (first !== this.painted.first || end !== this.painted.end) this.paint();
  }

  // A step changes two or three rows; the others stay as they are.
  paint() {
    const { first, end } = this.window(),
      { items } = this;
    const rows = items.slice(first, end).map((row, n) => ({ row, at: first + n, looks: this.looksOf(row, first + n) }));
    const make = ({ row, at }) => this.rowElement(row, at);
    if (this.painted.items === items && this.painted.first === first && this.painted.end === end)
      rows.forEach((one, n) => {
        if (one.looks !== this.painted.looks[n]) this.rows.children[n].replaceWith(make(one));
      });
    else this.rows.replaceChildren(...rows.map(make));
    this.painted = { items, first, end, looks: rows.map(({ looks }) => looks) };
    if (this.current >= first && this.current < end)
      this.element.setAttribute("aria-activedescendant", `row-${this.current}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  // All that can change about a row, as text.
  looksOf({ item }, at) {
    const { context, moment } = this;
    const { known, verdict } = stateOfItem(context, item, moment);
    return [known.value, known.gradient, verdict, this.open.has(item.key), at === this.current].join();
  }

  rowElement({ item, position, count }, at) {
    const isScope = item.kind === "scope",
      isOpen = isScope && this.open.has(item.key);
    return el(
      "div",
      {
        role: "treeitem",
        id: `row-${at}`,
        "data-row": at,
        class: `row ${item.kind}`,
        "aria-level": item.depth,
        "aria-posinset": position + 1,
        "aria-setsize": count,
        "aria-selected": String(at === this.current),
        "aria-expanded": isScope ? String(isOpen) : null,
        style: `top:${at * rowHeight}px;padding-left:${6 + 14 * (item.depth - 1)}px`,
      },
      isScope ? scopeRow(this.context, item, this.moment, isOpen) : recordRow(this.context, item, this.moment),
    );
  }

  toggle(at, opens = !this.open.has(this.items[at].item.key)) {
    const { key } = this.items[at].item;
    opens ? this.open.add(key) : this.open.delete(key);
    this.fold();
    this.current = at;
    this.paint();
  }

  // Opens the scopes around a record.
  openAround(record) {
    for (const key of keysAround(this.root, record)) this.open.add(key);
    this.fold();
  }

  go(at) {
    this.current = Math.max(0, Math.min(this.items.length - 1, at));
    const { item } = this.items[this.current];
    if (item.kind === "record") return this.choose(item.index);
    this.reveal();
    return this.paint();
  }

  onClick(event) {
    const at = Number(event.target.closest("[data-row]")?.dataset.row ?? -1);
    if (at >= 0) this.items[at].item.kind === "scope" ? this.toggle(at) : this.go(at);
  }

  onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.useKey(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  useKey(key) {
    const row = this.items[this.current],
      isScope = row.item.kind === "scope",
      isOpen = this.open.has(row.item.key);
    if (key === "ArrowDown") this.go(this.current + 1);
    else if (key === "ArrowUp") this.go(this.current - 1);
    else if (key === "ArrowRight" && isScope) isOpen ? this.go(this.current + 1) : this.toggle(this.current, true);
    else if (key === "ArrowLeft" && isScope && isOpen) this.toggle(this.current, false);
    else if (key === "ArrowLeft" && row.item.depth > 1) this.go(this.rowAround(this.current));
    else if ((key === "Enter" || key === " ") && isScope) this.toggle(this.current);
    else return key === "ArrowLeft" || key === "ArrowRight";
    return true;
  }

  rowAround(at) {
    let above = at;
    while (above > 0 && this.items[above].item.depth >= this.items[at].item.depth) --above;
    return above;
  }
}

// choose(record) is called for a record that the reader chooses.
export const tapeList = (context, choose) => new TapeList(context, choose);
