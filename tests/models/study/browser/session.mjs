// What the tests of one browser share: it starts once for each colour scheme, and each page is made once.
import assert from "node:assert/strict";
import { after } from "node:test";

import { startBrowser } from "./browsers.mjs";
import { makePages } from "./pages.mjs";

/** {browserName, light, dark, made, files: the page of each subject, inPage(browser, subject or file, options, check)}. */
export const startSession = (browserName) => {
  const made = makePages(), started = {};
  const files = new Proxy({}, { get: (all, name) => (all[name] ??= made.make(name)) });
  const inScheme = (scheme) => ({
    open: async (...page) => (await (started[scheme] ??= startBrowser(browserName, scheme))).open(...page),
  });
  after(async () => {
    for (const browser of Object.values(started)) await (await browser).close();
    made.remove();
  });
  const inPage = async (browser, file, options, check, expectedComplaints = []) => {
    const opened = await browser.open(file.includes("/") ? file : files[file], options);
    await check(opened);
    await opened.close(expectedComplaints);
  };
  return { browserName, light: inScheme("light"), dark: inScheme("dark"), made, files, inPage };
};

export const selectedView = ({ page }) =>
  page.$eval('#tabs [aria-selected="true"]', (tab) => tab.id.replace("tab-", ""));

export const viewsOf = ({ page }) =>
  page.$$eval("#tabs [role=tab]", (tabs) => tabs.map(({ id }) => id.replace("tab-", "")));

export const momentText = ({ page }) => page.$eval(".moment-text", ({ textContent }) => textContent);

// Without the list of the tape, whose open scopes are no part of a place.
export const panelText = ({ page }) =>
  page.$eval("#panel", (panel) => {
    const list = panel.querySelector(".tape-list")?.innerText ?? "";
    return panel.innerText.replace(list, "").replace(/\s+/g, " ");
  });

export const dataset = ({ page }) => page.$eval("html", ({ dataset }) => ({ ...dataset }));

export const press = async ({ page }, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

// Every record agrees, or the heading has the verdict that is expected, for another reason.
export const checkSummary = async (opened, expected = "green") => {
  const { records, checked, mismatches, verdict } = await dataset(opened);
  const said = await opened.page.$eval("#summary", ({ innerText }) => innerText);
  assert.equal(mismatches, "0", said);
  assert.equal(verdict, expected, said);
  assert.equal(checked, records, said);
  assert.ok(Number(checked) > 0, said);
};
