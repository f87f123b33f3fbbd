// Real traces for the tests of views: what `retrace study SUBJECT ... --json` prints.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

import { openTrace } from "../../../models/study/page/trace.js";

export const program = process.env.RETRACE_PROGRAM ?? "build/debug/bin/retrace";
if (!existsSync(program)) {
  console.log(`skipped: there is no ${program}`);
  process.exit(77);
}

export const studyData = (...options) =>
  JSON.parse(execFileSync(program, ["study", ...options, "--json"], { maxBuffer: 2 ** 28 }));

export const studyOf = (...options) => openTrace(studyData(...options));

export const nodeNamed = (trace, name) => {
  const { value, gradient } = trace.nodes.find((node) => node.name === name);
  return { value: trace.tensor(value), gradient: trace.tensor(gradient) };
};
