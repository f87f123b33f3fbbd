// What a trace holds of a tensor: all of it, statistics and a slice, or nothing.
import { arrayView } from "./array_view.js";
import { el, formatNumber } from "./dom.js";
import { numberOf } from "./trace.js";

const countedText = (count, one, many) => (count > 0 ? `, ${count} ${count === 1 ? one : many}` : "");

const statisticsText = (t) =>
  `${["min", "max", "mean", "norm"].map((name) => `${name} ${formatNumber(numberOf(t[name]))}`).join(", ")}` +
  countedText(t.nans, "NaN", "NaN") +
  countedText(t.infinities, "infinity", "infinities");

// `absent` says why there is nothing where t is null.
export const tensorView = (trace, t, { label, absent = "nothing", ...options } = {}) => {
  if (t === null || t === undefined)
    return el(
      "figure",
      { class: "array" },
      el("figcaption", {}, el("span", { class: "array-name" }, label)),
      el("p", { class: "array-note" }, absent),
    );
  const whole = trace.tensor(t);
  if (whole) return arrayView(whole, { label, ...options });
  const slice = trace.slice(t);
  return el(
    "figure",
    { class: "array" },
    el("figcaption", {}, el("span", { class: "array-name" }, label)),
    el("p", { class: "array-note" }, `not captured: ${statisticsText(t)}`),
    slice && arrayView(slice, { label: "its first elements" }),
  );
};
