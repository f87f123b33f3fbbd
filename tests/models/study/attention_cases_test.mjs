// The views of attention and memory with the traces of every case of the gradient-check tables: all batches, heads,
// masks, layouts, gates and variants of the library.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { gradientOfScores, numbersOf } from "../../../models/study/page/attention_numbers.js";
import { attentionsOf } from "../../../models/study/page/attention_places.js";
import { attentionView } from "../../../models/study/page/attention_view.js";
import { stepNumbers } from "../../../models/study/page/memory_numbers.js";
import { memoriesOf } from "../../../models/study/page/memory_places.js";
import { memoryView } from "../../../models/study/page/memory_view.js";
import { add, elementwise, largest, multiply, subtract, sumAlong } from "../../../models/study/page/tensor.js";
import { openTrace } from "../../../models/study/page/trace.js";
import { element, standIn } from "./page_stand_in.mjs";

const program = join(process.env.RETRACE_BINARY_DIR ?? "build/debug", "bin", "case_traces");
if (!existsSync(program)) {
  console.log(`skipped: there is no ${program}`);
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "case_views_"));
after(() => rmSync(folder, { recursive: true }));
execFileSync(program, [folder]);
standIn();
const traces = readdirSync(folder)
  .filter((file) => !file.includes("not_finite"))
  .map((file) => ({ file, trace: openTrace(JSON.parse(readFileSync(join(folder, file), "utf8"))) }));

const near = (a, b, { file }, what) => {
  const size = Math.max(1, largest(b)),
    tolerance = file.includes(".f32.") ? 1e-5 : 1e-12;
  assert.ok(largest(subtract(a, b)) <= tolerance * size, `${file}: ${what}`);
};

test("every memory's gates make its next state, in every sample", () => {
  let steps = 0;
  for (const one of traces)
    for (const memory of memoriesOf(one.trace))
      for (let sample = 0; sample < memory.samples; ++sample)
        for (const t of memory.steps.keys()) {
          const { before, after: next, input, forget, output, candidate } = stepNumbers(one.trace, memory, t, sample);
          if (t > 0) near(before, stepNumbers(one.trace, memory, t - 1, sample).after, one, `before step ${t}`);
          if (memory.steps[t].input === null) continue;
          const sum = add(multiply(forget, before), multiply(input, candidate));
          near(output ? multiply(output, elementwise(Math.tanh, sum)) : sum, next, one, `step ${t}, sample ${sample}`);
          ++steps;
        }
  assert.ok(steps > 1000, `${steps} steps`);
});

test("memories without gates have their steps, too", () => {
  const without = traces
    .flatMap(({ file, trace }) => memoriesOf(trace).map((memory) => ({ file, memory })))
    .filter(({ memory }) => memory.steps[0].input === null);
  const kinds = new Set(without.map(({ file }) => file.split(".")[0]));
  assert.deepEqual([...kinds].sort(), [
    "CellMemory",
    "RelationalMemory",
    "RelationalMemoryCore",
    "RelationalMemoryCoreParts",
    "SoftMemoryRnn",
  ]);
  for (const { file, memory } of without) {
    if (file.startsWith("SoftMemoryRnn")) continue; // its cells are no slots that attention reads
    assert.ok(memory.steps.length >= 3, file);
    for (const { attentions } of memory.steps) assert.ok(attentions.length > 0, file);
  }
});

test("every attention's weights are those of its rows, and its dS is A (dA - sum A dA), in every head and sample", () => {
  let heads = 0;
  for (const one of traces)
    for (const attention of attentionsOf(one.trace))
      for (let sample = 0; sample < attention.samples; ++sample)
        for (let head = 0; head < attention.heads; ++head) {
          const { weights, dWeights, dScores } = numbersOf(one.trace, attention, { sample, head }),
            what = `record ${attention.record}, head ${head}, sample ${sample}`;
          for (const sum of sumAlong(weights, -1).data)
            assert.ok(sum === 0 || Math.abs(sum - 1) < 1e-5, `${one.file}: ${what}`);
          if (dWeights) near(gradientOfScores(weights, dWeights), dScores, one, what);
          ++heads;
        }
  assert.ok(heads > 1000, `${heads} heads`);
});

test("a fused case shows the same as its composed twin", () => {
  let compared = 0;
  for (const { file, trace } of traces) {
    const twin = traces.find((other) => other.file === file.replace(".f64.", ".expanded."));
    if (!file.includes(".f64.") || !twin) continue;
    const [fused, composed] = [trace, twin.trace].map(attentionsOf);
    assert.equal(fused.length, composed.length, file);
    assert.deepEqual(
      memoriesOf(trace).map(({ steps }) => steps.length),
      memoriesOf(twin.trace).map(({ steps }) => steps.length),
    );
    fused.forEach(({ heads, samples, queries, keys, layer, step }, n) => {
      const other = composed[n];
      assert.deepEqual(
        [heads, samples, queries, keys, layer.index, step],
        [other.heads, other.samples, other.queries, other.keys, other.layer.index, other.step],
        file,
      );
      ++compared;
    });
  }
  assert.ok(compared > 100, `${compared} attentions`);
});

test("both views show every case, and another place in it", () => {
  for (const { file, trace } of traces)
    for (const view of [attentionView, memoryView].filter((one) => one.applies(trace))) {
      const root = element("div"),
        context = (place) => ({ trace, verdicts: [], place: { view: view.id, ...place }, go: () => {} });
      view.render(root, context({}))(context({ t: 1, head: 1, sample: 1, row: 1, map: 2 }));
      assert.ok(root.tagged("figure").length > 0, `${file}: ${view.id}`);
    }
});
