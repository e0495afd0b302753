// A browser for the tests of pages.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
  // Letters and colours are drawn the same way whatever this host is set to.
  "--font-render-hinting=none", "--force-color-profile=srgb", "--force-device-scale-factor=1"];
export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };
// Where pictures are kept; nothing without.
export const shots = process.env.SCREENSHOTS;

export const startBrowser = async (options = {}) => {
  const home = mkdtempSync(join(tmpdir(), "fathom-pages-"));
  const context = await chromium.launchPersistentContext(join(home, "browser"), {
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: FLAGS, ...options,
  });
  const stop = async () => {
    await context.close();
    rmSync(home, { recursive: true, force: true });
  };
  return { home, context, stop };
};

// A page, and what went wrong on it or was asked of the network.
export const openFile = async (context, file, size, scheme = "light") => {
  const page = await context.newPage();
  const outside = [];
  page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) outside.push(request.url()); });
  page.on("pageerror", (error) => outside.push(String(error)));
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: scheme });
  await page.goto(`file://${file}`);
  return { page, outside };
};

// Texts that do not fit into their box, and those of charts that leave the page,
// or their picture where it shows nothing beside it.
export const cutTexts = (page) => page.evaluate(() => {
  // On a large screen a verdict is one line that ends with a sign and opens.
  const opens = (node) => innerWidth > 640 && node.matches("summary");
  const boxes = [...document.querySelectorAll("h1, .key-figure p, .meaning, .verdict summary, .verdict .line, .verdict .step, nav, nav a, caption:not(.unseen)")].filter((node) => !opens(node));
  const wide = boxes.filter((node) => node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline");
  const high = boxes.filter((node) => node.scrollHeight > node.clientHeight + 1 && getComputedStyle(node).overflow !== "visible");
  const outside = [...document.querySelectorAll("figure svg text")].filter((node) => {
    const picture = node.ownerSVGElement;
    const page = { left: 0, right: innerWidth };
    const room = getComputedStyle(picture).overflow === "visible" ? page : picture.getBoundingClientRect();
    const { left, right, width } = node.getBoundingClientRect();
    return width > 0 && (left < room.left - 1 || right > room.right + 1);
  });
  return [...wide, ...high, ...outside].map((node) => node.textContent.trim());
});

// Charts that nobody sees, though nothing around them is folded.
export const hiddenCharts = (page) => page.evaluate(() => {
  const charts = [...document.querySelectorAll("figure > svg, svg.over-time")].filter((node) => !node.closest("details:not([open])"));
  const isSeen = (node) => node.checkVisibility() && node.getBoundingClientRect().width > 100;
  return charts.filter((node) => !isSeen(node)).map((node) => node.getAttribute("aria-label"));
});

// Words of the charts of a study that lie over one another.
export const coveredWords = (page) => page.evaluate(() => [...document.querySelectorAll("figure.sweep > svg")].flatMap((picture) => {
  const words = [...picture.querySelectorAll("text")].map((node) => ({ text: node.textContent, box: node.getBoundingClientRect() }));
  const shown = words.filter(({ box }) => box.width > 0);
  const covers = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return shown.flatMap((one, at) => shown.slice(at + 1).filter((other) => covers(one.box, other.box)).map((other) => `${one.text} and ${other.text}`));
}));

// The heights of letters in charts, in pixels of the screen: smallest and largest.
export const letterSizes = (page) => page.evaluate(() => {
  const texts = [...document.querySelectorAll("figure:not(.hosts) > svg text")].filter((node) => node.getClientRects().length > 0);
  const sizes = texts.map((node) => {
    const picture = node.ownerSVGElement;
    return parseFloat(getComputedStyle(node).fontSize) * picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
  });
  return [Math.min(...sizes), Math.max(...sizes)];
});

// Tables that are wider than the room they have, and columns of words without a head.
export const faultyTables = (page) => page.evaluate(() => [...document.querySelectorAll(".scroll")].filter((box) => box.getClientRects().length > 0).flatMap((box) => {
  const table = box.querySelector("table");
  const name = table.caption ? table.caption.textContent : table.className;
  const wide = box.scrollWidth > box.clientWidth + 1 ? [`${name}: ${box.scrollWidth} in ${box.clientWidth}`] : [];
  const heads = table.matches(".points, .grid, .sort") && table.tHead ? [...[...table.tHead.rows].pop().cells] : [];
  const bare = heads.filter((head, at) => at > 0 && head.textContent.trim() === "" && [...table.tBodies[0].rows].some((row) => row.cells[at] && row.cells[at].textContent.trim() !== ""));
  return [...wide, ...bare.map((head) => `${name}: no head over column ${head.cellIndex + 1}`)];
}));
