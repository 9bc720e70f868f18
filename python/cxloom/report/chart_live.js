// What a chart does once it is drawn: names that hide and show, a tip at the pointer, a part that is enlarged.
"use strict";
const liveCharts = (() => {
  const { draw, el, told, hatch, colourOf, marker, DASHES, NEAR } = charts;
  const { isBar, has } = chartLayout;

  function show(place, figure, tip) {
    const chart = { place, figure, hidden: new Set(), items: [], zoom: null };
    draw(chart);
    legend(chart);
    tips(chart, tip);
    enlarging(chart);
    new ResizeObserver(() => { if (Math.floor(place.clientWidth) !== chart.width) draw(chart); }).observe(place);
    return chart;
  }

  // --- the legend ----------------------------------------------------------------------------------------------------
  function legend(chart) {
    const { data, layout } = chart.figure;
    const shown = data.map((trace, index) => [trace, index]).filter(([trace]) => trace.showlegend !== false && trace.name);
    const keys = document.createElement("div");
    keys.className = "keys";
    chart.place.append(keys);
    if (layout.showlegend === false || (shown.length < 2 && !layout.showlegend)) return;
    if (layout.legend) keys.append(Object.assign(document.createElement("span"), { textContent: layout.legend }));
    for (const [trace, index] of shown) {
      const key = document.createElement("button");
      key.type = "button";
      key.setAttribute("aria-pressed", "true");
      key.append(swatch(chart, trace, index), document.createTextNode(trace.name));
      key.addEventListener("click", () => {
        const isShown = chart.hidden.delete(index) || !chart.hidden.add(index);
        key.setAttribute("aria-pressed", String(isShown));
        draw(chart);
      });
      keys.append(key);
    }
  }

  function swatch(chart, trace, index) {
    const svg = el("svg", { width: 26, height: 12, viewBox: "0 0 26 12", "aria-hidden": "true" });
    const colour = [colourOf(trace)].flat()[0];
    if (isBar(trace) || trace.stackgroup) {
      const shape = trace.marker?.pattern?.shape, id = `${chart.place.id}-key-${index}`;
      if (shape) hatch(el("defs", {}, svg), id, colour, shape);
      el("rect", { x: 5, width: 16, height: 12, fill: shape ? `url(#${CSS.escape(id)})` : colour }, svg);
      return svg;
    }
    if (has(trace, "lines"))
      el("path", { d: "M0 6H26", stroke: colour, "stroke-width": 2, "stroke-dasharray": DASHES[trace.line?.dash] }, svg);
    if (has(trace, "markers")) marker(svg, trace, [13, 6], colour);
    return svg;
  }

  // --- tips ----------------------------------------------------------------------------------------------------------
  function nearest(chart, x, y) {
    const holds = box => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
    const within = chart.items.find(({ box }) => box && holds(box));
    if (within) return within;
    let found, least = NEAR ** 2;
    for (const item of chart.items) {
      const away = (item.x - x) ** 2 + (item.y - y) ** 2;
      if (!item.box && away < least) [found, least] = [item, away];
    }
    return found;
  }

  function tips(chart, tip) {
    const { place } = chart;
    place.addEventListener("pointermove", event => {
      chart.svg?.querySelector(".here")?.remove();
      const from = chart.svg?.getBoundingClientRect();
      if (!from || event.buttons || event.target.closest(".keys, [data-tip]")) return;
      const found = nearest(chart, event.clientX - from.left, event.clientY - from.top);
      if (!found?.trace.tip) return tip.hide();
      if (!found.box) el("circle", { cx: found.x, cy: found.y, r: 6, class: "here" }, chart.svg);
      tip.show(told(found.trace, found.point), event.clientX, event.clientY);
      event.stopPropagation();
    });
    place.addEventListener("pointerleave", () => { chart.svg?.querySelector(".here")?.remove(); tip.hide(); });
  }

  // --- a part that is enlarged ---------------------------------------------------------------------------------------
  function enlarging(chart) {
    const { place } = chart;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: "Show all of it", hidden: true });
    button.addEventListener("click", () => enlarge(null));
    place.querySelector(".keys").append(button);
    let start;
    function enlarge(part) {
      chart.zoom = part;
      button.hidden = !part;
      draw(chart);
    }
    const at = event => {
      const { x0, x1 } = chart.field;
      return Math.min(Math.max(event.clientX - chart.svg.getBoundingClientRect().left, x0), x1);
    };
    place.addEventListener("pointerdown", event => {
      if (event.button || event.pointerType === "touch" || chart.x.kind === "category") return;
      if (!event.target.closest("svg.chart")) return;
      start = at(event);
      place.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    place.addEventListener("pointermove", event => {
      if (start === undefined) return;
      chart.svg.querySelector(".chosen")?.remove();
      const { y0, y1 } = chart.field, end = at(event);
      const box = { x: Math.min(start, end), y: y0, width: Math.abs(end - start), height: y1 - y0 };
      el("rect", { ...box, class: "chosen" }, chart.svg);
    });
    place.addEventListener("pointerup", event => {
      if (start === undefined) return;
      const ends = [start, at(event)].sort((a, b) => a - b);
      start = undefined;
      chart.svg.querySelector(".chosen")?.remove();
      if (ends[1] - ends[0] > 8) enlarge(ends.map(chart.x.back));
    });
    place.addEventListener("dblclick", event => { if (event.target.closest("svg.chart")) enlarge(null); });
  }

  return { show };
})();
