// onnxruntime answers as the models do whose files exported_files wrote.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import ort from "onnxruntime-web";

const folder = process.argv[2];
ort.env.logLevel = "error";
ort.env.wasm.numThreads = 1;
const types = { f32: ["float32", Float32Array], f64: ["float64", Float64Array], i64: ["int64", BigInt64Array] };
const tensor = ({ dtype, shape, values }) =>
  new ort.Tensor(types[dtype][0], types[dtype][1].from(values, dtype === "i64" ? BigInt : Number), shape);
let worst = 0, bad = 0, ok = 0;
for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  const name = file.slice(0, -5);
  try {
    const session = await ort.InferenceSession.create(readFileSync(`${folder}/${name}.onnx`), { executionProviders: ["wasm"], graphOptimizationLevel: process.env.OPT ?? "all" });
    for (const run of JSON.parse(readFileSync(`${folder}/${file}`))) {
      const inputs = Object.fromEntries(Object.entries(run.inputs).map(([k, v]) => [k, tensor(v)]));
      const results = await session.run(inputs);
      for (const [key, want] of Object.entries(run.outputs)) {
        const got = results[key];
        assert.deepEqual([...got.dims], want.shape);
        want.values.forEach((value, i) => {
          const err = Math.abs(Number(got.data[i]) - value) / Math.max(1, Math.abs(value));
          if (!(err <= (want.dtype === "f64" ? 1e-12 : 1e-5))) throw new Error(`${key}[${i}] is ${got.data[i]} not ${value}`);
        });
      }
    }
    await session.release();
    ok++;
  } catch (e) { bad++; console.log(name, "FAILED", String(e.message ?? e).slice(0, 300)); }
}
console.log(ok, "ok", bad, "bad");
