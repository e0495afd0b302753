/* Sorting, cards on a phone, theme and links. The page is complete without this
   script. */
(() => {
  "use strict";
  const root = document.documentElement;
  Charts.wire(document);
  Hosts.wire(document);

  // ---- Charts that are drawn when somebody looks ---------------------------------
  const drawLater = (details) => {
    for (const template of details.querySelectorAll(":scope > template.later")) {
      const drawn = document.createElement("div");
      drawn.append(template.content);
      template.replaceWith(drawn);
      Charts.wire(drawn);
    }
  };
  const trials = [...document.querySelectorAll("details.trial")];
  for (const details of trials) {
    details.addEventListener("toggle", () => { if (details.open) drawLater(details); });
  }
  addEventListener("beforeprint", () => trials.filter((details) => details.open).forEach(drawLater));
  const openAll = document.getElementById("open-all");
  if (openAll) openAll.addEventListener("click", () => { for (const details of trials) details.open = true; });

  // ---- Sortable tables --------------------------------------------------------
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return "";
    const value = cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim();
    return value === "" || Number.isNaN(Number(value)) ? value : Number(value);
  };
  const sort = (header) => {
    const table = header.closest("table"), body = table.tBodies[0];
    const down = header.getAttribute("aria-sort") === "ascending";
    for (const th of table.tHead.rows[0].cells) th.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => [keyOf(row, header.cellIndex), row]);
    rows.sort(([a], [b]) => {
      // What has no number stays at the end whichever way.
      if (a === "" || b === "") return (a === "") - (b === "");
      const order = typeof a === "number" && typeof b === "number" ? a - b
        : String(a).localeCompare(String(b), "en", { numeric: true });
      return down ? -order : order;
    });
    body.append(...rows.map(([, row]) => row));
  };
  for (const header of document.querySelectorAll("table.sort thead th")) {
    header.tabIndex = 0;
    header.title = "Sort";
    header.addEventListener("click", () => sort(header));
    header.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(header); }
    });
  }

  // ---- Tables as cards on a phone ---------------------------------------------
  // Each cell gets the head of its column, which the style shows where rows are cards.
  for (const table of document.querySelectorAll(".scroll > table:not(.cards)")) {
    const heads = table.tHead ? [...table.tHead.rows] : [];
    if (heads.length === 0) continue;
    const names = heads.map((row) => [...row.cells].flatMap((cell) => Array(cell.colSpan).fill(cell.textContent.trim())));
    const label = (at) => names.map((row) => row[at] || "").filter(Boolean).join(" ");
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, at) => {
        if (cell.tagName === "TD" && label(at)) cell.dataset.label = label(at);
      });
    }
    table.classList.add("cards");
  }

  // ---- Theme ------------------------------------------------------------------
  const themes = ["auto", "light", "dark"];
  const button = document.getElementById("theme");
  const remembered = () => {
    try { return localStorage.getItem("fathom-theme"); } catch { return null; }
  };
  const asked = /theme=(light|dark)/.exec(location.hash);
  let theme = asked ? asked[1] : themes.includes(remembered()) ? remembered() : "auto";
  const dress = () => {
    if (theme === "auto") root.removeAttribute("data-theme"); else root.setAttribute("data-theme", theme);
    button.textContent = "Theme: " + theme;
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try { localStorage.setItem("fathom-theme", theme); } catch { /* a file may have no storage */ }
    dress();
  });
  dress();

  // ---- A link opens what it needs --------------------------------------
  const follow = () => {
    const id = location.hash.slice(1);
    const target = id && !id.includes("=") ? document.getElementById(id) : null;
    const details = target && target.closest("details");
    if (details) { details.open = true; drawLater(details); target.scrollIntoView(); }
  };
  addEventListener("hashchange", follow);
  follow();
  for (const hint of document.querySelectorAll(".hint")) hint.hidden = false;
  // What scrolls can be scrolled by keys.
  for (const box of document.querySelectorAll(".scroll")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
  root.dataset.ready = "1";
})();
