"""``cxloom draw``: the topology of a spec as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxloom.base.errors import InputError, reason_of
from cxloom.cli.options import Plugins, QuietFile, Sets, Spec
from cxloom.cli.run import resolve
from cxloom.cli.writing import check_writable, write_text
from cxloom.system.simulation import build

if TYPE_CHECKING:
    from cxloom.draw.graph import Graph

FORMS = ("svg", "png", "pdf", "html")


def draw(
    spec: Spec,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Where the picture goes: .svg, .png, .pdf or .html; by default the name of SPEC with .svg, here.",
        ),
    ] = None,
    quiet: QuietFile = False,
    sets: Sets = [],  # noqa: B006 - typer wants a list, and copies it
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Draw the devices and links of SPEC.

    Topologies look as they are called: levels, rings, grids, groups. In systems of more than 64 devices those that are
    alike and hang on one device are drawn as one.

    Exit code 0: drawn. 2: the input is wrong; nothing was written.
    """
    path = Path(f"{Path(spec).stem}.svg" if out is None else out)
    form = path.suffix.removeprefix(".")
    if form not in FORMS:
        raise InputError(
            "unsupported picture format",
            found=f"'{path.name}'",
            allowed=".svg, .png, .pdf or .html",
            path="--out",
        )
    check_writable([path])
    resolved = resolve(spec, sets, plugins)
    build(resolved)  # what is no system is refused
    from cxloom.draw.graph import graph_of  # with NumPy, which takes a while to load
    from cxloom.draw.picture import about_of

    name = resolved.root.get("name")
    graph = graph_of(resolved)
    try:
        _WRITERS[form](graph, path, str(name.value) if name is not None else Path(spec).stem)
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", file=path, path="--out") from None
    if not quiet:
        print(f"{about_of(graph)}: drawn in {path}")


def _as_svg(graph: Graph, path: Path, _title: str) -> None:
    from cxloom.draw.picture import picture
    from cxloom.draw.svg import to_svg

    write_text(path, to_svg(picture(graph)) + "\n")


def _as_figure(graph: Graph, path: Path, _title: str) -> None:
    from cxloom.draw.figure import save
    from cxloom.draw.picture import picture

    save(picture(graph), path)


def _as_page(graph: Graph, path: Path, title: str) -> None:
    from cxloom.draw.picture import about_of, pictures
    from cxloom.report.page import Section, document, system_map

    shown = system_map(pictures(graph), about_of(graph))
    write_text(path, document(title, "", [Section("system", "", shown)]))


_WRITERS: dict[str, Callable[[Graph, Path, str], None]] = {
    "svg": _as_svg,
    "png": _as_figure,
    "pdf": _as_figure,
    "html": _as_page,
}
