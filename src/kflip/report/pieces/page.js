"use strict";
(() => {
  const { data, byId, narrow, config, colours, fill, choices, onWidth } = kflip;
  const { line, grid: faint } = kflip.light;
  const layout = (element, more) => kflip.layout(element, kflip.light, more);
  const symbols = ["circle-open", "square-open", "diamond-open", "triangle-up-open"];

  // what can be shown: the number behind the colour, where it is on the scale, and what its colour bar says
  const plain = (v) => v;
  const marks = [1, 2, 3, 4, 5, 8, 16, 32, 64, 128];
  // most of a map is 1 to 5 and a few states are above 100: equal steps from mark to mark show both
  const step = (k) => {
    const after = marks.findIndex((mark) => mark >= k);
    if (after < 0) return marks.length - 1 + Math.log2(k / marks.at(-1));
    return after === 0 ? 0 : after - Math.log(marks[after] / k) / Math.log(marks[after] / marks[after - 1]);
  };
  const kinds = {
    radius: { button: "radius", title: "radius k", place: step, of: "radius" },
    value: { button: "value", title: "expected remaining iterations", place: plain, of: "value" },
    visits: { button: "visits", title: "probability of a visit", place: Math.log10, of: "probability", floor: 1e-9 },
    regret: { button: "regret", title: "iterations lost there", place: Math.log10, of: "regret", floor: 1e-9 },
  };

  const short = (v) => {
    if (v === 0) return "0";
    if (v >= 1e6 || v < 1e-3) return v.toExponential(3);
    return String(Number(v.toPrecision(6)));
  };

  const states = (n) => {
    const list = [];
    for (let lo = 0; lo < n; lo++) for (let om = lo; om < n; om++) list.push([lo, om]);
    return list;
  };

  const grid = (n, fill) => Array.from({ length: n + 1 }, () => Array(n + 1).fill(fill));

  function ticks(kind, low, high) {
    if (kind.place === step) {
      const within = marks.filter((k) => step(k) <= high + 1e-9);
      return { tickvals: within.map(step), ticktext: within.map(String) };
    }
    if (kind.place === plain) return {};
    const stride = Math.max(1, Math.ceil((high - low) / 6)), values = [];
    for (let e = Math.ceil(low); e <= high + 1e-9; e += stride) values.push(e);
    return { tickvals: values, ticktext: values.map((e) => (e >= -2 && e <= 4 ? String(10 ** e) : `1e${e}`)) };
  }

  function mapTraces(map, what, runs) {
    const kind = kinds[what], numbers = map[kind.of];
    const z = grid(map.n, null), text = grid(map.n, ""), hover = grid(map.n, "");
    let low = Infinity, high = -Infinity;
    states(map.n).forEach(([lo, om], s) => {
      const v = numbers[s];
      if (!(kind.floor && v < kind.floor)) {
        z[lo][om] = kind.place(v);
        low = Math.min(low, z[lo][om]);
        high = Math.max(high, z[lo][om]);
      }
      text[lo][om] = what === "radius" ? String(v) : String(Number(v.toPrecision(2)));
      hover[lo][om] = [
        `<b>LO ${lo}, OM ${om}</b>`,
        `k = ${map.radius[s]}`,
        `optimal k: ${(map.optimal[s] || String(map.radius[s])).split(" ").join(", ")}`,
        `value ${short(map.value[s])} iterations`,
        `visited with probability ${short(map.probability[s])}`,
        `${short(map.visits[s])} iterations spent, ${short(map.regret[s])} lost here`,
      ].join("<br>");
    });
    if (!Number.isFinite(low)) [low, high] = [0, 1];
    if (high - low < 1e-9) high = low + 1;
    // states below the floor stay white, yet answer to the pointer
    const blank = z.map((row, lo) => row.map((v, om) => (v === null && hover[lo][om] ? 0 : null)));
    const common = { type: "heatmap", customdata: hover, hovertemplate: "%{customdata}<extra></extra>", hoverongaps: false };
    const bar = narrow()
      ? { orientation: "h", x: 0.5, xanchor: "center", y: -0.16, yanchor: "top", thickness: 12, len: 1 }
      : { thickness: 16, len: 0.9 };
    const traces = [
      { ...common, z: blank, colorscale: [[0, "#eef0f3"], [1, "#eef0f3"]], showscale: false },
      {
        ...common, z, zmin: low, zmax: high, colorscale: "Viridis",
        colorbar: { ...bar, outlinewidth: 0, title: { text: kind.title, side: narrow() ? "top" : "right" },
          ...ticks(kind, low, high) },
      },
    ];
    if (map.n <= 16 && map.annotate && !(narrow() && map.n > 8)) {
      Object.assign(traces[1], { text, texttemplate: "%{text}", textfont: { size: narrow() ? 9 : 12 } });
    }
    if (runs) {
      // white on a dark edge can be seen on every colour
      for (const line of [{ color: "rgba(0,0,0,0.65)", width: 3 }, { color: "rgba(255,255,255,0.9)", width: 1.3 }]) {
        map.runs.forEach((run) => traces.push({
          type: "scatter", mode: "lines", x: run.om, y: run.lo, hoverinfo: "skip", showlegend: false,
          name: line.width > 2 ? "edge" : "run", line,
        }));
      }
    }
    if (map.crosses.length) {
      traces.push({
        type: "scatter", mode: "markers", hoverinfo: "skip", showlegend: false, name: "differs",
        x: map.crosses.map((s) => s[1]), y: map.crosses.map((s) => s[0]),
        marker: { symbol: "x-thin", size: narrow() ? 12 : 24, line: { color: "#e0242c", width: 2.5 } },
      });
    }
    return traces;
  }

  const shown = { map: 0, what: "radius", runs: false, curve: 0 };

  function drawMap() {
    const map = data.maps[shown.map], element = byId("map-plot");
    const runs = byId("map-runs");
    runs.disabled = map.runs.length === 0;
    runs.checked = shown.runs && !runs.disabled;
    const excess = map.excess > 1e-12 ? `, ${short(100 * map.excess)} % more than optimal` : ", which is optimal";
    const lossless = shown.what === "regret" && map.excess <= 1e-12 ? " An optimal policy loses nothing anywhere." : "";
    const crosses = map.crosses.length ? " Crosses: some strings of the state have another optimal radius." : "";
    byId("map-caption").textContent =
      `${short(map.runtime)} expected iterations${excess}. ${map.figure} of the paper.${crosses}${lossless}`;
    const margin = narrow() ? { l: 44, r: 8, t: 26, b: 104 } : { l: 56, r: 100, t: 30, b: 50 };
    const side = Math.min(element.clientWidth - margin.l - margin.r, 560);
    const axis = { range: [-0.5, map.n + 0.5], zeroline: false, showgrid: false, linecolor: line, ticks: "outside", tickcolor: line };
    Plotly.react(element, mapTraces(map, shown.what, runs.checked), layout(element, {
      width: side + margin.l + margin.r, height: side + margin.t + margin.b, margin,
      xaxis: { ...axis, title: { text: "OM", standoff: 6 } },
      yaxis: { ...axis, title: { text: "LO", standoff: 6 } },
    }), config);
  }

  function drawCurve() {
    const curve = data.curves[shown.curve], element = byId("curve-plot");
    const traces = [];
    const name = curve.normaliser.replace("^2", "²");
    curve.lines.forEach((one, c) => {
      traces.push({
        type: "scatter", mode: "lines+markers", name: one.label, x: one.n, y: one.ours, line: { color: colours[c], width: 2 },
        marker: { size: 4 }, hovertemplate: `${one.label}<br>n = %{x}: %{y:.10f}<extra></extra>`,
      });
      const points = Object.entries(one.published);
      traces.push({
        type: "scatter", mode: "markers", name: "published", x: points.map((p) => Number(p[0])), y: points.map((p) => p[1]),
        showlegend: false, marker: { symbol: symbols[c], size: 12, color: colours[c], line: { width: 2 } },
        hovertemplate: `${one.label}, published<br>n = %{x}: %{y:.10f}<extra></extra>`,
      });
    });
    byId("curve-caption").textContent = "Expected iterations from a random string, divided by " + name +
      `. Lines are ours, hollow marks the published numbers (${curve.figure} of the paper); up to n = 32 these lack some start states.`;
    const lengths = curve.lines.flatMap((one) => one.n);
    const sizes = [...new Set(lengths)].sort((a, b) => a - b);
    const heights = curve.lines.flatMap((one) => [...one.ours, ...Object.values(one.published)]);
    const axis = { gridcolor: faint, zeroline: false, linecolor: line };
    Plotly.react(element, traces, layout(element, {
      height: narrow() ? 400 : 460, margin: { l: 60, r: 14, t: 14, b: 56 }, showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
      xaxis: { ...axis, type: "log", title: { text: "n" }, tickvals: sizes, ticktext: sizes.map(String), tickangle: 0,
        tickfont: { size: narrow() ? 10 : 13 } },
      yaxis: { ...axis, title: { text: `expected runtime / (${name})` },
        type: Math.max(...heights) > 4 * Math.min(...heights) ? "log" : "linear" },
    }), config);
  }

  if (data.maps.length) {
    const first = data.maps.findIndex((map) => map.name === "loom");
    shown.map = Math.max(0, first);
    fill(byId("map-choice"), data.maps, (number) => { shown.map = number; drawMap(); });
    byId("map-choice").value = String(shown.map);
    const names = Object.entries(kinds).map(([what, kind]) => [what, kind.button]);
    choices(byId("map-what"), names, shown.what, (what) => { shown.what = what; drawMap(); });
    byId("map-runs").addEventListener("change", (event) => { shown.runs = event.target.checked; drawMap(); });
  }
  if (data.curves.length) {
    fill(byId("curve-choice"), data.curves, (number) => { shown.curve = number; drawCurve(); });
  }
  const draw = () => {
    if (data.maps.length) drawMap();
    if (data.curves.length) drawCurve();
  };
  draw();
  onWidth(draw);
  // the map is narrow enough for a sheet of paper, the curves are not
  window.addEventListener("beforeprint", () => { if (data.curves.length) Plotly.relayout("curve-plot", { width: 660 }); });
  window.addEventListener("afterprint", draw);
})();
