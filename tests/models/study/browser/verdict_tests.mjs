// What a page says when something is wrong: with its numbers, its text or its browser.
import assert from "node:assert/strict";
import { test as testOf } from "node:test";

import { showOnPaper } from "./measures.mjs";
import { corrupt } from "./pages.mjs";
import { dataset, momentText, panelText, press, selectedView, viewsOf } from "./session.mjs";

const test = (name, check) => testOf(name, { timeout: 120e3 }, check);

export const testVerdictsIn = ({ browserName, light, dark, made, files, inPage }) => {
  test("one wrong number turns its record red, and no other", async () => {
    const { file, changed: record } = made.makeChanged(files.attention, "corrupted", corrupt);
    await inPage(light, file, { fragment: `#view=tape&record=${record}` }, async (opened) => {
      assert.equal((await dataset(opened)).mismatches, "1");
      assert.equal((await dataset(opened)).verdict, "red");
      assert.match(await opened.page.$eval("#summary", ({ innerText }) => innerText), /^✗/);
      assert.match(await opened.page.$eval(".card .verdict", ({ innerText }) => innerText), /✗ differs/);
      const red = await opened.page.$$eval(".row.record", (rows) =>
        rows.filter((row) => row.querySelector(".verdict.differs")).map((row) => row.textContent));
      assert.equal(red.length, 1);
      assert.match(red[0], new RegExp(`^${record}\\D.*differs$`));
      assert.deepEqual(await opened.violations(), []);
    });
  });

  test("a red heading leads to each wrong record, by its link, its button and a key", async () => {
    const { file, changed: record } = made.makeChanged(files.attention, "corrupted", corrupt);
    await inPage(light, file, {}, async (opened) => {
      await opened.page.click("#first-problem");
      assert.match(await momentText(opened), new RegExp(`: record ${record}$`));
      for (const go of [() => press(opened, "n"), () => opened.page.click("#next-problem")]) {
        await opened.goTo("#view=lessons");
        await go();
        assert.equal(await selectedView(opened), "tape");
        assert.match(await momentText(opened), new RegExp(`: record ${record}$`));
      }
    });
  });

  test("values that the tape did not keep make the heading amber, with the reason and the remedy", async () => {
    const { file } = made.makeChanged(files.attention, "dropped", ({ trace }) => (trace.nodes.at(-1).value = null));
    await inPage(light, file, {}, async (opened) => {
      assert.equal((await dataset(opened)).verdict, "amber");
      const said = await opened.page.$eval("#summary", ({ innerText }) => innerText);
      assert.match(said, /^! (\d+) of (?!\1)\d+ records checked: .* not checked \(not kept\): .*\.keep = true/);
      assert.deepEqual(await opened.violations(), []);
    });
  });

  test("a wrong number of three makes the heading red", async () => {
    const { file } = made.makeChanged(files.attention, "three", ({ trace }) => (trace.checks[0].dual *= 1.1));
    await inPage(light, file, {}, async (opened) => {
      assert.equal((await dataset(opened)).verdict, "red");
      await opened.page.click("#first-problem");
      assert.match(await panelText(opened), /Three ways to one number.*✗/);
    });
  });

  test("the page of what is not finite opens at the first record that is not", () =>
    inPage(light, "not-finite", {}, async (opened) => {
      assert.equal(await selectedView(opened), "nan");
      assert.equal((await viewsOf(opened))[0], "nan");
      assert.match(await panelText(opened), /Forward, first in record 0, log/);
    }));

  test("the policy of the page lets no other program run", () =>
    inPage(light, "attention", {}, async ({ page }) => {
      const ran = await page.evaluate(() => {
        const script = document.createElement("script");
        script.textContent = "window.intruded = true";
        document.body.append(script);
        return window.intruded === true;
      });
      assert.equal(ran, false);
      assert.match(await page.$eval("meta[http-equiv]", ({ content }) => content), /^default-src 'none'; script-src 'sha256-/);
    }, [/Content.Security.Policy/]));

  test("without JavaScript the page says so", async () => {
    const file = made.makeDamaged(files.attention, "without", /<script type="module">/, '<script type="none">');
    const opened = await light.open(file, { isDamaged: true });
    assert.match(await opened.page.$eval("#summary", ({ innerText }) => innerText), /JavaScript, which is off or blocked/);
    await opened.page.close();
  });

  test("on paper a page is light, and without its controls", () =>
    inPage(dark, "attention", { fragment: "#view=tape" }, async ({ page }) => {
      if (browserName !== "chrome") return;
      await page.emulateMediaType("print");
      const look = (selector, name) => page.$eval(selector, (one, property) => getComputedStyle(one)[property], name);
      assert.equal(await look("html", "backgroundColor"), "rgb(252, 251, 248)");
      for (const control of ["nav", ".tape-list", ".moment-slider"]) assert.equal(await look(control, "display"), "none");
      await page.evaluate(showOnPaper);
      const shown = await page.$$eval("button:not(th button), input[type=range]", (all) => all.filter((one) => one.checkVisibility()).length);
      assert.equal(shown, 0, "controls on paper");
    }));

  test("a damaged page says that it is", async () => {
    const damages = [
      [/(id="programs">)[^]{40}/, "$1", /its programs are damaged; write it again/],
      [/"version":\s*1/, '"version": 9', /reads traces of version 1, and this is 9/],
      [/"format":\s*"retrace.trace"/, '"format": "other"', /this is not a trace/],
    ];
    const { file: plain } = made.makeChanged(files.attention, "plain", () => {});
    for (const [from, to, says] of damages) {
      const opened = await light.open(made.makeDamaged(plain, "damaged", from, to), { isDamaged: true });
      await opened.page.waitForFunction(() => !/reads its numbers/.test(document.getElementById("summary").innerText));
      assert.match(await opened.page.$eval("#summary", ({ innerText }) => innerText), says);
      assert.equal((await dataset(opened)).ready, undefined);
      await opened.page.close();
    }
  });
};
