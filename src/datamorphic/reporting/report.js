(function () {
  "use strict";
  function addButton(parent, label, title, action) {
    var button = document.createElement("button");
    button.type = "button";
    if (title) { button.title = title; }
    button.append.apply(button, label);
    button.addEventListener("click", action);
    parent.append(button);
    return button;
  }

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
  function makeSortable(table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (header, column) {
      var button = addButton(header, Array.from(header.childNodes), "", function () { sort(table, header, column); });
      if (!button.textContent.trim()) { button.setAttribute("aria-label", "Sort by this column"); }
      header.setAttribute("aria-sort", "none");
    });
  }

  // Sections: the target of a link is unfolded, everything is unfolded in print, and the list of contents folds on
  // narrow screens.
  function unfold(element) {
    for (var details = element; details; details = details.parentElement) {
      if (details.tagName === "DETAILS") { details.open = true; }
    }
  }
  function showTarget() {
    var target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) { return; }
    target.hidden = false;
    unfold(target.querySelector(":scope > details") || target);
  }
  window.addEventListener("hashchange", showTarget);
  showTarget();
  var folded = [];
  window.addEventListener("beforeprint", function () {
    folded = Array.from(document.querySelectorAll("details:not([open])"));
    folded.forEach(function (details) { details.open = true; });
  });
  window.addEventListener("afterprint", function () { folded.forEach(function (details) { details.open = false; }); });
  var contents = document.querySelector("nav details");
  if (contents) {
    var wide = window.matchMedia("(min-width: 68rem)");
    var adapt = function () { contents.open = wide.matches; };
    wide.addEventListener("change", adapt);
    adapt();
  }

  // Code: a button copies it.
  function copy(text, done) {
    function fallBack() {
      var area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      var copied = document.execCommand("copy");
      area.remove();
      done(copied);
    }
    if (!navigator.clipboard) { fallBack(); return; }
    navigator.clipboard.writeText(text).then(function () { done(true); }, fallBack);
  }
  function makeCopyable(block) {
    var code = block.querySelector("code");
    var button = addButton(document.createElement("div"), ["Copy"], "", function () {
      copy(code.textContent, function (copied) {
        button.textContent = copied ? "Copied" : "Select the text to copy it";
        setTimeout(function () { button.textContent = "Copy"; }, 2000);
      });
    });
    button.className = "copier";
    button.setAttribute("aria-live", "polite");
    block.before(button);
  }

  // Findings: a field searches them, and buttons select them by level.
  function makeSearchable(group) {
    var parts = Array.from(group.querySelectorAll(":scope > section, :scope > details > section"));
    if (parts.length < 2) { return; }
    var tools = document.createElement("div");
    var label = document.createElement("label");
    var input = document.createElement("input");
    var status = document.createElement("p");
    var buttons = [];
    function update() {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var chosen = buttons.filter(function (button) { return button.getAttribute("aria-pressed") === "true"; })
        .map(function (button) { return button.dataset.level; });
      var count = 0;
      parts.forEach(function (part) {
        var text = part.textContent.toLowerCase();
        var shown = words.every(function (word) { return text.includes(word); }) && (!part.dataset.badge || chosen.includes(part.dataset.badge));
        part.hidden = !shown;
        count += shown ? 1 : 0;
      });
      status.textContent = count + " of " + parts.length + " shown";
    }
    tools.className = "tools";
    tools.setAttribute("role", "search");
    input.type = "search";
    label.append("Search", input);
    input.addEventListener("input", update);
    tools.append(label);
    parts.forEach(function (part) {
      var level = part.dataset.badge;
      if (!level || buttons.some(function (button) { return button.dataset.level === level; })) { return; }
      var button = addButton(tools, [level], "Show or hide findings of this level", function () {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
        update();
      });
      button.dataset.level = level;
      button.setAttribute("aria-pressed", "true");
      buttons.push(button);
    });
    status.setAttribute("role", "status");
    tools.append(status);
    parts[0].before(tools);
    update();
  }

  // Pictures: buttons, keys and the wheel with Ctrl zoom; dragging and arrow keys move; a double click shows all.
  function makeZoomable(figure) {
    var frame = figure.querySelector(".drawing");
    var svg = frame.querySelector("svg");
    var whole = svg.getAttribute("viewBox").split(" ").map(Number);
    var view = whole;
    function show(x, y, scale) {
      var width = whole[2] * scale;
      var height = whole[3] * scale;
      view = [Math.min(Math.max(x, 0), whole[2] - width), Math.min(Math.max(y, 0), whole[3] - height), width, height];
      svg.setAttribute("viewBox", view.map(function (number) { return +number.toFixed(2); }).join(" "));
      svg.style.setProperty("--scale", scale);  // symbols and texts keep their size
      frame.classList.toggle("zoomed", scale < 1);
    }
    function zoom(factor, x, y) {  // x and y are shares of the picture, which stay where they are
      var scale = Math.min(1, Math.max(1 / 32, factor * view[2] / whole[2]));
      show(view[0] + x * (view[2] - whole[2] * scale), view[1] + y * (view[3] - whole[3] * scale), scale);
    }
    function move(x, y) { show(view[0] + x * view[2], view[1] + y * view[3], view[2] / whole[2]); }
    function closer() { zoom(1 / 1.5, 0.5, 0.5); }
    function farther() { zoom(1.5, 0.5, 0.5); }
    function reset() { show(0, 0, 1); }
    var buttons = document.createElement("div");
    buttons.className = "zoom";
    addButton(buttons, ["+"], "Zoom in", closer);
    addButton(buttons, ["\u2212"], "Zoom out", farther);
    addButton(buttons, ["Reset"], "Show the whole picture", reset);
    frame.before(buttons);

    var keys = {
      "+": closer, "-": farther, "0": reset,
      ArrowLeft: function () { move(-0.1, 0); }, ArrowRight: function () { move(0.1, 0); },
      ArrowUp: function () { move(0, -0.1); }, ArrowDown: function () { move(0, 0.1); }
    };
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", "Picture: + and - zoom, arrow keys move, 0 shows all");
    frame.addEventListener("keydown", function (event) {
      var arrow = event.key.startsWith("Arrow");
      if (!keys[event.key] || event.ctrlKey || event.metaKey || (arrow && view[2] === whole[2])) { return; }
      event.preventDefault();
      keys[event.key]();
    });
    svg.addEventListener("wheel", function (event) {
      if (!event.ctrlKey && !event.metaKey) { return; }  // the wheel alone scrolls the page
      var box = svg.getBoundingClientRect();
      event.preventDefault();
      zoom(Math.pow(1.002, event.deltaY), (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    }, { passive: false });
    svg.addEventListener("pointermove", function (event) {
      if (!event.buttons || view[2] === whole[2]) { return; }
      var box = svg.getBoundingClientRect();
      svg.setPointerCapture(event.pointerId);
      move(-event.movementX / box.width, -event.movementY / box.height);
    });
    svg.addEventListener("dblclick", reset);
    window.addEventListener("beforeprint", reset);

    figure.querySelectorAll(".legend li[data-group]").forEach(function (item) {
      var button = addButton(item, Array.from(item.childNodes), "Show or hide", function () {
        var hide = button.getAttribute("aria-pressed") === "true";
        button.setAttribute("aria-pressed", String(!hide));
        frame.querySelector('[data-group="' + item.dataset.group + '"]').classList.toggle("off", hide);
      });
      button.setAttribute("aria-pressed", "true");
    });
  }

  // Everything below an element: the whole page, or a part of it that another page shows.
  window.setUpReport = function (root) {
    root.querySelectorAll("table.sortable").forEach(makeSortable);
    root.querySelectorAll("pre.copy").forEach(makeCopyable);
    root.querySelectorAll("section.searchable").forEach(makeSearchable);
    root.querySelectorAll("figure.picture").forEach(makeZoomable);
  };
  window.setUpReport(document);
}());
