// Where the cells of an array of any rank stand: the last two axes are a block of rows and columns, the axes before
// them place the blocks, the last of them across, the one before it down, and so on in turn.

const longestAxis = 64;
export const gapOfBlocks = 8;

const productOf = (sizes) => sizes.reduce((product, size) => product * size, 1);

// How much of each axis is shown: all of it, if the array has at most maxCells elements and no axis of a block is long.
export const shownShape = (shape, maxCells) => {
  const shown = shape.map((size, axis) => (axis >= shape.length - 2 ? Math.min(size, longestAxis) : size));
  for (let axis = 0; axis < shown.length && productOf(shown) > maxCells; ++axis)
    shown[axis] = Math.max(1, Math.floor(maxCells / productOf(shown.slice(axis + 1))));
  return shown.map((size, axis) => Math.min(size, shape[axis]));
};

export const flatIndex = (shape, index) => index.reduce((flat, i, axis) => flat * shape[axis] + i, 0);

// Rows of cells, as long as the axes that stand one beside the other: axis by axis from the outermost.
const axesInTurn = (rank) => {
  const across = [],
    down = [];
  for (let axis = rank - 1; axis >= 0; --axis) ((rank - 1 - axis) % 2 === 0 ? across : down).unshift(axis);
  return { across, down };
};

// Few cells are wide enough for their numbers.
const cellSize = (columns, rows) => {
  if (columns <= 8 && rows <= 24) return { width: 58, height: 23, numbers: true };
  const side = Math.max(8, Math.min(20, Math.floor(520 / columns)));
  return { width: side, height: side, numbers: false };
};

// {shape, shown, width, height (of all, in pixels), cell: {width, height, numbers}, columns, rows, across, down (which
// axes go there), indexAt(column, row), boxOf(column, row), cellAt(x, y)}: columns and rows count over all blocks. `cell` is their {width,
// height, perhaps numbers} where the usual one does not do.
export const arrayLayout = (shape, { maxCells = 4096, cell: given = null } = {}) => {
  const shown = shownShape(shape, maxCells);
  const { across, down } = axesInTurn(shape.length);
  const columns = productOf(across.map((axis) => shown[axis])),
    rows = productOf(down.map((axis) => shown[axis]));
  const blockColumns = shape.length > 0 ? shown[shape.length - 1] : 1;
  const blockRows = shape.length > 1 ? shown[shape.length - 2] : 1;
  const cell = given ? { numbers: given.width >= 34, ...given } : cellSize(columns, rows);
  const gap = shape.length > 2 ? gapOfBlocks : 0;

  const indexAt = (column, row) => {
    const index = new Array(shape.length);
    for (const [axes, start] of [
      [across, column],
      [down, row],
    ]) {
      let rest = start;
      for (const axis of [...axes].reverse()) {
        index[axis] = rest % shown[axis];
        rest = Math.floor(rest / shown[axis]);
      }
    }
    return index;
  };
  const startOf = (position, inBlock, size) => position * size + Math.floor(position / inBlock) * gap;
  const positionAt = (pixels, inBlock, count, size) => {
    const block = Math.floor(pixels / (inBlock * size + gap)),
      inside = pixels - block * (inBlock * size + gap);
    const position = block * inBlock + Math.floor(inside / size);
    return pixels >= 0 && inside < inBlock * size && position < count ? position : -1;
  };
  const extent = (count, inBlock, size) => (count === 0 ? 0 : startOf(count - 1, inBlock, size) + size);

  return {
    shape,
    shown,
    cell,
    columns,
    rows,
    across,
    down,
    indexAt,
    width: extent(columns, blockColumns, cell.width),
    height: extent(rows, blockRows, cell.height),
    cut: shown.some((size, axis) => size < shape[axis]),
    boxOf: (column, row) => ({
      x: startOf(column, blockColumns, cell.width),
      y: startOf(row, blockRows, cell.height),
      width: cell.width,
      height: cell.height,
    }),
    cellAt: (x, y) => {
      const column = positionAt(x, blockColumns, columns, cell.width);
      const row = positionAt(y, blockRows, rows, cell.height);
      return column < 0 || row < 0 ? null : { column, row };
    },
  };
};
