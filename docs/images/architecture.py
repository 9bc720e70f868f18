"""Draws architecture.svg from the table of floors in docs/architecture.md.

    python docs/images/architecture.py

The picture is plain SVG: boxes on cards of their own, so that it can be read on a light and on a dark page, in the
colours of cxloom/display/style.py, with the fonts of whoever looks at it.
"""

from __future__ import annotations

import re
from pathlib import Path

SKY, ORANGE, GREEN, PURPLE = "#56b4e9", "#e69f00", "#009e73", "#cc79a7"
INK, FAINT, CARD = "#1a1a1a", "#5a5a5a", "#ffffff"
FONT = "ui-sans-serif, system-ui, sans-serif"

WIDTH, MARGIN, ROW, GAP = 960, 20, 44, 8
LABEL = 40  # room for a floor's number
HOUSE = 690  # width of the floors; the way of a run stands to the right
STEPS = (
    ("spec.yaml", "system and workload"),
    ("spec", "parse, expand, check"),
    ("builder", "components, routes"),
    ("run", "events in simulated time"),
    ("results", "summary, tables, series"),
    ("report", "terminal, JSON, pictures"),
)


def colour(floor: int) -> str:
    """Foundations, parts, devices and the whole, the way in."""
    return SKY if floor <= 3 else GREEN if floor <= 5 else ORANGE if floor <= 8 else PURPLE


def text(x: float, y: float, words: str, size: int, *, bold: bool = False, fill: str = INK) -> str:
    """Words, centred."""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}"{weight} fill="{fill}">{words}</text>'


def box(x: float, y: float, width: float, height: float, edge: str) -> str:
    """A box with a coloured edge."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" '
        f'fill="{edge}" fill-opacity="0.22" stroke="{edge}" stroke-width="1.5"/>'
    )


def draw(page: str) -> str:
    """The picture of the table in the page."""
    floors: dict[int, list[str]] = {}
    for floor, folder in re.findall(r"^\| (\d+) \| `([^`]+)/` \|", page, re.MULTILINE):
        floors.setdefault(int(floor), []).append(folder)
    height = 2 * MARGIN + 30 + len(floors) * (ROW + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="{FONT}" text-anchor="middle" role="img">',
        "<title>The floors of cxloom and the way of a run</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="{CARD}"/>',
        text(
            (MARGIN + HOUSE) / 2,
            MARGIN + 14,
            "a file includes only from its own folder and below",
            14,
            fill=FAINT,
        ),
        text((HOUSE + WIDTH) / 2, MARGIN + 14, "a run", 14, fill=FAINT),
    ]
    top = MARGIN + 30
    for row, floor in enumerate(sorted(floors, reverse=True)):
        y = top + row * (ROW + GAP)
        parts.append(text(MARGIN + 14, y + ROW / 2 + 5, str(floor), 14, fill=FAINT))
        folders = floors[floor]
        width = (HOUSE - MARGIN - LABEL - GAP * (len(folders) - 1)) / len(folders)
        for place, folder in enumerate(folders):
            x = MARGIN + LABEL + place * (width + GAP)
            parts.append(box(x, y, width, ROW, colour(floor)))
            parts.append(text(x + width / 2, y + ROW / 2 + 5, folder, 15, bold=True))
    left, width = HOUSE + 40, WIDTH - MARGIN - HOUSE - 40
    bottom = top + len(floors) * (ROW + GAP) - GAP
    step = (bottom - top + 24) / len(STEPS)
    for place, (name, about) in enumerate(STEPS):
        y = top + place * step
        parts.append(box(left, y, width, step - 24, FAINT))
        parts.append(text(left + width / 2, y + step / 2 - 16, name, 15, bold=True))
        parts.append(text(left + width / 2, y + step / 2 + 3, about, 12, fill=FAINT))
        if place:
            x = left + width / 2
            parts.append(
                f'<path d="M{x:g} {y - 22:g}V{y - 6:g}m-5 -6l5 6l5 -6" fill="none" stroke="{INK}" stroke-width="1.5"/>'
            )
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    here = Path(__file__)
    page = here.parents[1] / "architecture.md"
    here.with_suffix(".svg").write_text(draw(page.read_text(encoding="utf-8")), encoding="utf-8")
