// The axes of charts: from values to pixels, where ticks stand, and how numbers are written.
"use strict";
const scales = (() => {
  const LETTERS = 12.5;  // pixels; page.css says the same
  const SMALL = 1e-4;  // numbers below have an exponent: 5e-8
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.font = `${LETTERS}px ${getComputedStyle(document.body).fontFamily}`;
  const widthOf = text => canvas.measureText(text).width;
  const widest = texts => Math.max(0, ...texts.map(widthOf));

  // --- numbers and texts ---------------------------------------------------------------------------------------------
  function shown(value, digits = 4) {  // plain digits; whole ones are never cut
    if (typeof value !== "number") return String(value);
    const size = Math.abs(value);
    if (!value || !isFinite(value)) return String(value);
    if (size < SMALL) return Number(value.toPrecision(digits)).toExponential();
    if (size >= 1e15) return value.toPrecision(digits);
    const whole = Math.floor(Math.log10(size)) + 1;
    return value.toLocaleString("en", { maximumSignificantDigits: Math.max(digits, whole) });
  }

  function lines(text, width) {  // a text in lines of at most this width
    const found = [];
    for (const word of String(text).split(" ")) {
      const longer = found.length ? `${found[found.length - 1]} ${word}` : word;
      if (found.length && widthOf(longer) <= width) found[found.length - 1] = longer; else found.push(word);
    }
    return found;
  }

  function cut(text, width) {  // a text that is cut where there is no more room
    if (widthOf(text) <= width) return text;
    let end = text.length;
    while (end > 1 && widthOf(`${text.slice(0, end)}…`) > width) end -= 1;
    return `${text.slice(0, end)}…`;
  }

  // --- ticks ---------------------------------------------------------------------------------------------------------
  function evenTicks(low, high, most) {
    const rough = (high - low) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough * (1 - 1e-9));
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const small = Math.max(Math.abs(low), Math.abs(high)) < SMALL;
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) {
      const value = i * step + 0;
      found.push({ value, label: small ? shown(value) : value.toLocaleString("en", { maximumFractionDigits: digits }) });
    }
    return found;
  }

  function decadeTicks(low, high, most) {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
    const factors = last - first < 1 ? [1, 1.5, 2, 3, 5, 7] : last - first < 3 && most > 5 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, most)));
    const found = [];
    for (let power = first - 1; power <= last; power += 1)
      for (const factor of factors) {
        const value = factor * 10 ** power;
        if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9) || (power - first) % every) continue;
        found.push({ value, label: shown(value) });
      }
    return found.length > 1 || high > 10 * low ? found : evenTicks(low, high, most);
  }

  // --- scales --------------------------------------------------------------------------------------------------------
  function kindOf(axis, values) {
    if (axis.type) return axis.type;
    return values.some(value => typeof value === "string") ? "category" : "linear";
  }

  function domainOf(axis, kind, values, room) {  // `room`: share that is left free at the ends
    if (axis.range) return axis.range;
    const known = values.filter(value => typeof value === "number" && isFinite(value) && (kind !== "log" || value > 0));
    if (!known.length) return kind === "log" ? [1, 10] : [0, 1];
    let low = known.reduce((a, b) => Math.min(a, b)), high = known.reduce((a, b) => Math.max(a, b));
    if (kind === "log") {
      const factor = high > low ? (high / low) ** room : 2;
      return [low / factor, high * factor];
    }
    const isToZero = axis.rangemode === "tozero";
    const ends = isToZero ? [Math.min(0, low), Math.max(0, high)] : [low, high];
    const free = ends[1] > ends[0] ? room * (ends[1] - ends[0]) : Math.abs(high) / 2 || 1;
    low = isToZero && low >= 0 ? 0 : low - free;
    return [low, isToZero && high <= 0 ? 0 : high + free];
  }

  function categories(axis, values) {
    return [...new Set([...(axis.categories || []), ...values.map(String)])];  // from the top, or from the left
  }

  function scaleOf(axis, values, room = 0.04) {
    const kind = kindOf(axis, values);
    if (kind === "category") {
      const names = categories(axis, values);
      return { kind, names, domain: [0, names.length], place: value => names.indexOf(String(value)) + 0.5 };
    }
    const place = kind === "log" ? value => Math.log10(value) : value => value;
    return { kind, domain: domainOf(axis, kind, values, room), place, isReversed: axis.autorange === "reversed" };
  }

  function fitted(scale, axis, from, to) {  // with pixels: `at` gives those of a value
    const [low, high] = scale.domain.map(scale.kind === "category" ? value => value : scale.place);
    const [a, b] = scale.isReversed ? [to, from] : [from, to];
    const at = value => scale.kind === "log" && value <= 0 ? a : a + (b - a) * (scale.place(value) - low) / (high - low);
    const back = pixel => {
      const value = low + (high - low) * (pixel - a) / (b - a);
      return scale.kind === "log" ? 10 ** value : value;
    };
    return { ...scale, at, back, from, to, band: Math.abs(to - from) / Math.max(1, scale.names?.length ?? 1) };
  }

  function ticksOf(scale, axis, most) {
    if (axis.showticklabels === false) return [];
    if (scale.kind === "category") return scale.names.map(name => ({ value: name, label: name }));
    const [low, high] = scale.domain;
    if (axis.tickvals)
      return axis.tickvals.map((value, i) => ({ value, label: axis.ticktext?.[i] ?? shown(value) }))
        .filter(tick => tick.value >= low && tick.value <= high);
    return (scale.kind === "log" ? decadeTicks : evenTicks)(low, high, most);
  }

  return { LETTERS, widthOf, widest, shown, lines, cut, scaleOf, fitted, ticksOf };
})();
