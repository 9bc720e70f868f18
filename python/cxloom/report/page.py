"""A page that holds all that it needs: nothing is fetched, so that it opens from a file, in a mail and in ten years.

`page.css` is how it looks and `page.js` what it does. Its charts are drawn by `chart*.js`: a library for them has
1 to 5 MB, which every page that is sent and kept would carry.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from cxloom.base.errors import InputError
from cxloom.display.notes import folded
from cxloom.draw import svg
from cxloom.draw.picture import Picture

_CHARTS = ("chart_scales.js", "chart_layout.js", "chart.js", "chart_live.js")
_DARK = (
    "--paper:#14181d;--card:#1d2329;--ink:#e6e9ed;--soft:#a3adb8;--rule:#333b44;--accent:#6db7f2;--good:#5ac8a0;"
    "--bad:#ff8a80;--warn:#e0b050;color-scheme:dark;"
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading, to which the page's contents lead."""

    key: str
    title: str
    body: str


@contextlib.contextmanager
def refused_unless_whole(what: str, written_by: str, directory: Path) -> Iterator[None]:
    """An InputError where something is missing in results that come from a directory, or is of another form."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        wrong = f"no '{error.args[0]}'" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"not {what}: {wrong}", allowed=f"what `{written_by}` writes", file=directory
        ) from error


def document(title: str, lead: str, sections: Sequence[Section], foot: str = "") -> str:
    """The text of a page: its title, what stands before all sections, and the sections. All but the title is HTML."""
    plots = any("data-plot=" in part for part in (lead, *(section.body for section in sections)))
    contents = "".join(
        f'<a href="#{section.key}">{escape(section.title)}</a>' for section in sections if section.title
    )
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(title)}</title>",
        f"<style>{_sheet()}</style></head><body>",
        '<a class="skip" href="#main">To the contents</a>',
        f'<header><div class="top"><h1>{escape(title)}</h1><button id="theme" type="button">Dark</button></div>',
        f'<nav aria-label="Contents">{contents}</nav></header>' if len(sections) > 1 else "</header>",
        f'<main id="main">{lead}',
        *(
            f'<section id="{section.key}">{f"<h2>{escape(section.title)}</h2>" if section.title else ""}'
            f"{section.body}</section>"
            for section in sections
        ),
        f'</main><footer>{foot}</footer><div id="tip" role="tooltip"></div>',
    ]
    if plots:
        parts += [f"<script>{_read(name)}</script>" for name in _CHARTS]
    parts.append(f"<script>{_read('page.js')}</script></body></html>\n")
    return "\n".join(parts)


def plot(key: str, figure: Mapping[str, Any], about: str) -> str:
    """A chart, `data` and `layout` of `report.plots`, with what it shows for those who do not see it."""
    source = json.dumps(figure, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    title = figure["layout"]["title"]
    return (
        f'<figure><h3>{escape(title)}</h3><div class="plot" id="{key}" role="group" aria-label="{escape(about)}"></div>'
        f'<script type="application/json" data-plot="{key}">{source}</script></figure>'
    )


def system_map(drawn: tuple[Picture, Picture], about: str = "", key: str = "") -> str:
    """A picture of a system that can be zoomed, with its legends: one for a screen, and one for a telephone.

    `key` tells pictures of a page apart.
    """
    wide = drawn[0]
    buttons = "".join(
        f'<button type="button" data-zoom="{key}" aria-label="{name}">{sign}</button>'
        for key, name, sign in (
            ("in", "Larger", "+"),
            ("out", "Smaller", "\u2212"),
            ("all", "All of it", "⤢"),
        )
    )
    loads = f'<p class="legend"><span>busy:</span> {svg.load_legend(wide)}</p>' if wide.loaded else ""
    maps = "".join(
        f'<div class="map {look}">{svg.to_svg(each, inline=True, legend=False, key=f"{key}{look}-")}'
        f'<div class="zoom">{buttons}</div></div>'
        for look, each in zip(("wide", "narrow"), drawn, strict=True)
    )
    caption = f"<figcaption>{escape(about, quote=False)}</figcaption>" if about else ""
    return f'<figure>{maps}<p class="legend">{svg.kind_legend(wide)}</p>{loads}{caption}</figure>'


_TEXT = ' class="text"'
_BUTTON = '<button type="button">{}</button>'


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: its text, its key for sorting, and its class of style."""

    shown: str
    value: float | None = None
    look: str = ""


def table(
    head: Sequence[str], rows: Iterable[Sequence[Cell | str]], *, caption: str = "", sortable: bool = True
) -> str:
    """A table that scrolls within its frame; a click on the head of a column sorts it."""
    rows = list(rows)
    looks = [getattr(cell, "look", "") for cell in rows[0]] if rows else [""] * len(head)
    heads = "".join(
        f'<th scope="col"{_TEXT if look == "text" else ""}>'
        f"{_BUTTON.format(escape(name)) if sortable and name else escape(name)}</th>"
        for name, look in zip(head, looks, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    label = f'<p class="caption">{escape(caption)}</p>' if caption else ""
    look = ' class="sortable"' if sortable else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption or head[0])}">{label}<table{look}>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return f"<td>{escape(cell)}</td>"
    value = "" if cell.value is None else f' data-value="{cell.value:.9g}"'
    look = f' class="{cell.look}"' if cell.look else ""
    return f"<td{value}{look}>{escape(cell.shown)}</td>"


def tiles(entries: Iterable[tuple[str, str, str]]) -> str:
    """Figures that everybody wants to see first: what each is, its value, and what else there is to say."""
    cells = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}{f'<small>{escape(more)}</small>' if more else ''}</dd></div>"
        for name, value, more in entries
    )
    return f'<dl class="tiles">{"".join(cells)}</dl>'


def answer(said: str) -> str:
    """The sentence that a page opens with; nothing if there is nothing to say."""
    return f'<p class="answer">{escape(said)}</p>' if said else ""


def notes(lines: Iterable[str], bad: str = "") -> str:
    """What the reader has to know of the numbers, first what is `bad`; nothing if there is nothing."""
    unbroken = str.maketrans({"-": "-\u2060"})  # names such as host->bus stay on one line
    said = f'<p class="bad">{escape(bad)}</p>' if bad else ""
    said += "".join(f"<p>{escape(line).translate(unbroken)}</p>" for line in folded(lines))
    return f'<div class="notes" role="note">{said}</div>' if said else ""


def facts(entries: Iterable[tuple[str, str]]) -> str:
    """Names and values."""
    return (
        f'<dl class="facts">{"".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in entries)}</dl>'
    )


def _sheet() -> str:
    dark = _DARK + svg.variables(on_dark=True)
    return "".join(
        [
            f":root{{{svg.variables(on_dark=False)}}}",
            _read("page.css"),
            svg.page_sheet(),
            "@media screen{",
            f"@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}",
            f":root[data-theme=dark]{{{dark}}}}}",
        ]
    )


def _read(name: str) -> str:
    return resources.files("cxloom.report").joinpath(name).read_text(encoding="utf-8")
