// Names beside the rows and above the columns of an array: of the outermost axis that goes there.
import { el } from "./dom.js";

// The places of the names along an axis: the edges {start, end} of their first and last cells.
export const spansOf = (named, count, edgesOf) => {
  const each = count / named;
  return Array.from({ length: named }, (_, n) => ({
    start: edgesOf(n * each).start,
    end: edgesOf((n + 1) * each - 1).end,
  }));
};

// Shows every n-th number where neighbours would overlap.
const numberStep = (spans, room) => (spans.length > 0 ? Math.ceil(room / (spans[0].end - spans[0].start)) : 1);

const isLeftOut = (name, n, step) => n % step !== 0 && /^\d+$/.test(name);

const namesAlong = (names, className, spans, { size, gap, room }) => {
  const step = numberStep(spans, room);
  let end = 0;
  return el(
    "div",
    { class: className, "aria-hidden": "true" },
    spans.map((span, n) => {
      const style = `${size}:${span.end - span.start}px;${gap}:${span.start - end}px`;
      end = span.end;
      return el("span", { style }, isLeftOut(names[n], n, step) ? "" : names[n]);
    }),
  );
};

// Cells with names; the readings of the cells have these in numbers, so that they are for the eye alone.
export const withNames = (cells, layout, { rows, columns }) => {
  if (!rows && !columns) return cells;
  const acrossEdges = (column) => {
    const { x, width } = layout.boxOf(column, 0);
    return { start: x, end: x + width };
  };
  const downEdges = (row) => {
    const { y, height } = layout.boxOf(0, row);
    return { start: y, end: y + height };
  };
  const { shown, across, down } = layout;
  const acrossSpans = () => spansOf(shown[across[0]], layout.columns, acrossEdges),
    downSpans = () => spansOf(shown[down[0]], layout.rows, downEdges);
  return el(
    "div",
    { class: "array-axes" },
    columns && namesAlong(columns, "array-columns", acrossSpans(), { size: "width", gap: "margin-left", room: 18 }),
    rows && namesAlong(rows, "array-rows", downSpans(), { size: "height", gap: "margin-top", room: 13 }),
    cells,
  );
};
