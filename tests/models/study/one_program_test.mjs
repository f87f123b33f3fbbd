// The modules of the page as the one program that the build makes of them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const folder = new URL("../../../models/study/page/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".js"));

// As embed_page.cmake does it.
const programOf = (file) =>
  readFileSync(new URL(file, folder), "utf8")
    .replace(/^import [^;]*;/gm, "")
    .replace(/^export /gm, "");

// In a block, a name that is declared twice is an error, as in a module.
const parses = (program) => new vm.Script(`"use strict"; async () => { ${program}\n}`);

test("no two modules declare the same name", () => {
  const owners = new Map();
  for (const file of files)
    for (const [, name] of programOf(file).matchAll(/^(?:async )?(?:const|let|class|function\*?) (\w+)/gm)) {
      assert.equal(owners.get(name), undefined, `${name} is declared in ${owners.get(name)} and ${file}`);
      owners.set(name, file);
    }
  parses(files.map(programOf).join("\n"));
});

test("modules only declare; what runs the page is the last line of app.js", () => {
  for (const file of files) {
    const statements = programOf(file)
      .split("\n")
      .filter((line) => /^[^\s/}\])]/.test(line));
    const running = statements.filter((line) => !/^(async |const |let |class |function)/.test(line));
    const expected = file === "app.js" ? ['if (typeof document !== "undefined") openPage();'] : [];
    assert.deepEqual(running, expected, file);
  }
});

test("imports name files that are there and names that these export", () => {
  for (const file of files) {
    const source = readFileSync(new URL(file, folder), "utf8");
    for (const [, names, from] of source.matchAll(/^import \{([^}]*)\} from "\.\/([^"]*)";/gm)) {
      assert.ok(files.includes(from), `${file} imports ${from}`);
      for (const name of names
        .split(",")
        .map((one) => one.trim())
        .filter(Boolean))
        assert.match(
          readFileSync(new URL(from, folder), "utf8"),
          new RegExp(`^export (?:\\w+ )+${name}\\b`, "m"),
          `${file}: ${name} of ${from}`,
        );
    }
    assert.doesNotMatch(source, /^import (?!\{)|^export (?:default|\{|\*)/m, file);
  }
});
