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
