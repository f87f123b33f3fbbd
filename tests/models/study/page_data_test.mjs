// The data of pages: the same numbers as in the JSON of their trace, and small.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { readData } from "../../../models/study/page/page_data.js";
import { openTensor } from "../../../models/study/page/trace.js";
import { program, studyData } from "./study_traces.mjs";

const folder = mkdtempSync(join(tmpdir(), "page_data_"));
after(() => rmSync(folder, { recursive: true }));

const pageOf = (...options) => {
  const path = join(folder, "page.html");
  execFileSync(program, ["study", ...options, "--out", path]);
  const [, type, textContent] = /<script type="([^"]*)" id="trace-data">([^<]*)</.exec(readFileSync(path, "utf8"));
  return { element: { type, textContent }, size: statSync(path).size };
};
const plain = { type: "application/json", textContent: '{"trace": {}, "tensors": {}}' };

for (const options of [["rmc", "--dtype", "f32"], ["attention", "--tokens", "1"],
  ["--expr", "embedding(w, [1, 0])", "--input", "w=2x3"]])
  test(`${options.join(" ")}: a page holds what the JSON holds, bit by bit`, async () => {
    const { tensors } = await readData(pageOf(...options).element), expected = studyData(...options).tensors;
    assert.deepEqual(Object.keys(tensors), Object.keys(expected));
    for (const [name, tensor] of Object.entries(tensors)) {
      const { dtype, shape, data } = openTensor(tensor), other = openTensor(expected[name]);
      assert.deepEqual([dtype, shape, [...data].map(Math.fround)], [other.dtype, other.shape, [...other.data].map(Math.fround)], name);
      if (dtype !== "f32") assert.deepEqual(data, other.data, name);
    }
  });

test("a page of an RMC of 98 steps has at most 4 MB where its data are packed", () => {
  const { element, size } = pageOf("rmc", "--tokens", "98");
  console.log(`rmc of 98 steps: ${size} bytes, ${element.type}`);
  assert.ok(size <= 4e6 || element.type === "application/json", size);
});

test("data that are not packed are read as they are", async () => {
  assert.deepEqual(await readData(plain), { trace: {}, tensors: {} });
});

test("damaged numbers are named", async () => {
  const { element } = pageOf("attention", "--tokens", "1");
  if (element.type === "application/json") return;
  for (const textContent of ["H4sI", "?", element.textContent.slice(0, 400)])
    await assert.rejects(readData({ ...element, textContent }), /^Error: its numbers are damaged; write it again$/);
});
