// The card of a record: what went in and came out, what arrived and what it sent, and what the page makes of it itself.
import { rangeOf } from "./array_colours.js";
import { arrayLayout } from "./array_layout.js";
import { gradientName, namesInCard } from "./card_names.js";
import { checkRecord } from "./check.js";
import { button, el, exactNumber, formatNumber } from "./dom.js";
import { jacobianInputs } from "./jacobian.js";
import { formulaMath } from "./mathml.js";
import { linearMaps } from "./outer_products.js";
import { movedPlace, placeText } from "./places.js";
import { rowHeader, scrollingTable } from "./table.js";
import { makerOf } from "./tape_graph.js";
import { tensorView } from "./tensor_view.js";
import { checkDirection, verdictOfCheck } from "./three_ways.js";
import { numberOf } from "./trace.js";
import { verdictSign, verdictView } from "./verdict_view.js";

// The names that a formula gives to what it computes, the last ones: "c' = ..., h' = o tanh c'" -> ["c'", "h'"].
export const outputNames = (formula, count) => {
  const names = [...formula.matchAll(/(?:^|, )([A-Za-z]\w*'?)(?:\[[^\]]*\])? =/g)].map(([, name]) => name);
  const last = [...new Set(names)].slice(-count);
  return Array.from({ length: count }, (_, n) => last[n] ?? `output ${n}`);
};

const linkTo = (place, record) =>
  el("a", { href: placeText(movedPlace(place, { view: "tape", record })) }, `record ${record}`);

const kindOf = (node) => (node.parameter ? "a parameter" : node.leaf ? "a leaf" : null);

// Where an input comes from.
const originOf = ({ trace, place }, node) => {
  const maker = makerOf(trace, node);
  return maker >= 0 ? ["from ", linkTo(place, maker)] : kindOf(trace.nodes[node]);
};

// Cells as high as the names beside them, where the default cells may be lower. In wide windows, where forward and
// backward stand side by side, numbers have a little less room.
const cellInCard = (shape, rows) => {
  if (rows && (shape.at(-1) > 8 || rows.length > 24)) return { width: 14, height: 14 };
  const isWide = matchMedia("(min-width: 1280px)").matches;
  return isWide && arrayLayout(shape).cell.numbers ? { width: 52, height: 23 } : undefined;
};

// How a tensor is called in the card, and with the letter of the op beside it.
const calledOf = ({ names }, symbol) => (Object.hasOwn(names, symbol) ? names[symbol] : symbol);
const gradientLabel = (symbols, symbol) => {
  const name = calledOf(symbols, symbol);
  return name === symbol ? `d${symbol}` : `${gradientName(name)} (d${symbol})`;
};

// A value of the tape.
const valueView = ({ trace }, node, symbols, symbol, origin = null) => {
  const { name, value, row_names: rows } = trace.nodes[node], called = calledOf(symbols, symbol);
  return el(
    "div",
    { class: "value" },
    tensorView(trace, value, {
      label: [called === symbol || called === name ? null : `${called} =`, name, symbol !== name && `(${symbol})`].filter(Boolean).join(" "),
      absent: "not held by the tape",
      rows,
      cell: cellInCard(trace.nodes[node].shape, rows),
    }),
    origin && el("p", { class: "array-note" }, origin),
  );
};

const attributeView = (trace, name, value) => {
  if (value !== null && typeof value === "object" && !Array.isArray(value))
    return tensorView(trace, value, { label: name });
  const text = Array.isArray(value)
    ? `[${value.join(", ")}]`
    : typeof value === "number"
      ? exactNumber(value)
      : String(value);
  return el("span", { class: "attribute" }, `${name} = ${text}`);
};

const attributesView = (trace, attributes) => {
  const entries = Object.entries(attributes ?? {});
  return (
    entries.length > 0 &&
    el(
      "div",
      { class: "attributes" },
      entries.map(([name, value]) => attributeView(trace, name, value)),
    )
  );
};

const symbolsOf = (record) => {
  const inputs = record.inputs.map((_, n) => record.input_names?.[n] ?? `input ${n}`);
  const outputs = outputNames(record.forward ?? "", record.outputs.length);
  return { inputs, outputs };
};

const shapesOf = (trace, record, symbols, prefix = "") =>
  Object.fromEntries(
    ["inputs", "outputs"].flatMap((side) =>
      record[side].map((node, n) => [prefix + symbols[side][n], trace.nodes[node].shape]),
    ),
  );

// A formula in the names of the trace, and below it in the letters of the op, where these are others.
const formulaView = (text, shapes, names = {}) => {
  if (!text) return null;
  const own = formulaMath(text), shown = formulaMath(text, shapes, names);
  const isOther = formulaMath(text, {}, names).textContent !== own.textContent;
  return el("div", { class: "formula" }, shown, isOther && el("p", { class: "formula-letters quiet" }, "in the letters of the op: ", own));
};

const forwardView = (context, record, symbols) => {
  const { trace } = context;
  return el(
    "section",
    { class: "pass half" },
    el("h4", {}, "Forward"),
    formulaView(record.forward, shapesOf(trace, record, symbols), symbols.names),
    attributesView(trace, record.attributes),
    el(
      "div",
      { class: "arrays" },
      record.inputs.map((node, n) => valueView(context, node, symbols, symbols.inputs[n], originOf(context, node))),
    ),
    el(
      "div",
      { class: "arrays made" },
      record.outputs.map((node, n) => valueView(context, node, symbols, symbols.outputs[n])),
    ),
  );
};

export const arithmeticSign = (sign) => el("span", { class: "arithmetic" }, sign);

// before + this = after, in the same colours. What comes first is the sum already.
const sumView = (trace, { before, contribution, after }, label, { name, shape }) => {
  const whole = [before, contribution, after].map((t) => trace.tensor(t));
  const range = rangeOf(...whole.filter(Boolean).map(({ data }) => data));
  const show = (t, label) => tensorView(trace, t, { label, range, cell: cellInCard(shape) });
  return el(
    "div",
    { class: "sum" },
    el("p", { class: "sum-title" }, `${label}, to the gradient of `, el("span", { class: "code" }, name),
      !before && el("span", { class: "array-note" }, ": nothing had arrived before")),
    el(
      "div",
      { class: "arrays" },
      before
        ? [
            show(before, "before"),
            arithmeticSign("+"),
            show(contribution, "this"),
            arithmeticSign("="),
            show(after, "after"),
          ]
        : [
            arithmeticSign("0 +"),
            show(contribution, "this = after"),
          ],
    ),
  );
};

const sentView = (trace, record, n, label) => {
  const node = trace.nodes[record.inputs[n]],
    sent = record.contributions[n];
  if (sent) return sumView(trace, sent, label, node);
  const why = node.wants_gradient ? "nothing was sent" : "it wants no gradient";
  return el("p", { class: "quiet" }, `${label}: ${why}`);
};

const backwardView = ({ trace }, record, symbols) => {
  const heading = el("h4", {}, "Backward");
  if (!record.reached)
    return el(
      "section",
      { class: "pass half" },
      heading,
      formulaView(record.backward, {}, symbols.names),
      el("p", { class: "quiet" }, "The backward pass did not come here: the loss does not depend on these outputs."),
    );
  return el(
    "section",
    { class: "pass half" },
    heading,
    formulaView(record.backward, shapesOf(trace, record, symbols, "d"), symbols.names),
    el(
      "div",
      { class: "arrays" },
      record.outputs.map((_, n) =>
        tensorView(trace, record.output_gradients[n], {
          label: `${gradientLabel(symbols, symbols.outputs[n])} arrives`,
          absent: "nothing arrived",
          cell: cellInCard(trace.nodes[record.outputs[n]].shape),
        }),
      ),
    ),
    record.inputs.map((_, n) => sentView(trace, record, n, gradientLabel(symbols, symbols.inputs[n]))),
  );
};

export const elementName = (node, position) => {
  const index = [];
  for (let axis = node.shape.length - 1, rest = position; axis >= 0; --axis) {
    index.unshift(rest % node.shape[axis]);
    rest = Math.floor(rest / node.shape[axis]);
  }
  return `${node.name}${index.length > 0 ? `[${index.join(", ")}]` : ""}`;
};

// Chosen elements of the gradients of inputs: by the tape, by dual numbers, by finite differences. A user's own op has
// one more number: the derivative of its forward along a direction.
const threeNumbersView = (trace, record) => {
  const checks = trace.checks.filter(({ node }) => record.inputs.includes(node)), own = record.check;
  const cell = (x) => el("td", {}, formatNumber(numberOf(x), 10));
  const row = (name, first, { dual, difference }, verdict) =>
    el("tr", {}, rowHeader(name), cell(first), cell(dual), cell(difference), el("td", {}, verdictSign(verdict)));
  return (
    (checks.length > 0 || own) &&
    el(
      "section",
      { class: "pass" },
      el("h4", {}, "Three ways to one number"),
      scrollingTable(
        "elements by three ways",
        ["d loss by", "the tape", "dual numbers", "a difference", ""],
        [
          ...checks.map((check) => {
            const name = elementName(trace.nodes[check.node], check.position);
            return row(name, check.tape, check, verdictOfCheck(trace, check));
          }),
          own && row("its inputs, along v", own.backward, own, checkDirection(trace, record)?.verdict ?? "incomplete"),
        ],
      ),
    )
  );
};

const notYet = (go) =>
  el(
    "section",
    { class: "pass half" },
    el("h4", {}, "Backward"),
    el(
      "p",
      { class: "quiet" },
      "Not yet: the backward pass begins when the last record has been computed. ",
      button("show it now", () => go({ phase: null }), { id: "show-backward" }),
    ),
  );

// Other views of the record.
const linksView = ({ trace }, record) => {
  const to = (view, words) => el("a", { href: placeText({ view, record }) }, words);
  const links = [];
  if (jacobianInputs(trace, record).length > 0) links.push(to("jacobian", "its Jacobian"));
  if (linearMaps(trace).some(({ records }) => records.includes(record)))
    links.push(to("outer-products", "its outer products"));
  return links.length > 0 && el("p", { class: "card-links" }, links);
};

// The card of a record at a moment where its backward is known, or not yet.
export const recordCard = (context, index, isBackwardKnown) => {
  const { trace, verdicts, go } = context,
    record = trace.records[index],
    letters = symbolsOf(record),
    symbols = { ...letters, names: namesInCard(trace, record, letters) };
  return el(
    "article",
    { class: "card", "aria-label": `record ${index}, ${record.op}` },
    el(
      "header",
      {},
      el("h3", {}, el("span", { class: "quiet" }, `${index} `), record.op),
      record.path && el("p", { class: "code quiet" }, record.path),
      isBackwardKnown && linksView(context, index),
    ),
    isBackwardKnown && verdictView(verdicts[index] ?? checkRecord(trace, index), record, trace.nodes),
    forwardView(context, record, symbols),
    isBackwardKnown ? [backwardView(context, record, symbols), threeNumbersView(trace, record)] : notYet(go),
  );
};
