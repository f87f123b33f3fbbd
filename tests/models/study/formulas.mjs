// The formulas of every op and of every call of the gradient-check table, as list_formulas prints them; null if the
// tests run without that program.
import { execFileSync } from "node:child_process";

const program = process.env.RETRACE_LIST_FORMULAS;

export const formulasOfTheTable = () =>
  program ? JSON.parse(execFileSync(program, { encoding: "utf8", maxBuffer: 1 << 26 })) : null;
export const withoutTheProgram = program ? false : "RETRACE_LIST_FORMULAS names no program list_formulas";
