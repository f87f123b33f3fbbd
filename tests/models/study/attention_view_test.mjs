// The attentions of real traces: which there are, and that what is shown of each head and step gives the gradients of q
// and k that the tape has.
import assert from "node:assert/strict";
import { test } from "node:test";

import { rangeWithoutOutliers } from "../../../models/study/page/array_colours.js";
import { gradientOfScores, numbersOf, rowOf, stateOfRow } from "../../../models/study/page/attention_numbers.js";
import { mapKinds, mapOf } from "../../../models/study/page/attention_map.js";
import { termsOfElement } from "../../../models/study/page/attention_cell.js";
import { operandsOf } from "../../../models/study/page/attention_operands.js";
import { attentionsOf } from "../../../models/study/page/attention_places.js";
import { rowText } from "../../../models/study/page/attention_row.js";
import { attentionView } from "../../../models/study/page/attention_view.js";
import { jacobianOf } from "../../../models/study/page/jacobian.js";
import { fitOf } from "../../../models/study/page/paired_arrays.js";
import { parsePlace } from "../../../models/study/page/places.js";
import { largest, matmul, ndArray, scaleBy, subtract, transpose } from "../../../models/study/page/tensor.js";
import { element, standIn } from "./page_stand_in.mjs";
import { nodeNamed, studyOf } from "./study_traces.mjs";

standIn();

const near = (a, b, what) => {
  assert.deepEqual(a.shape, b.shape, what);
  assert.ok(largest(subtract(a, b)) < 1e-12, what);
};
// The columns of a head in a matrix of rows.
const columnsOf = (x, head, heads) => {
  const [rows, columns] = x.shape,
    size = columns / heads;
  const at = (n) => x.data[Math.floor(n / size) * columns + head * size + (n % size)];
  return ndArray(
    [rows, size],
    Array.from({ length: rows * size }, (_, n) => at(n)),
  );
};
// The gradients of q and k that follow from dS of each head must be those of the tape.
const checkGradients = (trace, heads) => {
  const [attention] = attentionsOf(trace);
  assert.equal(attention.heads, heads);
  const q = nodeNamed(trace, "q"),
    k = nodeNamed(trace, "k"),
    v = nodeNamed(trace, "v");
  for (let head = 0; head < heads; ++head) {
    const { weights, dWeights, dScores } = numbersOf(trace, attention, { sample: 0, head });
    const of = (x) => columnsOf(x, head, heads);
    const factor = 1 / Math.sqrt(of(q.value).shape[1]);
    near(scaleBy(factor, matmul(dScores, of(k.value))), of(q.gradient), `dq of head ${head}`);
    near(scaleBy(factor, matmul(transpose(dScores), of(q.value))), of(k.gradient), `dk of head ${head}`);
    near(gradientOfScores(weights, dWeights), dScores, `dS of head ${head}`);
    const dy = columnsOf(trace.tensor(trace.seeds[0].cotangent), head, heads);
    near(matmul(transpose(weights), dy), of(v.gradient), `dv of head ${head}`);
  }
};

test("one head without a batch, and several heads, lead to the gradients of q and k", () => {
  checkGradients(studyOf("attention", "--heads", "1", "--tokens", "5"), 1);
  checkGradients(studyOf("attention", "--heads", "2", "--tokens", "3"), 2);
  checkGradients(studyOf("attention", "--heads", "4", "--causal"), 4);
});

test("fused records show what their composed twins do", () => {
  for (const options of [
    ["attention", "--heads", "1"],
    ["attention", "--heads", "4"],
    ["attention", "--causal"],
    ["multi-head-attention", "--causal"],
    ["rmc", "--tokens", "3"],
    ["attention-model"],
  ]) {
    const traces = [studyOf(...options), studyOf(...options, "--fused")],
      [composed, fused] = traces.map(attentionsOf),
      what = options.join(" ");
    assert.deepEqual(
      fused.map(({ kind }) => kind),
      composed.map(() => "fused"),
      what,
    );
    for (const n of composed.keys())
      for (let head = 0; head < composed[n].heads; ++head) {
        const [a, b] = [composed, fused].map((all, k) => numbersOf(traces[k], all[n], { sample: 0, head }));
        for (const name of ["weights", "dWeights", "dScores"])
          near(a[name], b[name], `${what}: ${name} of head ${head}`);
        for (const place of a.weights.data.keys()) {
          assert.equal(a.hidden(place), b.hidden(place), what);
          if (!a.hidden(place)) assert.ok(Math.abs(a.scores.data[place] - b.scores.data[place]) < 1e-12, what);
        }
      }
  }
});

