// The pages that the tests open, made by the program as a reader makes them.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const program = process.env.RETRACE_PROGRAM ?? "build/debug/bin/retrace";

const subjects = {
  attention: ["attention", "--tokens", "4", "--heads", "2"],
  causal: ["multi-head-attention", "--causal"],
  rmc: ["rmc", "--tokens", "8"],
  "attention-model": ["attention-model"],
  lstm: ["lstm"],
  "not-finite": ["--expr", "softmax(log(x)) * y", "--input", "x=[[1,2],[-1,3]]", "--input", "y=2x2"],
  long: ["rmc", "--tokens", "100"],
};

const holder = /(<script type="application\/json" id="trace-data">)([^]*?)(<\/script>)/;

// The bytes of a page without those of its trace.
export const templateSize = (file) => readFileSync(file).length - Buffer.byteLength(dataOf(file));

const dataOf = (file) => readFileSync(file, "utf8").match(holder)[2];

const changedNumber = (tensor) => {
  const bytes = Buffer.from(tensor.data, "base64");
  bytes.writeDoubleLE(bytes.readDoubleLE(0) + 1e-6);
  return { ...tensor, data: bytes.toString("base64") };
};

export const makePages = () => {
  const folder = mkdtempSync(join(tmpdir(), "study_pages_")), pathOf = (name) => join(folder, `${name}.html`);
  const make = (name) => {
    execFileSync(program, ["study", ...subjects[name], "--out", pathOf(name)]);
    return pathOf(name);
  };
  // A page of which one number of the contribution of one record, the middle one, is wrong by 1e-6.
  const makeCorrupted = (file) => {
    const data = JSON.parse(dataOf(file)), { records } = data.trace;
    const sends = ({ contributions }) => contributions.some((sent) => sent?.contribution.tensor);
    const record = records.findIndex((one, index) => index >= records.length / 2 && sends(one));
    const sent = records[record].contributions.find((one) => one?.contribution.tensor);
    data.tensors.changed = changedNumber(data.tensors[sent.contribution.tensor]);
    sent.contribution = { ...sent.contribution, tensor: "changed" };
    const page = readFileSync(file, "utf8").replace(holder, (_, start, __, end) => start + JSON.stringify(data) + end);
    writeFileSync(pathOf("corrupted"), page);
    return { file: pathOf("corrupted"), record };
  };
  return { make, makeCorrupted, remove: () => rmSync(folder, { recursive: true }) };
};
