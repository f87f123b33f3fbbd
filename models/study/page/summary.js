// The work of checking all records, and its result: a verdict, a sentence and the places to look at.
import { formatNumber } from "./dom.js";
import { firstNotFinite } from "./not_finite.js";
import { readersOf } from "./tape_graph.js";
import { verdictOfCheck } from "./three_ways.js";

// work(0), ..., work(count - 1), a few milliseconds at a time, so that the page answers meanwhile.
export const inSlices = (count, work, milliseconds = 8) =>
  new Promise((done, failed) => {
    let next = 0;
    const slice = () => {
      try {
        for (const end = performance.now() + milliseconds; next < count && performance.now() < end; ++next) work(next);
      } catch (error) {
        return failed(error);
      }
      return next < count ? setTimeout(slice) : done();
    };
    setTimeout(slice);
  });

// Why records are not checked, and what to do about it.
const remedies = {
  "not kept": "the tape did not keep their values: make it with Tape tape({.keep = true})",
  "too large": "the trace has only a part of their tensors: study smaller sizes, or raise TraceOptions::max_elements",
  "no rule": "the forward of an op of your own has to run on f64, better on dual numbers, and to give the same each time",
  surrogate: "their backward is not meant to be the derivative",
};

const counts = (list) => {
  const result = {};
  for (const one of list) result[one] = (result[one] ?? 0) + 1;
  return result;
};

// The wrong places in the order in which a reader should look: {place, says}. Of wrong values the first is the cause, of
// wrong gradients the last.
const problemsOf = (trace, verdicts, checks) => {
  const wrong = [...verdicts.keys()].filter((index) => verdicts[index].verdict === "differs");
  const isFinite = !Object.values(firstNotFinite(trace)).some(Boolean);
  const isForward = (index) => verdicts[index].where.what === "forward";
  const records = [...wrong.filter(isForward), ...wrong.filter((index) => !isForward(index)).reverse()];
  const nodes = [...new Set(trace.checks.filter((_, n) => checks[n] === "differs").map(({ node }) => node))];
  return [
    ...(isFinite ? [] : [{ place: { view: "nan" }, says: "numbers that are not finite" }]),
    ...records.map((record) => ({
      place: { view: "tape", record },
      says: `record ${record}, ${trace.records[record].op}`,
    })),
    ...nodes.map((node) => ({
      place: { view: "tape", record: readersOf(trace, node)[0] },
      says: `the gradient of ${trace.nodes[node].name} by three ways`,
    })),
  ];
};

// {verdict: "green", "amber" or "red", records, checked, differing, largest (difference that agrees or not),
// unchecked: {"not kept": count, ...}, checks: {agrees: count, ...}, problems}
export const summaryOf = (trace, verdicts) => {
  const checks = trace.checks.map((check) => verdictOfCheck(trace, check));
  const { agrees = 0, differs: differing = 0, ...others } = counts(verdicts.map(({ verdict }) => verdict));
  const problems = problemsOf(trace, verdicts, checks);
  const isWhole = Object.keys(others).every((kind) => kind === "not reached");
  const isGreen = agrees > 0 && isWhole && !checks.includes("incomplete");
  return {
    verdict: problems.length > 0 ? "red" : isGreen ? "green" : "amber",
    records: verdicts.length,
    checked: agrees + differing,
    differing,
    largest: verdicts.reduce((worst, { difference }) => (difference <= worst ? worst : difference), 0),
    unchecked: others,
    checks: counts(checks),
    problems,
  };
};

const sentence = (list) => list.filter(Boolean).join(". ");

// "12 of 12 records checked: all agree in values and gradients, largest difference 3e−17. ..."
export const summaryText = ({ records, checked, differing, largest, unchecked, checks }) => {
  const { "not reached": unreached = 0, ...lacking } = unchecked, all = checks.agrees ?? 0;
  const rest = Object.entries(lacking).map(([kind, count]) => `${count} not checked (${kind}): ${remedies[kind]}`);
  const differ = `${differing} ${differing === 1 ? "differs" : "differ"}`;
  const found = differing > 0 ? differ : "all agree in values and gradients";
  const outcome = checked > 0 ? `: ${found}, largest difference ${formatNumber(largest, 2)}` : "";
  return sentence([
    `${checked} of ${records - unreached} records checked${outcome}`,
    unreached > 0 && `${unreached} not reached by the backward pass`,
    ...rest,
    all > 0 && `${all} ${all === 1 ? "number agrees" : "numbers agree"} by three ways`,
    checks.differs > 0 && `${checks.differs} differ by three ways`,
    checks.incomplete > 0 &&
      `${checks.incomplete} could not be had by all three ways, for want of dual numbers or at a kink`,
  ]);
};
