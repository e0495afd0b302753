// Looks at the pages of reports that are not runs, all files of the folder PAGES: what
// stands on the first screen, overflow, accessibility, the dark theme, and whether they
// look as their kept pictures do.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { DESKTOP, PHONE, cutTexts, hiddenCharts, openFile, shots, startBrowser } from "./browser.mjs";
import { assertLooksAsKept } from "./references.mjs";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const folder = process.env.PAGES;
const names = readdirSync(folder).filter((file) => file.endsWith(".html")).map((file) => basename(file, ".html")).sort();
let browser;
before(async () => { browser = await startBrowser(); });
after(async () => { if (browser) await browser.stop(); });
const open = (name, size, scheme) => openFile(browser.context, join(folder, `${name}.html`), size, scheme);

for (const name of names) {
  for (const size of [DESKTOP, PHONE]) {
    test(`${name} at ${size.width}x${size.height}: the answer is on the first screen`, async () => {
      const { page, outside } = await open(name, size);
      const figures = await page.$$eval(".key-figure .number", (all) => all.map((node) => node.textContent.trim()));
      assert.ok(figures.length >= 4 && figures.length <= 6, `figures: ${figures}`);
      assert.ok(figures.every((text) => /\d/.test(text)), `figures: ${figures}`);
      for (const part of ["h1", ".strip", ".meaning", ".verdict"]) {
        const end = await page.$eval(part, (node) => node.getBoundingClientRect().bottom);
        assert.ok(end <= size.height, `${part} ends at ${end} of ${size.height}`);
      }
      const questions = await page.$$eval(".verdict .question", (all) => all.map((node) => node.textContent));
      const limit = { diagnosis: "What held it back?", use: "Is anything full?" }[name] ?? "Limiter: what set it?";
      assert.ok(questions.includes(limit) && questions.includes("Next step"), `${questions}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= size.width, `the page is ${wide} wide`);
      assert.deepEqual(await cutTexts(page), [], "texts that are cut");
      const targets = await page.$$eval("nav a", (all) => all.filter((link) => !document.querySelector(link.hash)).map((link) => link.hash));
      assert.deepEqual(targets, [], "links that lead nowhere");
      assert.deepEqual(outside, [], "requests and errors");
      assert.deepEqual(await hiddenCharts(page), [], "charts that nobody sees");
      if (shots) await page.screenshot({ path: join(shots, `${name}-${size.width}.png`), fullPage: true });
      await assertLooksAsKept(page, `${name}-${size.width}`);
      await page.close();
    });
  }

  test(`${name}: axe finds nothing, light and dark`, async () => {
    const colours = [];
    for (const scheme of ["light", "dark"]) {
      const { page } = await open(name, DESKTOP, scheme);
      await page.evaluate(axeSource);
      const found = await page.evaluate(() => globalThis.axe.run(document));
      const said = found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | ")}`);
      assert.deepEqual(said, [], scheme);
      colours.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
      await page.close();
    }
    assert.notEqual(colours[0], colours[1], "dark follows the system");
  });
}

for (const size of [DESKTOP, PHONE]) {
  test(`the load of a diagnosis fills a page ${size.width} wide, to the end of its axis`, async (context) => {
    if (!names.includes("diagnosis")) return context.skip("there is no such page");
    const { page } = await open("diagnosis", size);
    const [wide, axis, ...lines] = await page.evaluate(() => {
      const picture = document.querySelector(".over-time");
      const right = (node) => node.getBoundingClientRect().right;
      return [picture.parentNode.getBoundingClientRect().right, right(picture.querySelector(".base")), ...[...picture.querySelectorAll("polyline")].map(right)];
    });
    assert.ok(Math.abs(wide - axis) < 2, `the axis ends at ${axis} of ${wide}`);
    assert.ok(lines.length > 0 && lines.every((end) => Math.abs(end - axis) < 2), `lines end at ${lines}, the axis at ${axis}`);
    await page.close();
  });
}

test("without scripts the answer and the details are there", async () => {
  const plain = await startBrowser({ javaScriptEnabled: false });
  try {
    for (const name of names) {
      const { page } = await openFile(plain.context, join(folder, `${name}.html`), DESKTOP);
      for (const part of [".key-figure .number", ".meaning", ".verdict", "main section h2"]) {
        assert.ok(await page.locator(part).first().isVisible(), `${name}: ${part}`);
      }
      await page.close();
    }
  } finally {
    await plain.stop();
  }
});
