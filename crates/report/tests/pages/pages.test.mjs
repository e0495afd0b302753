// Looks at the reports in a browser: what stands on the first screen, whether
// anything overflows, the keyboard, accessibility, the dark theme and paper.
// `scripts/page-tests` installs what it needs and runs it.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { DESKTOP, PHONE, coveredWords, cutTexts, faultyTables, hiddenCharts, letterSizes, openFile, shots, startBrowser } from "./browser.mjs";
import { assertLooksAsKept, difference, isDifferent, picture } from "./references.mjs";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const fathom = process.env.FATHOM;
const SIZES = [DESKTOP, PHONE];
const REPORTS = {
  quick: ["quick", "sim:ssd", "--seconds", "3", "--seed", "7"],
  doubted: ["quick", "sim:ssd?units=4,noise_cv=0.3,noise_phi=0.95,seed=7", "--seconds", "3", "--seed", "7"],
  io: ["io", "sim:ssd", "--rw", "randread", "--bs", "4k", "--iodepth", "8", "--runtime", "60", "--seed", "7"],
  ab: ["ab", "sim:ssd", "--vary", "iodepth=8,16", "--rw", "randread", "--bs", "4k", "--runtime", "10", "--seed", "7"],
  curve: ["curve", "depth", "sim:ssd", "--rw", "randread", "--bs", "4k", "--seed", "7"],
  load: ["curve", "load", "sim:ssd", "--rw", "randread", "--bs", "4k", "--slo", "p99<2ms", "--seed", "7"],
  block: ["curve", "block", "sim:ssd", "--rw", "randread", "--seed", "7"],
  snia: ["snia", "latency", "sim:ideal?size=64MiB", "--rounds-max", "5", "--round-seconds", "5", "--seed", "7"],
};

const files = {};
let browser;

before(async () => {
  browser = await startBrowser();
  const home = browser.home;
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_CONFIG_HOME: join(home, "config") };
  for (const [name, args] of Object.entries(REPORTS)) {
    files[`${name} summary`] = join(home, `${name}-summary.html`);
    files[name] = join(home, `${name}.html`);
    try {
      execFileSync(fathom, [...args, "--html", files[name]], { env, cwd: home, stdio: "pipe" });
    } catch (failure) {
      // A verdict or a refused target has its own exit status; the page counts.
      try { readFileSync(files[name]); } catch { throw new Error(`${name}: ${failure.stderr}`); }
    }
    execFileSync(fathom, ["report", "latest", "--summary", "-o", files[`${name} summary`]], { env, cwd: home, stdio: "pipe" });
  }
});

after(async () => { if (browser) await browser.stop(); });

const open = (name, size, scheme) => openFile(browser.context, files[name], size, scheme);

const bottom = (page, selector) => page.$eval(selector, (node) => node.getBoundingClientRect().bottom);

for (const name of Object.keys(REPORTS).flatMap((name) => [name, `${name} summary`])) {
  for (const size of SIZES) {
    test(`${name} at ${size.width}x${size.height}: the answer is on the first screen`, async () => {
      const { page, outside } = await open(name, size);
      const figures = await page.$$eval(".key-figure .number", (all) => all.map((node) => node.textContent.trim()));
      assert.ok(figures.length >= 2, `figures: ${figures}`);
      assert.ok(figures.some((text) => /\d/.test(text)), `figures: ${figures}`);
      const verdict = name.endsWith("summary") ? ".judgement div" : ".verdict";
      // A phone has no room for a long name and all that is said about doubted figures.
      const isLong = name.startsWith("doubted") && size === PHONE;
      for (const part of ["h1", ".strip", ".meaning", ...isLong ? [] : [verdict]]) {
        const end = await bottom(page, part);
        assert.ok(end <= size.height, `${part} ends at ${end} of ${size.height}`);
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= size.width, `the page is ${wide} wide`);
      assert.deepEqual(await cutTexts(page), [], "texts that are cut");
      assert.deepEqual(outside, [], "requests and errors");
      if (shots) {
        await page.screenshot({ path: join(shots, `${name}-${size.width}.png`) });
        await page.screenshot({ path: join(shots, `${name}-${size.width}-full.png`), fullPage: true });
      }
      await assertLooksAsKept(page, `${name}-${size.width}`);
      await page.close();
    });
  }

  test(`${name}: axe finds nothing, light and dark`, async () => {
    for (const scheme of ["light", "dark"]) {
      const { page } = await open(name, SIZES[0], scheme);
      await page.evaluate(axeSource);
      const found = await page.evaluate(() => globalThis.axe.run(document));
      const said = found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | ")}`);
      assert.deepEqual(said, [], scheme);
      if (shots) await page.screenshot({ path: join(shots, `${name}-${scheme}.png`) });
      await page.close();
    }
  });
}

