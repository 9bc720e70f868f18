"""``cxloom components``: every kind of component, and what it declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cxloom.cli.run import Plugins
from cxloom.errors import InputError
from cxloom.spec import declared
from cxloom.spec.names import listed, nearest
from cxloom.spec.plugins import load_plugin

CATEGORIES = {
    "devices": "Devices",
    "media": "Media of a memory",
    "patterns": "Access patterns of a workload",
    "topologies": "Topologies",
}
SECTIONS = {
    "link": "What an entry of `links` takes, besides `between`",
    "region": "What an entry of `address_map` takes",
    "workload": "What every entry of `workload` takes",
    "run": "What `run` takes",
    "outputs": "What `outputs` takes",
}


def components(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="A kind, or a section such as link.")
    ] = None,
    plugins: Plugins = [],  # noqa: B006 - typer wants a list, and copies it
) -> None:
    """List kinds and their parameters.

    Without KIND every kind of component; with it parameters, units, defaults and statistics of that kind.
    """
    for plugin in plugins:
        load_plugin(plugin)
    out = Console(highlight=False)
    if kind is None:
        _show_all(out)
        return
    found = [
        (name, declared.kinds(category)[kind])
        for category, name in CATEGORIES.items()
        if kind in declared.kinds(category)
    ]
    if kind in SECTIONS:
        found.append((SECTIONS[kind], declared.declarations()[kind]))
    if not found:
        known = [*(name for category in CATEGORIES for name in declared.kinds(category)), *SECTIONS]
        raise InputError(
            f"unknown kind '{kind}'", allowed=listed(known, len(known)), suggestion=nearest(kind, known)
        )
    for title, info in found:
        _show(out, kind, title, info)


def _show_all(out: Console) -> None:
    for category, title in CATEGORIES.items():
        table = _table(title)
        table.add_column(style="bold", no_wrap=True)
        table.add_column()
        for name, info in declared.kinds(category).items():
            table.add_row(name, Text(info["doc"]))
        out.print(table)
    table = _table("Sections of a spec")
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, title in SECTIONS.items():
        table.add_row(name, title)
    out.print(table)
    out.print("\n`cxloom components KIND` shows the parameters of one.")


def _show(out: Console, kind: str, title: str, info: Mapping[str, Any]) -> None:
    out.print(Text.assemble((kind, "bold"), f"  ({title})"))
    out.print(Text(info["doc"]))
    if info["fields"]:
        table = _table("Parameters")
        table.add_column("name", no_wrap=True)
        table.add_column("type")
        table.add_column("default")
        table.add_column("meaning")
        _add_rows(table, "", info)
        out.print(table)
    if info.get("statistics"):
        table = _table("Statistics")
        table.add_column("name", no_wrap=True)
        table.add_column("unit")
        table.add_column("meaning")
        for statistic in info["statistics"]:
            table.add_row(statistic["name"], statistic["unit"], Text(statistic["doc"]))
        out.print(table)


def _add_rows(table: Table, prefix: str, info: Mapping[str, Any]) -> None:
    for field in info["fields"]:
        name = f"{prefix}{field['name']}"
        default = "required" if field["required"] else field["default"] or "-"
        table.add_row(Text(name, style="bold"), _type(field), default, Text(_meaning(field)))
        if field["fields"]:
            _add_rows(table, f"{name}[]." if field["type"] == "list" else f"{name}.", field)


def _type(field: declared.Field) -> str:
    if field["type"] == "choice":
        return str(listed(field["choices"], 99))
    if field["type"] == "kind":
        return f"kind of {field['category']}"
    return f"list of {field['item']}" if field["type"] == "list" else str(field["type"])


def _meaning(field: declared.Field) -> str:
    text = str(field["doc"])
    if field["minimum"] and field["maximum"]:
        text += f" From {field['minimum']} to {field['maximum']}."
    elif field["minimum"]:
        text += f" At least {field['minimum']}."
    elif field["maximum"]:
        text += f" At most {field['maximum']}."
    return f"{text} Source: {field['source']}." if field["source"] else text


def _table(title: str) -> Table:
    return Table(
        title=f"\n{title}",
        title_justify="left",
        title_style="bold",
        box=None,
        header_style="dim",
        pad_edge=False,
    )
