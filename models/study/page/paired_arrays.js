// Arrays in pairs, a value above its gradient, all on one screen: pointing at a cell marks what belongs to it in all of
// them.
import { rangeOf } from "./array_colours.js";
import { arrayLayout } from "./array_layout.js";
import { cellsOf, legendOf } from "./array_view.js";
import { withNames } from "./array_axes.js";
import { el, shapeText } from "./dom.js";

// In pixels: what an array takes at least across, the gap to the next, and what stands above its cells.
const narrowest = 78, gap = 14, captionHeight = 58;
const largestCell = { width: 58, height: 23 }, smallestWithNumbers = { width: 30, height: 14 }, wellSeen = 7;

const largestThatFits = (most, fits) => {
  let size = most;
  while (size > 2 && !fits(size)) size -= size > 6 ? 1 : 0.5;
  return size;
};

const inLines = (pairs, perLine) =>
  Array.from({ length: Math.ceil(pairs.length / perLine) }, (_, n) => pairs.slice(n * perLine, (n + 1) * perLine));

const cellIn = (lines, room, height) => {
  const widthOf = ({ columns, beside = 0, stretch = 1 }, width) => Math.max(narrowest, beside + columns * width * stretch);
  const isWide = (line, width) => line.reduce((sum, pair) => sum + widthOf(pair, width) + gap, -gap) <= room;
  const width = largestThatFits(largestCell.width, (size) => lines.every((line) => isWide(line, size)));
  const heightOf = (line, size) =>
    2 * (captionHeight + size * Math.max(...line.map(({ rows }) => rows))) + Math.max(...line.map(({ above = 0 }) => above));
  const high = largestThatFits(largestCell.height, (size) =>
    lines.reduce((sum, line) => sum + heightOf(line, size), 0) <= height);
  return { width, height: high };
};

const hasNumbers = ({ width, height }) => width >= smallestWithNumbers.width && height >= smallestWithNumbers.height;

// Without numbers cells are nearly square. All rows are equally high, so that they stand side by side.
const heightOfRows = ({ width, height }) =>
  hasNumbers({ width, height }) ? height : Math.min(height, 2 * Math.max(8, Math.min(width, height)), 20);

const cellOfPair = ({ stretch = 1 }, common) => {
  const height = heightOfRows(common), width = Math.min(largestCell.width, common.width * stretch);
  if (hasNumbers({ width, height })) return { width, height, numbers: true };
  return { width: Math.min(width, 2 * Math.max(8, height), 20), height, numbers: false };
};

// The size of a cell of pairs {columns, rows, stretch (of its cells), and the pixels of the names beside and above}, and
// how many pairs stand side by side: {perLine, cell}. All do if their numbers can be read then, or their cells well be seen.
export const fitOf = (pairs, room, height) => {
  const counts = [...new Set([1, 2, 3, pairs.length].map((lines) => Math.ceil(pairs.length / lines)))];
  const quality = (cell) => (hasNumbers(cell) ? 1000 : Math.min(cell.width, cell.height));
  const fits = counts.map((perLine) => ({ perLine, cell: cellIn(inLines(pairs, perLine), room, height) }));
  const best = Math.max(...fits.map(({ cell }) => quality(cell)));
  return fits.find(({ cell }) => quality(cell) >= (best < 1000 ? Math.min(best, wellSeen) : best));
};

const bandOf = (kind, { x, y, width, height }) =>
  el("div", { class: `band ${kind}`, style: `left:${x}px;top:${y}px;width:${width}px;height:${height}px` });

// Bands over the cells of a matrix: {element, mark({row, column}, kind)}.
const bandsOver = (layout) => {
  const element = el("div", { class: "bands", "aria-hidden": "true" });
  const boxAt = (column, row) => layout.boxOf(column ?? 0, row ?? 0);
  const isShown = (place, count) => place !== undefined && place !== null && place < count;
  const mark = (marks) =>
    element.replaceChildren(
      ...marks.flatMap(({ row, column, kind }) => {
        const hasRow = isShown(row, layout.rows), hasColumn = isShown(column, layout.columns), box = boxAt(column, row);
        return [
          hasRow && bandOf(kind, { ...box, x: 0, width: layout.width }),
          hasColumn && bandOf(kind, { ...box, y: 0, height: layout.height }),
          hasRow && hasColumn && bandOf(`${kind} cell`, box),
        ].filter(Boolean);
      }),
    );
  return { element, mark };
};

