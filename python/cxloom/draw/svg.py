"""A picture as SVG: small, and readable on light and on dark paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

import numpy as np

from cxloom.draw.node_style import LOAD_NAMES, ON_DARK, ON_LIGHT, SHAPES, load_class
from cxloom.draw.picture import MANY, Line, Mark, Picture, busiest, count_size, loads_of
from cxloom.draw.routes import Way

_WIDTHS = (1.4, 2.4, 3.2, 4.0, 5.0, 6.0)
_LARGEST = 1.1
"""How much a small picture is enlarged on a page."""
_LIGHT = {"paper": "#ffffff", "ink": "#1b1f24", "line": "#98a1ab", "halo": "#98a1ab", "edge": "#ffffff"}
_DARK = {"paper": "#14181d", "ink": "#e6e9ed", "line": "#69737e", "halo": "#69737e", "edge": "#14181d"}


def _sheet(colour: Callable[[str], str], scale: str) -> str:
    """The style sheet, the colours by their names, strokes as wide as `scale` says."""

    def wide(width: float) -> str:
        return f"calc({width}px*{scale})" if scale.startswith("var") else f"{width * float(scale):.2f}"

    font = "font-family:system-ui,'DejaVu Sans',sans-serif"
    rules = {
        ".cx-line": f"fill:none;stroke:{colour('line')};stroke-width:{wide(1.2)};stroke-linejoin:round",
        ".cx-many .cx-line": f"stroke-opacity:.75;stroke-width:{wide(0.9)}",
        ".cx-free": f"stroke-dasharray:{wide(2)} {wide(4)}",
        ".cx-hit": f"fill:none;stroke:transparent;stroke-width:{wide(12)}",
        ".cx-mark": f"stroke:{colour('edge')};stroke-width:1.2",
        ".cx-queue": f"fill:{colour('halo')};fill-opacity:.35",
        ".cx-name,.cx-key": f"fill:{colour('ink')};{font};text-anchor:middle;dominant-baseline:central",
        ".cx-name": f"paint-order:stroke;stroke:{colour('paper')};stroke-width:.25em;stroke-linejoin:round",
        ".cx-key": "text-anchor:start",
        ".cx-count": f"fill:#fff;font-weight:700;{font};text-anchor:middle;dominant-baseline:central",
    }
    for index, width in enumerate(_WIDTHS):
        rules[f".cx-line.cx-u{index}"] = (
            f"stroke:{colour(f'u{index}')};stroke-width:{wide(width)};stroke-opacity:.95"
        )
        rules[f".cx-many .cx-line.cx-u{index}"] = f"stroke-width:{wide(0.55 * width)}"
        rules[f".cx-f{index}"] = f"fill:{colour(f'u{index}')}"
    return "".join(f"{selector}{{{what}}}" for selector, what in rules.items())


def _colours(on_dark: bool) -> dict[str, str]:
    loads = ON_DARK if on_dark else ON_LIGHT
    return (_DARK if on_dark else _LIGHT) | {f"u{index}": colour for index, colour in enumerate(loads)}


def page_sheet() -> str:
    """The style sheet for a page, which declares the colours: see `variables`."""
    return _sheet(lambda name: f"var(--cx-{name})", "var(--cx-wide,1)")


def variables(on_dark: bool) -> str:
    """The declarations of the colours on light or on dark paper."""
    return "".join(f"--cx-{name}:{colour};" for name, colour in _colours(on_dark).items())


def to_svg(picture: Picture, *, inline: bool = False, legend: bool = True, key: str = "") -> str:
    """The text of an SVG file, or with `inline` of an element of a page that has the style sheet.

    `key` tells the shapes of several pictures of a page apart.
    """
    keys = list(_legend(picture, key)) if legend else []
    scale = picture.letters / 12
    key_height = 30 * scale if keys else 0.0
    height = picture.height + key_height
    wide = scale**0.7  # strokes of a large picture are seen on its page, too
    size = (
        f' style="--cx-wide:{wide:.2f};max-width:{_LARGEST * picture.width:.0f}px"'
        if inline
        else f' width="{picture.width:.0f}" height="{height:.0f}"'
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width:.0f} {height:.0f}"{size} role="img" '
        f'class="cx-picture{" cx-many" if len(picture.lines) > MANY else ""}"><title>{escape(picture.about)}</title>'
    ]
    if not inline:
        light, dark = (
            _sheet(_colours(on_dark).__getitem__, f"{wide:.2f}")
            + f"svg{{background:{_colours(on_dark)['paper']}}}"
            for on_dark in (False, True)
        )
        parts.append(f"<style>{light}@media(prefers-color-scheme:dark){{{dark}}}</style>")
    parts.append("<defs>" + "".join(_symbols(picture, key)) + "</defs>")
    parts += [f"<g>{''.join(_line(line, wide))}</g>" for line in sorted(picture.lines, key=busiest)]
    parts += [_mark(mark, picture.radius, key) for mark in picture.marks]
    parts += [
        f'<text class="cx-name" x="{label.x:.1f}" y="{label.y:.1f}" font-size="{picture.letters:.1f}">'
        f"{escape(label.text)}</text>"
        for label in picture.labels
    ]
    if keys:
        parts.append(
            f'<g transform="translate({12 * scale:.1f} {picture.height + key_height / 2:.1f}) scale({scale:.3f})">'
            f"{''.join(keys)}</g>"
        )
    parts.append("</svg>")
    return "\n".join(parts)


def _symbols(picture: Picture, key: str) -> Iterator[str]:
    for shape in dict.fromkeys(style.shape for style in picture.kinds.values()):
        corners = " ".join(f"{x * picture.radius:.1f},{y * picture.radius:.1f}" for x, y in SHAPES[shape])
        yield f'<polygon id="cx-{key}{shape}" points="{corners}"/>'


def _line(line: Line, wide: float) -> Iterator[str]:
    if line.loads is None:
        width = f' style="stroke-width:{1.2 * wide * min(4, line.count):.1f}"' if line.count > 1 else ""
        yield f'<path class="cx-line" d="{path(line.way)}"{width}/>'
    else:
        for half, load in zip(line.way.halves(), line.loads, strict=True):
            look = "cx-free" if load is None else f"cx-u{load_class(load)}"
            yield f'<path class="cx-line {look}" d="{path(half)}"/>'
    title = escape(line.title)
    yield f'<path class="cx-hit" data-tip="{title}" d="{path(line.way)}"><title>{title}</title></path>'


def _mark(mark: Mark, radius: float, key: str) -> str:
    title = escape(mark.title)
    shape = f'href="#cx-{key}{mark.style.shape}"'
    fill = f'fill="{mark.style.colour}"' if mark.load is None else ""
    look = "cx-mark" if mark.load is None else f"cx-mark cx-f{load_class(mark.load)}"
    parts = [f'<g data-tip="{title}" transform="translate({mark.x:.1f} {mark.y:.1f})"><title>{title}</title>']
    if mark.queue:
        parts.append(f'<circle class="cx-queue" r="{mark.queue:.1f}"/>')
    if mark.count > 1:
        parts.append(f'<use {shape} x="3" y="-3" class="{look}" {fill}/>')
    parts.append(f'<use {shape} class="{look}" {fill}/>')
    if mark.count > 1:
        parts.append(
            f'<text class="cx-count" font-size="{count_size(mark.count, radius):.1f}">{mark.count}</text>'
        )
    return "".join(parts) + "</g>"


def path(way: Way) -> str:
    """The data of a path: a line, a curve, or lines with round corners."""
    points = way.points
    if way.is_curve:
        letter = "Q" if len(points) == 3 else "C"
        return f"M{_at(points[0])}{letter}{' '.join(map(_at, points[1:]))}"
    parts = [f"M{_at(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        parts.append(f"L{_at(_towards(corner, before))}Q{_at(corner)} {_at(_towards(corner, after))}")
    return "".join([*parts, f"L{_at(points[-1])}"])


def _towards(corner: np.ndarray, other: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(other - corner))
    moved: np.ndarray = corner + (other - corner) * min(0.5, 8 / max(length, 1e-9))
    return moved


def _at(point: np.ndarray) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def _legend(picture: Picture, prefix: str) -> Iterator[str]:
    x = 0.0
    for kind, style in picture.kinds.items():
        scale = 7 / picture.radius
        yield (
            f'<use href="#cx-{prefix}{style.shape}" transform="translate({x + 7:.0f} 0) scale({scale:.3f})" '
            f'class="cx-mark" fill="{style.colour}"/><text class="cx-key" x="{x + 19:.0f}" '
            f'y="0" font-size="12">{escape(kind)}</text>'
        )
        x += 34 + 7 * len(kind)


def load_legend(picture: Picture) -> str:
    """The meaning of the colours of links and buses that are there, as HTML."""
    ranks = {load_class(load) for load in loads_of(picture) if load is not None}
    keys = [(f"cx-u{rank}", LOAD_NAMES[rank]) for rank in sorted(ranks)]
    if None in loads_of(picture):
        keys.append(("cx-free", "no limit"))
    return "".join(
        f'<span><svg viewBox="0 0 30 10" width="30" height="10" aria-hidden="true"><path class="cx-line {look}" '
        f'd="M0,5L30,5"/></svg> {name}</span>'
        for look, name in keys
    )


def kind_legend(picture: Picture) -> str:
    """The meaning of the shapes, as HTML."""
    keys = []
    for kind, style in picture.kinds.items():
        corners = " ".join(f"{8 + 7 * x:.1f},{8 + 7 * y:.1f}" for x, y in SHAPES[style.shape])
        keys.append(
            f'<span><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><polygon class="cx-mark" '
            f'points="{corners}" fill="{style.colour}"/></svg> {escape(kind)}</span>'
        )
    return "".join(keys)
