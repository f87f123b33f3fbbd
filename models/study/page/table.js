// A table in a region that scrolls by itself; a column without a name has no header.
import { el } from "./dom.js";

const columnHeader = (name) => (name ? el("th", { scope: "col" }, name) : el("td"));

export const rowHeader = (...parts) => el("th", { scope: "row" }, ...parts);

export const scrollingTable = (label, columns, rows, attributes = {}) =>
  el(
    "div",
    { class: "table-scroll", tabindex: "0", role: "region", "aria-label": label },
    el("table", attributes, el("thead", {}, el("tr", {}, columns.map(columnHeader))), el("tbody", {}, rows)),
  );