const captionInPair = (label, shape, range) =>
  el("figcaption", {}, el("span", { class: "array-name" }, label), " ",
    el("span", { class: "array-shape" }, shapeText(shape)), range && legendOf(range));

const absentArray = (label, absent) => ({
  element: el("figure", { class: "array" }, el("figcaption", {}, el("span", { class: "array-name" }, label)),
    el("p", { class: "array-note" }, absent)),
  mark: () => {},
});

// One array of a pair: {element, mark(marks)}. see({name, index, reading} or null) follows pointer and keys, pick(same)
// a click, a touch or Enter.
const arrayInPair = ({ name, label, array, mask, range, rows, columns, absent }, cell, see, pick) => {
  if (!array) return absentArray(label, absent ?? "nothing arrived");
  if (array.size === 0) return absentArray(label, "empty");
  const colours = range ?? rangeOf(array.data), layout = arrayLayout(array.shape, { cell });
  let pointed = null;
  const follow = (at) => see((pointed = at && { name, ...at }));
  const canvas = cellsOf(array, { label, layout, range: colours, mask, onCell: follow });
  canvas.addEventListener("click", () => pointed && pick(pointed));
  canvas.addEventListener("keydown", ({ key }) => key === "Enter" && pointed && pick(pointed));
  const bands = bandsOver(layout), shown = el("div", { class: "banded" }, canvas, bands.element);
  const note = layout.cut && el("p", { class: "array-note" }, `cut: the first ${shapeText(layout.shown)}`);
  return {
    element: el("figure", { class: "array" }, captionInPair(label, array.shape, colours),
      el("div", { class: "array-scroll" }, withNames(shown, layout, { rows, columns: columns?.(cell.width) })), note),
    mark: bands.mark,
  };
};

// Beside the arrays there is room for a sentence in a wide window, below them in a narrow one: {room, height} for them,
// so that they stay in sight with what is `above` them.
export const sizeOfScreen = (room, above = 330) => {
  if (room < 900) return { room, height: Infinity };
  return { room: room - 304, height: Math.max(380, window.innerHeight - above) };
};

// Pairs {axes: [what its rows are, what its columns are], top, bottom (arrays {name, label, array, mask, range, rows
// (names), columns(width of a cell) (names), absent}), and what fitOf asks for}: {element, mark(pointed, chosen)}. Both
// are {axis: place}, such as {query: 2, key: 0}, and are marked wherever these axes are.
export const pairedArrays = (pairs, { room, height, see, pick }) => {
  const sizes = pairs.map(({ top, bottom, ...pair }) => {
    const [rows, columns] = (top.array ?? bottom?.array)?.shape ?? [1, 1];
    return { ...pair, rows: Math.min(rows, 64), columns: Math.min(columns, 64) };
  });
  const { perLine, cell } = fitOf(sizes, room, height);
  const shown = pairs.flatMap((pair) => [pair.top, pair.bottom].filter(Boolean).map((one) =>
    ({ axes: pair.axes, one, ...arrayInPair(one, cellOfPair(pair, cell), see, pick) })));
  const figureOf = (one) => shown.find((other) => other.one === one).element;
  const half = (line, side) => line.map((pair) => (pair[side] ? figureOf(pair[side]) : el("div")));
  const mark = (pointed, chosen) => {
    for (const { axes: [rows, columns], mark: markBands } of shown)
      markBands([
        { row: chosen[rows], column: chosen[columns], kind: "chosen" },
        { row: pointed?.[rows], column: pointed?.[columns], kind: "pointed" },
      ]);
  };
  const lineView = (line) =>
    el("div", { class: "pair-line", style: `grid-template-columns:repeat(${line.length}, minmax(0, auto))` },
      half(line, "top"), half(line, "bottom"));
  const element = el("div", { class: "paired-arrays" }, inLines(pairs, perLine).map(lineView));
  return { element, mark };
};
