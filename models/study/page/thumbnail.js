// An array at a glance: its last axis across, all others down, without numbers.
import { cellColour, paintInScheme, palette, rangeOf } from "./array_colours.js";
import { el } from "./dom.js";

// The most different from 0 of the elements that one cell stands for.
const strongestOf = (data, columns, [top, bottom], [left, right]) => {
  let strongest = 0;
  for (let row = top; row < bottom; ++row)
    for (let column = left; column < right; ++column) {
      const x = data[row * columns + column];
      if (Number.isNaN(x) || Math.abs(x) > Math.abs(strongest)) strongest = x;
    }
  return strongest;
};

const cellsAlong = (count, length) => {
  const cells = Math.min(count, Math.floor(length / 2));
  return Array.from({ length: cells }, (_, n) => [Math.floor((n * count) / cells), Math.floor(((n + 1) * count) / cells)]);
};

/** A canvas of at most this size, whose cells are no more than twice as high as wide. */
export const thumbnail = ({ data, shape }, width, height) => {
  const count = shape.at(-1) ?? 1, columns = cellsAlong(count, width), rows = cellsAlong(data.length / count, height);
  const wide = Math.min(width / columns.length, 12), high = Math.min(height / rows.length, 2 * wide), range = rangeOf(data);
  const style = `width:${wide * columns.length}px;height:${high * rows.length}px`;
  const canvas = el("canvas", { class: "thumbnail", "aria-hidden": "true", style });
  paintInScheme(canvas, () => {
    const scale = window.devicePixelRatio || 1, colours = palette(), gap = wide > 4 && high > 4 ? 0.5 : 0;
    canvas.width = Math.ceil(wide * columns.length * scale);
    canvas.height = Math.ceil(high * rows.length * scale);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    rows.forEach((down, row) => columns.forEach((across, column) => {
      context.fillStyle = cellColour(strongestOf(data, count, down, across), range, false, colours).fill;
      context.fillRect(column * wide, row * high, wide - gap, high - gap);
    }));
  });
  return canvas;
};