for (const name of Object.keys(REPORTS).flatMap((name) => [name, `${name} summary`])) {
  for (const width of [390, 480, 600, 768, DESKTOP.width]) {
    test(`${name} at ${width} pixels: charts and tables are there and readable`, async () => {
      const { page } = await open(name, { width, height: PHONE.height });
      assert.deepEqual(await hiddenCharts(page), [], "charts that nobody sees");
      assert.deepEqual(await coveredWords(page), [], "words over one another");
      const [least, most] = await letterSizes(page);
      assert.ok(least >= 7.5 && most <= 15, `letters of ${least} to ${most} pixels`);
      const isPhone = width <= 640;
      if (width === DESKTOP.width) assert.deepEqual(await faultyTables(page), [], "tables");
      // A summary has no script that could make cards.
      if (isPhone && !name.endsWith("summary")) {
        const tables = await page.$$eval(".scroll > table", (all) => all.filter((table) => table.tHead && table.getClientRects().length > 0).map((table) => getComputedStyle(table).display));
        assert.ok(tables.every((display) => display === "block"), `tables as ${tables}`);
      }
      if (isPhone) {
        const beside = await page.$$eval(".charts", (all) => all.filter((box) => new Set([...box.children].map((node) => Math.round(node.getBoundingClientRect().left))).size > 1).length);
        assert.equal(beside, 0, "boxes with charts beside one another");
      }
      await page.close();
    });
  }
}

const FIRST_FIGURES = {
  curve: ["No knee up to a depth of", "Maximum"],
  load: ["Holds p99<2ms up to", "Not safely at", "Closed loop"],
  block: ["Highest rate", "Highest throughput"],
};
for (const [name, first] of Object.entries(FIRST_FIGURES)) {
  test(`${name}: the answer is in the figures, and its chart comes first`, async () => {
    const { page } = await open(name, DESKTOP);
    const names = await page.$$eval(".key-figure .name", (all) => all.map((node) => node.textContent));
    assert.deepEqual(names.slice(0, first.length), first);
    assert.equal(new Set(names).size, names.length, `${names}`);
    const figure = page.locator("figure").first();
    assert.match(await figure.getAttribute("class"), /sweep/);
    const { y } = await figure.boundingBox();
    assert.ok(y < 0.7 * DESKTOP.height, `the chart begins at ${y}`);
    assert.equal(await page.locator("figure.bars").count(), 0, "bars that repeat the chart");
    await page.close();
  });
}

test("a doubted figure says so beside its number, and the verdict how many rows are doubted", async () => {
  for (const name of ["doubted", "doubted summary"]) {
    const { page } = await open(name, DESKTOP);
    const marks = await page.$$eval(".key-figure .mark", (all) => all.map((node) => [node.textContent, getComputedStyle(node).color, getComputedStyle(node.closest(".key-figure")).borderTopColor]));
    assert.ok(marks.length > 0, `${name}: no figure is marked`);
    for (const [words, colour, border] of marks) {
      assert.match(words, /^\S with caveats$/);
      assert.equal(colour, border);
    }
    const figures = await page.locator(".key-figure").count();
    assert.ok(marks.length < figures, `${name}: all of ${figures} figures are marked`);
    assert.match(await page.locator(".verdict .answer, .judgement b.warn").first().textContent(), /caveats in \d of 9 rows/);
    assert.ok(await page.locator(".badges .tag").count() > 0, "the table says which");
    await page.close();
  }
});

test("a changed layout looks different, another way to smooth letters does not", async () => {
  const { page } = await open("io", DESKTOP);
  const kept = await picture(page);
  const change = async (css) => {
    const style = await page.addStyleTag({ content: css });
    const found = await difference(page, kept, await picture(page));
    await style.evaluate((node) => node.remove());
    return found;
  };
  for (const css of ["body { will-change: transform }", "body { filter: blur(.3px) }", "body { transform: translate(.3px, .3px) }",
    "body { letter-spacing: .001em }", ".number { color: color-mix(in srgb, currentColor 95%, white) }"]) {
    const found = await change(css);
    assert.ok(!isDifferent(found), `${css}: ${found.words}`);
  }
  for (const css of [".verdict { display: none }", ".strip { grid-template-columns: 1fr 1fr }", "h1 { margin-bottom: 14px }", ".key-figure svg { visibility: hidden }",
    "main { max-width: 1120px }", ".key-figure { background: #fff0e0 }", "nav { visibility: hidden }"]) {
    const found = await change(css);
    assert.ok(isDifferent(found), `${css}: ${found.words}`);
  }
  await page.close();
});

