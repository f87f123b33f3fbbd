// The Jacobian of a record, times what arrives: J^T dy is what the tape sent.
import { rangeOf } from "./array_colours.js";
import { arrayView } from "./array_view.js";
import { el, formatNumber } from "./dom.js";
import { factsOf, knownForm } from "./jacobian_facts.js";
import { jacobianInputs, jacobianOf, longestJacobian, partName, rowsOfInput } from "./jacobian.js";
import { formulaMath } from "./mathml.js";
import { oncePer } from "./once.js";
import { choiceOf, replaceContents, stepAfterKey, stepperOf } from "./place_controls.js";
import { movedPlace, placeText } from "./places.js";
import { arithmeticSign, elementName, outputNames } from "./record_card.js";
import { sizeOf } from "./tensor.js";

// The records with a Jacobian to show.
const jacobianRecords = oncePer((trace) =>
  trace.records.map((_, index) => index).filter((index) => jacobianInputs(trace, index).length > 0),
);

// The view opens at one of these: they mix the numbers of a row.
const instructiveOps = ["softmax", "layer_norm", "rms_norm", "tanh", "sigmoid", "matmul"];

const instructiveRecord = (trace) => {
  const all = jacobianRecords(trace), ofOp = (op) => all.find((index) => trace.records[index].op === op);
  return instructiveOps.map(ofOp).find((index) => index !== undefined) ?? all[0];
};

// {record, input, rows, row (null: all of them), canBeWhole} of a place; what it leaves open or gets wrong is chosen so
// that there is something to see.
const jacobianAt = (trace, place) => {
  const record = jacobianRecords(trace).includes(place.record) ? place.record : instructiveRecord(trace);
  const inputs = jacobianInputs(trace, record), input = inputs.includes(place.input) ? place.input : inputs[0];
  const { count: rows, most } = rowsOfInput(trace, record, input);
  const sizes = [trace.records[record].inputs[input], ...trace.records[record].outputs].map((n) => sizeOf(trace.nodes[n].shape));
  const canBeWhole = rows > 1 && sizes.every((size) => size <= longestJacobian);
  const isRow = Number.isInteger(place.row) && place.row >= 0 && place.row < rows;
  const row = canBeWhole && place.whole ? null : isRow ? place.row : most;
  return { record, inputs, input, rows, row, canBeWhole };
};

const jacobianSymbols = (trace, { record, input }) => {
  const one = trace.records[record];
  return { x: one.input_names?.[input] ?? `input ${input}`, outputs: outputNames(one.forward ?? "", one.outputs.length) };
};

// Which outputs there are, one part for each output that is reached.
const reachedName = ({ call, reached }, names) =>
  call.outputs
    .map((y, output) => [output, reached.filter((at) => at.output === output).map(({ place }) => place)])
    .filter(([, places]) => places.length > 0)
    .map(([output, places]) => partName(names[output], call.outputs[output].shape, places))
    .join(" and ");

// All arrays have rows of one height, so that those of J^T and of the products stand in line.
const cellsFor = ([inputs, outputs]) => {
  if (outputs <= 8 && inputs <= 24) return { wide: { width: 52, height: 23 }, column: { width: 60, height: 23 } };
  const side = Math.max(8, Math.min(20, Math.floor(520 / Math.max(inputs, outputs))));
  return { wide: { width: side, height: side }, column: { width: side < 15 ? 24 : 60, height: side } };
};

const countNames = (count) => (count <= 24 ? Array.from({ length: count }, (_, n) => String(n)) : null);

// One element of the product, written out.
const writtenSum = ({ transposed, dy, product }, i, name) => {
  const [, outputs] = transposed.shape, number = (x) => (x < 0 ? `(${formatNumber(x, 3)})` : formatNumber(x, 3));
  const terms = Array.from({ length: outputs }, (_, o) => [transposed.data[i * outputs + o], dy.data[o]]);
  const seen = terms.filter(([slope]) => slope !== 0);
  if (seen.length === 0) return `${name} = 0: no output depends on it here.`;
  const shown = seen.slice(0, 8).map(([slope, arriving]) => `${number(slope)} · ${number(arriving)}`);
  const rest = seen.length > 8 ? ` + … (${seen.length - 8} more)` : "";
  return `${name} = ${shown.join(" + ")}${rest} = ${formatNumber(product.data[i], 4)}`;
};

const jacobianArrays = (part, names, write) => {
  const { transposed, dy, product, given } = part, [inputs, outputs] = transposed.shape;
  const { wide, column } = cellsFor(transposed.shape), inputNames = countNames(inputs), outputNumbers = countNames(outputs);
  const gradients = rangeOf(product.data, given.data), onCell = (cell) => cell && write(cell.index[0]);
  // A name of nothing above each column, so that its rows stand in line with those of J^T.
  const vector = (array, label, options) => arrayView(array, { label, cell: column, columns: outputNumbers && ["\u00a0"], ...options });
  return el("div", { class: "arrays aligned" },
    arrayView(transposed, { label: "Jᵀ", cell: wide, rows: inputNames, columns: outputNumbers, onCell }),
    arithmeticSign("·"),
    vector(dy, `d${names.outputs.join(", d")}`, { rows: outputNumbers }),
    arithmeticSign("="),
    vector(product, `Jᵀ d${names.outputs.join(", d")}`, { rows: inputNames, range: gradients, onCell }),
    arithmeticSign("="),
    vector(given, `d${names.x} of the tape`, { rows: inputNames, range: gradients, onCell }));
};

