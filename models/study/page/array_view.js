// An array as a heat map, after the conventions of Treescope: X is NaN, + and - are what is beyond the range of colours;
// dots are masked cells; numbers of one sign have one colour map, others a diverging one around 0; a cut array says so.
// The numbers are read by pointer, by arrow keys, or as a table.
import { withNames } from "./array_axes.js";
import { rangeBetween, rangeOf, cellColour, glyphOf, paintInScheme, palette } from "./array_colours.js";
import { arrayLayout, flatIndex, shownShape } from "./array_layout.js";
import { el, exactNumber, formatNumber, shapeText } from "./dom.js";
import { rowHeader, scrollingTable } from "./table.js";

const masks = (mask, flat) => (typeof mask === "function" ? mask(flat) : Boolean((mask?.data ?? mask)?.[flat]));

const eachCell = (layout, visit) => {
  for (let row = 0; row < layout.rows; ++row)
    for (let column = 0; column < layout.columns; ++column)
      visit(column, row, flatIndex(layout.shape, layout.indexAt(column, row)));
};

const paintCells = (canvas, { layout, array, range, mask, cursor }) => {
  const colours = palette(),
    scale = window.devicePixelRatio || 1;
  canvas.width = Math.ceil(layout.width * scale);
  canvas.height = Math.ceil(layout.height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.textAlign = "center";
  context.textBaseline = "middle";
  const { width, height, numbers } = layout.cell;
  const side = Math.min(width, height), margin = side > 10 ? 1 : side > 3 ? 0.5 : 0;
  const [size, digits] = width < 50 ? [11, 2] : [12, 3];
  const number = `${size}px system-ui, sans-serif`,
    sign = `bold ${Math.min(12, height - 1)}px system-ui, sans-serif`;
  eachCell(layout, (column, row, flat) => {
    const x = array.data[flat],
      masked = masks(mask, flat),
      box = layout.boxOf(column, row);
    const { fill, ink } = cellColour(x, range, masked, colours);
    context.fillStyle = fill;
    context.fillRect(box.x, box.y, width - margin, height - margin);
    const glyph = side < 5 ? "" : glyphOf(x, range, masked);
    if (!glyph && !numbers) return;
    context.fillStyle = ink;
    context.font = glyph ? sign : number;
    const shown = glyph || formatNumber(x, digits);
    context.fillText(shown, box.x + (width - margin) / 2, box.y + height / 2, width - 2);
  });
  if (!cursor) return;
  const box = layout.boxOf(cursor.column, cursor.row);
  context.lineWidth = 2;
  context.strokeStyle = colours.cursor;
  context.strokeRect(box.x + 0.5, box.y + 0.5, width - margin - 1, height - margin - 1);
};

// Where an arrow key, Home or End leads from a cell; null for any other key.
export const cellAfterKey = (key, cursor, { columns, rows }) => {
  const { column, row } = cursor;
  if (key === "ArrowRight") return { column: Math.min(columns - 1, column + 1), row };
  if (key === "ArrowLeft") return { column: Math.max(0, column - 1), row };
  if (key === "ArrowDown") return { column, row: Math.min(rows - 1, row + 1) };
  if (key === "ArrowUp") return { column, row: Math.max(0, row - 1) };
  if (key === "Home") return { column: 0, row };
  if (key === "End") return { column: columns - 1, row };
  return null;
};

// "[0, 3] = 0.25", with the word for what the glyph says.
export const readingOf = (array, index, range, masked) => {
  const x = array.data[flatIndex(array.shape, index)];
  const glyph = glyphOf(x, range, masked);
  const note = masked ? " (masked)" : glyph === "+" || glyph === "-" ? " (beyond the colours)" : "";
  return `${index.length > 0 ? `[${index.join(", ")}] ` : ""}= ${exactNumber(x, array.dtype)}${note}`;
};

export const legendOf = (range) =>
  el(
    "span",
    { class: "array-legend" },
    el("span", {}, formatNumber(range.low, 3)),
    el("span", { class: `array-ramp ${range.kind}`, "aria-hidden": "true" }),
    el("span", {}, formatNumber(range.high, 3)),
  );

const rowsOfTable = (layout, array, mask) => {
  const rank = array.shape.length,
    rows = [];
  const columns = layout.shown[rank - 1] ?? 1,
    count = layout.shown.reduce((product, size) => product * size, 1);
  for (let start = 0; start < count; start += columns) {
    const cells = [];
    let index = [];
    for (let column = 0; column < columns; ++column) {
      index = [];
      for (let axis = rank - 1, rest = start + column; axis >= 0; --axis) {
        index[axis] = rest % layout.shown[axis];
        rest = Math.floor(rest / layout.shown[axis]);
      }
      const flat = flatIndex(array.shape, index);
      cells.push(el("td", {}, masks(mask, flat) ? "masked" : exactNumber(array.data[flat], array.dtype)));
    }
    rows.push(el("tr", {}, rowHeader(`[${[...index.slice(0, -1), ":"].join(", ")}]`), cells));
  }
  return rows;
};

const tableOf = (layout, array, label, mask) => {
  const columns = Array.from({ length: layout.shown[array.shape.length - 1] ?? 1 }, (_, column) => String(column));
  return scrollingTable(`${label}, as a table`, ["", ...columns], rowsOfTable(layout, array, mask));
};

// The table is made when it is opened first.
const tableDetails = (layout, array, label, mask) => {
  const details = el("details", { class: "array-table" }, el("summary", {}, "as a table"));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(tableOf(layout, array, label, mask));
  });
  return details;
};

