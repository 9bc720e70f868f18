// Charts of a page: what `plots.py` says of them, drawn as SVG as wide as there is room, and anew when that changes.
"use strict";
const charts = (() => {
  const { LETTERS, widthOf, shown, lines, cut } = scales;
  const { planOf, isBar, has, ROW, GAP, TICK } = chartLayout;
  const NEAR = 28, EDGE = 7;
  const DASHES = {
    solid: "", dash: "7 4", dashdot: "7 3 2 3", dot: "2 3", longdash: "12 4", longdashdot: "12 4 2 4",
  };
  const OUTLINES = {
    square: "M-4-4H4V4H-4Z", diamond: "M0-5L5 0L0 5L-5 0Z", "triangle-up": "M0-5L5 4H-5Z", "triangle-down": "M0 5L5-4H-5Z",
    circle: "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0-4 0Z", x: "M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0Z",
    cross: "M-2-5H2V-2H5V2H2V5H-2V2H-5V-2H-2Z", star: "M0-6L1.5-2H6L2.4.8L3.7 5L0 2.5L-3.7 5L-2.4.8L-6-2H-1.5Z",
  };

  function el(name, attributes, parent, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent?.append(made);
    return made;
  }
  const colourOf = trace => (isBar(trace) ? trace.marker?.color : trace.line?.color || trace.marker?.color) || "#80868d";
  const of = (value, i) => Array.isArray(value) ? value[i] : value;
  const around = value => value.reduce((a, b) => a + b, 0) / value.length;

  function told(trace, point) {  // what stands in a tip: `{name}`, `{x}`, `{y}`, `{text}`, `{custom}` are filled in
    const { i } = point;
    const known = {
      name: trace.name, text: of(trace.text, i), custom: trace.custom?.[i],
      x: trace.isLying ? point.value : trace.x[i], y: trace.isLying ? trace.y[i] : point.value,
    };
    return trace.tip.replace(/\{(\w+)\}/g, (_, key) => shown(known[key] ?? ""));
  }

  // --- drawing -----------------------------------------------------------------------------------------------------
  function draw(chart) {
    const { place, figure: { layout } } = chart;
    const width = Math.floor(place.clientWidth);
    if (!width) return;
    const plan = planOf(chart, width);
    const { x, x0, x1, y0, y1, traces } = plan;
    const svg = el("svg", { class: "chart", width, height: layout.height, viewBox: `0 0 ${width} ${layout.height}`,
      role: "img", "aria-label": place.getAttribute("aria-label") });
    const defs = el("defs", {}, svg);
    const frame = el("g", { class: "axes" }, svg);
    plan.sides.forEach((side, i) => { if (side) sideTicks(frame, side, [x0, x1], i === 1, plan.most); });
    bottom(frame, plan, layout.xaxis);
    titles(frame, plan, width, layout.height);
    // What reaches a little beyond the field, as marks at its edges do, is seen.
    const box = { x: x0 - EDGE, y: y0 - EDGE, width: x1 - x0 + 2 * EDGE, height: y1 - y0 + 2 * EDGE };
    const field = el("svg", { ...box, viewBox: `${box.x} ${box.y} ${box.width} ${box.height}`, class: "field" }, svg);
    for (const { from, to, color } of layout.bands || [])
      el("rect", { x: x.at(from), y: y0, width: x.at(to) - x.at(from), height: y1 - y0, fill: color }, field);
    Object.assign(chart, { width, svg, x, field: { x0, x1, y0, y1 }, items: [] });
    const at = trace => [x, plan.sides[trace.yaxis === "y2" ? 1 : 0].y];
    for (const trace of traces.filter(isBar)) bars(chart, field, defs, trace, ...at(trace));
    for (const trace of traces.filter(trace => !isBar(trace))) curve(chart, field, trace, ...at(trace));
    for (const trace of traces.filter(trace => has(trace, "text"))) names(svg, trace, ...at(trace));
    marks(svg, field, plan);
    place.querySelector("svg.chart")?.remove();
    place.prepend(svg);
  }

  function titles(frame, plan, width, height) {  // of the upright axes above them, of the other below it
    const middle = text => Math.max(widthOf(text) / 2, (plan.x0 + plan.x1) / 2);
    const low = height - GAP / 2 - ROW * (plan.under.length - 1);
    plan.titles[0].forEach((text, i) => el("text", { x: 1, y: ROW * i + 11 }, frame, text));
    plan.titles[1].forEach((text, i) => el("text", { x: width - 1, y: ROW * i + 11, class: "last" }, frame, text));
    plan.under.forEach((text, i) => el("text", { x: middle(text), y: low + ROW * i, class: "middle" }, frame, text));
  }

  function marks(svg, field, { marks, x, y0, y1 }) {  // upright lines, with their names above
    for (const { x: value, color, name, middle, half, row } of marks) {
      const low = y0 - 5 - ROW * row;
      el("path", { d: `M${x.at(value)} ${y0}V${y1}`, stroke: color, class: "mark" }, field);
      el("rect", { x: middle - half + 4, y: low - 9, width: 7, height: 9, fill: color }, svg);
      el("text", { x: middle + 6, y: low, class: "middle" }, svg, name);
    }
  }

  function sideTicks(frame, { y, ticks, axis }, [x0, x1], isRight, most) {
    const [edge, out] = isRight ? [x1, TICK] : [x0, -TICK];
    el("path", { d: `M${edge} ${Math.min(y.from, y.to)}V${Math.max(y.from, y.to)}`, class: "edge" }, frame);
    const every = y.kind === "category" ? Math.max(1, Math.ceil(ROW / y.band)) : 1;
    ticks.forEach((tick, i) => {
      const at = y.at(tick.value);
      if (axis.showgrid) el("path", { d: `M${x0} ${at}H${x1}`, class: "grid" }, frame);
      if (axis.ticks !== "") el("path", { d: `M${edge} ${at}h${out}`, class: "edge" }, frame);
      if (i % every) return;
      const room = y.kind === "category" ? Math.max(1, Math.floor(y.band / ROW)) : 1;
      const rows = y.kind === "category" ? lines(tick.label, most).slice(0, room) : [tick.label];
      const texts = rows.map(row => cut(row, most));
      texts.forEach((text, row) => {
        const place = { x: edge + 1.6 * out, y: at + 4 + ROW * (row - (texts.length - 1) / 2) };
        const label = el("text", { ...place, class: isRight ? "first" : "last" }, frame, text);
        if (texts.join(" ") !== tick.label) label.dataset.tip = tick.label;
      });
    });
  }

  function bottom(frame, { x, ticks, y0, y1, isFree }, axis) {
    el("path", { d: `M${x.from} ${y1}H${x.to}`, class: "edge" }, frame);
    const every = isFree ? 1 : Math.max(1, Math.ceil(ROW / x.band));
    ticks.forEach((tick, i) => {
      const at = x.at(tick.value);
      if (axis.showgrid) el("path", { d: `M${at} ${y0}V${y1}`, class: "grid" }, frame);
      el("path", { d: `M${at} ${y1}v${TICK}`, class: "edge" }, frame);
      if (i % every) return;
      const rows = x.kind === "category" ? lines(tick.label, x.band - GAP) : [tick.label];
      if (isFree) {
        const low = y1 + TICK + 12;
        return rows.forEach((text, row) => el("text", { x: at, y: low + ROW * row, class: "middle" }, frame, text));
      }
      const text = cut(tick.label, Math.min(112, (at - 4) / 0.75));
      const turned = `translate(${at + 4} ${y1 + TICK + 9}) rotate(-45)`;
      const label = el("text", { transform: turned, class: "last" }, frame, text);
      if (text !== tick.label) label.dataset.tip = tick.label;
    });
  }

  function filled(defs, trace, colour, chart) {  // a colour, hatched where the bar says so
    const shape = trace.marker?.pattern?.shape;
    if (!shape) return colour;
    const id = `${chart.place.id}-hatch-${trace.index}`;
    if (!defs.querySelector(`[id="${id}"]`)) hatch(defs, id, colour, shape);
    return `url(#${CSS.escape(id)})`;
  }

  function hatch(parent, id, colour, shape) {
    const pattern = el("pattern", { id, width: 7, height: 7, patternUnits: "userSpaceOnUse" }, parent);
    el("rect", { width: 7, height: 7, fill: colour }, pattern);
    el("path", { d: `M-1 8L8-1M-1 1L1-1M6 8L8 6${shape === "x" ? "M-1-1L8 8" : ""}`, class: "hatch" }, pattern);
  }

  function bars(chart, field, defs, trace, x, y) {
    const group = el("g", { class: "bars" }, field);
    for (const point of trace.points) {
      const [along, across] = trace.isLying ? [y, x] : [x, y];
      const [from, to] = [across.at(point.base), across.at(point.end)].sort((a, b) => a - b);
      if (to - from <= 0) continue;
      const thick = 0.7 * along.band, start = along.at(point.place) - thick / 2;
      const box = trace.isLying ? { x: from, y: start, width: to - from, height: thick }
        : { x: start, y: from, width: thick, height: to - from };
      const colour = of(trace.marker?.color, point.i) || colourOf(trace);
      const rim = of(trace.marker?.line?.width, point.i);
      const fill = filled(defs, trace, colour, chart);
      el("rect", { ...box, fill, stroke: trace.marker?.line?.color, "stroke-width": rim ?? 0.5 }, group);
      const text = of(trace.text, point.i);
      if (text && widthOf(text) + 6 < box.width && thick > LETTERS)
        el("text", { x: box.x + box.width / 2, y: box.y + thick / 2 + 4, class: "middle inside" }, group, text);
      chart.items.push({ trace, point, box, x: box.x + box.width / 2, y: box.y + box.height / 2 });
    }
  }

  function curve(chart, field, trace, x, y) {
    const group = el("g", { class: "curve" }, field);
    const floor = y.at(y.domain[0]);
    const known = trace.points.map(point => point.x === null || point.end === null ? null
      : [x.at(point.x), y.at(point.y), trace.stackgroup ? y.at(point.base) : floor]);
    const colour = colourOf(trace);
    const way = points => `M${points.map(([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`).join("L")}`;
    const parts = steps(known, trace.line?.shape === "hvh");
    for (const part of parts) {
      const back = part.map(([a, , base]) => [a, base]).reverse();
      if (trace.fill || trace.stackgroup)
        el("path", { d: `${way([...part, ...back])}Z`, fill: colour, class: "area" }, group);
      if (has(trace, "lines"))
        el("path", { d: way(part), stroke: colour, "stroke-width": trace.line?.width ?? 2,
          "stroke-dasharray": DASHES[trace.line?.dash], class: "line" }, group);
    }
    known.forEach((at, i) => {
      if (!at) return;
      if (has(trace, "markers")) marker(group, trace, at, of(trace.marker?.color, i) || colour);
      if (trace.tip) chart.items.push({ trace, point: trace.points[i], x: at[0], y: at[1] });
    });
  }

  function marker(parent, trace, [x, y], colour) {
    const size = (trace.marker?.size ?? 8) / 8;
    el("path", { d: OUTLINES[trace.marker?.symbol] || OUTLINES.circle, fill: colour, "fill-opacity": trace.marker?.opacity ?? 1,
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${size})`, class: "point" }, parent);
  }

  function steps(points, isStepped) {  // unbroken parts; of a histogram each point is the middle of a step
    const parts = [];
    points.forEach((at, i) => {
      if (!at) return;
      if (!points[i - 1]) parts.push([]);
      const part = parts[parts.length - 1];
      if (!isStepped) return part.push(at);
      const before = points[i - 1]?.[0] ?? 2 * at[0] - (points[i + 1]?.[0] ?? at[0] + 2);
      const after = points[i + 1]?.[0] ?? 2 * at[0] - (points[i - 1]?.[0] ?? at[0] - 2);
      part.push([around([before, at[0]]), at[1], at[2]], [around([at[0], after]), at[1], at[2]]);
    });
    return parts;
  }

  function names(svg, trace, x, y) {
    for (const point of trace.points)
      el("text", { x: x.at(point.x) + 4, y: y.at(point.y) + 4, class: "first" }, svg, trace.text[point.i]);
  }

  return { draw, el, told, hatch, colourOf, marker, DASHES, NEAR };
})();
