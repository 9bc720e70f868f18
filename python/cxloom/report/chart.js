// Charts of a page: what `plots.py` says of them, drawn as SVG as wide as there is room, and anew when that changes.
"use strict";
const charts = (() => {
  const { LETTERS, widthOf, widest, shown, lines, cut, scaleOf, fitted, ticksOf } = scales;
  const ROW = 16, GAP = 8, TICK = 5, NEAR = 28, EDGE = 7;
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
  const isBar = trace => trace.type === "bar";
  const has = (trace, what) => !isBar(trace) && (trace.mode || "lines").includes(what);
  const colourOf = trace => (isBar(trace) ? trace.marker?.color : trace.line?.color || trace.marker?.color) || "#80868d";
  const of = (value, i) => Array.isArray(value) ? value[i] : value;
  const around = value => value.reduce((a, b) => a + b, 0) / value.length;

  // --- values: where bars begin and end, what is piled up ---------------------------------------------------------------
  function placed(figure, hidden) {
    const levels = { bar: new Map(), area: new Map() };
    return figure.data.map((trace, index) => {
      const isLying = trace.orientation === "h";
      const [along, across] = isLying ? [trace.y, trace.x] : [trace.x, trace.y];
      const isPiled = trace.stackgroup || (isBar(trace) && figure.layout.barmode === "stack");
      const heights = levels[trace.stackgroup ? "area" : "bar"];
      const points = along.map((place, i) => {
        const value = across[i];
        let base = isBar(trace) ? trace.base?.[i] ?? 0 : undefined;
        if (isPiled && !hidden.has(index)) {
          base = heights.get(place) ?? 0;
          heights.set(place, base + (value ?? 0));
        }
        const end = value === null ? null : isBar(trace) || isPiled ? (base ?? 0) + value : value;
        return { i, place, value, base, end, x: isLying ? end : place, y: isLying ? place : end };
      });
      return { ...trace, index, isLying, isPiled, points };
    }).filter(trace => !hidden.has(trace.index));
  }

  function told(trace, point) {  // what stands in a tip: `{name}`, `{x}`, `{y}`, `{text}`, `{custom}` are filled in
    const { i } = point;
    const known = {
      name: trace.name, text: of(trace.text, i), custom: trace.custom?.[i],
      x: trace.isLying ? point.value : trace.x[i], y: trace.isLying ? trace.y[i] : point.value,
    };
    return trace.tip.replace(/\{(\w+)\}/g, (_, key) => shown(known[key] ?? ""));
  }

  // --- axes --------------------------------------------------------------------------------------------------------
  function valuesOf(traces, way) {
    return traces.flatMap(trace => trace.points.flatMap(point => {
      const value = point[way];
      return point.base !== undefined && (way === "x") === trace.isLying ? [value, point.base] : [value];
    })).filter(value => value !== null && value !== undefined);
  }

  function sideAxis(axis, traces, height) {
    const isOfNames = traces.some(isBar) && traces.every(trace => trace.isLying || !isBar(trace));
    const scale = scaleOf(axis, valuesOf(traces, "y"), isOfNames ? 0.08 : 0.05);
    return { scale, ticks: ticksOf(scale, axis, Math.max(2, Math.floor(height / 44))) };
  }

  function bottomTicks(scale, axis, width) {
    for (let most = Math.min(12, Math.max(2, Math.floor(width / 50))); ; most -= 1) {
      const ticks = ticksOf(scale, axis, most);
      const last = [-Infinity];
      const isFree = ticks.every(tick => {
        const middle = scale.at(tick.value), half = widthOf(tick.label) / 2 + 5;
        const free = middle - half >= last[0];
        last[0] = middle + half;
        return free;
      });
      if (scale.kind === "category" && !isFree) return wrapped(scale, ticks);
      if (isFree) return { ticks, isFree, rows: 1 };
      if (most <= 1 || axis.tickvals) return { ticks: spaced(scale, ticks), isFree: true, rows: 1 };
    }
  }

  function wrapped(scale, ticks) {  // names in a few lines, or turned
    const texts = ticks.map(tick => lines(tick.label, scale.band - GAP));
    const rows = Math.max(...texts.map(each => each.length));
    return { ticks, isFree: rows <= 3 && widest(texts.flat()) <= scale.band - GAP, rows };
  }

  function spaced(scale, ticks) {  // those that have room, from the first on
    let end = -Infinity;
    return ticks.filter(tick => {
      const middle = scale.at(tick.value), half = widthOf(tick.label) / 2 + 5;
      if (middle - half < end) return false;
      end = middle + half;
      return true;
    });
  }

  // --- drawing -----------------------------------------------------------------------------------------------------
  function draw(chart) {
    const { place, figure, hidden } = chart;
    const { layout } = figure;
    const width = Math.floor(place.clientWidth);
    if (!width) return;
    chart.width = width;
    const traces = placed(figure, hidden);
    const [first, second] = [false, true].map(isSecond => traces.filter(trace => (trace.yaxis === "y2") === isSecond));
    const titles = [layout.yaxis, layout.yaxis2].map(axis => axis?.title ? lines(axis.title, width / (second.length ? 2 : 1) - GAP) : []);
    const marks = (layout.marks || []).filter(mark => !mark.of || first.some(trace => trace.name === mark.of));
    const under = lines(layout.xaxis.title || "", width - 2 * GAP);
    // Left and right take what labels need, the top the titles of upright axes and the marks' names.
    const left = sideAxis(layout.yaxis, first, layout.height);
    const right = second.length ? sideAxis(layout.yaxis2, second, layout.height) : undefined;
    const most = 0.36 * width;
    const ends = traces.filter(trace => has(trace, "text")).flatMap(trace => trace.text);
    const x0 = Math.ceil(Math.min(most, widest(left.ticks.flatMap(tick => lines(tick.label, most)))) + TICK + GAP / 2) + 1;
    let x1 = Math.floor(width - (right ? widest(right.ticks.map(tick => tick.label)) + TICK + GAP / 2 : 12) - widest(ends));
    const scale = scaleOf(layout.xaxis, valuesOf(traces, "x"), traces.some(trace => has(trace, "markers")) ? 0.03 : 0);
    if (chart.zoom && scale.kind !== "category") scale.domain = chart.zoom;
    let x = fitted(scale, layout.xaxis, x0, x1);
    let { ticks, isFree, rows: deep } = bottomTicks(x, layout.xaxis, x1 - x0);
    const beyond = ticks.length && x.kind !== "category" ? x.at(ticks[ticks.length - 1].value) + widthOf(ticks[ticks.length - 1].label) / 2 - width : 0;
    if (beyond > 0 && isFree) {
      x1 -= Math.ceil(beyond);
      x = fitted(scale, layout.xaxis, x0, x1);
      ({ ticks, isFree, rows: deep } = bottomTicks(x, layout.xaxis, x1 - x0));
    }
    const rows = rowsOf(marks, x);
    const y0 = ROW * Math.max(titles[0].length, titles[1].length) + GAP + ROW * (rows.length ? Math.max(...rows.map(each => each.row)) + 1 : 0);
    const turned = isFree ? 0 : Math.min(90, 0.75 * widest(ticks.map(tick => tick.label)) + 6);
    const y1 = layout.height - TICK - (turned || deep * ROW) - ROW * under.length - GAP / 2;
    const y = [left, right].map((side, i) => side && fitted(side.scale, [layout.yaxis, layout.yaxis2][i],
      ...(side.scale.kind === "category" ? [y0, y1] : [y1, y0])));

    const svg = el("svg", { class: "chart", width, height: layout.height, viewBox: `0 0 ${width} ${layout.height}`,
      role: "img", "aria-label": place.getAttribute("aria-label") });
    const defs = el("defs", {}, svg);
    const frame = el("g", { class: "axes" }, svg);
    sideTicks(frame, y[0], left.ticks, layout.yaxis, [x0, x1], false, most);
    if (right) sideTicks(frame, y[1], right.ticks, layout.yaxis2, [x0, x1], true, most);
    bottom(frame, x, ticks, layout.xaxis, [y0, y1], isFree);
    titles[0].forEach((text, i) => el("text", { x: 1, y: ROW * i + 11 }, frame, text));
    titles[1].forEach((text, i) => el("text", { x: width - 1, y: ROW * i + 11, class: "last" }, frame, text));
    under.forEach((text, i) => el("text", { x: Math.max(widthOf(text) / 2, (x0 + x1) / 2), y: layout.height - GAP / 2 - ROW * (under.length - 1 - i), class: "middle" }, frame, text));
    // What reaches a little beyond the field, as marks at its edges do, is seen.
    const field = el("svg", { x: x0 - EDGE, y: y0 - EDGE, width: x1 - x0 + 2 * EDGE, height: y1 - y0 + 2 * EDGE,
      viewBox: `${x0 - EDGE} ${y0 - EDGE} ${x1 - x0 + 2 * EDGE} ${y1 - y0 + 2 * EDGE}`, class: "field" }, svg);
    for (const band of layout.bands || [])
      el("rect", { x: x.at(band.from), y: y0, width: x.at(band.to) - x.at(band.from), height: y1 - y0, fill: band.color }, field);
    chart.items = [];
    const at = trace => [x, trace.yaxis === "y2" ? y[1] : y[0]];
    for (const trace of traces.filter(isBar)) bars(chart, field, defs, trace, ...at(trace));
    for (const trace of traces.filter(trace => !isBar(trace))) curve(chart, field, trace, ...at(trace));
    for (const trace of traces.filter(trace => has(trace, "text"))) names(svg, trace, ...at(trace));
    for (const mark of rows) {
      el("path", { d: `M${x.at(mark.x)} ${y0}V${y1}`, stroke: mark.color, class: "mark" }, field);
      const top = y0 - 5 - ROW * mark.row;
      el("rect", { x: mark.middle - mark.half + 4, y: top - 9, width: 7, height: 9, fill: mark.color }, svg);
      el("text", { x: mark.middle + 6, y: top, class: "middle" }, svg, mark.name);
    }
    Object.assign(chart, { svg, x, field: { x0, x1, y0, y1 } });
    place.querySelector("svg.chart")?.remove();
    place.prepend(svg);
  }

  function rowsOf(marks, x) {  // names of upright lines, in as few rows as keep them apart
    const ends = [];
    return [...marks].filter(mark => x.at(mark.x) >= x.from - 1 && x.at(mark.x) <= x.to + 1).sort((a, b) => a.x - b.x).map(mark => {
      const half = widthOf(mark.name) / 2 + 10;
      const middle = Math.min(Math.max(x.at(mark.x), x.from + half), x.to - half);
      let row = ends.findIndex(end => middle - half >= end);
      if (row < 0) row = ends.length;
      ends[row] = middle + half;
      return { ...mark, middle, half, row };
    });
  }

  function sideTicks(frame, y, ticks, axis, [x0, x1], isRight, most) {
    const [edge, out] = isRight ? [x1, TICK] : [x0, -TICK];
    el("path", { d: `M${edge} ${Math.min(y.from, y.to)}V${Math.max(y.from, y.to)}`, class: "edge" }, frame);
    const every = y.kind === "category" ? Math.max(1, Math.ceil(ROW / y.band)) : 1;
    ticks.forEach((tick, i) => {
      const at = y.at(tick.value);
      if (axis.showgrid) el("path", { d: `M${x0} ${at}H${x1}`, class: "grid" }, frame);
      if (axis.ticks !== "") el("path", { d: `M${edge} ${at}h${out}`, class: "edge" }, frame);
      if (i % every) return;
      const rows = y.kind === "category" ? lines(tick.label, most).slice(0, Math.max(1, Math.floor(y.band / ROW))) : [tick.label];
      const texts = rows.map(row => cut(row, most));
      texts.forEach((text, row) => {
        const place = { x: edge + 1.6 * out, y: at + 4 + ROW * (row - (rows.length - 1) / 2), class: isRight ? "first" : "last" };
        const label = el("text", place, frame, text);
        if (texts.join(" ") !== tick.label) label.dataset.tip = tick.label;
      });
    });
  }

  function bottom(frame, x, ticks, axis, [y0, y1], isFree) {
    el("path", { d: `M${x.from} ${y1}H${x.to}`, class: "edge" }, frame);
    const every = isFree ? 1 : Math.max(1, Math.ceil(ROW / x.band));
    ticks.forEach((tick, i) => {
      const at = x.at(tick.value);
      if (axis.showgrid) el("path", { d: `M${at} ${y0}V${y1}`, class: "grid" }, frame);
      el("path", { d: `M${at} ${y1}v${TICK}`, class: "edge" }, frame);
      if (i % every) return;
      const rows = x.kind === "category" ? lines(tick.label, x.band - GAP) : [tick.label];
      if (isFree) return rows.forEach((text, row) => el("text", { x: at, y: y1 + TICK + 12 + ROW * row, class: "middle" }, frame, text));
      const text = cut(tick.label, Math.min(112, (at - 4) / 0.75));
      const label = el("text", { transform: `translate(${at + 4} ${y1 + TICK + 9}) rotate(-45)`, class: "last" }, frame, text);
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
      const box = trace.isLying ? { x: from, y: start, width: to - from, height: thick } : { x: start, y: from, width: thick, height: to - from };
      const colour = of(trace.marker?.color, point.i) || colourOf(trace);
      const rim = of(trace.marker?.line?.width, point.i);
      el("rect", { ...box, fill: filled(defs, trace, colour, chart), stroke: trace.marker?.line?.color, "stroke-width": rim ?? 0.5 }, group);
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
    const colour = colourOf(trace), way = points => `M${points.map(([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`).join("L")}`;
    const parts = steps(known, trace.line?.shape === "hvh");
    for (const part of parts) {
      if (trace.fill || trace.stackgroup)
        el("path", { d: `${way([...part, ...part.map(([a, , base]) => [a, base]).reverse()])}Z`, fill: colour, class: "area" }, group);
      if (has(trace, "lines"))
        el("path", { d: way(part), stroke: colour, "stroke-width": trace.line?.width ?? 2, "stroke-dasharray": DASHES[trace.line?.dash], class: "line" }, group);
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

  return { draw, el, told, hatch, has, isBar, colourOf, DASHES, OUTLINES, NEAR, EDGE, marker };
})();
