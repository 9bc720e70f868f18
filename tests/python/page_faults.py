"""What is wrong with how a page looks, whatever is on it: names that are cut or lie over each other."""

from __future__ import annotations

from browser import Browser

_PROGRAM = """(() => {
  const found = [];
  const seen = e => e.getClientRects().length && getComputedStyle(e).visibility !== 'hidden';
  const box = e => e.getBoundingClientRect();
  const said = e => e.textContent.trim().slice(0, 40);
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) found.push(`the page is ${wide} wider than the window`);
  for (const e of document.querySelectorAll('h1, h2, h3, p, button, dt, dd, figcaption, .keys, .plot, .map')) {
    if (!seen(e) || e.closest('.skip, .scroll, pre, #tip')) continue;
    const { left, right } = box(e);
    if (left < -1 || right > innerWidth + 1) found.push(`beyond the window: ${said(e)}`);
    if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflow === 'hidden') found.push(`cut: ${said(e)}`);
  }
  for (const svg of document.querySelectorAll('svg.chart, svg.cx-picture')) {
    const frame = box(svg), texts = [...svg.querySelectorAll('text')].filter(e => seen(e) && said(e));
    const boxes = texts.map(box);
    texts.forEach((e, i) => {
      const a = boxes[i];
      if (Math.min(a.left - frame.left, frame.right - a.right, a.top - frame.top, frame.bottom - a.bottom) < -1.5)
        found.push(`beyond its picture: ${said(e)}`);
      if (!e.matches('.cx-count') && LEAST > 0 && parseFloat(getComputedStyle(e).fontSize) * frame.width /
          svg.viewBox.baseVal.width < LEAST) found.push(`too small: ${said(e)}`);
      if (e.getAttribute('transform')) return;  // those that are turned keep apart by where they begin
      for (let j = i + 1; j < texts.length; j += 1) {
        const b = boxes[j];
        if (texts[j].getAttribute('transform')) continue;
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 3) found.push(`over each other: ${said(e)}, ${said(texts[j])}`);
      }
    });
  }
  return [...new Set(found)];
})()"""


def faults(browser: Browser, least: float = 8.0) -> list[str]:
    """What is wrong with the page that is open; letters of pictures of fewer pixels than `least` are too small."""
    return [*browser.said, *browser.value(_PROGRAM.replace("LEAST", str(least)))]
