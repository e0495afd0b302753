// Looks at the page of a run of many hosts: the strips, their read-outs, and how much
// is drawn before anybody looks at it. PAGE is the file, HOSTS the number of hosts.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { DESKTOP, PHONE, shots, startBrowser, openFile } from "./browser.mjs";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const file = process.env.PAGE;
const hosts = Number(process.env.HOSTS);
let browser;
before(async () => { browser = await startBrowser(); });
after(async () => { if (browser) await browser.stop(); });
const open = (size, scheme) => openFile(browser.context, file, size, scheme);

for (const size of [DESKTOP, PHONE]) {
  test(`${hosts} hosts at ${size.width}x${size.height}: one screen shows all`, async () => {
    const { page, outside } = await open(size);
    const strip = page.locator("figure.hosts").first();
    const box = await strip.boundingBox();
    assert.ok(box.height <= size.height, `the strip is ${box.height} high`);
    assert.ok(box.width <= size.width, `the strip is ${box.width} wide`);
    assert.equal(await strip.locator(".cells > g").count(), hosts);
    assert.ok(await page.locator(".slowest").first().isVisible(), "the slowest are named");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= size.width, `the page is ${wide} wide`);
    // No name is cut off at the left edge.
    const names = await strip.locator(".nm text").evaluateAll((all) => Math.min(...all.map((t) => t.getBoundingClientRect().left)));
    assert.ok(names >= 0, `a name begins at ${names}`);
    assert.deepEqual(outside, [], "requests and errors");
    await strip.scrollIntoViewIfNeeded();
    if (shots) await page.screenshot({ path: join(shots, `hosts-${size.width}.png`) });
    await page.close();
  });
}

test("a strip reads out host, moment and value by pointer and by keys", async () => {
  const { page } = await open(DESKTOP);
  const svg = page.locator("figure.hosts > svg").first();
  await svg.scrollIntoViewIfNeeded();
  const box = await svg.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 12);
  const readOut = page.locator("figure.hosts output.on");
  assert.equal(await readOut.count(), 1);
  const text = await readOut.textContent();
  assert.match(text, /node\d+.*\n.*\d.*\n.*IOPS\n.*% of the median/);
  await page.mouse.move(0, 0);
  await svg.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  assert.equal(await readOut.count(), 1);
  assert.notEqual(await readOut.textContent(), text);
  await page.keyboard.press("Escape");
  assert.equal(await readOut.count(), 0);
  await page.close();
});

test("axe finds nothing, light and dark", async () => {
  for (const scheme of ["light", "dark"]) {
    const { page } = await open(DESKTOP, scheme);
    await page.evaluate(axeSource);
    const found = await page.evaluate(() => globalThis.axe.run(document));
    const said = found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | ")}`);
    assert.deepEqual(said, [], scheme);
    await page.close();
  }
});

test("charts of a folded trial are drawn when it is opened, and for paper", async () => {
  const { page } = await open(DESKTOP);
  const figures = page.locator("details.trial figure");
  assert.equal(await figures.count(), 0, "drawn before anybody looks");
  assert.equal(await page.locator("template.later").count(), hosts);
  await page.locator("details.trial summary").nth(3).click();
  const opened = page.locator("details.trial").nth(3);
  await opened.locator("figure").first().waitFor();
  const empty = await opened.locator(".ln path, .hm path").evaluateAll((all) => all.filter((path) => !path.getAttribute("d")).length);
  const paths = await opened.locator(".ln path, .hm path").count();
  assert.ok(paths >= 10 && empty < paths / 2, `${empty} of ${paths} lines are empty`);
  assert.equal(await opened.locator("figure.bare").count(), 0);
  await page.evaluate(() => { document.querySelectorAll("details.trial")[5].open = true; });
  await page.pdf({ preferCSSPageSize: true });
  assert.ok(await page.locator("details.trial").nth(5).locator("figure").count() > 0, "drawn for paper");
  // A link to a trial opens and draws it.
  await page.evaluate(() => { location.hash = "#trial-10"; });
  await page.locator("#trial-10 figure").first().waitFor();
  await page.close();
});

test("opening the page is measured", async () => {
  const { page } = await open(DESKTOP);
  const found = await page.evaluate(() => new Promise((done) => setTimeout(() => {
    const [navigation] = performance.getEntriesByType("navigation");
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    done({ load: Math.round(navigation.loadEventEnd), paint: paint && Math.round(paint.startTime), elements: document.querySelectorAll("*").length });
  }, 100)));
  const size = readFileSync(file).length;
  console.log(`${hosts} hosts: ${(size / 2 ** 20).toFixed(2)} MiB, ${found.elements} elements, load event after ${found.load} ms, first paint after ${found.paint} ms`);
  assert.ok(found.load > 0);
  assert.ok(size < 8 * 2 ** 20, `${size} bytes`);
  await page.close();
});

test("without scripts the figures, the slowest and the strips are there", async () => {
  const plain = await startBrowser({ javaScriptEnabled: false });
  try {
    const { page } = await openFile(plain.context, file, DESKTOP);
    for (const part of [".key-figure .number", ".meaning", ".verdict", ".slowest", "figure.hosts > svg"]) {
      assert.ok(await page.locator(part).first().isVisible(), part);
    }
    await page.close();
  } finally {
    await plain.stop();
  }
});
