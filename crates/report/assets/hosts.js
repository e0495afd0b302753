/* Hosts beside one another: a read-out of the cell below the pointer, or of the one
   that arrow keys reach. */
const Hosts = (() => {
  "use strict";
  const { show, clock, three } = Numbers;
  const NS = "http://www.w3.org/2000/svg";

  class Strip {
    constructor(figure) {
      this.figure = figure;
      this.svg = figure.querySelector(":scope > svg");
      this.output = figure.querySelector("output");
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.stalled = new Set(this.data.z);
      this.columns = this.data.v[0].length;
      this.at = [0, Math.floor(this.columns / 2)];
      this.mark = document.createElementNS(NS, "rect");
      this.mark.setAttribute("class", "spot");
      this.svg.append(this.mark);
      // The read-out says more than the names that a browser would show.
      for (const title of this.svg.querySelectorAll(".cells title")) title.remove();
    }

    // Host and column below a pointer; nothing beside the cells.
    cellAt(event) {
      const [left, right, top, row] = this.data.g;
      const box = this.svg.getBoundingClientRect();
      const share = ((event.clientX - box.left) / box.width * 100 - left) / (right - left);
      const host = Math.floor((event.clientY - box.top - top) / row);
      if (share < 0 || share >= 1 || host < 0 || host >= this.data.h.length) return null;
      return [host, Math.floor(share * this.columns)];
    }

    read([host, column]) {
      const d = this.data, value = d.v[host][column];
      const lines = [d.h[host], clock(column * d.w) + (d.w > 1 ? " to " + clock((column + 1) * d.w) : "")];
      if (value === null) lines.push("no data");
      else lines.push((d.u === "ns" ? "p99 " : "") + show[d.u](value));
      if (value !== null && d.m) lines.push(three(value / d.m * 100) + " % of the median");
      if (this.stalled.has(host * this.columns + column)) lines.push("a second without any operation");
      return lines.join("\n");
    }

    point(cell) {
      this.at = cell;
      const [left, right, top, row] = this.data.g;
      const width = (right - left) / this.columns;
      const x = left + width * cell[1], y = top + row * cell[0];
      this.mark.setAttribute("x", x + "%");
      this.mark.setAttribute("width", width + "%");
      this.mark.setAttribute("y", y);
      this.mark.setAttribute("height", row);
      this.mark.style.display = "inline";
      this.output.textContent = this.read(cell);
      this.output.classList.add("on");
      const box = this.svg.getBoundingClientRect(), frame = this.figure.getBoundingClientRect();
      const beside = box.left - frame.left + (x + width) / 100 * box.width + 10;
      const wide = this.output.offsetWidth;
      this.output.style.left = Math.max(0, beside + wide > frame.width ? beside - wide - 24 : beside) + "px";
      this.output.style.top = box.top - frame.top + y + row + 6 + "px";
    }

    leave() {
      this.mark.style.display = "none";
      this.output.classList.remove("on");
    }

    step(key, far) {
      const [host, column] = this.at, steps = far ? 10 : 1;
      const moves = { ArrowUp: [-steps, 0], ArrowDown: [steps, 0], ArrowLeft: [0, -steps], ArrowRight: [0, steps] };
      const move = moves[key];
      if (!move) return false;
      const within = (value, most) => Math.min(most - 1, Math.max(0, value));
      this.point([within(host + move[0], this.data.h.length), within(column + move[1], this.columns)]);
      return true;
    }
  }

  const wire = (root) => {
    for (const figure of root.querySelectorAll("figure.hosts")) {
      const svg = figure.querySelector(":scope > svg");
      let strip = null;
      const made = () => (strip = strip || new Strip(figure));
      const follow = (event) => {
        const cell = made().cellAt(event);
        if (cell) strip.point(cell); else strip.leave();
      };
      svg.tabIndex = 0;
      svg.addEventListener("pointermove", follow);
      svg.addEventListener("pointerdown", follow);
      svg.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") made().leave(); });
      svg.addEventListener("blur", () => made().leave());
      svg.addEventListener("keydown", (event) => {
        if (event.key === "Escape") made().leave();
        else if (made().step(event.key, event.shiftKey)) event.preventDefault();
      });
    }
  };
  return { wire };
})();