test("a causal mask hides what comes later, in every head", () => {
  const trace = studyOf("attention", "--causal", "--tokens", "4"),
    [attention] = attentionsOf(trace);
  for (const head of [0, 1]) {
    const { hidden } = numbersOf(trace, attention, { sample: 0, head });
    for (let n = 0; n < 16; ++n) assert.equal(hidden(n), n % 4 > Math.floor(n / 4), `head ${head}, element ${n}`);
  }
  const numbers = numbersOf(trace, attention, { sample: 0, head: 1 });
  assert.deepEqual(rowOf(numbers, 1).seen, [0, 1]);
  assert.equal(stateOfRow(rowOf(numbers, 0)), "single");
  assert.match(rowText(numbers, rowOf(numbers, 0), 0), /Only key 0 is left by the mask/);
});

// A trace by hand: a softmax of these scores, whose weights mix values.
const traceOf = (scores, dWeights, { heads = 1, samples = 1 } = {}) => {
  const shape = [...(samples > 1 ? [samples] : []), ...(heads > 1 ? [heads] : []), 2, 2];
  const rows = ndArray([scores.length / 2, 2], scores);
  const weights = ndArray(
    shape,
    Array.from(rows.data, (x, n) => {
      const other = rows.data[n % 2 === 0 ? n + 1 : n - 1];
      return x === -Infinity ? 0 : 1 / (1 + Math.exp(other - x));
    }),
  );
  const arrays = { s: ndArray(shape, scores), a: weights, da: ndArray(shape, dWeights) };
  const node = (name) => ({ name, dtype: "f64", shape, value: { tensor: name }, wants_gradient: true });
  const permutation = shape.map((_, axis) => axis),
    rank = shape.length;
  [permutation[rank - 3], permutation[rank - 2]] = [rank - 2, rank - 3];
  return {
    nodes: [node("s"), node("a"), { ...node("v"), value: null }, node("y"), node("back")],
    records: [
      {
        op: "softmax",
        scope: -1,
        path: "",
        inputs: [0],
        outputs: [1],
        reached: true,
        output_gradients: [{ tensor: "da" }],
        contributions: [null],
      },
      {
        op: "matmul",
        scope: -1,
        path: "",
        inputs: [1, 2],
        outputs: [3],
        output_gradients: [null],
        contributions: [null, null],
      },
      ...(heads > 1
        ? [
            {
              op: "transpose",
              scope: -1,
              path: "",
              attributes: { permutation },
              inputs: [3],
              outputs: [4],
              output_gradients: [null],
              contributions: [null],
            },
          ]
        : []),
    ],
    tensor: (held) => (held ? arrays[held.tensor] : null),
  };
};

test("samples of a batch and heads are told apart", () => {
  const scores = Array.from({ length: 24 }, (_, n) => Math.sin(n)),
    gradients = Array.from({ length: 24 }, (_, n) => n);
  const trace = traceOf(scores, gradients, { heads: 2, samples: 3 }),
    [attention] = attentionsOf(trace);
  assert.deepEqual([attention.heads, attention.samples], [2, 3]);
  assert.deepEqual([...numbersOf(trace, attention, { sample: 2, head: 1 }).dWeights.data], [20, 21, 22, 23]);
  assert.deepEqual([...numbersOf(trace, attention, { sample: 1, head: 0 }).dWeights.data], [8, 9, 10, 11]);
  const batch = traceOf(scores.slice(0, 12), gradients.slice(0, 12), { samples: 3 });
  assert.deepEqual([attentionsOf(batch)[0].heads, attentionsOf(batch)[0].samples], [1, 3]);
});

