// Up to four questions about a trace, with the answers of its numbers and the places that show them.
import { numbersOf, rowOf } from "./attention_numbers.js";
import { attentionsOf, strongestScore } from "./attention_places.js";
import { formatNumber } from "./dom.js";
import { oncePer } from "./once.js";
import { linearMaps, outerProducts } from "./outer_products.js";
import { overviewGraph } from "./overview_graph.js";
import { normOfHeld, sizesOf, wayBackTo } from "./overview_numbers.js";
import { summaryOf, summaryText } from "./summary.js";

const percentText = (share) => (share >= 0.0005 ? `${formatNumber(100 * share, 2)} %` : formatNumber(share, 2));

const scoreAnswer = (trace) => {
  if (attentionsOf(trace).length === 0) return null;
  const { attention, sample, head, row, key, size } = strongestScore(trace), { layer, step } = attention;
  const numbers = numbersOf(trace, attention, { sample, head });
  if (size === 0 || !numbers.weights || !numbers.dWeights) return null;
  const at = row * attention.keys + key, { mean } = rowOf(numbers, row);
  const [weight, arrived, score] = [numbers.weights, numbers.dWeights, numbers.dScores].map(({ data }) => data[at]);
  const where = [attention.layers.length > 1 && layer.name, layer.steps.length > 1 && `step ${step}`, attention.heads > 1 && `head ${head}`,
    `row ${row}`, `key ${key}`].filter(Boolean).join(", ");
  return {
    asks: "Which score got the largest gradient, and why?",
    says: `${where}: dS = ${formatNumber(score, 3)}, its weight ${formatNumber(weight, 3)} times the distance of its dA = ` +
      `${formatNumber(arrived, 3)} from the average of the row, ${formatNumber(mean, 3)}.`,
    place: { view: "attention", record: attention.record, layer: layer.index, t: step, head, sample, row },
  };
};

// The named tensors of all steps, with how large their gradients are beside their values.
const sharesOf = (trace) => {
  const { groups } = overviewGraph(trace);
  return groups.flatMap((group) => group.nodes.map((node, step) => ({
    node, ...sizesOf(trace, node), name: group.nodes.length > 1 ? `${group.label} of step ${step}` : group.label,
  }))).filter(({ share }) => share >= 0 && share < Infinity);
};

const lostText = (trace, way) => {
  const { record, share } = way.reduce((a, b) => (b.share < a.share ? b : a)), { op } = trace.records[record];
  if (share >= 1) return { record, says: "No step on its way made it smaller." };
  return { record, says: `On its way from the loss, ${way.length} ${way.length === 1 ? "record" : "records"}, the most was lost in record ` +
    `${record}, ${op}: it sent on ${percentText(share)} of what arrived.` };
};

const smallAnswer = (trace) => {
  const shares = sharesOf(trace), zeros = shares.filter(({ share }) => share === 0), others = shares.filter(({ share }) => share > 0);
  const small = (others.length > 0 ? others : zeros).reduce((a, b) => (a.share <= b.share ? a : b), { share: Infinity });
  const way = small.node === undefined ? [] : wayBackTo(trace, small.node).filter(({ share }) => share >= 0);
  if (way.length === 0) return null;
  const { record, says } = lostText(trace, way);
  const listed = zeros.slice(0, 3).map(({ name }) => name).join(", "), more = zeros.length - 3;
  return {
    asks: "Where is the gradient small, and where was it lost?",
    says: `In ${small.name}: |gradient| = ${formatNumber(small.gradient, 3)} is ${percentText(small.share)} of |value| = ` +
      `${formatNumber(small.value, 3)}. ${says}` +
      (zeros.length > 0 && others.length > 0 ? ` It is exactly 0 in ${listed}${more > 0 ? ` and ${more} more` : ""}.` : ""),
    place: { view: "tape", record },
  };
};

const isOfQueries = ({ name }) => /(^|[._])(w_?q|q|query|queries|qkv)($|[._])/i.test(name);

const weightAnswer = (trace) => {
  const maps = linearMaps(trace);
  if (maps.length === 0) return null;
  const size = ({ node }) => normOfHeld(trace, trace.nodes[node].gradient) || 0;
  const map = maps.find(isOfQueries) ?? maps.reduce((a, b) => (size(b) > size(a) ? b : a));
  const { terms, rests } = outerProducts(trace, map), [{ name, size: largest }] = terms;
  if (!(largest > 0)) return null;
  const many = terms.length > 1;
  return {
    asks: `Where does the gradient of ${map.name} come from?`,
    says: `|dW| = ${formatNumber(size(map), 3)} is ` +
      (many ? `the sum of ${terms.length} outer products, one for each row that the map has seen` : "one outer product") +
      `; ${many ? "the largest" : "that"} is of ${name} with |x| |dy| = ${formatNumber(largest, 3)}` +
      `${many ? `, and without it ${percentText(rests[1])} of |dW| are left` : ""}.`,
    place: { view: "outer-products", node: map.node, first: 1 },
  };
};

/** The answers that need no check of the records: [{asks, says, place}]. */
export const answersOf = oncePer((trace) =>
  trace.records.some(({ reached }) => reached) ? [scoreAnswer, smallAnswer, weightAnswer].map((answer) => answer(trace)).filter(Boolean) : []);

/** Whether anything is wrong, when all records are checked. */
export const wrongAnswer = (trace, verdicts) => {
  const summary = summaryOf(trace, verdicts), [problem] = summary.problems;
  const worst = verdicts.reduce((a, { difference }, n) => (difference > (verdicts[a].difference ?? -1) ? n : a), 0);
  const start = { red: `Yes: ${problem?.says}. `, amber: "Nothing was found, but not all could be checked: ", green: "No: " }[summary.verdict];
  const largest = summary.checked > 0 ? ` The largest difference is in record ${worst}, ${trace.records[worst].op}.` : "";
  return {
    asks: "Is anything wrong?",
    says: `${start}${summaryText(summary)}.${problem ? "" : largest}`,
    place: problem?.place ?? (trace.records.length > 0 ? { view: "tape", record: worst } : { view: "start" }),
  };
};
