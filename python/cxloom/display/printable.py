"""Texts that may reach a terminal: nothing that it would obey, whatever names a file, a device or an object has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook
from rich.segment import Segment

OBEYED = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
"""Control characters but for the ends of lines and tabs, what turns the direction of text or is not seen, and halves of
pairs (a regular expression)."""


def escaped(text: str) -> str:
    """The text with what a terminal would obey written out, such as ``\\x1b``."""
    if text.isprintable() or text == "\n":  # as nearly all are; the expression is compiled where one is not
        return text
    return re.sub(OBEYED, lambda match: match[0].encode("unicode_escape").decode(), text)


class OnlyPrintable(RenderHook):
    """Lets a console print texts escaped; its own colours and cursor movements are as they are."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """The renderables, each to be escaped when it is rendered."""
        return [_Printable(each) for each in renderables]


class _Printable:
    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._inner, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escaped(segment.text), segment.style)
