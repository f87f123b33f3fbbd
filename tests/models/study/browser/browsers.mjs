// A headless browser with one colour scheme, and pages in it that collect what a page must not do. Where a browser or
// the packages of package.json are missing, the program ends with 77, which is "skipped".
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { auditViews } from "./measures.mjs";

const require = createRequire(import.meta.url);

const programs = { chrome: ["/usr/bin/chromium"], firefox: ["/usr/bin/firefox-esr", "/usr/bin/firefox"] };

const skip = (why) => {
  console.log(`skipped: ${why}`);
  process.exit(77);
};

const programOf = (name) =>
  programs[name].find((path) => existsSync(path)) ?? skip(`there is no ${programs[name].join(" and no ")}`);

const packages = () => {
  try {
    return { puppeteer: require("puppeteer-core"), axe: readFileSync(require.resolve("axe-core/axe.min.js"), "utf8") };
  } catch (error) {
    return skip(`${error.message.split("\n")[0]}: run npm ci --prefix tests/models/study/browser`);
  }
};

// Firefox has no command for the colour scheme in WebDriver BiDi, but a setting (0 is dark).
const optionsFor = { chrome: () => ({ args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] }) };
optionsFor.firefox = (scheme) => ({
  extraPrefsFirefox: { "layout.css.prefers-color-scheme.content-override": scheme === "dark" ? 0 : 1 },
});

// No browser is waited for for ever. (On a busy machine a page of thousands of records takes its time.)
const longestWait = 90e3;

// Runs in the page before its own programs: when it is ready, and its longest task (what a timer had to wait).
const watchTimes = () => {
  const times = (window.pageTimes = { ready: null, longestTask: 0 });
  let last = performance.now();
  const tick = () => {
    times.longestTask = Math.max(times.longestTask, performance.now() - last);
    last = performance.now();
    setTimeout(tick);
  };
  tick();
  const readiness = { subtree: true, attributes: true, attributeFilter: ["data-ready"] };
  new MutationObserver(() => (times.ready ??= performance.now())).observe(document, readiness);
};

class OpenPage {
  constructor(page, axe) {
    Object.assign(this, { page, axe, complaints: [] });
    page.on("console", (message) => {
      if (/error|warn/.test(message.type())) this.complaints.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.complaints.push(`error: ${error.message}`));
    page.on("request", (request) => {
      if (!/^(file|data|about):/.test(request.url())) this.complaints.push(`request: ${request.url()}`);
    });
  }

  ready() {
    return this.page.waitForSelector('html[data-ready="true"]', { timeout: longestWait });
  }

  // Moves to a place of the page, with the focus on no control.
  goTo(fragment) {
    return this.page.evaluate(async (text) => {
      document.activeElement.blur();
      const arrived = new Promise((done) => addEventListener("hashchange", done, { once: true }));
      const moves = location.hash !== text;
      location.hash = text;
      if (moves) await arrived;
    }, fragment);
  }

  // Addresses are written a moment after a step.
  settle() {
    return new Promise((done) => setTimeout(done, 250));
  }

  async reload() {
    await this.settle();
    await this.page.reload();
    await this.ready();
  }

  resize(width) {
    return this.page.setViewport({ width, height: 900 });
  }

  async startAxe() {
    if (!(await this.page.evaluate(() => "axe" in window))) await this.page.evaluate(`${this.axe};0`);
  }

  // The violations that axe-core finds, one line per rule.
  async violations() {
    await this.startAxe();
    return this.page.evaluate(async () => {
      const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
      return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0].html} (${nodes.length})`);
    });
  }

  // Those of every view, by these rules, if there are any.
  async violationsOfViews(rules) {
    await this.startAxe();
    return this.page.evaluate(auditViews, rules);
  }

  async close(expected = []) {
    await this.page.close();
    assert.deepEqual(this.complaints.filter((one) => !expected.some((pattern) => pattern.test(one))), []);
  }
}

export const startBrowser = async (name, scheme = "light") => {
  const { puppeteer, axe } = packages();
  const browser = await puppeteer.launch({
    browser: name,
    executablePath: programOf(name),
    headless: true,
    timeout: longestWait,
    protocolTimeout: longestWait,
    ...optionsFor[name](scheme),
  });
  const open = async (file, { fragment = "", width = 1280, isDamaged = false } = {}) => {
    const page = await browser.newPage(), opened = new OpenPage(page, axe);
    if (name === "chrome") await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await opened.resize(width);
    await page.evaluateOnNewDocument(watchTimes);
    await page.goto(pathToFileURL(file).href + fragment);
    if (!isDamaged) await opened.ready();
    return opened;
  };
  return { open, close: () => browser.close() };
};