// Moves a cursor over the cells by pointer and keys: see(cell or null).
const followCursor = (canvas, layout, see) => {
  let cursor = null;
  const move = (cell) => see((cursor = cell));
  canvas.addEventListener("pointermove", (event) => {
    const cell = layout.cellAt(event.offsetX, event.offsetY);
    if (cell?.column !== cursor?.column || cell?.row !== cursor?.row) move(cell);
  });
  canvas.addEventListener("pointerleave", () => move(null));
  // A touch leaves before it clicks.
  canvas.addEventListener("click", (event) => event.detail > 0 && move(layout.cellAt(event.offsetX, event.offsetY)));
  canvas.addEventListener("blur", () => move(null));
  canvas.addEventListener("focus", () => {
    if (canvas.matches(":focus-visible")) move({ column: 0, row: 0 });
  });
  canvas.addEventListener("keydown", (event) => {
    const next =
      event.altKey || event.ctrlKey || event.metaKey
        ? null
        : cellAfterKey(event.key, cursor ?? { column: 0, row: 0 }, layout);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    move(next);
  });
};

// A small picture of a matrix, of this size in pixels, without numbers.
export const pictureOf = (array, { range, mask, width, height }) => {
  const [rows, columns] = shownShape(array.shape, 4096);
  const layout = arrayLayout(array.shape, { cell: { width: width / columns, height: height / rows, numbers: false } });
  const canvas = el("canvas", { "aria-hidden": "true", style: `width:${width}px;height:${height}px` });
  paintInScheme(canvas, () => paintCells(canvas, { layout, array, range, mask }));
  return canvas;
};

// A canvas with the cells, without names, legend or table. onCell({index, flat, reading} or null) follows pointer and keys.
export const cellsOf = (array, { label, layout, range, mask, onCell }) => {
  const canvas = el("canvas", {
    class: "array-cells",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "array",
    "aria-label": `${label}, ${shapeText(array.shape)}, arrow keys read its numbers`,
    style: `width:${layout.width}px;height:${layout.height}px`,
  });
  const state = { layout, array, range, mask, cursor: null };
  followCursor(canvas, layout, (cell) => {
    state.cursor = cell;
    paintCells(canvas, state);
    if (!cell) return onCell(null);
    const index = layout.indexAt(cell.column, cell.row), flat = flatIndex(array.shape, index);
    onCell({ index, flat, reading: readingOf(array, index, range, masks(mask, flat)) });
  });
  paintInScheme(canvas, () => paintCells(canvas, state));
  return canvas;
};

const captionOf = (label, array) =>
  el(
    "figcaption",
    {},
    el("span", { class: "array-name" }, label),
    " ",
    el("span", { class: "array-shape" }, [shapeText(array.shape), array.dtype].filter(Boolean).join(" ")),
  );

// A figure of {shape, data, dtype}. Options: label; mask (what is dotted: an array of the same size or a function of
// the flat index); maxCells and cell (see arrayLayout); range ([low, high] or what rangeOf gives); onCell({index, flat}
// or null); rows and columns (what stands beside the rows and above the columns, see withNames).
export const arrayView = (
  array,
  { label = "array", mask = null, maxCells, cell, range = null, onCell = null, rows = null, columns = null } = {},
) => {
  const figure = el("figure", { class: "array" }, captionOf(label, array));
  if (array.shape.includes(0)) {
    figure.append(el("p", { class: "array-note" }, "empty"));
    return figure;
  }
  const layout = arrayLayout(array.shape, { maxCells, cell });
  const colours = Array.isArray(range) ? rangeBetween(...range) : (range ?? rangeOf(array.data));
  const readout = el("div", { class: "array-readout", "aria-live": "polite" }, legendOf(colours));
  const legend = [...readout.childNodes];
  const see = (cell) => {
    if (cell) readout.textContent = cell.reading;
    else readout.replaceChildren(...legend);
    onCell?.(cell);
  };
  const cells = cellsOf(array, { label, layout, range: colours, mask, onCell: see });
  figure.append(el("div", { class: "array-scroll" }, withNames(cells, layout, { rows, columns })), readout);
  if (layout.cut) {
    const sizes = [layout.shown, array.shape].map((shape) => `[${shape.join(", ")}]`);
    figure.append(el("p", { class: "array-note" }, `cut: the first ${sizes[0]} of ${sizes[1]}`));
  }
  figure.append(tableDetails(layout, array, label, mask));
  return figure;
};
