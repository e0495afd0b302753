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
