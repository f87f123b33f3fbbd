// The numbers of a recurrent layer: its gates and states by unit and step, and how much of a gradient they let through.
import { oncePer } from "./once.js";
import { gatesOfSequence } from "./rules_recurrent.js";
import { NdArray } from "./tensor.js";
import { callOf } from "./trace.js";

// The row of a sample of [B, H] or [H].
const unitsAt = (array, sample, units) => array?.data.slice(sample * units, (sample + 1) * units) ?? null;

// Rows by step as [units, steps]; null where one is missing.
const byUnit = (rows, units) => {
  if (!rows.every(Boolean)) return null;
  const steps = rows.length;
  const data = Float64Array.from({ length: units * steps }, (_, n) => rows[n % steps][Math.floor(n / steps)]);
  return new NdArray("f64", [units, steps], data);
};

const openedSteps = oncePer((recurrence, trace) => {
  const call = callOf(trace, recurrence.fused);
  return call.inputs.every(Boolean) ? gatesOfSequence(call) : null;
});

// (part, "value" or "gradient", step) -> an array [B, H] or [H], or null.
const partReader = (trace, recurrence) => {
  if (recurrence.fused === null)
    return (part, what, { nodes }) => trace.tensor(trace.nodes[nodes[part]]?.[what]);
  const opened = openedSteps(recurrence, trace);
  return (part, what, _, t) => opened?.[t][what === "value" ? "parts" : "gradients"]?.[part] ?? null;
};

const elementsOf = (like, valueAt) => {
  const [units, steps] = like.shape;
  return new NdArray("f64", [units, steps], Float64Array.from({ length: units * steps }, (_, n) =>
    valueAt(Math.floor(n / steps), n % steps)));
};

// What the gates of all later steps leave of the last state's gradient: 1 at the last step.
const productOfLater = (gate) => {
  const [units, steps] = gate.shape, result = new NdArray("f64", [units, steps], new Float64Array(units * steps));
  for (let unit = 0; unit < units; ++unit)
    for (let t = steps - 1, product = 1; t >= 0; --t) {
      result.data[unit * steps + t] = product;
      product *= gate.at(unit, t);
    }
  return result;
};

// {values, gradients: {part: [units, steps] or null}, left (the product of the gates of all later steps), passed (gate times
// gradient of the state: what a step sends to the one before along the state)}.
export const gateNumbers = (trace, recurrence, sample) => {
  const { parts, units, steps, gate, state } = recurrence, read = partReader(trace, recurrence);
  const all = (what) => Object.fromEntries(parts.map((part) =>
    [part, byUnit(steps.map((step, t) => unitsAt(read(part, what, step, t), sample, units)), units)]));
  const values = all("value"), gradients = all("gradient"), keeps = values[gate], arrived = gradients[state];
  return {
    values,
    gradients,
    left: keeps && productOfLater(keeps),
    passed: keeps && arrived && elementsOf(keeps, (unit, t) => keeps.at(unit, t) * arrived.at(unit, t)),
  };
};

// How much of what arrives at the state of a step it lets through: {share (of the length; NaN if nothing arrived), unit
// (that stops the most of it), gate (of that unit)}; null where numbers are missing.
export const shareOfStep = ({ values, gradients, passed }, { gate, state }, t) => {
  if (!passed) return null;
  const column = (array) => Array.from({ length: array.shape[0] }, (_, unit) => array.at(unit, t));
  const arrived = column(gradients[state]), sent = column(passed);
  const stopped = arrived.map((x, unit) => Math.abs(x) - Math.abs(sent[unit]));
  const unit = stopped.reduce((most, x, n) => (x > stopped[most] ? n : most), 0);
  return { share: Math.hypot(...sent) / Math.hypot(...arrived), unit, gate: values[gate].at(unit, t) };
};
