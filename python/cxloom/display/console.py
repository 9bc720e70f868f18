"""The consoles that everything for people is printed on.

Texts are printed as they are: a name such as ``:smile:`` or ``[red]`` is no picture and no colour, and one that holds
control characters shows them and moves no cursor.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def output(at_least: int = 0) -> Console:
    """Standard output, with lines of so many columns at least, where a table needs them: no figure is cut off."""
    made = _console()
    made.width = max(made.width, at_least)
    return made


def messages(*, soft_wrap: bool = True) -> Console:
    """Standard error; lines are left to the terminal to wrap, so that paths stay whole, unless `soft_wrap` is False."""
    return _console(stderr=True, soft_wrap=soft_wrap)


def plain(file: IO[str], at_least: int = 0) -> Console:
    """A file of lines of 80 columns, or of more where a table needs them, without colours."""
    return _console(file=file, width=max(80, at_least), color_system=None)


def _console(**given: Any) -> Console:
    from rich.console import Console  # loaded where there is something to say

    from cxloom.display.printable import OnlyPrintable

    console = Console(**given, highlight=False, emoji=False, markup=False)
    console.push_render_hook(OnlyPrintable())
    return console
