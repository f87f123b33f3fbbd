// The drawing of a whole computation: boxes of named tensors, joined by what flows between them, values forward and
// gradients back.
import { el, formatNumber, shapeText, svg } from "./dom.js";
import { linksAt, nodeAt, overviewGraph } from "./overview_graph.js";
import { layoutOf, pathOf, portsOf } from "./overview_layout.js";
import { flowOfLinks, normOfHeld } from "./overview_numbers.js";
import { replaceContents } from "./place_controls.js";
import { placeText } from "./places.js";
import { rowHeader, scrollingTable } from "./table.js";
import { isLossItself, makerOf, readersOf, seedsOfLoss } from "./tape_graph.js";
import { multiply } from "./tensor.js";
import { thumbnail } from "./thumbnail.js";

// The boxes and what joins them: items {id, group, edges, isBefore} (of the step before, where a loop leads back) and
// the loss, joins {from, to (items), edge (null: to the loss)}.
const partsOfDrawing = (trace) => {
  const { groups, edges, ends } = overviewGraph(trace), joins = [];
  const items = groups.map((group) => ({ id: `overview-${group.index}`, group, edges: edges.filter(({ to }) => to === group) }));
  const before = new Map();
  for (const edge of edges) {
    const { from, to, isFromBefore } = edge;
    if (isFromBefore && !before.has(from)) {
      const out = edges.filter((one) => one.isFromBefore && one.from === from);
      before.set(from, { id: `overview-before-${from.index}`, group: from, edges: out, isBefore: true });
    }
    joins.push({ from: isFromBefore ? before.get(from) : items[from.index], to: items[to.index], edge });
  }
  const loss = seedsOfLoss(trace).length > 0 && !isLossItself(trace) ? [{ id: "overview-loss", isLoss: true }] : [];
  for (const item of loss) for (const end of new Set(ends)) joins.push({ from: items[end.index], to: item, edge: null, end });
  return { items: [...before.values(), ...items, ...loss], joins };
};

const flowOfSeeds = (trace, group) => {
  const own = seedsOfLoss(trace).filter(({ node }) => group.nodes.includes(node));
  const norms = (list) => Math.hypot(...list.map((held) => normOfHeld(trace, held)));
  return { value: norms(own.map(({ node }) => trace.nodes[node].value)), gradient: norms(own.map(({ cotangent }) => cotangent)) };
};

/** What flows through each join at a step. */
export const flowsAt = (trace, joins, step) =>
  joins.map(({ edge, end }) => (edge ? flowOfLinks(trace, linksAt(edge, step)) : flowOfSeeds(trace, end)));

const sampledSteps = 64;

// The largest flow of all steps, so that widths can be compared between them.
const largestFlow = (trace, joins, steps) => {
  const most = { value: 0, gradient: 0 }, stride = Math.ceil(steps / sampledSteps);
  for (let step = (steps - 1) % stride; step < steps; step += stride)
    for (const flow of flowsAt(trace, joins, step))
      for (const what of ["value", "gradient"])
        if (flow[what] > most[what] && flow[what] < Infinity) most[what] = flow[what];
  return most;
};

const widestBand = 13, thinnestBand = 1;
const widthOf = (size, most) => (size > 0 ? Math.max(thinnestBand, (widestBand * Math.min(size, most)) / (most || 1)) : thinnestBand);

const lossOf = (trace) =>
  seedsOfLoss(trace).reduce((sum, { node, cotangent }) => {
    const [y, r] = [trace.nodes[node].value, cotangent].map((held) => trace.tensor(held));
    return y && r ? sum + multiply(y, r).data.reduce((a, b) => a + b, 0) : NaN;
  }, 0);

const sizeOfBox = { width: 104, height: 98, least: 74 };

// Columns from left to right where they fit, else from top to bottom.
const frameOf = ({ items, joins }, room) => {
  const { height, width, least } = sizeOfBox, layout = layoutOf(items, joins, { item: height, edge: 20, gap: 14 });
  const { columns } = layout, box = Math.min(width, Math.floor((room - 30 * (columns - 1)) / columns));
  if (box >= least || room > 1000) {
    const used = Math.max(least, box), between = Math.max(30, Math.min(72, (room - used * columns) / (columns - 1 || 1)));
    const pitch = used + between;
    return { layout, isDown: false, box: { width: used, height }, pitch, along: (columns - 1) * pitch + used };
  }
  const across = (item) => layoutOf(items, joins, { item, edge: 10, gap: 4 });
  let item = 92, down = across(item);
  while (item > 52 && down.across > room) down = across((item -= 4));
  const pitch = height + 46;
  return { layout: down, isDown: true, box: { width: item, height }, pitch, along: (columns - 1) * pitch + height };
};

