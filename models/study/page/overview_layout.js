// Where the boxes and edges of a graph without cycles stand: in columns from left to right, an edge over several columns
// with a place of its own in each. Lengths are in pixels along (from column to column) and across.

// Each item after all that lead to it.
const columnsOfItems = (items, edges) => {
  const column = new Map(items.map((item) => [item, 0]));
  for (let moved = true; moved;) {
    moved = false;
    for (const { from, to } of edges)
      if (column.get(to) <= column.get(from)) {
        column.set(to, column.get(from) + 1);
        moved = true;
      }
  }
  return column;
};

// What leads somewhere stands as near to it as it can: an input beside its first reader.
const pullForward = (column, items, edges) => {
  for (const item of items) {
    const out = edges.filter(({ from }) => from === item), into = edges.some(({ to }) => to === item);
    if (!into && out.length > 0) column.set(item, Math.min(...out.map(({ to }) => column.get(to))) - 1);
  }
};

const mean = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;

// Columns of places {item (null within an edge), before, after (places that it is joined with), size}, and for each edge
// its places.
const placesOfLayout = (items, edges, sizes) => {
  const column = columnsOfItems(items, edges);
  pullForward(column, items, edges);
  const columns = Array.from({ length: Math.max(0, ...column.values()) + 1 }, () => []), placeOfItem = new Map();
  const addPlace = (n, item) => {
    const place = { item, column: n, before: [], after: [], size: item ? sizes.item : sizes.edge };
    columns[n].push(place);
    return place;
  };
  for (const item of items) placeOfItem.set(item, addPlace(column.get(item), item));
  const ways = edges.map(({ from, to }) => {
    const way = [placeOfItem.get(from)];
    for (let n = column.get(from) + 1; n < column.get(to); ++n) way.push(addPlace(n, null));
    way.push(placeOfItem.get(to));
    for (const place of way.slice(1, -1)) place.way = way;
    for (let n = 1; n < way.length; ++n) {
      way[n].before.push(way[n - 1]);
      way[n - 1].after.push(way[n]);
    }
    return way;
  });
  return { columns: columns.filter((places) => places.length > 0), ways };
};

// Side by side in their order, as near as that allows to where they want to be.
const spreadPlaces = (places, wantedOf, gap) => {
  const wanted = places.map(wantedOf);
  places.forEach((place, n) => {
    const last = places[n - 1];
    place.at = last ? Math.max(wanted[n], last.at + (last.size + place.size) / 2 + gap) : wanted[n];
  });
  const shift = mean(places.map(({ at }, n) => wanted[n] - at));
  for (const place of places) place.at += shift;
};

const arrange = (columns, gap) => {
  const towards = (side) => (place) => (place[side].length > 0 ? mean(place[side].map(({ at }) => at)) : place.at);
  for (const places of columns) places.forEach((place, n) => (place.at = n * (place.size + gap)));
  for (let round = 0; round < 8; ++round) {
    const side = round % 2 ? "after" : "before";
    for (const places of round % 2 ? [...columns].reverse() : columns) {
      places.sort((a, b) => towards(side)(a) - towards(side)(b));
      spreadPlaces(places, towards(side), gap);
    }
  }
  // An edge over several columns becomes straight, near to its ends.
  const settled = ({ way, before, after, at }) => {
    const beside = before.length + after.length > 0 ? [...before, ...after] : [{ at }];
    if (!way) return mean(beside.map((one) => one.at));
    return mean([mean(way.map((one) => one.at)), (way[0].at + way.at(-1).at) / 2]);
  };
  for (let round = 0; round < 16; ++round) for (const places of columns) spreadPlaces(places, settled, gap);
};

/**
 * Places {column, at (its middle)} for items and edges {from, to}: {columns (how many), across (the whole size),
 * placeOf(item), ways: for each edge its places from its first to its last item}. sizes: {item, edge, gap}, across.
 */
export const layoutOf = (items, edges, sizes) => {
  const { columns, ways } = placesOfLayout(items, edges, sizes), all = columns.flat();
  arrange(columns, sizes.gap);
  columns.forEach((places, n) => places.forEach((place) => (place.column = n)));
  const low = Math.min(...all.map(({ at, size }) => at - size / 2));
  for (const place of all) place.at -= low;
  const placeOf = new Map(all.filter(({ item }) => item).map((place) => [place.item, place]));
  return {
    columns: columns.length,
    across: Math.max(...all.map(({ at, size }) => at + size / 2)),
    placeOf: (item) => placeOf.get(item),
    ways,
  };
};

// Where the ends of edges {way, width} meet a box: side by side, in the order of where they come from.
export const portsOf = (edges) => {
  const ports = new Map(edges.map((edge) => [edge, {}]));
  const share = (placeAt, nextAt, name) => {
    const groups = new Map();
    for (const edge of edges) {
      const place = placeAt(edge.way);
      groups.set(place, [...(groups.get(place) ?? []), edge]);
    }
    for (const [place, list] of groups) {
      list.sort((a, b) => nextAt(a.way).at - nextAt(b.way).at);
      const whole = list.reduce((sum, { width }) => sum + width, 0), scale = Math.min(1, (place.size - 12) / whole);
      let at = place.at - (scale * whole) / 2;
      for (const edge of list) {
        ports.get(edge)[name] = at + (scale * edge.width) / 2;
        at += scale * edge.width;
      }
    }
  };
  share((way) => way[0], (way) => way[1], "start");
  share((way) => way.at(-1), (way) => way.at(-2), "end");
  return ports;
};

const roundedPixels = (x) => Math.round(10 * x) / 10;

/**
 * The path of an edge along its way, moved by `shift` across. frame: {box, pitch} along; isDown: columns are rows.
 */
export const pathOf = (way, { start, end }, shift, { box, pitch }, isDown) => {
  const point = (along, across) => (isDown ? [across, along] : [along, across]).map(roundedPixels).join(" ");
  const ats = way.map(({ at }, n) => (n === 0 ? start : n === way.length - 1 ? end : at) + shift);
  let path = "";
  way.slice(1).forEach(({ column }, n) => {
    const from = way[n].column * pitch + box, to = column * pitch, middle = (from + to) / 2;
    path += n === 0 ? `M${point(from, ats[0])}` : `L${point(from, ats[n])}`;
    path += `C${point(middle, ats[n])} ${point(middle, ats[n + 1])} ${point(to, ats[n + 1])}`;
  });
  return path;
};
