"""Runs a notebook cell by cell, as Jupyter does: in one namespace, and showing what the last line of a cell gives.

usage: notebooks.py FILE
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SHOWN = ("_repr_svg_", "_repr_html_", "_repr_markdown_")


def code_cells(path: Path) -> Iterator[str]:
    """The text of each cell of code."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"])


def executed(path: Path) -> list[object]:
    """What each cell of a notebook shows at its end, as HTML, SVG or text; None where that is nothing."""
    space: dict[str, Any] = {"__name__": "__main__"}
    return [_shown(_run(text, f"{path.name}, cell {at}", space)) for at, text in enumerate(code_cells(path))]


def _run(text: str, name: str, space: dict[str, Any]) -> object:
    """The value of the last line of a cell, if it is an expression that no semicolon silences."""
    tree = ast.parse(text, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)  # noqa: S102 - our own notebooks
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), name, "eval"), space)  # noqa: S307
    return None if text.rstrip().endswith(";") else value


def _shown(value: object) -> str | None:
    if value is None:
        return None
    for name in _SHOWN:
        show = getattr(value, name, None)
        if show is not None and (shown := show()) is not None:
            return str(shown)
    return repr(value)


if __name__ == "__main__":
    print("\n".join(map(str, executed(Path(sys.argv[1])))))
