// The page's verdicts on everything that retrace study knows: each record agrees with the rules, in all ways to ask.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

import { checkAll } from "../../../models/study/page/check.js";
import { program, studyData, studyOf } from "./study_traces.mjs";
import { unseenChanges } from "./tensor_changes.mjs";

const { stderr } = spawnSync(program, ["study", "nothing-of-this-name"], { encoding: "utf8" });
const subjects = stderr.match(/\(known: (.*)\)/)[1].split(", ");

const sizes = [[], ["--tokens", "12", "--size", "16"], ["--size", "32", "--heads", "4", "--slots", "5", "--causal"]];
const ways = [...sizes, ["--tokens", "5", "--size", "16", "--dtype", "f32"]].flatMap((way) => [way, [...way, "--fused"]]);

// The flags of sizes that a subject has: it refuses the others, and none has all.
const hasFlags = (subject) =>
  spawnSync(program, ["study", subject, "--slots", "3", "--causal"], { encoding: "utf8" })
    .stderr.match(/it has (.*)/)[1]
    .split(", ");

/** A way without the flags, and their values, that are sizes and not among these. */
const without = (way, flags) =>
  way.filter((word, n) => {
    const flag = word.startsWith("--") ? word : way[n - 1];
    return ["--dtype", "--fused", ...flags].includes(flag);
  });

/** Lines for the records that do not agree. The last state of a recurrent network is not part of the loss. */
function complaintsAbout(trace) {
  return checkAll(trace).flatMap(({ verdict, difference, where }, index) => {
    const { op } = trace.records[index];
    if (verdict === "agrees" || (verdict === "not reached" && ["concat", "reshape"].includes(op))) return [];
    return [`record ${index}, ${op}: ${verdict}, ${difference} ${JSON.stringify(where)}`];
  });
}

for (const subject of subjects) {
  test(`every record of ${subject} agrees`, () => {
    const flags = hasFlags(subject);
    for (const way of ways.map((asked) => without(asked, flags))) {
      const trace = studyOf(subject, ...way);
      assert.ok(trace.records.some(({ reached }) => reached));
      assert.deepEqual(complaintsAbout(trace), [], way.join(" "));
    }
  });
}

for (const subject of subjects)
  test(`every tensor of ${subject}, changed by 0.1 %, turns a record red`, () => {
    const flags = hasFlags(subject);
    for (const way of [[], ["--fused"], ["--dtype", "f32"], ["--causal"]].map((asked) => without(asked, flags))) {
      const { count, unseen } = unseenChanges(studyData(subject, ...way));
      assert.deepEqual(unseen, [], way.join(" "));
      assert.ok(count > 3);
    }
  });

test("all subjects were asked for", () => assert.ok(subjects.length >= 11, stderr));
