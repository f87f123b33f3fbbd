// The list of a tape's records, folded by scope. Only the rows in sight are elements, so that a long tape costs
// nothing.
import { el, shapeText } from "./dom.js";
import { knownAt } from "./moments.js";
import { foldTape, keysAround, openAtFirst, rowOfRecord, rowsInWindow, visibleItems } from "./tape_fold.js";
import { verdictSign } from "./verdict_view.js";

const rowHeight = 28;

const knownText = (known, word) =>
  el(
    "span",
    { class: known ? "known" : "unknown", title: `${word} ${known ? "known" : "not known yet"}` },
    known ? (word === "value" ? "y" : "dy") : "·",
  );

// "differs" if one does, "agrees" if all that could be checked do.
const verdictOfScope = (verdicts, { first, last }) => {
  let verdict = null;
  for (let index = first; index <= last; ++index) {
    if (!verdicts[index]) return null;
    if (verdicts[index].verdict === "differs") return "differs";
    if (verdicts[index].verdict === "agrees") verdict = "agrees";
  }
  return verdict ?? "not checked";
};

const recordRow = ({ trace, verdicts }, { index }, moment) => {
  const { op, outputs } = trace.records[index],
    known = knownAt(moment, index, trace.records.length);
  return [
    el("span", { class: "row-number" }, String(index)),
    el("span", { class: "row-name" }, op),
    el("span", { class: "row-shape" }, outputs.length > 0 ? shapeText(trace.nodes[outputs[0]].shape) : ""),
    knownText(known.value, "value"),
    knownText(known.gradient, "gradient"),
    verdictSign(verdicts[index]?.verdict),
  ];
};

const scopeRow = ({ trace, verdicts }, item, moment, isOpen) => {
  const { name, type } = trace.scopes[item.scope],
    count = trace.records.length;
  return [
    el("span", { class: "row-fold", "aria-hidden": "true" }, isOpen ? "▾" : "▸"),
    el(
      "span",
      { class: "row-name" },
      name || type,
      name && type && type !== name ? el("span", { class: "quiet" }, ` ${type}`) : null,
    ),
    el("span", { class: "row-shape" }, isOpen ? "" : `${item.last - item.first + 1} records`),
    knownText(knownAt(moment, item.last, count).value, "value"),
    knownText(knownAt(moment, item.first, count).gradient, "gradient"),
    verdictSign(verdictOfScope(verdicts, item)),
  ];
};

class TapeList {
  constructor(context, choose) {
    const { records, scopes } = context.trace;
    this.choose = choose;
    this.root = foldTape(records, scopes);
    this.open = openAtFirst(this.root);
    this.rows = el("div", { class: "rows", role: "none" });
    this.element = el(
      "div",
      {
        class: "tape-list",
        role: "tree",
        tabindex: "0",
        "aria-label": "records of the tape",
        id: "tape-list",
        onscroll: () => this.paint(),
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
    this.paint();
    this.reveal();
  }

  reveal() {
    const top = this.current * rowHeight,
      { scrollTop, clientHeight } = this.element;
    if (clientHeight === 0) return;
    if (top < scrollTop || top + rowHeight > scrollTop + clientHeight) {
      this.element.scrollTop = top - clientHeight / 2;
      this.paint();
    }
  }

  paint() {
    const { scrollTop, clientHeight } = this.element;
    const { first, end } = rowsInWindow(scrollTop, clientHeight || 800, rowHeight, this.items.length);
    this.rows.replaceChildren(...this.items.slice(first, end).map((row, n) => this.rowElement(row, first + n)));
    if (this.current >= first && this.current < end)
      this.element.setAttribute("aria-activedescendant", `row-${this.current}`);
    else this.element.removeAttribute("aria-activedescendant");
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
    this.paint();
    return this.reveal();
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