const cardPlace = (trace, node) => {
  const maker = makerOf(trace, node);
  return { view: "tape", record: maker >= 0 ? maker : readersOf(trace, node).find((n) => trace.records[n].reached) };
};

// Beside each other, in narrow boxes one above the other.
const isNarrow = (width) => width < 84;
const roomOfArray = (width) => (isNarrow(width) ? { width: Math.max(10, width - 36), height: 20 } : { width: (width - 20) / 2, height: 34 });

const arrayInBox = (trace, held, what, { width, height }) => {
  const whole = trace.tensor(held), norm = held ? normOfHeld(trace, held) : 0;
  return el("span", { class: `overview-${what}` },
    el("span", { class: "overview-array" }, whole && whole.size > 0 ? thumbnail(whole, width, height) : "–"),
    el("span", { class: "unseen" }, ` |${what}| `), formatNumber(norm, 2));
};

// "core.blocks.0.qkv.weight" -> "qkv", "core.mlp.0.weight" -> "mlp.0"
const shortName = (name) => /[^.]*(\.\d+)?$/.exec(name.replace(/\.weight$/, ""))[0];

const weightsInBox = (trace, parameters) =>
  parameters.length > 0 && el("span", { class: "overview-weights" }, "by ",
    [...parameters].reverse().slice(0, 2).map((node, n) => [
      n > 0 && ", ",
      el("a", { href: placeText({ view: "outer-products", node }) }, shortName(trace.nodes[node].name)),
    ]));

const contentsOfBox = (trace, { group, edges, isBefore, isLoss, id }, step, { width }) => {
  if (isLoss) {
    const loss = lossOf(trace);
    return [el("a", { href: placeText({ view: "tape", phase: "seed" }), id }, el("span", { class: "overview-name" }, "L"),
      Number.isFinite(loss) && el("span", {}, `= ${formatNumber(loss)}`))];
  }
  const node = nodeAt({ group, edges, isBefore }, step), times = group.nodes.length, { label } = group;
  const name = el("span", { class: "overview-name" }, label,
    times > 1 && el("span", { class: "quiet" }, isBefore ? " before" : ` ×${times}`));
  if (node === null) return [el("span", { class: "overview-none" }, name, el("span", { class: "quiet" }, "no step before"))];
  const { value, gradient, shape } = trace.nodes[node], maker = makerOf(trace, node), record = trace.records[maker];
  const title = [trace.nodes[node].name, shapeText(shape), record && `record ${maker}, ${record.op}`, record?.path];
  return [
    el("a", { href: placeText(cardPlace(trace, node)), id, title: title.filter(Boolean).join(", ") }, name,
      el("span", { class: "overview-pair" }, arrayInBox(trace, value, "value", roomOfArray(width)),
        arrayInBox(trace, gradient, "gradient", roomOfArray(width)))),
    !isBefore && weightsInBox(trace, group.parameters),
  ];
};

const labelOfItem = ({ group, isBefore, isLoss }) => (isLoss ? "L" : group.label + (isBefore ? " before" : ""));

const tableOfFlows = (joins, flows) =>
  scrollingTable("the edges of the drawing", ["from", "to", "|value| →", "← |gradient|"],
    joins.map(({ from, to }, n) => el("tr", {}, rowHeader(labelOfItem(from)), el("td", {}, labelOfItem(to)),
      ["value", "gradient"].map((what) => el("td", {}, formatNumber(flows[n][what]))))));

// An arrow head at an end of a band: it points forward for values, back for gradients.
const arrowHead = (what, along, across, isDown) => {
  const forward = what === "value" ? 1 : -1;
  const corners = [[3.4, 0], [-5.6, 4.5], [-5.6, -4.5]].map(([ahead, aside]) => {
    const corner = [along + forward * ahead, across + aside].map((x) => Math.round(10 * x) / 10);
    return (isDown ? corner.reverse() : corner).join(" ");
  });
  return svg("path", { d: `M${corners.join("L")}z`, class: `overview-arrow ${what}` });
};

