/* Numbers as the page itself prints them. */
const Numbers = (() => {
  "use strict";
  const group = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const three = (v) => {
    if (v === 0) return "0";
    if (v >= 1000) {
      const step = 10 ** Math.max(0, Math.floor(Math.log10(v)) - 2);
      return group(Math.round(v / step) * step);
    }
    return v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2);
  };
  const latency = (ns) =>
    ns < 999.5 ? three(ns) + " ns" : ns < 999.5e3 ? three(ns / 1e3) + " µs"
      : ns < 999.5e6 ? three(ns / 1e6) + " ms" : three(ns / 1e9) + " s";
  const throughput = (b) => {
    const units = ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"];
    let at = 0;
    while (at < 4 && b >= 1023.5) { b /= 1024; at += 1; }
    return three(b) + " " + units[at];
  };
  const show = {
    bps: throughput, ops: (v) => three(v) + " IOPS", ns: latency,
    share: (v) => three(v * 100) + " %", count: group,
  };
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  const clock = (s) => {
    if (s < 60) return (s < 10 && s % 1 ? s.toFixed(1) : Math.round(s)) + " s";
    const r = Math.round(s);
    return r < 3600 ? Math.floor(r / 60) + ":" + two(r % 60) + " min"
      : Math.floor(r / 3600) + ":" + two((r % 3600) / 60) + ":" + two(r % 60) + " h";
  };
  return { group, three, latency, throughput, show, clock };
})();