test("a row is saturated above 0.99, and masked by minus infinity or a large negative number", () => {
  const trace = traceOf([6, 0, 3, 0], [1, 2, 3, 4]),
    numbers = numbersOf(trace, attentionsOf(trace)[0], { sample: 0, head: 0 });
  assert.equal(stateOfRow(rowOf(numbers, 0)), "saturated");
  assert.equal(stateOfRow(rowOf(numbers, 1)), "open");
  assert.match(rowText(numbers, rowOf(numbers, 0), 0), /^▲ This row is saturated: key 0 has the weight 0\.9975/);
  assert.match(rowText(numbers, rowOf(numbers, 1), 1), /Key 0 has dA = 3, which lies 0\.04743 below/);
  for (const masked of [-Infinity, -1e9]) {
    const other = traceOf([0, masked, 0, 0], [1, 2, 3, 4]),
      { hidden } = numbersOf(other, attentionsOf(other)[0], { sample: 0, head: 0 });
    assert.deepEqual([0, 1, 2, 3].map(hidden), [false, true, false, false]);
  }
});

const rendered = (trace, place = {}) => {
  const moves = [],
    root = element("div");
  const context = (at) => ({
    trace,
    verdicts: [],
    place: { view: "attention", ...at },
    go: (change) => moves.push(change),
  });
  const update = attentionView.render(root, context(place));
  return {
    root,
    moves,
    update: (at) => update(context(at)),
    key: (name, at) => attentionView.onKey(name, context(at)),
  };
};

test("the view shows the twelve arrays of the head in its place, and what a row says", () => {
  const trace = studyOf("attention", "--causal"),
    { root, moves } = rendered(trace, { head: 1, row: 2 });
  const names = root.withClass("array-name").map(({ textContent }) => textContent);
  const values = ["Q", "K", "V", "S", "A", "Y"], gradients = ["dQ", "dK", "dV", "dS", "dA", "dY"];
  assert.deepEqual(names, [...values, ...gradients, "weights A by attention, head, query and key"]);
  const numbers = numbersOf(trace, attentionsOf(trace)[0], { sample: 0, head: 1 });
  assert.match(root.withClass("attention-row")[0].textContent, /^Row 2/);
  const [table] = root.withClass("attention-rest");
  assert.ok(table.textContent.includes(String(Number(numbers.dScores.data[8].toPrecision(4))).replace("-", "−")));
  assert.equal(table.textContent.match(/masked/g).length, 5);
  root.byId("row-3").fire("click");
  assert.equal(moves[0].row, 3);
});

test("a row leads to its own Jacobian", () => {
  const trace = studyOf("attention", "--tokens", "3"),
    { root } = rendered(trace, { head: 1, row: 2 });
  const link = root.tagged("a").find(({ textContent }) => textContent === "the Jacobian of row 2");
  const { record, row } = parsePlace(link.attributes.href),
    { places } = jacobianOf(trace, record, 0, row);
  const { weights } = numbersOf(trace, attentionsOf(trace)[0], { sample: 0, head: 1 });
  const shown = Array.from(
    places,
    (place) => trace.tensor(trace.nodes[trace.records[record].outputs[0]].value).data[place],
  );
  assert.deepEqual(shown, [...weights.data.slice(6, 9)]);
});

// The canvas of an array of the screen, and where the middle of its cell is.
const canvasOf = (root, name) =>
  root.withClass("paired-arrays")[0].tagged("canvas").find(({ attributes }) => attributes["aria-label"].startsWith(`${name},`));
const middleOf = (canvas, [row, column], [rows, columns]) => {
  const [width, height] = canvas.style.cssText.match(/[\d.]+/g).map(Number);
  return { offsetX: ((column + 0.5) * width) / columns, offsetY: ((row + 0.5) * height) / rows };
};
const pointAt = (root, name, index, shape) => {
  const canvas = canvasOf(root, name);
  canvas.fire("pointermove", middleOf(canvas, index, shape));
  return canvas;
};
// "row 2", "column 1" or both of what is marked by pointing, by array.
const markedArrays = (root) => {
  const figures = root.withClass("paired-arrays")[0].tagged("figure");
  return Object.fromEntries(figures.map((figure) => {
    const [width, height] = figure.tagged("canvas")[0].style.cssText.match(/[\d.]+/g).map(Number);
    const bands = figure.withClass("pointed").filter(({ className }) => !className.includes("cell"));
    return [figure.withClass("array-name")[0].textContent, bands.map(({ style }) => {
      const [left, top, across, down] = style.cssText.match(/[\d.]+/g).map(Number);
      return across === width && (down !== height || top > 0) ? `row ${Math.round(top / down)}` : `column ${Math.round(left / across)}`;
    })];
  }));
};

