// How a chart is laid out: where its bars begin and end, and how much room its axes, titles and marks take.
"use strict";
const chartLayout = (() => {
  const { widthOf, widest, lines, scaleOf, fitted, ticksOf } = scales;
  const ROW = 16, GAP = 8, TICK = 5;
  const isBar = trace => trace.type === "bar";
  const has = (trace, what) => !isBar(trace) && (trace.mode || "lines").includes(what);

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
      const isFree = spaced(scale, ticks).length === ticks.length;
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

  // --- the plan ------------------------------------------------------------------------------------------------------
  function planOf({ figure, hidden, zoom }, width) {
    const { layout } = figure;
    const traces = placed(figure, hidden);
    const sides = [layout.yaxis, layout.yaxis2].map((axis, i) => {
      const own = traces.filter(trace => (trace.yaxis === "y2") === (i === 1));
      return axis && (i === 0 || own.length) ? { axis, ...sideAxis(axis, own, layout.height) } : undefined;
    });
    const titles = sides.map(side => side?.axis.title ? lines(side.axis.title, width / (sides[1] ? 2 : 1) - GAP) : []);
    const under = lines(layout.xaxis.title || "", width - 2 * GAP);
    const most = 0.36 * width;  // the most that names on the left take
    const along = alongOf(layout.xaxis, traces, zoom, { width, most, sides });
    const shown = (layout.marks || []).filter(mark => !mark.of || traces.some(trace => trace.name === mark.of));
    const marks = rowsOf(shown, along.x);
    const top = Math.max(...titles.map(each => each.length)) + Math.max(0, ...marks.map(mark => mark.row + 1));
    const turned = along.isFree ? 0 : Math.min(90, 0.75 * widest(along.ticks.map(tick => tick.label)) + 6);
    const y0 = ROW * top + GAP;
    const y1 = layout.height - TICK - (turned || along.rows * ROW) - ROW * under.length - GAP / 2;
    const upright = sides.map(side => {
      if (!side) return undefined;
      const ends = side.scale.kind === "category" ? [y0, y1] : [y1, y0];
      return { ...side, y: fitted(side.scale, side.axis, ...ends) };
    });
    return { ...along, traces, marks, titles, under, sides: upright, most, y0, y1 };
  }

  function alongOf(axis, traces, zoom, { width, most, sides: [left, right] }) {  // the axis below, and what is beside it
    const scale = scaleOf(axis, valuesOf(traces, "x"), traces.some(trace => has(trace, "markers")) ? 0.03 : 0);
    if (zoom && scale.kind !== "category") scale.domain = zoom;
    const named = left.ticks.flatMap(tick => lines(tick.label, most));
    const x0 = Math.ceil(Math.min(most, widest(named)) + TICK + GAP / 2) + 1;
    const ends = traces.filter(trace => has(trace, "text")).flatMap(trace => trace.text);
    const beside = right ? widest(right.ticks.map(tick => tick.label)) + TICK + GAP / 2 : 12;
    const to = x1 => {
      const x = fitted(scale, axis, x0, x1);
      return { x, x0, x1, ...bottomTicks(x, axis, x1 - x0) };
    };
    const found = to(Math.floor(width - beside - widest(ends)));
    const last = found.ticks[found.ticks.length - 1];
    const beyond = last && found.x.kind !== "category" ? found.x.at(last.value) + widthOf(last.label) / 2 - width : 0;
    return beyond > 0 ? to(found.x1 - Math.ceil(beyond)) : found;
  }

  function rowsOf(marks, x) {  // names of upright lines, in as few rows as keep them apart
    const ends = [];
    const seen = marks.filter(mark => x.at(mark.x) >= x.from - 1 && x.at(mark.x) <= x.to + 1);
    return seen.sort((a, b) => a.x - b.x).map(mark => {
      const half = widthOf(mark.name) / 2 + 10;
      const middle = Math.min(Math.max(x.at(mark.x), x.from + half), x.to - half);
      let row = ends.findIndex(end => middle - half >= end);
      if (row < 0) row = ends.length;
      ends[row] = middle + half;
      return { ...mark, middle, half, row };
    });
  }

  return { planOf, isBar, has, ROW, GAP, TICK };
})();
