// What a page of a report does once it is open: colours, tables, tooltips, charts, and the picture's zoom.
"use strict";
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print");

  // --- light and dark ------------------------------------------------------------------------------------------------
  const remembered = () => { try { return localStorage.getItem("cxloom-theme"); } catch { return null; } };
  const isDark = () => !paper.matches && (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const button = document.getElementById("theme");
  function recolour() {
    if (button) {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
    }
  }
  const theme = remembered();
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  button?.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("cxloom-theme", root.dataset.theme); } catch { /* a page without storage */ }
    recolour();
  });
  system.addEventListener("change", recolour);
  paper.addEventListener("change", recolour);

  // --- tables --------------------------------------------------------------------------------------------------------
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const rows = Array.from(table.tBodies[0].rows).sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        const order = x !== "" && y !== "" && !isNaN(x) && !isNaN(y) ? x - y
          : x.localeCompare(y, "en", { numeric: true });
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows);
    }));
  }

  // --- tooltips ------------------------------------------------------------------------------------------------------
  const tip = document.getElementById("tip");
  for (const title of document.querySelectorAll("[data-tip] > title")) title.remove();
  const hide = () => tip.classList.remove("shown");
  function show(text, x, y) {
    tip.textContent = text;
    tip.classList.add("shown");
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 4))}px`;
    tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18}px`;
  }
  document.addEventListener("pointermove", event => {
    const target = event.target.closest?.("[data-tip]");
    if (target) show(target.dataset.tip, event.clientX, event.clientY); else hide();
  });
  document.addEventListener("focusin", event => {
    const target = event.target.closest?.("[data-tip]");
    if (!target) return hide();
    const box = target.getBoundingClientRect();
    show(target.dataset.tip, box.right, box.top);
  });
  document.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });

  // --- charts --------------------------------------------------------------------------------------------------------
  for (const source of document.querySelectorAll("script[type='application/json'][data-plot]"))
    liveCharts.show(document.getElementById(source.dataset.plot), JSON.parse(source.textContent), { show, hide });

  // --- the picture's zoom --------------------------------------------------------------------------------------------
  for (const map of document.querySelectorAll(".map")) {
    const svg = map.querySelector("svg.cx-picture");
    const whole = svg.viewBox.baseVal;
    const [width, height] = [whole.width, whole.height];
    let view = { x: 0, y: 0, scale: 1 };
    const apply = () => {
      view.scale = Math.min(1, Math.max(0.02, view.scale));
      const [w, h] = [width * view.scale, height * view.scale];
      view.x = Math.min(Math.max(view.x, 0), width - w);
      view.y = Math.min(Math.max(view.y, 0), height - h);
      svg.setAttribute("viewBox", `${view.x} ${view.y} ${w} ${h}`);
    };
    const zoom = (factor, at = [0.5, 0.5]) => {
      const before = view.scale;
      view.scale = Math.min(1, Math.max(0.02, view.scale * factor));
      view.x += width * (before - view.scale) * at[0];
      view.y += height * (before - view.scale) * at[1];
      apply();
    };
    map.querySelector("[data-zoom=in]")?.addEventListener("click", () => zoom(0.7));
    map.querySelector("[data-zoom=out]")?.addEventListener("click", () => zoom(1 / 0.7));
    map.querySelector("[data-zoom=all]")?.addEventListener("click", () => { view = { x: 0, y: 0, scale: 1 }; apply(); });
    svg.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 0.85 : 1 / 0.85,
        [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]);
    }, { passive: false });
    svg.addEventListener("pointermove", event => {
      if (event.buttons !== 1 || view.scale === 1) return;
      const box = svg.getBoundingClientRect();
      view.x -= event.movementX * width * view.scale / box.width;
      view.y -= event.movementY * height * view.scale / box.height;
      apply();
    });
  }
  recolour();
  root.dataset.ready = "yes";
})();
