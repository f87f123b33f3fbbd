// The tests of the study page that every browser has to pass.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { after, test as testOf } from "node:test";

import { startBrowser } from "./browsers.mjs";
import { measureViews, putPaperAway, showOnPaper, whatSticksOut } from "./measures.mjs";
import { corrupt, makePages, renameAll, templateSize } from "./pages.mjs";

const test = (name, check) => testOf(name, { timeout: 120e3 }, check);

const selectedView = ({ page }) =>
  page.$eval('#tabs [aria-selected="true"]', (tab) => tab.id.replace("tab-", ""));
const viewsOf = ({ page }) => page.$$eval("#tabs [role=tab]", (tabs) => tabs.map(({ id }) => id.replace("tab-", "")));
const momentText = ({ page }) => page.$eval(".moment-text", ({ textContent }) => textContent);
// Without the list of the tape, whose open scopes are no part of a place.
const panelText = ({ page }) =>
  page.$eval("#panel", (panel) => {
    const list = panel.querySelector(".tape-list")?.innerText ?? "";
    return panel.innerText.replace(list, "").replace(/\s+/g, " ");
  });
const dataset = ({ page }) => page.$eval("html", ({ dataset }) => ({ ...dataset }));

const press = async ({ page }, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

// Presses a key in the page itself, and says how long each took with its layout: {count, median, largest}.
const stepTimes = ({ page }, key, count) =>
  page.evaluate((key, count) => {
    const times = [];
    for (let step = 0; step < count; ++step) {
      const start = performance.now();
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      document.body.getBoundingClientRect();
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    return { median: times[times.length >> 1], largest: times.at(-1) };
  }, key, count);

const milliseconds = (time) => (time === null ? "?" : `${time.toFixed(1)} ms`);

const reportTimes = async (name, opened) => {
  const { ready, longestTask, paint } = await opened.page.evaluate(async () => {
    for (let frame = 0; frame < 2; ++frame) await new Promise(requestAnimationFrame);
    return { ...window.pageTimes, paint: performance.getEntriesByType("paint").at(-1)?.startTime ?? null };
  });
  console.log(`${name}: first paint after ${milliseconds(paint)}, ready after ${milliseconds(ready)}, longest task ` +
    milliseconds(longestTask));
};

const everyWidth = [320, 390, 640, 800, 1280, 1440];

// Every view shows something when it is opened in each width, and nothing sticks out.
const checkViews = async (opened, widths) => {
  for (const width of widths) {
    await opened.resize(width);
    for (const { view, isSelected, height, overflow } of await opened.page.evaluate(measureViews)) {
      assert.ok(isSelected && height > 40, `${view} shows nothing at ${width} pixels`);
      assert.equal(overflow, 0, `${view} sticks out at ${width} pixels`);
    }
  }
};

// The same for all views below one another, as they are printed: nothing is rendered anew when the width changes.
const checkViewsOnPaper = async (opened, widths) => {
  const heights = await opened.page.evaluate(showOnPaper);
  assert.deepEqual(Object.keys(heights).sort(), (await viewsOf(opened)).sort());
  for (const [view, height] of Object.entries(heights)) assert.ok(height > 40, `${view} shows nothing`);
  for (const width of widths) {
    await opened.resize(width);
    assert.equal(await opened.page.evaluate(whatSticksOut), null, `at ${width} pixels`);
  }
  assert.equal(await opened.page.evaluate(putPaperAway), 1);
};

// Forward and back through the whole tape, by the keys alone; from the middle of a long one.
const stepThroughTape = async (opened, name) => {
  const { records } = await dataset(opened), isLong = records > 100;
  await opened.goTo("#view=tape");
  const [, reached] = /^backward, step 1 of (\d+): record/.exec(await momentText(opened));
  const end = `backward, step ${reached} of ${reached}: record 0`, start = `forward, step 1 of ${records}: record 0`;
  const steps = isLong ? 99 : Number(records) + Number(reached);
  await opened.goTo(isLong ? `#view=tape&record=${steps}` : "#view=tape&record=0&phase=forward");
  const forward = await stepTimes(opened, "ArrowRight", steps);
  assert.equal(await momentText(opened), end);
  if (isLong) await opened.goTo(`#view=tape&record=${steps}&phase=forward`);
  const back = await stepTimes(opened, "ArrowLeft", steps);
  assert.equal(await momentText(opened), start);
  await press(opened, "End", "ArrowLeft", "ArrowRight", "k", "j");
  assert.equal(await momentText(opened), end);
  await press(opened, "Home");
  assert.equal(await momentText(opened), start);
  const largest = Math.max(forward.largest, back.largest);
  console.log(`${name}: ${records} records, a step takes ${milliseconds(forward.median)}, at most ${milliseconds(largest)}`);
};

// A view after some keys is the same when its address is opened anew.
const checkPlaces = async (opened) => {
  for (const view of await viewsOf(opened)) {
    await opened.goTo(`#view=${view}`);
    assert.equal(await selectedView(opened), view);
    await press(opened, "End", "ArrowLeft", "ArrowLeft", "Home", "ArrowRight", "ArrowRight");
    const shown = await panelText(opened);
    await opened.reload();
    assert.equal(await selectedView(opened), view);
    assert.equal(await panelText(opened), shown, `${view} after a reload`);
  }
};

const checkSummary = async (opened, expected = "green") => {
  const { records, checked, mismatches, verdict } = await dataset(opened);
  const said = await opened.page.$eval("#summary", ({ innerText }) => innerText);
  assert.equal(mismatches, "0", said);
  assert.equal(verdict, expected, said);
  assert.equal(checked, records, said);
  assert.ok(Number(checked) > 0, said);
};

// These have every view between them.
const pagesOfEveryView = ["attention", "rmc", "not-finite"];
const pagesOfEverySort = [...pagesOfEveryView, "causal", "attention-model", "lstm", "fused", "tiny", "tiny-lstm"];
// The smallest and the largest.
const pagesOfEveryWidth = [...pagesOfEveryView, "tiny", "tiny-lstm", "wide"];

export const testPagesIn = (browserName) => {
  const made = makePages(), browsers = {};
  const files = new Proxy({}, { get: (all, name) => (all[name] ??= made.make(name)) });
  const inScheme = (scheme) => ({ open: async (...page) => (await (browsers[scheme] ??= startBrowser(browserName, scheme))).open(...page) });
  const light = inScheme("light"), dark = inScheme("dark");
  after(async () => {
    for (const browser of Object.values(browsers)) await (await browser).close();
    made.remove();
  });
  const inPage = async (browser, file, options, check, expectedComplaints = []) => {
    const opened = await browser.open(file.includes("/") ? file : files[file], options);
    await check(opened);
    await opened.close(expectedComplaints);
  };

  test("the template and the pages have the size that is promised", () => {
    const sizes = { template: templateSize(files.attention), attention: statSync(files.attention).size };
    sizes.rmc = statSync(files.rmc).size;
    console.log(`bytes: ${JSON.stringify(sizes)}`);
    assert.ok(sizes.template <= 180e3 && sizes.attention <= 400e3 && sizes.rmc <= 4e6, JSON.stringify(sizes));
  });

  for (const name of pagesOfEverySort)
    test(`${name}: everything agrees, every view shows something, and keys lead to the end and back`, () =>
      inPage(light, name, {}, async (opened) => {
        await reportTimes(name, opened);
        await checkSummary(opened, name === "not-finite" ? "red" : "green");
        await checkViews(opened, [390, 1280]);
        await stepThroughTape(opened, name);
      }));

  for (const name of pagesOfEveryWidth)
    test(`${name}: nothing sticks out of any view from 320 to 1440 pixels, on paper either`, () =>
      inPage(light, name, {}, async (opened) => {
        await checkViewsOnPaper(opened, everyWidth);
        if (browserName !== "chrome") return;
        await opened.page.emulateMediaType("print");
        await checkViewsOnPaper(opened, [720]);
      }));

  for (const name of pagesOfEveryView)
    test(`${name}: axe-core finds nothing in any view`, () =>
      inPage(light, name, {}, async (opened) => assert.deepEqual(await opened.violationsOfViews(), [])));

  for (const name of pagesOfEveryView)
    test(`${name}: every view is the same after a reload`, () => inPage(light, name, {}, checkPlaces));

  for (const name of pagesOfEveryView)
    test(`${name}: axe-core finds nothing in the dark scheme and in a narrow window`, () =>
      inPage(dark, name, {}, async (opened) => {
        assert.ok(await opened.page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches));
        await opened.resize(390);
        assert.deepEqual(await opened.violationsOfViews(), []);
      }));

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
        assert.deepEqual(await opened.violations(), [], `at ${width} pixels`);
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

  test("names are shown as text, however they read, and fit into a narrow window", async () => {
    const { file } = made.makeChanged(files["attention-model"], "renamed", renameAll);
    await inPage(light, file, {}, async (opened) => {
      assert.equal(await opened.page.$("img"), null);
      assert.match(await opened.page.title(), /^<\/script><img/);
      await checkViews(opened, [320, 800]);
      await checkSummary(opened);
    });
  });

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
          document.querySelector(".skip").focus();
          return window.unvisited.size;
        });
        // In some browsers, regions that scroll are stops, too.
        for (let step = 0; step < count + 40; ++step) {
          await opened.page.evaluate(() => window.unvisited.delete(document.activeElement));
          await press(opened, "Tab");
        }
        const unvisited = await opened.page.evaluate(() => [...window.unvisited].map(({ outerHTML }) => outerHTML));
        assert.deepEqual(unvisited, [], view);
      }
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

  test("a tape of thousands of records opens folded", () =>
    inPage(light, "long", {}, async (opened) => {
      const { records } = await dataset(opened);
      assert.ok(records > 5000, records);
      await reportTimes(`${records} records`, opened);
      await checkSummary(opened);
      for (const place of ["#view=tape", "#view=tape&record=2000"]) {
        await opened.goTo(place);
        const rows = await opened.page.$$eval(".tape-list .row", ({ length }) => length);
        assert.ok(rows > 0 && rows < 100, `${rows} rows`);
      }
      const { median, largest } = await stepTimes(opened, "ArrowRight", 20);
      console.log(`${records} records: a step takes ${milliseconds(median)}, at most ${milliseconds(largest)}`);
    }));
};
