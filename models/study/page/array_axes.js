// Names beside the rows and above the columns of an array. Fewer names than rows name blocks of them.
import { el } from "./dom.js";

// Where each name begins and ends: at the edges {start, end} of the first and the last of its cells.
export const spansOf = (names, count, edgesOf) => {
  const each = count / names.length;
  return names.map((_, n) => ({ start: edgesOf(n * each).start, end: edgesOf((n + 1) * each - 1).end }));
};

const namesAlong = (names, className, spans, size, gap) => {
  let end = 0;
  return el(
    "div",
    { class: className, "aria-hidden": "true" },
    names.map((name, n) => {
      const style = `${size}:${spans[n].end - spans[n].start}px;${gap}:${spans[n].start - end}px`;
      end = spans[n].end;
      return el("span", { style }, name);
    }),
  );
};

// Cells with names; the readings of the cells have these in numbers, so that they are for the eye alone.
export const withNames = (cells, layout, { rows, columns }) => {
  if (!rows && !columns) return cells;
  const across = (column) => {
    const { x, width } = layout.boxOf(column, 0);
    return { start: x, end: x + width };
  };
  const down = (row) => {
    const { y, height } = layout.boxOf(0, row);
    return { start: y, end: y + height };
  };
  return el(
    "div",
    { class: "array-axes" },
    columns &&
      namesAlong(columns, "array-columns", spansOf(columns, layout.columns, across), "width", "margin-left"),
    rows && namesAlong(rows, "array-rows", spansOf(rows, layout.rows, down), "height", "margin-top"),
    cells,
  );
};