test("a click on a cell of a query puts its row into focus, and one on a key does not", () => {
  const { root, moves } = rendered(studyOf("attention"));
  pointAt(root, "S", [3, 0], [4, 4]).fire("click");
  assert.equal(moves.pop().row, 3);
  pointAt(root, "dQ", [1, 2], [4, 4]).fire("keydown", { key: "Enter" });
  assert.equal(moves.pop().row, 1);
  pointAt(root, "K", [1, 2], [4, 4]).fire("click");
  assert.equal(moves.length, 0);
});

test("pointing at a cell marks its row, its column and its partners in all arrays", () => {
  const { root } = rendered(studyOf("attention"));
  const canvas = pointAt(root, "S", [3, 1], [4, 4]);
  const both = ["row 3", "column 1"], query = ["row 3"], key = ["row 1"];
  const expected = { Q: query, K: key, V: key, S: both, A: both, Y: query };
  for (const [name, marks] of Object.entries(expected)) {
    assert.deepEqual(markedArrays(root)[name], marks, name);
    assert.deepEqual(markedArrays(root)[`d${name}`], marks, `d${name}`);
  }
  canvas.fire("pointerleave");
  assert.ok(Object.values(markedArrays(root)).every((marks) => marks.length === 0));
  pointAt(root, "dK", [2, 0], [4, 4]);
  const { K, S, V, Q } = markedArrays(root);
  assert.deepEqual({ K, S, V, Q }, { K: ["row 2", "column 0"], S: ["column 2"], V: ["row 2"], Q: ["column 0"] });
});

test("the sentence beside is that of the row that is pointed at, and the number says where it comes from", () => {
  const trace = studyOf("attention"), { root } = rendered(trace, { row: 0 });
  const said = () => root.withClass("attention-row")[0].textContent, number = () => root.withClass("cell-text")[0].textContent;
  assert.match(said(), /^Row 0/);
  const canvas = pointAt(root, "dQ", [2, 1], [4, 4]);
  assert.match(said(), /^Row 2/);
  assert.match(number(), /^dQ\[2, 1\] = 0\.5 Σ dS\[2, n\] K\[n, 1\] = 0\.5 \(.* · .* \+ 1 smaller\) = /);
  canvas.fire("pointerleave");
  assert.match(said(), /^Row 0/);
});

test("every sum that a number is said to be is that number", () => {
  for (const options of [["attention"], ["attention", "--heads", "1", "--fused"], ["multi-head-attention", "--causal"],
    ["rmc", "--tokens", "2"], ["attention-model", "--fused"]]) {
    const trace = studyOf(...options), [attention] = attentionsOf(trace), at = { sample: 0, head: attention.heads - 1 };
    const arrays = { ...numbersOf(trace, attention, at), ...operandsOf(trace, attention, at) };
    for (const name of ["scores", "y", "dWeights", "dq", "dk", "dv"])
      for (const n of arrays[name].data.keys()) {
        const columns = arrays[name].shape[1], index = [Math.floor(n / columns), n % columns];
        if (name === "scores" && arrays.hidden(n)) continue;
        const sum = termsOfElement(arrays, name, index).reduce((total, { value }) => total + value, 0);
        assert.ok(Math.abs(sum - arrays[name].data[n]) < 1e-12, `${options.join(" ")}: ${name}[${index}]`);
      }
  }
});

test("weights without values are an attention, too, and logits of a layer are not", () => {
  const options = ["--input", "q=4x3", "--input", "k=5x3"];
  const trace = studyOf("--expr", "softmax(matmul(q, transpose(k)) / 2)", ...options), [attention] = attentionsOf(trace);
  const { q, k, v, dq, dk, factor } = operandsOf(trace, attention, { sample: 0, head: 0 });
  assert.deepEqual([q.shape, k.shape, v, factor], [[4, 3], [5, 3], null, 0.5]);
  near(dq, nodeNamed(trace, "q").gradient, "dq");
  near(dk, nodeNamed(trace, "k").gradient, "dk");
  const names = rendered(trace).root.withClass("array-name").map(({ textContent }) => textContent);
  assert.deepEqual(names, ["Q", "K", "S", "A", "dQ", "dK", "dS", "dA"]);
  const logits = studyOf("--expr", "softmax(matmul(x, w))", "--input", "x=4x3", "--input", "w=3x5");
  assert.equal(attentionsOf(logits).length, 0);
});

