(function () {
  "use strict";
  var root = document.documentElement;

  // Tables: a button in each header cell sorts by its column.
  function measure(cell, numeric) {
    var text = cell ? cell.textContent.trim() : "";
    if (text === "" || text === "–") { return null; }
    return numeric ? parseFloat(text.replace(/[,\s]/g, "").replace("−", "-").replace(/^[<>≈~]/, "")) : text;
  }
  function compare(a, b) {
    return typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
  }
  function sort(table, header, column) {
    var falling = header.getAttribute("aria-sort") === "ascending";
    var numeric = header.classList.contains("n");
    var body = table.tBodies[0];
    var rows = Array.from(body.rows).map(function (row) { return [measure(row.cells[column], numeric), row]; });
    rows.sort(function (a, b) {
      if (a[0] === null || b[0] === null) { return (a[0] === null) - (b[0] === null); }
      return falling ? compare(b[0], a[0]) : compare(a[0], b[0]);
    });
    Array.from(header.parentNode.cells).forEach(function (cell) { cell.setAttribute("aria-sort", "none"); });
    header.setAttribute("aria-sort", falling ? "descending" : "ascending");
    body.append.apply(body, rows.map(function (pair) { return pair[1]; }));
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (header, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.append.apply(button, Array.from(header.childNodes));
      header.append(button);
      header.setAttribute("aria-sort", "none");
      button.addEventListener("click", function () { sort(table, header, column); });
    });
  });

  // Pictures: plotly draws them over our own drawing, which stays for print and if anything goes wrong.
  if (typeof Plotly === "undefined") { return; }
  function coloured(value, key) {
    if (typeof value === "string") {
      var name = /^var\((--[a-z0-9]+)\)$/.exec(value);
      return name && /color$/.test(key) ? getComputedStyle(root).getPropertyValue(name[1]).trim() : value;
    }
    if (Array.isArray(value)) {
      return /color$/.test(key) || (value[0] && typeof value[0] === "object")
        ? value.map(function (each) { return coloured(each, key); }) : value;
    }
    if (value && typeof value === "object") {
      Object.keys(value).forEach(function (inner) { value[inner] = coloured(value[inner], inner); });
    }
    return value;
  }
  function draw(figure) {
    var live = figure.querySelector(".live");
    var spec = coloured(JSON.parse(figure.querySelector("script").textContent), "");
    var hidden = Array.from(figure.querySelectorAll(".legend li")).filter(function (item) {
      var button = item.querySelector("button");
      return button && button.getAttribute("aria-pressed") === "false";
    });
    hidden.forEach(function (item) { spec.data[+item.dataset.trace].visible = false; });
    if (window.innerWidth < 600) { spec.layout.height = Math.min(spec.layout.height, 420); }
    if (matchMedia("(pointer: coarse)").matches) { spec.layout.dragmode = false; }  // a finger scrolls the page
    figure.classList.add("drawing-live");
    function failed() { figure.classList.remove("drawing-live", "drawn"); }
    try {
      return Plotly.react(live, spec.data, spec.layout, { displayModeBar: false, responsive: true })
        .then(function () { figure.classList.add("drawn"); }, failed);
    } catch (error) { failed(); }
  }
  var figures = Array.from(document.querySelectorAll("figure.picture"));
  figures.forEach(function (figure) {
    figure.querySelectorAll(".legend li[data-trace]").forEach(function (item) {
      var button = document.createElement("button");
      button.type = "button";
      button.title = "Show or hide";
      button.setAttribute("aria-pressed", "true");
      button.append.apply(button, Array.from(item.childNodes));
      item.append(button);
      button.addEventListener("click", function () {
        button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") === "false" ? "true" : "false");
        draw(figure);
      });
    });
  });
  function later(rest) {
    if (rest.length) {
      draw(rest[0]);
      setTimeout(function () { later(rest.slice(1)); }, 0);
    }
  }
  later(figures);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { later(figures); });
}());
