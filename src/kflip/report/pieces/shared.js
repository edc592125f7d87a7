"use strict";
// what the scripts of all pages share
const kflip = (() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const narrow = () => window.innerWidth < 600;
  const touch = window.matchMedia("(pointer: coarse)").matches;
  const config = { displaylogo: false, responsive: false, displayModeBar: touch ? true : "hover" };
  // Okabe and Ito's colours, as in the printed figures
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];
  const light = { ink: "#1c2430", soft: "#5b6675", line: "#d9dee5", grid: "#edf0f3", paper: "#fff" };

  function layout(element, look, more) {
    return {
      width: element.clientWidth, paper_bgcolor: look.paper, plot_bgcolor: look.paper,
      font: { family: "system-ui, sans-serif", color: look.ink, size: 13 }, dragmode: touch ? false : "zoom", showlegend: false,
      hoverlabel: { bgcolor: look.paper, bordercolor: look.ink, font: { color: look.ink }, align: "left" }, ...more,
    };
  }

  function fill(select, items, changed) {
    items.forEach((item, number) => select.add(new Option(item.title, String(number))));
    select.addEventListener("change", () => changed(Number(select.value)));
  }

  // a row of buttons of which one is pressed
  function choices(group, names, first, changed) {
    const press = (what) => group.querySelectorAll("button").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.dataset.what === what));
    });
    for (const [what, name] of names) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.what = what;
      button.textContent = name;
      button.addEventListener("click", () => { press(what); changed(what); });
      group.append(button);
    }
    press(first);
  }

  // a phone's address bar changes the height only
  function onWidth(draw) {
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth !== width) { width = window.innerWidth; draw(); }
    });
  }

  return { data, byId, narrow, touch, config, colours, light, layout, fill, choices, onWidth };
})();