const verdictOfProduct = ({ agrees, difference }, names) =>
  el("p", { class: "verdict-line", "aria-live": "polite" },
    agrees === null
      ? [el("span", { class: "verdict other" }, "– not compared"), ": J has entries that are not finite, and a sum with 0 · ∞ in it is NaN"]
      : [el("span", { class: `verdict ${agrees ? "agrees" : "differs"}` }, agrees ? "✓ agrees" : "✗ differs"),
        `: Jᵀ times what arrives is ${agrees ? "" : "not "}d${names.x} of the tape, largest difference ${formatNumber(difference, 2)}`]);

const formView = (part, input) => {
  const form = knownForm(part, input);
  if (!form) return null;
  return el("div", { class: "jacobian-form" },
    el("div", { class: "formula" }, formulaMath(form.formula)),
    el("p", { class: "quiet" }, form.words, form.words && " ",
      part.agrees !== null && `The largest difference between this formula and the numbers below is ${formatNumber(form.difference, 2)}.`));
};

const tooLargeView = ({ places, reached }) =>
  el("p", {}, "Too large to be shown: ",
    reached.length > 0 ? `${places.length} inputs change ${reached.length} outputs` : `this row has ${places.length} inputs`,
    `, and at most ${longestJacobian} of each can be seen at once.`);

const jacobianBody = ({ trace, place }, at) => {
  const { record, input, row } = at, part = jacobianOf(trace, record, input, row), names = jacobianSymbols(trace, at);
  const tape = placeText(movedPlace(place, { view: "tape", record, phase: null }));
  const head = el("p", {}, el("a", { href: tape }, `record ${record}, ${trace.records[record].op}`),
    ": how ", el("span", { class: "code" }, reachedName(part, names.outputs)), " changes with ",
    el("span", { class: "code" }, partName(names.x, part.call.inputs[input].shape, part.places)));
  if (!part.transposed) return [head, tooLargeView(part)];
  const written = el("p", { class: "jacobian-sum", "aria-live": "polite" });
  const nodeOf = { name: `d${names.x}`, shape: part.call.inputs[input].shape };
  const write = (i) => (written.textContent = writtenSum(part, i, elementName(nodeOf, part.places[i])));
  write(0);
  return [
    head, row !== null && formView(part, input), verdictOfProduct(part, names), jacobianArrays(part, names, write), written,
    part.places.length > 1 && el("p", { class: "quiet" }, "Point at a row, or move to it by arrow keys, for its sum."),
    el("ul", { class: "story" }, factsOf(part).map((text) => el("li", {}, text)))];
};

const goToRecord = (context, record) => context.go({ record, input: null, row: null });

const renderJacobian = (root, firstContext) => {
  let context = firstContext;
  const { trace } = context, all = jacobianRecords(trace), body = el("div");
  const records = stepperOf(all.length, "record", "jacobian-record", (n) => goToRecord(context, all[n]));
  const controls = el("div", { class: "choices" });
  const showControls = (at) => {
    const { x } = jacobianSymbols(trace, at), named = at.inputs.map((n) => jacobianSymbols(trace, { ...at, input: n }).x);
    const inputs = choiceOf("with respect to", "jacobian-input", named, (n) => context.go({ input: at.inputs[n], row: null }));
    // Offers the first 500 rows and the one that is shown.
    const rows = Array.from({ length: at.rows }, (_, n) => n).filter((n) => n < 500 || n === at.row);
    const rowNames = [...rows.map((n) => `row ${n}`), ...(at.canBeWhole ? ["all rows"] : [])];
    const parts = choiceOf(`of ${x}`, "jacobian-row", rowNames, (n) =>
      context.go(n < rows.length ? { row: rows[n], whole: null } : { row: null, whole: 1 }));
    replaceContents(controls, ...[inputs.element, parts.element].filter(Boolean));
    inputs.show(at.inputs.indexOf(at.input));
    parts.show(at.row === null ? rows.length : rows.indexOf(at.row));
  };
  const update = (next) => {
    context = next;
    const at = jacobianAt(trace, context.place);
    records.show(all.indexOf(at.record), `record ${at.record}, ${trace.records[at.record].op}`);
    showControls(at);
    replaceContents(body, ...jacobianBody(context, at).filter(Boolean));
  };
  root.append(records.element, controls, body);
  update(context);
  return update;
};

export const jacobianView = {
  id: "jacobian",
  title: "Jacobian",
  lead:
    "Compare the last two columns: how each output changes with each input, times the gradient that arrives, is what " +
    "the tape sent back, although no backward pass ever builds this matrix.",
  applies: (trace) => jacobianRecords(trace).length > 0,
  render: renderJacobian,
  onKey: (key, context) => {
    const all = jacobianRecords(context.trace), at = all.indexOf(jacobianAt(context.trace, context.place).record);
    const next = stepAfterKey(key, at, all.length);
    if (next !== null) goToRecord(context, all[next]);
    return next !== null;
  },
};
