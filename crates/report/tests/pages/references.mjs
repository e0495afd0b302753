// Pictures of pages held against kept ones: the averages of blocks of pixels, so that
// another way to smooth letters changes nothing, and a moved or missing part is seen.
// REFERENCES=renew writes the pictures anew; look at them before you commit them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";

const here = dirname(fileURLToPath(import.meta.url));
const FOLDER = join(here, "references");
const FONTS = join(here, "../../assets/fonts");
export const renew = process.env.REFERENCES === "renew";
// Where pictures that differ are kept.
const FOUND = join(here, "../../../../target/tmp/references");
// Pixels of the page that one pixel of a kept picture stands for, each way.
const STEP = 3;
// Pixels of a kept picture in a block that is compared, each way.
const BLOCK = 3;
// From here on a block differs: of 255, in its worst colour.
const DIFFERS = 16;
// Blocks that may differ: a few digits, no line of text.
const MOST_DIFFERENT = 0.004;
// What stands below is for other tests.
const HIGHEST = 1300;

const font = (file) => readFileSync(join(FONTS, file)).toString("base64");
const STYLE = `@font-face { font-family: "Reference"; font-weight: 400 500; src: url(data:font/ttf;base64,${font("regular.ttf")}); }
@font-face { font-family: "Reference"; font-weight: 501 900; src: url(data:font/ttf;base64,${font("bold.ttf")}); }
*, *::before, *::after { font-family: "Reference" !important; transition: none !important; animation: none !important; }`;

// What differs from host to host and from day to day says the same everywhere.
const mask = (page) => page.evaluate((host) => {
  const words = [
    [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d( UTC)?/g, "2026-01-01 00:00:00$1"],
    [/\d{8}-\d{6}-[a-z0-9]{4}/g, "20260101-000000-aaaa"],
    [/kernel \S+/g, "kernel 0.0.0"],
    [/fathom \d+\.\d+\.\d+\S*/g, "fathom 0.0.0"],
    [/(UTC), (?:\d[\d.,]* (?:ns|µs|ms|s|min|h) ?)+/g, "$1, 1 s "],
  ];
  for (const root of document.querySelectorAll("header p, h1 + .note")) {
    let text = root.textContent.replaceAll(host, "host");
    for (const [pattern, word] of words) text = text.replace(pattern, word);
    root.textContent = text;
  }
  // A command names folders of this machine.
  for (const code of document.querySelectorAll("p > code:only-child, header code")) {
    if (/^Command: |^Made /.test(code.parentNode.textContent)) code.textContent = "fathom";
  }
}, hostname());

// The page as it is compared: with our letters, masked, and no higher than needed.
export const picture = async (page) => {
  await page.addStyleTag({ content: STYLE });
  await mask(page);
  await page.evaluate(() => document.fonts.ready);
  const { width } = page.viewportSize();
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const clip = { x: 0, y: 0, width, height: Math.min(height, HIGHEST) };
  const shot = await page.screenshot({ fullPage: true, clip, animations: "disabled", caret: "hide" });
  return shrink(page, shot);
};

// Averages of STEP by STEP pixels, as a PNG.
const shrink = (page, shot) => page.evaluate(async ([source, step]) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = (width, height) => Object.assign(document.createElement("canvas"), { width, height });
  const from = canvas(image.width, image.height).getContext("2d");
  from.drawImage(image, 0, 0);
  const [width, height] = [Math.floor(image.width / step), Math.floor(image.height / step)];
  const to = canvas(width, height).getContext("2d");
  const [old, made] = [from.getImageData(0, 0, image.width, image.height), to.createImageData(width, height)];
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) for (let c = 0; c < 4; c += 1) {
    let sum = 0;
    for (let j = 0; j < step; j += 1) for (let i = 0; i < step; i += 1) sum += old.data[((y * step + j) * image.width + x * step + i) * 4 + c];
    // Fewer shades make smaller files.
    const shade = sum / step / step;
    made.data[(y * width + x) * 4 + c] = c === 3 ? 255 : Math.round(shade / 15) * 15;
  }
  to.putImageData(made, 0, 0);
  return to.canvas.toDataURL("image/png");
}, [`data:image/png;base64,${shot.toString("base64")}`, STEP]);

// How two pictures differ: the share of blocks, or another size.
export const difference = (page, a, b) => page.evaluate(async ([a, b, block, limit]) => {
  const pixels = async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [one, other] = [await pixels(a), await pixels(b)];
  if (one.width !== other.width || Math.abs(one.height - other.height) > block) {
    return { share: 1, words: `${one.width}x${one.height} became ${other.width}x${other.height}` };
  }
  const [wide, high] = [Math.floor(one.width / block), Math.floor(Math.min(one.height, other.height) / block)];
  const mean = (image, x, y, c) => {
    let sum = 0;
    for (let j = 0; j < block; j += 1) for (let i = 0; i < block; i += 1) sum += image.data[((y * block + j) * image.width + x * block + i) * 4 + c];
    return sum / block / block;
  };
  let [count, top] = [0, Infinity];
  for (let y = 0; y < high; y += 1) for (let x = 0; x < wide; x += 1) {
    const most = Math.max(...[0, 1, 2].map((c) => Math.abs(mean(one, x, y, c) - mean(other, x, y, c))));
    if (most > limit) { count += 1; top = Math.min(top, y); }
  }
  const share = count / (wide * high);
  return { share, words: `${(100 * share).toFixed(2)} % differ, the first at ${(100 * top / high).toFixed(0)} % of the height` };
}, [a, b, BLOCK, DIFFERS]);

export const isDifferent = (found) => found.share > MOST_DIFFERENT;

const bytes = (url) => Buffer.from(url.split(",")[1], "base64");

// Holds a page against its picture, or keeps it.
export const assertLooksAsKept = async (page, name) => {
  const file = join(FOLDER, `${name.replaceAll(" ", "-")}.png`);
  const found = await picture(page);
  if (renew) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, bytes(found));
    return;
  }
  assert.ok(existsSync(file), `no picture of ${name}: REFERENCES=renew scripts/page-tests makes it`);
  const kept = `data:image/png;base64,${readFileSync(file).toString("base64")}`;
  const differs = await difference(page, kept, found);
  if (isDifferent(differs)) {
    mkdirSync(FOUND, { recursive: true });
    const saved = join(FOUND, `${name.replaceAll(" ", "-")}.png`);
    writeFileSync(saved, bytes(found));
    assert.fail(`${name} looks different (${differs.words}): ${file} is kept, ${saved} is new; REFERENCES=renew scripts/page-tests accepts it`);
  }
};
