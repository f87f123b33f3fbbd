// The gradient of a linear map, built up from its outer products.
import { rangeOf } from "./array_colours.js";
import { arrayView } from "./array_view.js";
import { button, el, formatNumber } from "./dom.js";
import { formulaMath } from "./mathml.js";
import { oncePer } from "./once.js";
import { linearMaps, outerProductOf, outerProducts, partsOf } from "./outer_products.js";
import { choiceOf, replaceContents, stepAfterKey, stepperOf } from "./place_controls.js";
import { movedPlace, placeText } from "./places.js";
import { arithmeticSign } from "./record_card.js";
import { rowHeader, scrollingTable } from "./table.js";
import { ndArray } from "./tensor.js";

const firstOnes = (count) => (count === 1 ? "the first" : `the first ${count}`);

// More terms are added by the slider, but not listed.
const listedTerms = 64;

const sumOfMap = oncePer((map, trace) => outerProducts(trace, map));

// The map of a place, by its node or a record, and how many terms are added.
const outerProductsAt = (trace, place) => {
  const maps = linearMaps(trace);
  const map = maps.find(({ node }) => node === place.node) ?? maps.find(({ records }) => records.includes(place.record)) ?? maps[0];
  const sum = sumOfMap(map, trace), { length } = sum.terms;
  const first = Number.isInteger(place.first) ? place.first : 1;
  return { map, sum, first: Math.min(Math.max(1, first), length) };
};

const percent = (share) => `${formatNumber(100 * share, 3)} %`;

const termsTable = ({ terms, rests }, first, choose) =>
  scrollingTable("outer products by size", ["", "row xᵢ", "|xᵢ|", "|dyᵢ|", "|xᵢ| |dyᵢ|", "", "left of |dW|"],
    terms.slice(0, listedTerms).map(({ record, name, sizes, size }, n) =>
      el("tr", { class: n < first ? "added" : null },
        rowHeader(button(`${n < first ? "✓" : "+"} ${n + 1}`, () => choose(n + 1), {
          id: `term-${n}`, "aria-label": `${n + 1}: the sum up to ${name}`, "aria-pressed": String(n < first),
        })),
        el("td", { class: "code" }, name, el("span", { class: "quiet" }, ` record ${record}`)),
        sizes.map((one) => el("td", {}, formatNumber(one, 3))),
        el("td", {}, formatNumber(size, 3)),
        el("td", { class: "outer-bar", "aria-hidden": "true" },
          el("span", { style: `width:${(100 * size) / (terms[0].size || 1)}%` })),
        el("td", {}, percent(rests[n + 1])))),
    { class: "outer-terms" });

// Three arrays of this shape stand side by side; many rows are too low for numbers.
const cellOfSum = ([rows, columns], room) => {
  const widest = Math.floor((room - 150) / 3 / columns), hasNumbers = rows <= 16 && widest >= 44;
  if (hasNumbers) return { width: Math.min(52, widest), height: 23 };
  const width = Math.max(6, Math.min(26, widest));
  return { width, height: Math.max(6, Math.min(width, 20, Math.floor(400 / rows))) };
};

// The column, the row and their product, in cells of one size.
const termArrays = ({ terms }, first, cell) => {
  const term = terms[first - 1], { x, dy, name, record, transposed } = term;
  const [upright, lying] = transposed ? [dy, x] : [x, dy], [left, right] = transposed ? ["dyᵀ", "x"] : ["xᵀ", "dy"];
  return el("section", {},
    el("h3", {}, `Term ${first}: `, el("span", { class: "code" }, name), ` of record ${record}, and what came back to it`),
    el("div", { class: "arrays aligned" },
      arrayView(ndArray([upright.length, 1], upright), { label: left, cell: { ...cell, width: cell.height < 15 ? 24 : 52 } }),
      arithmeticSign("·"),
      arrayView(ndArray([1, lying.length], lying), { label: right, cell: { ...cell, height: 23 } }), arithmeticSign("="),
      arrayView(outerProductOf(term), { label: `${left} ${right}`, cell })));
};

