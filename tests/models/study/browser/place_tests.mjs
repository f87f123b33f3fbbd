// Where a page opens, where its addresses, links and keys lead, and its exercises.
import assert from "node:assert/strict";
import { test as testOf } from "node:test";

import { momentText, panelText, press, selectedView, viewsOf } from "./session.mjs";

const test = (name, check) => testOf(name, { timeout: 120e3 }, check);

export const testPlacesIn = ({ light, inPage }) => {
  test("a page opens with a guide that says what it is, what the loss is and where to go", () =>
    inPage(light, "attention", {}, async (opened) => {
      assert.equal(await selectedView(opened), "start");
      const said = await panelText(opened);
      assert.match(said, /The loss is .*each element of a result y counts with its own number in R/);
      assert.match(said, /The largest gradient of a score: \|dS\| = /);
      const links = await opened.page.$$eval(".guide a", (all) => all.map(({ hash }) => new URLSearchParams(hash.slice(1)).get("view")));
      assert.deepEqual(links.slice(1), (await viewsOf(opened)).slice(1));
      await opened.page.click(".guide a");
      assert.match(await momentText(opened), /^backward, the seed/);
      assert.match(await panelText(opened), /arrives at record \d+/);
      await press(opened, "ArrowRight");
      assert.match(await momentText(opened), /^backward, step 1 of/);
    }));

  test("the overview fits into its window, moves through the steps, and its boxes open their records", () =>
    inPage(light, "lstm", {}, async (opened) => {
      const fits = () => {
        const { scrollWidth, clientWidth } = document.querySelector(".overview-scroll");
        return scrollWidth <= clientWidth;
      };
      for (const width of [320, 390, 800, 1280, 1440]) {
        await opened.resize(width);
        await opened.page.waitForFunction(fits);  // it is drawn anew
        if (width === 320) assert.deepEqual(await opened.violations(), []);
      }
      const gradient = () => opened.page.$eval("#overview-7 .overview-gradient", ({ innerText }) => innerText);
      const last = await gradient();
      await press(opened, "Home");
      assert.notEqual(await gradient(), last);
      await opened.reload();
      assert.match(await momentText(opened), /^step 0 of 3/);
      await opened.page.focus("#overview-7");
      await press(opened, "Enter");
      assert.equal(await selectedView(opened), "tape");
      assert.match(await panelText(opened), /17 mul .*h \(h\)|17 mul .*h \(y\)/);
    }));

  test("in a wide window a card has its backward beside its forward, and is about one screen", () =>
    inPage(light, "attention", { fragment: "#view=tape&record=8", width: 1440 }, async ({ page }) => {
      const boxes = await page.$$eval(".card .half", (halves) => halves.map((half) => half.getBoundingClientRect().toJSON()));
      assert.equal(boxes.length, 2);
      assert.ok(boxes[0].right <= boxes[1].left && boxes[0].top === boxes[1].top);
      assert.ok(Math.max(boxes[0].height, boxes[1].height) <= 700, JSON.stringify(boxes));
      assert.ok(boxes[1].right >= 1380);
    }));

  test("brackets and signs of a formula are no higher than its line, whatever fonts there are", () =>
    inPage(light, "attention", { fragment: "#view=tape&record=8" }, async ({ page }) => {
      const heights = await page.$$eval(".card .formula mo", (all) =>
        all.map((one) => one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).fontSize)));
      assert.ok(heights.length > 4 && Math.max(...heights) < 2, JSON.stringify(heights));
    }));

  test("the tape opens at the last record that the backward reached", () =>
    inPage(light, "lstm", { fragment: "#view=tape" }, async (opened) => {
      assert.match(await momentText(opened), /^backward, step 1 of (\d+): record/);
      assert.match(await opened.page.$eval(".card", ({ innerText }) => innerText), /arrives/);
    }));

  test("attention opens at the largest gradient of a score, and names it", () =>
    inPage(light, "attention", { fragment: "#view=attention" }, async (opened) => {
      const [, head, row, key] = /head (\d), row (\d), key (\d)/.exec(await opened.page.$eval("#largest-score", ({ innerText }) => innerText));
      assert.match(await momentText(opened), new RegExp(`head ${head}$`));
      assert.match(await panelText(opened), new RegExp(`Row ${row}: .* Key ${key} has dA`));
    }));

  test("the keys have a button, and are listed from within an array, too", () =>
    inPage(light, "attention", { fragment: "#view=tape" }, async (opened) => {
      const isOpen = () => opened.page.$eval("#help", ({ open }) => open);
      await opened.page.click("#show-help");
      assert.ok(await isOpen());
      await press(opened, "Escape");
      await opened.page.focus(".card canvas");
      await press(opened, "?");
      assert.ok(await isOpen());
    }));

  test("an address leads to its record, head and time, after a reload, too", () =>
    inPage(light, "attention", { fragment: "#record=17&head=1&t=3" }, async (opened) => {
      const shown = await panelText(opened);
      await opened.reload();
      assert.equal(await panelText(opened), shown);
      await opened.goTo("#view=tape&record=3");
      assert.match(await momentText(opened), /^backward.*: record 3$/);
      await opened.page.goBack();
      await opened.settle();
      assert.equal(await panelText(opened), shown);
    }));

  test("a link that is followed right after a step leads to its place", () =>
    inPage(light, "attention", { fragment: "#view=tape&record=3" }, async (opened) => {
      await opened.page.evaluate(() => {
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        const timerIsDue = performance.now() + 200;
        location.hash = "#view=tape&record=7";
        while (performance.now() < timerIsDue);
      });
      await opened.settle();
      assert.match(await momentText(opened), /: record 7$/);
      assert.match(await opened.page.evaluate(() => location.hash), /record=7/);
    }));

  test("an address leads to its head, step and sample in the views of attention and of memories", () =>
    inPage(light, "rmc", { fragment: "#view=attention&layer=0&t=3&head=1" }, async (opened) => {
      assert.match(await momentText(opened), /, step 3, head 1$/);
      await press(opened, "ArrowRight");
      await opened.reload();
      assert.match(await momentText(opened), /, step 4, head 1$/);
      await opened.goTo("#view=memory&t=6");
      assert.match(await momentText(opened), /, step 6$/);
      await press(opened, "Home");
      await opened.reload();
      assert.match(await momentText(opened), /, step 0$/);
    }));

  test("an exercise knows the right answer and names a typical mistake", () =>
    inPage(light, "attention", { fragment: "#view=exercises&exercise=softmax-dx" }, async (opened) => {
      const answer = async (text, kind) => {
        await opened.page.$eval("#exercise-answer", (input) => input.select());
        await opened.page.type("#exercise-answer", text);
        await opened.page.keyboard.press("Enter");
        return opened.page.$eval(".exercise-verdict", (status) => [status.className, status.innerText]);
      };
      const [mistake, says] = await answer("dy * y * (1 - y)");
      assert.match(mistake, /mistake/);
      assert.match(says, /^✗ Only the diagonal of the Jacobian/);
      assert.match((await answer("dy * (y"))[0], /error/);
      assert.deepEqual(await opened.violations(), []);
      assert.match((await answer("y * (dy - sum(dy * y, 1))"))[0], /exact/);
      assert.match(await opened.page.$eval("#exercise-softmax-dx", ({ innerText }) => innerText), /solved/);
      assert.deepEqual(await opened.violations(), []);
    }));

  test("keys reach tabs, arrays and their tables", () =>
    inPage(light, "attention", { fragment: "#view=tape&record=0" }, async (opened) => {
      await press(opened, "Tab");
      assert.equal(await opened.page.evaluate(() => document.activeElement.className), "skip");
      await press(opened, "Tab");
      const views = await viewsOf(opened), first = views.indexOf("tape");
      await press(opened, "ArrowRight");
      assert.equal(await selectedView(opened), views[(first + 1) % views.length]);
      await press(opened, "ArrowLeft");
      assert.equal(await selectedView(opened), "tape");
      await opened.page.focus(".card canvas");
      await press(opened, "ArrowRight");
      const reading = () => opened.page.$eval(".card .array-readout", ({ innerText }) => innerText);
      assert.match(await reading(), /^\[0, 1\] = /);
      await opened.page.focus(".card .array-table summary");
      await press(opened, "Enter");
      await opened.page.waitForSelector(".card .array-table tbody td");
      assert.deepEqual(await opened.violations(), []);
      await press(opened, "?");
      assert.ok(await opened.page.$("#help[open]"));
      assert.deepEqual(await opened.violations(), []);
      await press(opened, "Escape");
      assert.equal(await opened.page.$("#help[open]"), null);
    }));

  test("Tab leads through every control of a view", () =>
    inPage(light, "rmc", { fragment: "#view=memory&t=2" }, async (opened) => {
      for (const view of ["memory", "attention", "outer-products"]) {
        await opened.goTo(`#view=${view}&t=2`);
        const count = await opened.page.evaluate(() => {
          const controls = "a[href], button:not(:disabled, [role=tab]), input, select, summary, [tabindex='0']";
          window.unvisited = new Set([...document.querySelectorAll(controls)].filter((one) => one.checkVisibility()));
          onkeydown = () => window.unvisited.delete(document.activeElement);
          document.querySelector(".skip").focus();
          return window.unvisited.size;
        });
        // In some browsers, regions that scroll are stops, too.
        for (let step = 0; step < count + 40; ++step) await press(opened, "Tab");
        const unvisited = await opened.page.evaluate(() => [...window.unvisited].map(({ outerHTML }) => outerHTML));
        assert.deepEqual(unvisited, [], view);
      }
    }));
};
