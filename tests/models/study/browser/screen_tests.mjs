// The tests of the views that show all arrays of an attention head, or of a recurrent layer, on one screen.
import assert from "node:assert/strict";
import { test } from "node:test";

// What must be seen at once: {bottom, right} of all of these in the window.
const extentOf = ({ page }, selector) =>
  page.$$eval(selector, (all) => {
    const boxes = all.map((one) => one.getBoundingClientRect());
    return { bottom: Math.max(...boxes.map(({ bottom }) => bottom)), right: Math.max(...boxes.map(({ right }) => right)) };
  });

const textOf = ({ page }, selector) => page.$eval(selector, ({ innerText }) => innerText.replace(/\s+/g, " "));
const markedFigures = ({ page }) =>
  page.$$eval(".paired-arrays figure", (all) => all.filter((one) => one.querySelector(".pointed")).length);
const overflow = ({ page }) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// The array of this name, as a place for the pointer: the middle of a cell, in a matrix of so many rows and columns.
const placeIn = async ({ page }, name, [row, column], [rows, columns]) => {
  const canvas = await page.$(`.paired-arrays canvas[aria-label^="${name},"]`);
  const { x, y, width, height } = await canvas.boundingBox();
  return { canvas, x: x + ((column + 0.5) * width) / columns, y: y + ((row + 0.5) * height) / rows };
};

// The view of each subject.
const screens = { masked: "attention", heads: "attention", one: "attention", scores: "attention", "lstm-8": "gates", gru: "gates" };

export const testScreensIn = ({ light, dark, inPage: inPageOf }) => {
  const inPage = (browser, name, view, check) => inPageOf(browser, name, { fragment: `#view=${view}` }, check);

  for (const [name, view] of Object.entries(screens))
    test(`${name}: all arrays and their sentence are on one screen of 1280 by 800`, () =>
      inPage(light, name, view, async (opened) => {
        await opened.page.setViewport({ width: 1280, height: 800 });
        await opened.goTo("#view=start");
        await opened.goTo(`#view=${view}`);
        for (const part of [".paired-arrays canvas", ".screen-side p", ".head-strip button"]) {
          if (!(await opened.page.$(part))) continue;
          const { bottom, right } = await extentOf(opened, part);
          assert.ok(bottom <= 800 && right <= 1280, `${part} reaches to ${right}, ${bottom}`);
        }
      }));

  const checkWidths = async (opened, view, widths) => {
    for (const width of widths) {
      await opened.resize(width);
      await opened.goTo("#view=start");
      await opened.goTo(`#view=${view}`);
      assert.equal(await overflow(opened), 0, `${width} pixels`);
    }
  };

  for (const name of ["heads", "scores", "gru"])
    test(`${name}: nothing sticks out from 320 to 1440 pixels`, () =>
      inPage(light, name, screens[name], (opened) => checkWidths(opened, screens[name], [320, 390, 800, 1440])));

  for (const name of ["masked", "lstm-8"])
    test(`${name}: axe-core finds nothing, light and dark`, async () => {
      for (const [browser, width] of [[light, 1280], [dark, 390]])
        await inPage(browser, name, screens[name], async (opened) => {
          await checkWidths(opened, screens[name], [width]);
          assert.deepEqual(await opened.violations(), []);
        });
    });

  test("pointing by mouse, touch and keys marks a number's partners in all arrays, and its row is explained beside", () =>
    inPage(light, "masked", "attention", async (opened) => {
      const { page } = opened;
      const inS = await placeIn(opened, "S", [3, 1], [4, 4]);
      await page.mouse.move(inS.x, inS.y);
      assert.equal(await markedFigures(opened), 12);
      assert.match(await textOf(opened, ".screen-side"), /^Row 3: .* S\[3, 1\] = 0\.5 Σ Q\[3, n\] K\[1, n\] = 0\.5 \(/);
      await page.mouse.move(1, 1);
      assert.equal(await markedFigures(opened), 0);
      const inA = await placeIn(opened, "A", [1, 0], [4, 4]);
      await inA.canvas.tap(); // its middle
      await opened.settle();
      assert.match(await page.evaluate(() => location.hash), /row=2/);
      await inA.canvas.focus();
      await page.keyboard.press("Home");
      await page.keyboard.press("ArrowUp");
      assert.match(await textOf(opened, ".screen-side"), /A\[1, 0\] = e\^S/);
      await page.keyboard.press("Enter");
      await opened.settle();
      assert.match(await page.evaluate(() => location.hash), /row=1/);
      assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^A,/);
      await page.evaluate(() => document.activeElement.blur());
      assert.match(await textOf(opened, ".screen-side"), /^Row 1/);
      await page.click("#head-0");
      assert.equal(await page.$eval("#head-0", (one) => one.getAttribute("aria-pressed")), "true");
    }));

  test("pointing at a gate marks its unit and step everywhere, and its card is a link away", () =>
    inPage(light, "lstm-8", "gates", async (opened) => {
      const inF = await placeIn(opened, "f", [2, 5], [8, 8]);
      await opened.page.mouse.move(inF.x, inF.y);
      assert.equal(await markedFigures(opened), 14);
      assert.match(await textOf(opened, ".screen-side"), /^Step 5 Step 5 let [\d.]+ % of dc through to step 4: unit \d's f = 0/);
      await opened.page.mouse.click(inF.x, inF.y);
      const record = await opened.page.$$eval(".screen-side a", (all) => {
        const link = all.find(({ innerText }) => innerText.startsWith("f (record"));
        link.click();
        return /\d+/.exec(link.innerText)[0];
      });
      await opened.settle();
      assert.match(await textOf(opened, ".card h3"), new RegExp(`^${record} sigmoid`));
    }));
};
