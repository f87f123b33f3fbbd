// Lessons on the backward pass of attention: as one chain, in several heads, behind a mask.
import { formatNumber } from "./dom.js";
import { numbersOf } from "./attention_numbers.js";
import { attentionsOf, strongestScore } from "./attention_places.js";

const inView = (attention, head = 0) => ({ view: "attention", record: attention.record, head });

const withGradients = (trace) => attentionsOf(trace).filter(({ record }) => trace.records[record].reached);

const sumOfSizes = ({ data }) => data.reduce((sum, x) => sum + Math.abs(x), 0);

const gradientOfScoresIn = (trace, attention, head = 0, sample = 0) =>
  numbersOf(trace, attention, { sample, head }).dScores ?? null;

const wholeLesson = {
  id: "whole",
  title: "The whole attention backward",
  parts: [
    "The forward pass of attention is a chain of three: two matrix products with a softmax between them. The backward " +
      "pass runs through the same chain from its end, one line for each gradient:",
    { formula: "s = c q k^T, a = softmax(s), y = a v",
      beside: "dv = a^T dy, da = dy v^T, ds = a (da - sum da a), dq = c ds k, dk = c ds^T q" },
    "`dy` splits at once. One part goes through the weights to the values: each value gets the gradients of the rows " +
      "that read it, by how much they read. The other part asks of each weight what more of it would do to the loss; that " +
      "is a product of `dy` with a value.",
    "Then the softmax takes from each row its average, because more weight for one key is less for the others. What is left " +
      "is multiplied by the keys for the queries, and by the queries for the keys. Nothing else happens: five lines, of " +
      "which four are matrix products, and each has the shape of what it is the gradient of.",
  ],
  look: (trace) =>
    withGradients(trace).slice(0, 1).map(() => {
      const { attention, head, row, key, size } = strongestScore(trace);
      return { says: `the whole chain; its largest ds is ${formatNumber(size)}, of row ${row} and key ${key} in head ${head}`,
        place: inView(attention, head) };
    }),
  figure: (trace) =>
    withGradients(trace).slice(0, 1).map(() => {
      const { attention, head, sample } = strongestScore(trace);
      return { name: "ds", array: gradientOfScoresIn(trace, attention, head, sample) };
    })[0],
  command: "retrace study attention --out attention.html",
};

const headsLesson = {
  id: "heads",
  title: "Several heads",
  parts: [
    "With several heads each token is cut into pieces. A head sees one piece of q, of k and of v, and has a softmax of " +
      "its own, so that a token can look at several others at once:",
    { formula: "a = softmax(c q k^T), h = a v, y = [h_1, h_2] W^T", beside: "dh = dy W, dx = dx_1 + dx_2" },
    "On the way back the output matrix hands each head its own piece of the gradient. From there on the heads do not " +
      "hear of each other: the scores of one head get no gradient from another one. They meet again only at x, where all " +
      "of them have read, and there their gradients are added.",
    "So a head that the output matrix ignores learns nothing, whatever its scores are, and two heads with the same " +
      "numbers get the same gradients and stay twins for ever. That is why weights start at random.",
  ],
  look: (trace) =>
    withGradients(trace).filter(({ heads }) => heads > 1).slice(0, 1).flatMap((attention) =>
      Array.from({ length: Math.min(attention.heads, 4) }, (_, head) => {
        const gradient = gradientOfScoresIn(trace, attention, head);
        const size = gradient ? `: sum of |ds| = ${formatNumber(sumOfSizes(gradient))}` : "";
        return { says: `head ${head}${size}`, place: inView(attention, head) };
      })),
  figure: (trace) =>
    withGradients(trace).filter(({ heads }) => heads > 1).slice(0, 1)
      .map((attention) => ({ name: "ds of head 1", array: gradientOfScoresIn(trace, attention, 1) }))[0],
  command: "retrace study multi-head-attention --out heads.html",
};

const hasMask = (trace) => (attention) => {
  const { hidden, weights } = numbersOf(trace, attention, { sample: 0, head: 0 });
  return weights !== null && weights !== undefined && weights.data.some((_, n) => hidden(n));
};

const maskLesson = {
  id: "mask",
  title: "What a mask does to gradients",
  parts: [
    "A causal mask lets a token look back only. It adds −∞ to the scores of all later keys, and e to that power is 0:",
    { formula: "a = softmax(s + m), ds = a (da - sum da a)" },
    "The weight of a hidden key is 0, and `a` is a factor of `ds`. So no gradient reaches a hidden score: not a small one, " +
      "none. Neither does any reach a key or a value through it. A value that only hidden scores read has the gradient 0.",
    "The first row of a causal attention sees one key. Its weight is 1 whatever the score, so that its `ds` is 0, too, and " +
      "its query learns nothing here. The last key is seen by the last row only and is trained by it alone.",
    "A large negative number in place of −∞, such as −1e9, does the same until a row is hidden as a whole: then it cancels, " +
      "and the row looks evenly at everything that it must not see. With −∞ such a row is 0 here, and its gradient as well.",
  ],
  look: (trace) =>
    withGradients(trace).filter(hasMask(trace)).slice(0, 1).map((attention) => {
      const { hidden, weights } = numbersOf(trace, attention, { sample: 0, head: 0 });
      const count = weights.data.reduce((sum, _, n) => sum + Number(hidden(n)), 0);
      return { says: `${count} of ${weights.size} scores are hidden`, place: inView(attention) };
    }),
  figure: (trace) =>
    withGradients(trace).filter(hasMask(trace)).slice(0, 1)
      .map((attention) => ({ name: "ds, 0 where a key is hidden", array: gradientOfScoresIn(trace, attention) }))[0],
  command: "retrace study attention --causal --out causal.html",
};

export const attentionLessons = [wholeLesson, headsLesson, maskLesson];
