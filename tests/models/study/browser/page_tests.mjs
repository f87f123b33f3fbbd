// The tests of the study page that every sort of page has to pass in every browser: in each width and scheme and on
// paper, by keys, and after a reload.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test as testOf } from "node:test";

import { measureViews, putPaperAway, showOnPaper, whatSticksOut } from "./measures.mjs";
import { renameAll, templateSize } from "./pages.mjs";
import { checkSummary, dataset, momentText, panelText, press, selectedView, viewsOf } from "./session.mjs";

const test = (name, check) => testOf(name, { timeout: 120e3 }, check);

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

// The same for all views below one another, as they are printed. (Only Chromium can be told that it prints.)
const checkPaper = async (opened, browserName) => {
  if (browserName === "chrome") await opened.page.emulateMediaType("print");
  await opened.resize(720);
  const heights = await opened.page.evaluate(showOnPaper);
  assert.deepEqual(Object.keys(heights).sort(), (await viewsOf(opened)).sort());
  for (const [view, height] of Object.entries(heights)) assert.ok(height > 40, `${view} shows nothing`);
  assert.equal(await opened.page.evaluate(whatSticksOut), null);
  assert.equal(await opened.page.evaluate(putPaperAway), 1);
  if (browserName === "chrome") await opened.page.emulateMediaType("screen");
};

// Forward and back through the whole tape, by the keys alone; from the middle of a long one.
const stepThroughTape = async (opened, name) => {
  const { records } = await dataset(opened), isLong = records > 50;
  await opened.goTo("#view=tape");
  const [, reached] = /^backward, step 1 of (\d+): record/.exec(await momentText(opened));
  const end = `backward, step ${reached} of ${reached}: record 0`, start = `forward, step 1 of ${records}: record 0`;
  const steps = isLong ? 24 : Number(records) + Number(reached);
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
const checkPlaces = async (opened, views) => {
  for (const view of views) {
    await opened.goTo(`#view=${view}`);
    assert.equal(await selectedView(opened), view);
    await press(opened, "End", "ArrowLeft", "ArrowLeft", "Home", "ArrowRight", "ArrowRight");
    const shown = await panelText(opened);
    await opened.reload();
    assert.equal(await selectedView(opened), view);
    assert.equal(await panelText(opened), shown, `${view} after a reload`);
  }
};

// What axe-core may find in another scheme or width only.
const rulesOfLooks = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size", "meta-viewport"];
const everyWidth = [320, 390, 800, 1280, 1440];
// These have every view between them: which of them stay the same after a reload.
const reloadedViews = {
  attention: ["jacobian", "exercises"],
  rmc: ["start", "tape", "attention", "memory", "flow", "outer-products", "lessons"],
  "not-finite": ["nan"],
  lstm: ["gates"],
};
// The smallest and the largest are among those that are measured in every width; 640 is 1280 at a zoom of 200 %.
const pages = {
  attention: [...everyWidth, 640],
  ...Object.fromEntries(["rmc", "not-finite", "tiny", "tiny-lstm", "wide"].map((name) => [name, everyWidth])),
  ...Object.fromEntries(["lstm", "causal", "attention-model", "fused"].map((name) => [name, [390, 1280]])),
};

export const testPagesIn = ({ browserName, light, dark, made, files, inPage }) => {
  test("the template and the pages have the size that is promised", () => {
    const sizes = { template: templateSize(files.attention), attention: statSync(files.attention).size };
    sizes.rmc = statSync(files["rmc-98"]).size;
    console.log(`bytes: ${JSON.stringify(sizes)}`);
    assert.ok(sizes.template <= 180e3 && sizes.attention <= 400e3 && sizes.rmc <= 4e6, JSON.stringify(sizes));
  });

  const seen = new Set();
  // One page is open for all of its tests, because opening it takes longer than most of them.
  for (const [name, widths] of Object.entries(pages))
    test(name, async (t) => {
      const opened = await light.open(files[name]), audited = reloadedViews[name];
      for (const view of await viewsOf(opened)) seen.add(view);
      await reportTimes(name, opened);
      await t.test("everything agrees", () => checkSummary(opened, name === "not-finite" ? "red" : "green"));
      await t.test(`every view fits into ${widths.join(", ")} pixels`, () => checkViews(opened, widths));
      await t.test("every view is on paper, and fits", () => checkPaper(opened, browserName));
      await opened.resize(1280);
      await t.test("keys lead to the end and back", () => stepThroughTape(opened, name));
      if (audited) {
        await t.test("axe-core finds nothing in any view", async () => assert.deepEqual(await opened.violationsOfViews(), []));
        await t.test("views are the same after a reload", () => checkPlaces(opened, audited));
      }
      await opened.close();
    });

  test("the views whose reload is tested are all that there are", () =>
    assert.deepEqual([...seen].sort(), Object.values(reloadedViews).flat().sort()));

  for (const name of Object.keys(reloadedViews))
    test(`${name}: axe-core finds nothing in the dark scheme and in a narrow window`, () =>
      inPage(dark, name, { width: 390 }, async (opened) => {
        assert.ok(await opened.page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches));
        assert.deepEqual(await opened.violationsOfViews(rulesOfLooks), []);
      }));

  test("names are shown as text, however they read, and fit into a narrow window", async () => {
    const { file } = made.makeChanged(files["attention-model"], "renamed", renameAll);
    await inPage(light, file, {}, async (opened) => {
      assert.equal(await opened.page.$("img"), null);
      assert.match(await opened.page.title(), /^<\/script><img/);
      await checkViews(opened, [320, 800]);
      await checkPaper(opened, browserName);
      await checkSummary(opened);
    });
  });

  test("a tape of thousands of records opens folded", () =>
    inPage(light, "rmc-98", {}, async (opened) => {
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