// Two bands for each join, those of the values above those of the gradients.
const bandsOf = (joins, flows, most, { layout, isDown, box, pitch }) => {
  const widths = flows.map((flow) => ({ value: widthOf(flow.value, most.value), gradient: widthOf(flow.gradient, most.gradient) }));
  const ends = layout.ways.map((way, n) => ({ way, width: widths[n].value + widths[n].gradient + 5 })), ports = portsOf(ends);
  const along = { box: isDown ? box.height : box.width, pitch };
  return joins.flatMap((join, n) => ["value", "gradient"].map((what) => {
    const { value, gradient } = widths[n], shift = what === "value" ? -gradient / 2 - 1 : value / 2 + 1;
    const { way } = ends[n], port = ports.get(ends[n]);
    const [end, across] = what === "value" ? [way.at(-1).column * pitch, port.end] : [way[0].column * pitch + along.box, port.start];
    const band = svg("g", {},
      svg("title", {}, `${labelOfItem(join.from)} → ${labelOfItem(join.to)}: |${what}| ${formatNumber(flows[n][what])}`),
      svg("path", { d: pathOf(way, port, shift, along, isDown), "stroke-width": widths[n][what] }),
      arrowHead(what, end, across + shift, isDown));
    const mark = (item) => band.setAttribute("class", `overview-band ${what}${flows[n][what] > 0 ? "" : " none"}` +
      (item && item !== join.from && item !== join.to ? " faint" : ""));
    mark(null);
    return { band, mark };
  }));
};

/** The drawing of a trace in this room: {element, show(step)}. */
export const overviewDrawing = (trace, room) => {
  const parts = partsOfDrawing(trace), { items, joins } = parts, { steps } = overviewGraph(trace);
  const frame = frameOf(parts, room), { layout, isDown, box, pitch, along } = frame, most = largestFlow(trace, joins, steps);
  const [width, height] = isDown ? [layout.across, along] : [along, layout.across];
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const table = el("details", { class: "array-table" }), boxes = el("div"), sizes = `width:${width}px;height:${height}px`;
  const element = el("figure", { class: `overview${isNarrow(box.width) ? " narrow" : ""}` },
    el("div", { class: "overview-scroll" }, el("div", { class: "overview-drawing", style: sizes }, picture, boxes)),
    el("figcaption", { class: "quiet" }, el("span", { class: "overview-key value" }), ` width: |value|, going ${isDown ? "down" : "right"} `,
      el("span", { class: "overview-key gradient" }), ` width: |gradient|, going ${isDown ? "up" : "left"}. In each box the ` +
        "value, then its gradient, with their norms.",
      items.some(({ isBefore }) => isBefore) && " A dashed box is of the step before."),
    table);
  const show = (step) => {
    const flows = flowsAt(trace, joins, step), bands = bandsOf(joins, flows, most, frame);
    picture.replaceChildren(...bands.map(({ band }) => band));
    replaceContents(boxes, ...items.map((item) => {
      const { at, column } = layout.placeOf(item);
      const [left, top] = isDown ? [at - box.width / 2, column * pitch] : [column * pitch, at - box.height / 2];
      const mark = (one) => () => bands.forEach((band) => band.mark(one));
      return el("div", {
        class: `overview-box${item.isBefore ? " before" : ""}${item.isLoss ? " loss" : ""}`,
        style: `left:${left}px;top:${top}px;width:${box.width}px;height:${box.height}px`,
        onpointerenter: mark(item), onpointerleave: mark(null), onfocusin: mark(item), onfocusout: mark(null),
      }, contentsOfBox(trace, item, step, box));
    }));
    table.replaceChildren(el("summary", {}, "the edges as a table"), tableOfFlows(joins, flows));
  };
  return { element, show };
};

/** The step that a place names, else the last. */
export const stepOfOverview = (trace, { t }) => {
  const { steps } = overviewGraph(trace);
  return Number.isInteger(t) ? Math.max(0, Math.min(steps - 1, t)) : steps - 1;
};
