// The pages that the tests open, made by the program as a reader makes them.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { dataOf } from "../../../../models/study/page/page_data.js";

const program = process.env.RETRACE_PROGRAM ?? "build/debug/bin/retrace";

const subjects = {
  attention: ["attention", "--tokens", "4", "--heads", "2"],
  causal: ["multi-head-attention", "--causal"],
  rmc: ["rmc", "--tokens", "8"],
  "attention-model": ["attention-model"],
  lstm: ["lstm"],
  fused: ["relational-rnn", "--fused", "--dtype", "f32"],
  "not-finite": ["--expr", "softmax(log(x)) * y", "--input", "x=[[1,2],[-1,3]]", "--input", "y=2x2"],
  tiny: ["attention", "--tokens", "1"],
  "tiny-lstm": ["lstm", "--tokens", "1"],
  wide: ["attention", "--tokens", "64", "--size", "64"],
  "rmc-98": ["rmc", "--tokens", "98"],
  masked: ["attention", "--causal"],
  heads: ["attention", "--tokens", "64", "--size", "64", "--heads", "8"],
  one: ["attention", "--tokens", "1", "--size", "1", "--heads", "1"],
  scores: ["--expr", "softmax(matmul(q, transpose(k)) / 2)", "--input", "q=4x3", "--input", "k=5x3"],
  "lstm-8": ["lstm", "--tokens", "8"],
  gru: ["gru", "--tokens", "64", "--size", "32", "--fused"],
};

const holder = /<script type="application\/\w+" id="trace-data">([^]*?)<\/script>/;

const packedIn = (file) => readFileSync(file, "utf8").match(holder)[1];

// The bytes of a page without those of its trace.
export const templateSize = (file) => readFileSync(file).length - packedIn(file).length;

// Packed or not, with the elements of tensors in base64.
const dataIn = (file) => {
  const text = packedIn(file);
  if (text.startsWith("{")) return JSON.parse(text);
  const data = dataOf(new Uint8Array(gunzipSync(Buffer.from(text, "base64"))));
  for (const tensor of Object.values(data.tensors)) {
    tensor.data = Buffer.from(tensor.bytes).toString("base64");
    delete tensor.bytes;
  }
  return data;
};

const changedNumber = (tensor) => {
  const bytes = Buffer.from(tensor.data, "base64");
  bytes.writeDoubleLE(bytes.readDoubleLE(0) + 1e-6);
  return { ...tensor, data: bytes.toString("base64") };
};

// Changes one number of the contribution of one record, the middle one, by 1e-6. Returns the record.
export const corrupt = ({ trace: { records }, tensors }) => {
  const sends = ({ contributions }) => contributions.some((sent) => sent?.contribution.tensor);
  const record = records.findIndex((one, index) => index >= records.length / 2 && sends(one));
  const sent = records[record].contributions.find((one) => one?.contribution.tensor);
  tensors.changed = changedNumber(tensors[sent.contribution.tensor]);
  sent.contribution = { ...sent.contribution, tensor: "changed" };
  return record;
};

// Gives all that has a name one that a page must show as text: with markup, quotes, and no place to break a line.
export const renameAll = ({ trace }) => {
  const hostile = `</script><img src="http://nowhere.invalid/x" onerror="throw 1">'"&amp;é\u2028${"long".repeat(60)}`;
  trace.title = hostile;
  for (const node of trace.nodes) node.name = hostile + node.name;
  for (const scope of trace.scopes)
    for (const what of ["name", "path", "type"]) scope[what] = scope[what] && hostile + scope[what];
  for (const record of trace.records) record.path = record.path && hostile + record.path;
};

export const makePages = () => {
  const folder = mkdtempSync(join(tmpdir(), "study_pages_")), pathOf = (name) => join(folder, `${name}.html`);
  const make = (name) => {
    execFileSync(program, ["study", ...subjects[name], "--out", pathOf(name)]);
    return pathOf(name);
  };
  // The page of a file with other data, as a build without zlib writes them: {file, changed: what change(data) returns}.
  const makeChanged = (file, name, change) => {
    const data = dataIn(file), changed = change(data), written = JSON.stringify(data).replaceAll("<", "\\u003c");
    const element = () => `<script type="application/json" id="trace-data">${written}</script>`;
    writeFileSync(pathOf(name), readFileSync(file, "utf8").replace(holder, element));
    return { file: pathOf(name), changed };
  };
  // The page of a file with other text.
  const makeDamaged = (file, name, from, to) => {
    writeFileSync(pathOf(name), readFileSync(file, "utf8").replace(from, to));
    return pathOf(name);
  };
  return { make, makeChanged, makeDamaged, remove: () => rmSync(folder, { recursive: true }) };
};