const sumArrays = (sum, first, cell) => {
  const { partial, rest } = partsOf(sum, first), { given, terms } = sum, others = terms.length - first;
  const range = rangeOf(partial.data, rest.data, given.data), show = (array, label) => arrayView(array, { label, range, cell });
  return el("section", {},
    el("h3", {}, "The sum"),
    el("div", { class: "arrays aligned" },
      show(partial, first === 1 ? "the first term" : `the first ${first} terms`), arithmeticSign("+"),
      show(rest, others === 0 ? "no others" : others === 1 ? "the other one" : `the other ${others}`), arithmeticSign("="), show(given, "dW of the tape")));
};

const exactText = ({ map, sum }, context) => {
  const { agrees, difference, isAll, terms } = sum, links = map.records.slice(0, 8).map((record, n) => [
    n ? ", " : "", el("a", { href: placeText(movedPlace(context.place, { view: "tape", record, phase: null })) }, `${record}`)]);
  return el("p", { class: "verdict-line" },
    el("span", { class: `verdict ${agrees ? "agrees" : "differs"}` }, agrees ? "✓ The sum is dW, exactly" : "✗ The sum is not dW"),
    `: ${terms.length === 1 ? "its one term differs" : `the sum of all ${terms.length} terms differs`} from what the tape sent by at most ` +
      `${formatNumber(difference, 2)} of the largest number. `,
    terms.length === 1 ? "It comes from record " : map.records.length > 1 ? "They come from the records " : "They come from record ", links,
    map.records.length > 8 && ` and ${map.records.length - 8} more`,
    isAll ? "." : "; other records send to this matrix as well.");
};

const outerProductsBody = (context, at, room) => {
  const { sum, first } = at, transposed = sum.terms[0].transposed, cell = cellOfSum(sum.shape, room);
  return [
    el("div", { class: "formula" }, formulaMath(transposed ? "dW = sum_i dy[i]^T x[i]" : "dW = sum_i x[i]^T dy[i]")),
    exactText(at, context), termsTable(sum, first, (n) => context.go({ first: n })),
    sum.terms.length > listedTerms && el("p", { class: "quiet" }, `cut: the first ${listedTerms} of ${sum.terms.length}`),
    sumArrays(sum, first, cell), termArrays(sum, first, cell),
  ].filter(Boolean);
};

const addedText = ({ terms, rests }, first) =>
  (terms.length === 1 ? "the only outer product: " : `${firstOnes(first)} of ${terms.length} outer products: `) +
  `${percent(rests[first])} of |dW| is left`;

const renderOuterProducts = (root, firstContext) => {
  let context = firstContext, shown = null;
  const { trace } = context, maps = linearMaps(trace), body = el("div", { class: "outer-products" }), head = el("div");
  const choice = choiceOf("matrix", "outer-map", maps.map(({ name }) => name), (n) =>
    context.go({ node: maps[n].node, record: null, first: null }));
  let stepper = null;
  const update = (next) => {
    context = next;
    const at = outerProductsAt(trace, context.place);
    if (at.map !== shown) {
      stepper = stepperOf(at.sum.terms.length, "number of terms", "outer-first", (n) => context.go({ first: n + 1 }));
      replaceContents(head, stepper.element);
      shown = at.map;
    }
    choice.show(maps.indexOf(at.map));
    stepper.show(at.first - 1, addedText(at.sum, at.first));
    replaceContents(body, ...outerProductsBody(context, at, root.clientWidth || 1100));
  };
  root.append(el("div", { class: "choices" }, choice.element), head, body);
  update(context);
  return update;
};

export const outerProductsView = {
  id: "outer-products",
  title: "Outer products",
  lead:
    "See how few rows make most of a weight's gradient: each adds what went in times what came back, and all of them " +
    "together are dW.",
  applies: (trace) => linearMaps(trace).length > 0,
  render: renderOuterProducts,
  onKey: (key, context) => {
    const { sum, first } = outerProductsAt(context.trace, context.place);
    const next = stepAfterKey(key, first - 1, sum.terms.length);
    if (next !== null) context.go({ first: next + 1 });
    return next !== null;
  },
};