test("masks, biases and factors between products and scores are seen through", () => {
  const inputs = ["q=2x3", "k=4x3", "v=4x2", "m=2x4"].flatMap((one) => ["--input", one]);
  const factors = { "0.5 * p + m": 0.5, "m + p / 4": 0.25, "(p - m) * 3": 3, "p + m + 1": 1 };
  for (const [scores, factor] of Object.entries(factors)) {
    const text = `matmul(softmax(${scores.replace("p", "matmul(q, k, transpose_b=true)")}), v)`;
    const trace = studyOf("--expr", text, ...inputs), [attention] = attentionsOf(trace);
    assert.equal(operandsOf(trace, attention, { sample: 0, head: 0 }).factor, factor, scores);
  }
});

test("many features leave all pairs side by side in a wide window, and numbers to read come first in a narrow one", () => {
  const pairs = (features, tokens) => [features, features, features, tokens, tokens, features].map((columns) => ({ columns, rows: tokens, beside: 20 }));
  assert.equal(fitOf(pairs(16, 6), 928, 470).perLine, 6);
  assert.equal(fitOf(pairs(4, 4), 928, 470).perLine, 6);
  const { perLine, cell } = fitOf(pairs(4, 4), 366, Infinity);
  assert.deepEqual([perLine, cell.width >= 30], [2, true]);
});

test("64 tokens and 8 heads fit on one screen of 1280 by 800, with colours fitted to small weights", () => {
  const pair = (columns) => ({ columns, rows: 64, beside: 20, above: 20 });
  const { perLine, cell } = fitOf([8, 8, 8, 64, 64, 8].map(pair), 1232 - 304, 800 - 370);
  assert.equal(perLine, 6);
  assert.ok(cell.width >= 2 && cell.height >= 2 && 2 * (58 + 64 * cell.height) + 20 <= 430, JSON.stringify(cell));
  const weights = Float64Array.from({ length: 4096 }, (_, n) => (n === 7 ? 0.3 : 0.01));
  assert.equal(rangeWithoutOutliers(weights).high, 0.01);
  assert.equal(rangeWithoutOutliers(weights.slice(0, 16)).high, 0.3);
  assert.equal(rangeWithoutOutliers(new Float64Array(4096)).high, 1);
});

test("heads are chosen by pictures", () => {
  const { root, moves } = rendered(studyOf("attention", "--heads", "4"), { head: 1 });
  const strip = root.withClass("head-strip")[0];
  assert.deepEqual(strip.tagged("button").map(({ attributes }) => attributes["aria-pressed"]), ["false", "true", "false", "false"]);
  assert.equal(strip.tagged("canvas").length, 4);
  root.byId("head-3").fire("click");
  assert.equal(moves.pop().head, 3);
  assert.equal(rendered(studyOf("attention", "--heads", "1")).root.withClass("head-strip").length, 0);
});

test("one token of one unit, rows that see nothing and NaN break nothing", () => {
  for (const options of [
    ["attention", "--tokens", "1", "--size", "1", "--heads", "1"],
    ["--expr", "matmul(softmax(matmul(q, transpose(q)) + m), q)", "--input", "q=2x2", "--input", "m=[[-1e9,-1e9],[0,0]]"],
    ["--expr", "matmul(softmax(log(matmul(q, transpose(q)))), q)", "--input", "q=[[1,2],[-3,1]]"],
  ]) {
    const { root } = rendered(studyOf(...options));
    for (const name of ["S", "dA", "dV", "dY"]) pointAt(root, name, [0, 0], [1, 1]);
    assert.match(root.withClass("cell-text")[0].textContent, /^dY\[\d, \d\]/, options.join(" "));
  }
});

test("steps go by buttons, slider and keys, and the ends stay", () => {
  const trace = studyOf("rmc", "--tokens", "3"),
    all = attentionsOf(trace),
    { root, moves, update, key } = rendered(trace, { t: 1 });
  assert.match(root.withClass("moment-text")[0].textContent, /rmc_model\/core, step 1, head 0/);
  root.byId("attention-step-forward").fire("click");
  assert.deepEqual(moves.pop(), { record: all[2].record, layer: 0, t: 2, head: 0 });
  update({ record: all[2].record });
  assert.ok(root.byId("attention-step-forward").disabled);
  assert.equal(key("ArrowLeft", { record: all[2].record }), true);
  assert.equal(moves.pop().t, 1);
  assert.equal(key("x", {}), false);
});

