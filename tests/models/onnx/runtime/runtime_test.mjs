// onnxruntime answers as the models do whose files exported_files wrote, at several batch sizes and lengths.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const ort = await import("onnxruntime-web").catch(() => null);
if (ort === null) {
  console.log("skipped: there is no onnxruntime-web; run npm ci in tests/models/onnx/runtime");
  process.exit(77);
}
ort.env.logLevel = "error";
ort.env.wasm.numThreads = 1;

const folder = mkdtempSync(join(tmpdir(), "retrace-onnx-"));
after(() => rmSync(folder, { recursive: true }));
execFileSync(process.env.RETRACE_EXPORTED_FILES, [folder], { stdio: ["ignore", "ignore", "inherit"] });

const limits = { f32: 1e-5, f64: 1e-12 };
const types = {
  f32: ["float32", Float32Array, Number],
  f64: ["float64", Float64Array, Number],
  i64: ["int64", BigInt64Array, BigInt],
};
const tensor = ({ dtype, shape, values }) => {
  const [name, array, element] = types[dtype];
  return new ort.Tensor(name, array.from(values, element), shape);
};

const compare = (name, got, { dtype, shape, values }) => {
  assert.deepEqual([...got.dims], shape, `the shape of ${name}`);
  values.forEach((value, i) => {
    const error = Math.abs(got.data[i] - value) / Math.max(1, Math.abs(value));
    assert.ok(error <= limits[dtype], `${name}[${i}] is ${got.data[i]}, not ${value}`);
  });
};

const files = readdirSync(folder).filter((name) => name.endsWith(".onnx"));

test("there are files of both dtypes", () => {
  for (const dtype of ["f32", "f64"]) assert.ok(files.filter((name) => name.includes(dtype)).length > 50);
});

for (const file of files)
  test(file, async () => {
    const session = await ort.InferenceSession.create(readFileSync(join(folder, file)));
    const runs = JSON.parse(readFileSync(join(folder, file.replace(/onnx$/, "json"))));
    for (const { inputs, outputs } of runs) {
      const feeds = Object.fromEntries(Object.entries(inputs).map(([name, x]) => [name, tensor(x)]));
      const results = await session.run(feeds);
      for (const [name, wanted] of Object.entries(outputs)) compare(name, results[name], wanted);
    }
    await session.release();
  });
