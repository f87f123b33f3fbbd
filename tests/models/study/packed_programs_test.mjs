// The programs as embed_page.cmake packs them: one module that loads nothing, and ends by opening the page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";

const program = process.env.RETRACE_PROGRAM ?? "build/debug/bin/retrace";
if (!existsSync(program)) {
  console.log(`skipped: there is no ${program}`);
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "packed_programs_"));
after(() => rmSync(folder, { recursive: true }));
execFileSync(program, ["study", "softmax", "--out", join(folder, "page.html")]);
const page = readFileSync(join(folder, "page.html"), "utf8");
const [, packed] = /id="programs">([^<]*)</.exec(page);
const programs = gunzipSync(Buffer.from(packed, "base64")).toString();

test("the last statement opens the page", () => {
  assert.ok(programs.trimEnd().endsWith('if (typeof document !== "undefined") openPage();'));
});

test("nothing is imported, exported or loaded", () => {
  assert.doesNotMatch(programs, /^(import|export) /m);
  for (const loading of ["import(", "fetch(", "XMLHttpRequest", "@import", 'src="', "url("])
    assert.ok(!programs.includes(loading), loading);
});

test("comments and indentation are left out, and every declaration is there", () => {
  assert.doesNotMatch(programs, /^( |\/\/|\/\*)/m);
  for (const name of ["openTrace", "checkRecord", "arrayView", "formulaMath", "views"])
    assert.equal(programs.match(new RegExp(`^(const|function|async function) ${name}\\b`, "gm"))?.length, 1, name);
});
