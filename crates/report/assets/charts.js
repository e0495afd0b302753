/* Read-outs, zoom and series toggles of the charts of a trial. They are complete
   without; this only makes looking closer possible. */
const Charts = (() => {
  "use strict";
  const { group, three, latency, show, clock } = Numbers;
  const NS = "http://www.w3.org/2000/svg";
  const LEFT = 62, RIGHT = 536, TOP = 20, BOTTOM = 196;

  // ---- Geometry -------------------------------------------------------------
  const make = (name, attributes) => {
    const node = document.createElementNS(NS, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    return node;
  };
  const r1 = (v) => Math.round(v * 10) / 10;
  const plotX = (v, [low, high]) => LEFT + ((v - low) / (high - low)) * (RIGHT - LEFT);
  const timeSteps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400];
  const timeTicks = ([low, high]) => {
    const rough = (high - low) / 7;
    let step = timeSteps.find((s) => s >= rough);
    if (rough < 1) {
      const power = 10 ** Math.floor(Math.log10(rough));
      step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
    }
    step = step || rough;
    const unit = high <= 180 || step < 30 ? [1, "s"] : high <= 10800 || step < 1800 ? [60, "min"] : [3600, "h"];
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i <= high / step + 1e-9; i += 1) ticks.push(i * step);
    return { ticks, unit };
  };

  // ---- One chart ------------------------------------------------------------
  const charts = new Map();
  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.svg = figure.querySelector(":scope > svg");
      this.output = figure.querySelector("output");
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.kind = ["time", "heat", "dist", "curve"].find((k) => figure.classList.contains(k));
      const d = this.data;
      if (this.kind === "time") {
        this.edges = d.e || Array.from({ length: d.t[2] + 1 }, (_, i) => (i < d.t[2] ? d.t[0] + i * d.t[1] : d.t[3]));
        this.full = [this.edges[0], this.edges[this.edges.length - 1]];
        this.paths = [...figure.querySelectorAll(".ln path")];
      } else {
        this.full = d.x;
      }
      this.range = this.full;
      this.hidden = new Set();
      this.cross = make("path", { class: "cross" });
      this.svg.append(this.cross);
    }

    valueAt(event) {
      const box = this.svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * this.svg.viewBox.baseVal.width;
      const share = Math.min(1, Math.max(0, (x - LEFT) / (RIGHT - LEFT)));
      const [low, high] = this.range;
      return this.kind === "dist" ? low * (high / low) ** share : low + share * (high - low);
    }

    placeOf(value) {
      const [low, high] = this.range;
      const share = this.kind === "dist" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
      return r1(LEFT + Math.min(1, Math.max(0, share)) * (RIGHT - LEFT));
    }

    read(value, event) {
      const d = this.data;
      if (this.kind === "time") {
        const at = bucket(this.edges, value);
        const lines = [clock(this.edges[at]) + (this.edges[at + 1] - this.edges[at] > 1.5 ? " to " + clock(this.edges[at + 1]) : "")];
        d.s.forEach((s, i) => {
          const high = s.hi[at], low = s.lo ? s.lo[at] : high;
          if (this.hidden.has(i) || high === null) return;
          const text = show[d.u];
          lines.push(s.n + "  " + (low === high ? text(high) : text(low) + " to " + text(high)));
        });
        if (d.err.includes(at)) lines.push("operations failed");
        return lines.join("\n");
      }
      if (this.kind === "dist") {
        const b = d.b.find(([low, high]) => value >= low && value < high + 1);
        if (!b) return null;
        return latency(b[0]) + " to " + latency(b[1]) + "\n" + group(b[2]) + " operations, " + three((b[2] / d.total) * 100) + " %";
      }
      if (this.kind === "curve") {
        const percent = 100 * (1 - 10 ** -value);
        const p = d.p.reduce((best, q) => (Math.abs(q[0] - percent) < Math.abs(best[0] - percent) ? q : best));
        return Number(p[0].toFixed(4)) + " % took at most\n" + latency(p[1]);
      }
      const at = bucket(d.c.concat(d.x[1]), value);
      const head = clock(d.c[at]) + (d.w > 1.5 ? " to " + clock(d.c[at] + d.w) : "");
      if (!event) return head;
      const box = this.svg.getBoundingClientRect();
      const y = ((event.clientY - box.top) / box.height) * this.svg.viewBox.baseVal.height;
      const row = this.rowAt(y);
      if (row < 0) return head;
      const column = d.n[at];
      const count = column[1 + row - column[0]] && row >= column[0] ? column[1 + row - column[0]] : 0;
      return head + "\n" + latency(d.r[row]) + " to " + latency(d.r[row + 1]) + "\n" + group(count) + " operations";
    }

    rowAt(y) {
      const [low, high] = this.data.y;
      const ns = low * (high / low) ** ((BOTTOM - y) / (BOTTOM - TOP));
      const rows = this.data.r;
      return ns < rows[0] || ns >= rows[rows.length - 1] ? -1 : bucket(rows, ns);
    }

    point(value, event) {
      const text = this.read(value, event);
      const x = this.placeOf(value);
      this.cross.setAttribute("d", `M${x} ${TOP}V${BOTTOM}`);
      this.output.classList.toggle("on", Boolean(event && text));
      if (!event || !text) return;
      this.output.textContent = text;
      const box = this.figure.getBoundingClientRect();
      const wide = this.output.offsetWidth;
      const left = event.clientX - box.left;
      this.output.style.left = Math.max(0, left + 16 + wide > box.width ? left - wide - 14 : left + 14) + "px";
      this.output.style.top = event.clientY - box.top + 14 + "px";
    }

    leave() {
      this.cross.removeAttribute("d");
      this.output.classList.remove("on");
    }

    // The way back from a zoom, where it can be seen and tabbed to.
    offerReset(whole) {
      if (!this.back) {
        this.back = document.createElement("button");
        this.back.type = "button";
        this.back.className = "reset";
        this.back.textContent = "Reset zoom";
        this.back.addEventListener("click", () => {
          for (const chart of together(this)) chart.zoom(chart.full);
          this.svg.focus();
        });
        this.figure.append(this.back);
      }
      this.back.hidden = whole;
    }

    // Where a value stands on the screen, for keys, which have no pointer.
    spot(value) {
      const box = this.svg.getBoundingClientRect();
      const scale = box.width / this.svg.viewBox.baseVal.width;
      return { clientX: box.left + this.placeOf(value) * scale, clientY: box.top + ((TOP + BOTTOM) / 2) * scale };
    }

    zoom(range) {
      this.range = range;
      this.leave();
      this.offerReset(range === this.full);
      const { ticks, unit } = timeTicks(range);
      const axis = this.svg.querySelector(".xt");
      axis.replaceChildren();
      for (const t of ticks) {
        const x = r1(plotX(t, range));
        axis.append(make("path", { d: `M${x} ${TOP}V${BOTTOM}` }));
        const text = make("text", { x, y: BOTTOM + 15 });
        const v = t / unit[0];
        text.textContent = group(v) === String(v) ? v : Number(v.toFixed(3));
        axis.append(text);
      }
      this.svg.querySelector(".ax").textContent = `time since start of load (${unit[1]})`;
      const whole = range === this.full;
      for (const part of this.svg.querySelectorAll(".wu, .er, .hm")) {
        // What lies on the time axis is stretched as a whole, inside of a
        // group that stays and cuts off what leaves the plot.
        if (!part.parentNode.matches(".cut")) {
          const cut = make("g", { class: "cut", "clip-path": clip(this.svg) });
          part.replaceWith(cut);
          cut.append(part);
        }
        const k = (this.full[1] - this.full[0]) / (range[1] - range[0]);
        const shift = plotX(this.full[0], range) - LEFT * k;
        if (whole) part.removeAttribute("transform");
        else part.setAttribute("transform", `matrix(${k} 0 0 1 ${shift} 0)`);
      }
      const label = this.svg.querySelector(".wu text");
      if (label) label.style.display = whole ? "" : "none";
      if (this.kind === "time") this.redraw();
    }

    redraw() {
      const { y: [low, high], log } = this.data;
      const placeY = (v) => {
        const share = log ? Math.log(Math.max(v, low) / low) / Math.log(high / low) : (v - low) / (high - low);
        return r1(BOTTOM - Math.min(1, Math.max(0, share)) * (BOTTOM - TOP));
      };
      this.data.s.forEach((s, i) => {
        let d = "", last = null;
        for (let b = 0; b < s.hi.length; b += 1) {
          if (s.hi[b] === null) { last = null; continue; }
          const x = r1(plotX((this.edges[b] + this.edges[b + 1]) / 2, this.range));
          const top = placeY(s.hi[b]), bottom = placeY(s.lo ? s.lo[b] : s.hi[b]);
          const [from, to] = last !== null && Math.abs(last - bottom) <= Math.abs(last - top) ? [bottom, top] : [top, bottom];
          d += (last === null ? "M" : "L") + x + " " + from + (to !== from ? "V" + to : last === null ? "h0" : "");
          last = to;
        }
        this.paths[i].setAttribute("d", d);
        this.paths[i].setAttribute("clip-path", clip(this.svg));
      });
    }

    // The cells of a heat map, which a large page leaves out.
    drawCells() {
      const d = this.data;
      const x = (v) => r1(Math.min(RIGHT, Math.max(LEFT, plotX(v, d.x))));
      const y = (ns) => {
        const share = Math.log(Math.max(ns, d.y[0]) / d.y[0]) / Math.log(d.y[1] / d.y[0]);
        return r1(BOTTOM - Math.min(1, Math.max(0, share)) * (BOTTOM - TOP));
      };
      const most = Math.max(...d.n.map((column) => Math.max(0, ...column.slice(1))));
      const level = (count) => (most <= 1 ? 7 : Math.min(7, Math.floor((Math.log(count) / Math.log(most)) * 8)));
      const paths = Array(8).fill("");
      d.n.forEach(([first, ...counts], column) => {
        const left = x(d.c[column]), right = Math.max(x(d.c[column] + d.w), left + 0.4);
        for (let row = 0; row < counts.length;) {
          const from = row, own = counts[row] > 0 ? level(counts[row]) : -1;
          while (row < counts.length && (counts[row] > 0 ? level(counts[row]) : -1) === own) row += 1;
          if (own < 0) continue;
          const bottom = y(d.r[first + from]);
          paths[own] += `M${left} ${bottom}V${y(d.r[first + row])}H${right}V${bottom}z`;
        }
      });
      for (const path of this.svg.querySelectorAll(".hm path")) path.setAttribute("d", paths[Number(path.getAttribute("class").slice(1))]);
    }

    // What a large page leaves to the script.
    complete() {
      if (this.kind === "time") this.redraw();
      else if (this.kind === "heat") this.drawCells();
      this.figure.classList.remove("bare");
    }

    toggle(i, button) {
      const hide = !this.hidden.has(i);
      if (hide) this.hidden.add(i); else this.hidden.delete(i);
      this.paths[i].style.display = hide ? "none" : "";
      button.setAttribute("aria-pressed", String(!hide));
    }
  }

  const bucket = (edges, value) => {
    let low = 0, high = edges.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (edges[middle] <= value) low = middle; else high = middle - 1;
    }
    return low;
  };

  let clips = 0;
  const clip = (svg) => {
    if (!svg.dataset.clip) {
      svg.dataset.clip = "clip" + (clips += 1);
      const path = make("clipPath", { id: svg.dataset.clip, clipPathUnits: "userSpaceOnUse" });
      path.append(make("rect", { x: LEFT, y: 0, width: RIGHT - LEFT, height: BOTTOM + 2 }));
      svg.prepend(path);
    }
    return `url(#${svg.dataset.clip})`;
  };

  // ---- Charts of one trial move together --------------------------------------
  const chartOf = (figure) => {
    if (!charts.has(figure)) charts.set(figure, new Chart(figure));
    return charts.get(figure);
  };
  const together = (chart) => {
    if (chart.kind !== "time" && chart.kind !== "heat") return [chart];
    const all = chart.figure.closest("details").querySelectorAll("figure.time, figure.heat");
    return [...all].map(chartOf);
  };

  // Arrows move the crosshair, + and - zoom around it, 0 shows all, Escape hides it.
  const keys = (figure, svg, zooms) => {
    let share = 0.5;
    svg.tabIndex = 0;
    svg.addEventListener("blur", () => {
      for (const chart of together(chartOf(figure))) chart.leave();
    });
    svg.addEventListener("keydown", (event) => {
      const chart = chartOf(figure);
      const [low, high] = chart.range;
      const at = () => (chart.kind === "dist" ? chart.range[0] * (chart.range[1] / chart.range[0]) ** share
        : chart.range[0] + share * (chart.range[1] - chart.range[0]));
      const all = together(chart);
      const step = event.shiftKey ? 0.1 : 0.02;
      if (event.key === "ArrowLeft") share = Math.max(0, share - step);
      else if (event.key === "ArrowRight") share = Math.min(1, share + step);
      else if (event.key === "Escape") { for (const other of all) other.leave(); return; }
      else if (zooms && "+=-0".includes(event.key)) {
        const half = ((high - low) / 2) * (event.key === "-" ? 2 : 0.5), middle = at();
        const [first, last] = chart.full;
        const range = [Math.max(first, middle - half), Math.min(last, middle + half)];
        const whole = event.key === "0" || (range[0] <= first && range[1] >= last);
        for (const other of all) other.zoom(whole ? other.full : range);
        share = whole ? 0.5 : (middle - range[0]) / (range[1] - range[0]);
      } else return;
      event.preventDefault();
      const value = at();
      for (const other of all) other.point(value, other === chart ? chart.spot(value) : null);
    });
  };

  const wireOne = (figure) => {
    if (figure.matches(".bare")) chartOf(figure).complete();
    const svg = figure.querySelector(":scope > svg");
    let drag = null, band = null;
    svg.addEventListener("pointermove", (event) => {
      const chart = chartOf(figure);
      const value = chart.valueAt(event);
      for (const other of together(chart)) other.point(value, other === chart ? event : null);
      if (drag !== null) {
        if (!band) svg.append((band = make("rect", { class: "zoom", y: TOP, height: BOTTOM - TOP })));
        const a = chart.placeOf(Math.min(drag, value)), b = chart.placeOf(Math.max(drag, value));
        band.setAttribute("x", a);
        band.setAttribute("width", b - a);
      }
    });
    svg.addEventListener("pointerleave", (event) => {
      // A finger that lifts leaves the chart, and its read-out is yet to be read.
      if (event.pointerType === "touch") return;
      for (const chart of together(chartOf(figure))) chart.leave();
    });
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse") return;
      for (const other of charts.values()) other.leave();
      const chart = chartOf(figure);
      const value = chart.valueAt(event);
      for (const other of together(chart)) other.point(value, other === chart ? event : null);
    });
    const zooms = figure.matches(".time, .heat");
    keys(figure, svg, zooms);
    if (!zooms) return;
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && event.button === 0) {
        drag = chartOf(figure).valueAt(event);
        svg.setPointerCapture(event.pointerId);
      }
    });
    const end = (event) => {
      if (band) band.remove();
      band = null;
      if (drag === null) return;
      const chart = chartOf(figure);
      const range = [drag, chart.valueAt(event)].sort((a, b) => a - b);
      drag = null;
      const span = chart.range[1] - chart.range[0];
      if (event.type === "pointerup" && range[1] - range[0] > span * 0.01) {
        for (const other of together(chart)) other.zoom(range);
        chart.point(chart.valueAt(event), event);
      }
    };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", end);
    svg.addEventListener("dblclick", () => {
      for (const chart of together(chartOf(figure))) chart.zoom(chart.full);
    });
    svg.style.cursor = "crosshair";
    figure.querySelectorAll(".key").forEach((button, i) => {
      button.addEventListener("click", () => chartOf(figure).toggle(i, button));
    });
  };

  // The charts below an element, which may have been drawn just now.
  const wire = (root) => root.querySelectorAll("figure.chart").forEach(wireOne);
  return { wire };
})();
