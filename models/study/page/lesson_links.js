// What lessons find in the reader's own trace: places to look at, and numbers for their sentences.
import { formatNumber } from "./dom.js";
import { jacobianInputs } from "./jacobian.js";
import { lengthOf } from "./tensor.js";

export const isOp = (...ops) => (record) => ops.includes(record.op);

// The number of the first reached record that is so; -1 if there is none.
export const firstRecord = (trace, isSo) => trace.records.findIndex((one, index) => one.reached && isSo(one, index));

// A link to it.
export const lookAt = (trace, isSo, says, place) => {
  const record = firstRecord(trace, isSo);
  return record < 0 ? [] : [{ says: says(record), place: place(record) }];
};

export const onTape = (record) => ({ view: "tape", record });
export const asJacobian = (record) => ({ view: "jacobian", record });

export const hasJacobian = (trace, isSo) => (one, index) => isSo(one) && jacobianInputs(trace, index).length > 0;

// "|dy| = 3.2", or nothing where the tape kept no such array.
export const sizeText = (name, array) => (array ? `|${name}| = ${formatNumber(lengthOf(array))}` : `${name} (not kept)`);

// The gradient that came to the first result of a record, and what it sends to an input.
export const arrivedAt = (trace, record) => trace.tensor(trace.records[record].output_gradients[0]);
export const sentBy = (trace, record, input = 0) => trace.tensor(trace.records[record].contributions[input]?.contribution);
