"use strict";
(() => {
  const { data, byId, narrow, config, light, layout, fill, choices, onWidth } = kflip;
  const dark = { ink: "#e6e9ee", soft: "#a3adbb", line: "#353d49", grid: "#262d37", paper: "#14181f" };
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const regrets = ["guarded", "raw"];
  const shown = { curve: 0, what: "guarded", printing: false };
  const look = () => (darkness.matches && !shown.printing ? dark : light);

  // tables

  const measured = byId("measured");
  const number = (text) => (text === "inf" ? Infinity : text === undefined || text === "none" ? NaN : Number(text));
  const moreIsBetter = () => ["hits", "time"].includes(measured.dataset.measure);

  function sort(heading) {
    const table = heading.closest("table"), column = heading.cellIndex, body = table.tBodies[0];
    const cells = table.classList.contains("cells"), byName = column === 0;
    const up = heading.ariaSort ? heading.ariaSort !== "ascending" : !(cells && !byName && moreIsBetter());
    const value = (row) => {
      const cell = row.cells[column];
      return number(cells ? cell.dataset[measured.dataset.measure] : cell.dataset.value);
    };
    const compare = (a, b) => {
      if (byName) return a.cells[0].dataset.value.localeCompare(b.cells[0].dataset.value) * (up ? 1 : -1);
      const [x, y] = [value(a), value(b)];
      // what has no number stays below, whichever way
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return x === y ? 0 : (x < y ? -1 : 1) * (up ? 1 : -1);
    };
    [...body.rows].sort(compare).forEach((row) => body.append(row));
    table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  }

  document.querySelectorAll("thead button").forEach((button) => {
    button.addEventListener("click", () => sort(button.closest("th")));
  });
  choices(byId("measure"), Object.entries(data.measures), "guarded", (name) => {
    measured.dataset.measure = name;
    // the order on the screen was that of another measure
    measured.querySelectorAll("th[aria-sort]").forEach((heading) => {
      if (heading.cellIndex > 0) { heading.removeAttribute("aria-sort"); sort(heading); }
    });
  });

  // curves

  const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  // a legend on a phone has room for half a long name
  const fitting = (name) => plain(narrow() && name.length > 28 ? `${name.slice(0, 27)}…` : name);
  const finite = (v) => (v === "inf" ? Infinity : v === null ? NaN : v);
  const percent = (v) => {
    if (v === Infinity) return "never finishes";
    if (Math.abs(v) < 1e-12) return "0 %";
    const p = 100 * v;
    return `${p >= 1e5 || p < 1e-3 ? p.toExponential(1) : Number(p.toPrecision(3))} %`;
  };
  const big = (v) => (v >= 1e6 ? `${v / 1e6}M` : v >= 1e3 ? `${v / 1e3}k` : String(v));
  const faded = (colour, share) => {
    const part = (from) => parseInt(colour.slice(from, from + 2), 16);
    return `rgba(${part(1)}, ${part(3)}, ${part(5)}, ${share})`;
  };
  // beyond these a regret is as good as none, or as bad as never
  const FLOOR = 1e-5, CEILING = 100;

  function heights(curve) {
    const all = curve.lines.flatMap((one) => [...one[shown.what].low, ...one[shown.what].high])
      .concat(curve.levels.map((one) => one[shown.what])).map(finite).filter((v) => !Number.isNaN(v));
    const within = all.filter((v) => v >= FLOOR && v <= CEILING);
    const low = all.some((v) => v < FLOOR) ? FLOOR : Math.min(...within, 1), high = Math.max(...within, low * 10);
    const beyond = all.some((v) => v > CEILING);
    const limit = !beyond ? [] : all.some((v) => v > CEILING && v < Infinity) ? ["> 10 000 %<br>or never"] : ["never"];
    return { low, high, limit, top: beyond ? high * 10 ** (0.08 * Math.log10(high / low) + 0.1) : high };
  }

  function drawCurves() {
    const curve = data.curves[shown.curve], element = byId("curve-plot"), seen = look();
    const { low, high, limit, top } = heights(curve);
    const place = (v) => (Number.isNaN(v) ? null : v > CEILING ? top : Math.max(v, low));
    const palette = [...kflip.colours, seen.ink], dashes = ["solid", "dash", "longdash"];
    const bands = [], lines = [];
    const byName = [...curve.lines].sort((a, b) => data.learners.indexOf(a.method) - data.learners.indexOf(b.method));
    for (const one of byName) {
      const index = data.learners.indexOf(one.method), colour = palette[index % palette.length];
      const [middle, least, most] = ["median", "low", "high"].map((name) => one[shown.what][name].map(finite));
      const common = { type: "scatter", x: one.iterations, legendgroup: String(index) };
      bands.push({
        ...common, uid: `band-${index}`, mode: "lines", showlegend: false, hoverinfo: "skip", fill: "toself", line: { width: 0 },
        fillcolor: faded(colour, 0.16), x: [...one.iterations, ...[...one.iterations].reverse()],
        y: [...most, ...[...least].reverse()].map(place),
      });
      lines.push({
        ...common, uid: `line-${index}`, mode: "lines+markers", name: fitting(one.method), y: middle.map(place),
        line: { color: colour, width: 2, dash: dashes[Math.floor(index / palette.length) % dashes.length] }, marker: { size: 4 },
        customdata: middle.map((v, j) => `<b>${plain(one.method)}</b><br>${one.iterations[j].toLocaleString("en")} iterations<br>` +
          `${percent(v)} (${percent(least[j])} to ${percent(most[j])})`),
        hovertemplate: "%{customdata}<extra></extra>",
      });
    }
    const ends = curve.lines.flatMap((one) => [one.iterations[0], one.iterations.at(-1)]);
    const first = Math.min(...ends), last = Math.max(...ends, curve.budget);
    const trained = (one) => one.kind !== "no training";
    const best = curve.levels.find((one) => !trained(one));
    const levels = curve.levels.map((one, j) => {
      const v = finite(one[shown.what]);
      return {
        type: "scatter", mode: "lines+text", uid: `level-${data.levels.indexOf(one.method)}`,
        name: narrow() ? fitting(one.method) : `${plain(one.method)} (${one.kind})`,
        x: [first, Math.sqrt(first * last), last], y: Array(3).fill(place(v)), line: { color: trained(one) ? seen.ink : seen.soft,
          width: 1.5, dash: trained(one) ? "dashdot" : ["dot", "dash", "longdash"][j % 3] },
        text: [fitting(one.method), "", ""], textposition: "top right", textfont: { size: 11, color: seen.soft },
        visible: trained(one) || one === best || one.method === "one-bit" ? true : "legendonly",
        hovertemplate: "%{customdata}<extra></extra>",
        customdata: Array(3).fill(`<b>${plain(one.method)}</b>, ${one.kind}<br>${percent(v)}`),
      };
    });
    const rows = [];
    for (let e = Math.ceil(Math.log10(low) - 1e-9); 10 ** e <= high * 1.0001; e++) rows.push(10 ** e);
    const columns = [];
    for (let e = Math.floor(Math.log10(first)); 10 ** e <= last; e++) {
      columns.push(...[1, 2, 5].map((m) => m * 10 ** e).filter((v) => v >= first * 0.999 && v <= last * 1.001));
    }
    byId("curve-caption").textContent = `${curve.id}: exact ${data.measures[shown.what]} of the policy on the way, median over seeds,` +
      ` from the best seed to the worst. Optimal runtime ${Number(curve.optimum.toPrecision(6))}, budget` +
      ` ${curve.budget.toLocaleString("en")} iterations. Horizontal lines do not train here; click on a name to hide or show it.`;
    const axis = { gridcolor: seen.grid, zeroline: false, linecolor: seen.line, type: "log", uirevision: `${shown.curve} ${shown.what}` };
    const small = narrow();
    Plotly.react(element, [...bands, ...lines, ...levels], layout(element, seen, {
      height: small ? 660 : 540, margin: { l: small ? 58 : 76, r: 14, t: 14, b: 56 }, showlegend: true, uirevision: "kept",
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: small ? 11 : 12 } },
      xaxis: { ...axis, title: { text: "iterations of training" }, range: [Math.log10(first) - 0.03, Math.log10(last) + 0.03],
        tickvals: columns, ticktext: columns.map(big), tickangle: 0 },
      yaxis: { ...axis, title: small ? undefined : { text: data.measures[shown.what] }, tickangle: 0,
        range: [Math.log10(low) - 0.1, Math.log10(top) + 0.12],
        tickvals: [...rows, ...limit.map(() => top)], ticktext: [...rows.map(percent), ...limit] },
    }), config);
  }

  if (data.curves.length) {
    fill(byId("curve-choice"), data.curves, (index) => { shown.curve = index; drawCurves(); });
    choices(byId("curve-what"), regrets.map((name) => [name, data.measures[name]]), shown.what, (what) => {
      shown.what = what;
      drawCurves();
    });
    drawCurves();
    onWidth(drawCurves);
    darkness.addEventListener("change", drawCurves);
    window.addEventListener("beforeprint", () => {
      shown.printing = true;
      drawCurves();
      Plotly.relayout("curve-plot", { width: 660 });
    });
    window.addEventListener("afterprint", () => { shown.printing = false; drawCurves(); });
  }
})();