test("a text that is cut is found", async () => {
  const { page } = await open("io", PHONE);
  for (const css of [".key-figure .from { width: 4em; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }",
    ".verdict summary { height: 1em; overflow: hidden }", "nav { flex-wrap: nowrap; overflow-x: auto }",
    "figure text { transform: translateX(300px) }"]) {
    assert.deepEqual(await cutTexts(page), [], "without the style");
    const style = await page.addStyleTag({ content: css });
    assert.notDeepEqual(await cutTexts(page), [], css);
    await style.evaluate((node) => node.remove());
  }
  await page.close();
});

test("dark follows the system", async () => {
  const colour = async (scheme) => {
    const { page } = await open("quick", SIZES[0], scheme);
    const found = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.close();
    return found;
  };
  assert.notEqual(await colour("light"), await colour("dark"));
});

test("keys reach the results, the verdict and the charts", async () => {
  const { page } = await open("io", SIZES[0]);
  const reached = [];
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => `${document.activeElement.tagName.toLowerCase()}.${document.activeElement.getAttribute("class") || ""}`));
  }
  assert.equal(reached[0], "a.skip");
  assert.ok(reached.includes("summary."), reached.join(" "));
  assert.ok(reached.includes("svg."), reached.join(" "));
  const chart = page.locator("figure.time > svg").first();
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  const readOut = page.locator("figure.time output.on");
  assert.equal(await readOut.count(), 1);
  const before = await readOut.textContent();
  await page.keyboard.press("+");
  assert.ok(await page.locator("button.reset:visible").count() > 0, "a way back from the zoom");
  for (let i = 0; i < 10; i += 1) await page.keyboard.press("ArrowRight");
  assert.notEqual(await readOut.textContent(), before);
  await page.keyboard.press("0");
  assert.equal(await page.locator("button.reset:visible").count(), 0);
  await page.close();
});

test("quick prints on at most three pages", async () => {
  const { page } = await open("quick", SIZES[0]);
  const paper = await page.pdf({ preferCSSPageSize: true, path: shots ? join(shots, "quick.pdf") : undefined });
  const pages = paper.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g).length;
  assert.ok(pages <= 3, `${pages} pages`);
  await page.close();
});

for (const name of Object.keys(REPORTS)) {
  test(`the summary of ${name} fits on paper as wide as A4`, async () => {
    // Between the margins of the sheet.
    const { page } = await open(`${name} summary`, { width: 702, height: 1000 });
    await page.emulateMedia({ media: "print" });
    assert.deepEqual(await faultyTables(page), [], "tables");
    const broken = await page.$$eval(".tag", (all) => all.filter((node) => node.getClientRects().length > 1).map((node) => node.textContent));
    assert.deepEqual(broken, [], "words of a verdict that break");
    if (shots) await page.screenshot({ path: join(shots, `${name}-summary-paper.png`), fullPage: true });
    await page.close();
  });
  test(`the summary of ${name} prints on two pages, the charts on the second`, async () => {
    const { page } = await open(`${name} summary`, SIZES[0]);
    const paper = await page.pdf({ preferCSSPageSize: true, path: shots ? join(shots, `${name}-summary.pdf`) : undefined });
    const pages = paper.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g).length;
    assert.equal(pages, 2, `${pages} pages`);
    assert.ok(await page.locator(".sheet figure").count() > 0, "charts");
    assert.equal(await page.locator("script").count(), 0, "paper needs no script");
    await page.close();
  });
}

test("the script draws lines and cells as the page has them", async () => {
  const { page } = await open("io", SIZES[0]);
  const most = await page.evaluate(() => {
    const figures = [...document.querySelectorAll("figure.time, figure.heat")];
    const numbers = (figure) => [...figure.querySelectorAll(".ln path, .hm path")].map((path) => path.getAttribute("d").match(/[MLHV]|-?[\d.]+/g));
    const before = figures.map(numbers);
    for (const figure of figures) figure.classList.add("bare");
    Charts.wire(document);
    let most = 0;
    figures.map(numbers).forEach((paths, f) => paths.forEach((path, p) => {
      const old = before[f][p];
      if (path.length !== old.length) most = Infinity;
      path.forEach((part, i) => { if (part !== old[i]) most = Math.max(most, Math.abs(part - old[i]) || 0, Number.isNaN(part - old[i]) ? Infinity : 0); });
    }));
    return most;
  });
  assert.ok(most <= 0.5, `${most} apart`);
  await page.close();
});
