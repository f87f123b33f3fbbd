// The work of checking all records, and its result in one sentence.
import { formatNumber } from "./dom.js";

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

// {records, checked, differing, largest (difference that agrees or not), unchecked: {"not captured": count, ...}}
export const summaryOf = (verdicts) => {
  const summary = { records: verdicts.length, checked: 0, differing: 0, largest: 0, unchecked: {} };
  for (const { verdict, difference } of verdicts) {
    if (verdict !== "agrees" && verdict !== "differs") {
      summary.unchecked[verdict] = (summary.unchecked[verdict] ?? 0) + 1;
      continue;
    }
    ++summary.checked;
    if (verdict === "differs") ++summary.differing;
    if (Number.isNaN(difference) || difference > summary.largest) summary.largest = difference;
  }
  return summary;
};

// "412 of 412 vector-Jacobian products agree, largest difference 3e−17"
export const summaryText = ({ checked, differing, largest, unchecked }) => {
  const others = Object.entries(unchecked)
    .map(([verdict, count]) => `${count} ${verdict}`)
    .join(", ");
  if (checked === 0) return `no vector-Jacobian product was checked${others && `: ${others}`}`;
  return (
    `${checked - differing} of ${checked} vector-Jacobian products agree, largest difference ` +
    `${formatNumber(largest, 2)}${others && ` (${others})`}`
  );
};
