"""``cxloom components``: every kind of component, and what it declares."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from cxloom.base.errors import InputError
from cxloom.cli.options import AsJson, Plugins
from cxloom.display.console import output
from cxloom.spec import declared
from cxloom.spec.names import listed, nearest
from cxloom.spec.plugins import load_plugins

if TYPE_CHECKING:
    from rich.console import Console


def components(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]",
            help="A kind, a section (link), a parameter (trace), a value (DDR5-4800), or a table (requests.parquet).",
        ),
    ] = None,
    as_json: AsJson = False,
    plugins: Plugins = [],  # noqa: B006 - typer wants a list, and copies it
) -> None:
    """List kinds and their parameters.

    Without KIND every kind of component; with it parameters, units, defaults and statistics of that kind. Given a
    parameter, shows its meaning in each kind that has it; given a value such as DDR5-4800, the parameters that take
    it; given a table, its columns.
    """
    load_plugins(plugins)
    found = declared.declarations() if kind is None else _found(kind)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    out = output()
    if kind is None:
        _show_all(out)
        return
    for category, info in found.items():
        if category in declared.categories():
            _show(out, kind, declared.categories()[category], info[kind])
        elif category in declared.entries():
            _show(out, kind, declared.entries()[category], info)
    if "columns" in found:
        out.print(Text.assemble((kind, "bold"), "  (rows of a run)"))
        _show_statistics(out, "Columns", found["columns"])
    if "parameters" in found:
        is_name = any(field["name"].endswith(f".{kind}") for field in found["parameters"])
        what = (
            ("a parameter", "Where it is one")
            if is_name
            else ("a value", "Parameters that take it or speak of it")
        )
        out.print(Text.assemble((str(kind), "bold"), f"  ({what[0]})"))
        table = _parameter_table(what[1])
        _add_rows(table, "", {"fields": found["parameters"]})
        out.print(table)


def _found(name: str) -> dict[str, Any]:
    """What has the name: kinds by their category, sections, or failing these the parameters. Raises InputError."""
    found: dict[str, Any] = {
        category: {name: declared.kinds(category)[name]}
        for category in declared.categories()
        if name in declared.kinds(category)
    }
    if name in declared.entries():
        found[name] = declared.declarations()[name]
    if name in declared.tables():
        found["columns"] = declared.tables()[name]
    owners = {
        **{
            kind: info
            for category in declared.categories()
            for kind, info in declared.kinds(category).items()
        },
        **{section: declared.declarations()[section] for section in declared.entries()},
    }
    parameters = [field for owner, info in owners.items() for field in _parameters(owner, info)]
    if not found:
        same = [field for field in parameters if field["name"].endswith(f".{name}")] or [
            field for field in parameters if _speaks_of(field, name)
        ]
        if not same:
            names = [field["name"].rpartition(".")[2] for field in parameters]
            near = nearest(name, dict.fromkeys([*owners, *names, *declared.tables()]))
            raise InputError(f"unknown kind '{name}'", allowed=listed(owners, len(owners)), suggestion=near)
        found["parameters"] = same
    return found


def _parameters(owner: str, info: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The parameters of a kind or section, those within others too, each with its name from the owner on."""
    for field in info["fields"]:
        path = f"{owner}.{field['name']}"
        yield {**field, "name": path}
        yield from _parameters(path, field)


def _speaks_of(field: Mapping[str, Any], name: str) -> bool:
    """Whether a parameter takes a value, such as DDR5-4800, or its meaning has it as a word."""
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
    return any(word.search(text) for text in (str(field["doc"]), *field.get("choices", ())))


def _show_all(out: Console) -> None:
    for category, title in declared.categories().items():
        table = _table(title)
        table.add_column(style="bold", no_wrap=True)
        table.add_column()
        for name, info in declared.kinds(category).items():
            table.add_row(name, Text(info["doc"]))
        out.print(table)
    table = _table("Sections of a spec")
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, title in declared.entries().items():
        table.add_row(name, title)
    out.print(table)
    table = _table("Rows of a run")
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, columns in declared.tables().items():
        table.add_row(name, ", ".join(column["name"] for column in columns))
    out.print(table)
    out.print("\n`cxloom components KIND` shows the parameters of one.")


def _show(out: Console, kind: str, title: str, info: Mapping[str, Any]) -> None:
    out.print(Text.assemble((kind, "bold"), f"  ({title})"))
    out.print(Text(info["doc"]))
    if info["fields"]:
        table = _parameter_table("Parameters")
        _add_rows(table, "", info)
        out.print(table)
    if info.get("statistics"):
        _show_statistics(out, "Statistics", info["statistics"])


def _show_statistics(out: Console, title: str, statistics: Iterable[declared.Measure]) -> None:
    table = _table(title)
    table.add_column("name", no_wrap=True)
    table.add_column("unit")
    table.add_column("meaning")
    for path, statistic in declared.statistics(statistics):
        table.add_row(path, statistic["unit"], Text(statistic["doc"]))
    out.print(table)


def _parameter_table(title: str) -> Table:
    table = _table(title)
    table.add_column("name", no_wrap=True)
    table.add_column("type")
    table.add_column("default")
    table.add_column("meaning")
    return table


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
    whole = f"list of {field['item']}" if field["type"] == "list" else str(field["type"])
    return f"{whole}, or of `{field['short_for']}` alone" if field["short_for"] else whole


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