test("the map has every head of every attention, and a click leads there", () => {
  const trace = studyOf("rmc", "--tokens", "3"),
    all = attentionsOf(trace);
  for (const [kind, name] of ["weights", "dWeights", "dScores"].entries()) {
    const { array } = mapOf(trace, all, mapKinds[kind], 0);
    assert.deepEqual(array.shape, [2, 3, 3, 4]);
    for (const head of [0, 1])
      for (const t of [0, 1, 2]) {
        const own = numbersOf(trace, all[t], { sample: 0, head })[name];
        assert.deepEqual(
          [...own.data],
          Array.from({ length: 12 }, (_, n) => array.at(head, t, Math.floor(n / 4), n % 4)),
        );
      }
  }
  const { root, moves, update } = rendered(trace, { t: 1, head: 1 }),
    [map] = root.withClass("attention-map");
  const marked = () => map.withClass("now").map(({ textContent }) => textContent);
  assert.deepEqual(marked().sort(), ["1", "head 1"]);
  const [canvas] = map.tagged("canvas");
  canvas.fire("pointermove", { offsetX: Number.parseFloat(canvas.style.cssText.slice(6)) - 2, offsetY: 2 });
  map.tagged("figure")[0].fire("click", { target: { tagName: "CANVAS" } });
  assert.deepEqual(moves.pop(), { record: all[2].record, layer: 0, t: 2, head: 0 });
  update({ t: 0, head: 0 });
  assert.deepEqual(marked().sort(), ["0", "head 0"]);
});

test("the map cuts no head of eight with 48 rows", () => {
  const { root } = rendered(studyOf("attention", "--heads", "8", "--tokens", "48")),
    [map] = root.withClass("attention-map");
  assert.doesNotMatch(map.textContent, /cut: the first/);
});

test("the row in focus is the one with the largest gradient, until another is named", () => {
  const inputs = ["q=4x2", "k=4x2", "v=4x2", "read=[[0],[0],[0],[1]]"].flatMap((one) => ["--input", one]);
  const trace = studyOf("--expr", "matmul(softmax(matmul(q, transpose(k))), v) * read", ...inputs),
    at = { record: attentionsOf(trace)[0].record };
  assert.match(rendered(trace, at).root.withClass("attention-row")[0].textContent, /^Row 3/);
  assert.match(
    rendered(trace, { ...at, row: 1 }).root.withClass("attention-row")[0].textContent,
    /does not depend on this row/,
  );
});

test("what is no attention has no view", () => {
  for (const subject of ["softmax", "lstm", "layer-norm"]) assert.equal(attentionView.applies(studyOf(subject)), false);
});

test("a row of one key says that there is no other, and not that a mask hid them", () => {
  const trace = studyOf("attention", "--tokens", "1", "--size", "1", "--heads", "1");
  const numbers = numbersOf(trace, attentionsOf(trace)[0], { sample: 0, head: 0 });
  assert.match(rowText(numbers, rowOf(numbers, 0), 0), /^△ There is only one key\./);
});

test("weights that were not kept are no matter of sizes alone", () => {
  const { root } = rendered(studyOf("attention", "--tokens", "300", "--size", "2"), {});
  assert.match(root.withClass("attention-map")[0].textContent, /were not kept/);
});

test("words of the rows name queries and keys", () => {
  const trace = studyOf("multi-head-attention", "--tokens", "3"), root = element("div");
  const show = () => {
    root.replaceChildren();
    attentionView.render(root, { trace, verdicts: [], place: { view: "attention", row: 1 }, go: () => {} });
    return root.textContent;
  };
  assert.ok(!show().includes("moved"));
  trace.nodes.find(({ name }) => name === "x").row_names = ["Mary moved to the garden", "Mary left", "where?"];
  assert.match(show(), /Row 1, Mary left: /);
  assert.match(root.textContent, /key 0: Mary moved to the gardenkey 1: Mary leftkey 2: where\?/);
});
