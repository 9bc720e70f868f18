"""``cxloom presets``: the systems that are shipped, to run, to measure and to start from."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated, Any

import typer
from rich.text import Text

from cxloom.base.errors import InputError
from cxloom.cli.options import AsJson
from cxloom.display.console import output
from cxloom.display.plain_table import plain_table
from cxloom.spec import presets as shipped
from cxloom.spec.names import listed, nearest
from cxloom.system.simulation import describe
from cxloom.system.system import System


def presets(
    word: Annotated[
        str | None, typer.Argument(metavar="[WORD]", help="A name, or what stands in a name or a file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List shipped systems, or print one with its sources.

    With the name of one, its file, in which each number has its source. With another WORD, those that have it in their
    name or in their file, such as DDR4 or EPYC.

    A preset can be given as SPEC to every command, and a spec starts from it with `preset: NAME`.
    """
    names = shipped.names()
    if word is not None and not as_json and (path := shipped.path_of(word)) is not None:
        print(path.read_text(encoding="utf-8"), end="")
        return
    found = [name for name in names if word is None or _has(name, word)]
    if not found:
        raise InputError(
            f"no preset has '{word}' in its name or its file",
            allowed=f"a word of a name or a file, or no WORD for the whole list: {listed(names)}",
            suggestion=nearest(str(word), names),
            path="WORD",
        )
    rows = [_row(name) for name in found]
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        _show(rows)


def _has(name: str, word: str) -> bool:
    path = shipped.path_of(name)
    assert path is not None  # it is of the list
    return word.lower() in f"{name}\n{path.read_text(encoding='utf-8')}".lower()


def _row(name: str) -> dict[str, Any]:
    """A preset by name, with what it has and the range of its idle reads."""
    resolved = System.load(name).resolve()
    title = resolved.root.get("name")
    description = describe(resolved)
    idle = [route["idle_read_ns"] for route in description["routes"] if route.get("idle_read_ns")]
    return {
        "preset": name,
        "name": title.text() if title is not None else "",
        "devices": dict(Counter(device["kind"] for device in description["devices"])),
        "idle_read_ns": {
            "least": min(each["least"] for each in idle),
            "most": max(each["most"] for each in idle),
        }
        if idle
        else None,
    }


def _show(rows: list[dict[str, Any]]) -> None:
    table = plain_table()
    table.add_column("preset", no_wrap=True)
    table.add_column("system")
    table.add_column("devices", justify="right", no_wrap=True)
    table.add_column("idle read, ns", justify="right", no_wrap=True)
    for row in rows:
        devices = str(sum(row["devices"].values()))
        table.add_row(
            Text(row["preset"], style="bold"), Text(row["name"]), devices, _range(row["idle_read_ns"])
        )
    out = output()
    out.print(table)
    first = rows[0]["preset"]
    out.print(
        Text(
            f"\n`cxloom presets {first}` shows its file and the sources; `cxloom run {first}` simulates it; "
            f"`preset: {first}` starts a spec from it."
        )
    )


def _range(idle: dict[str, float] | None) -> str:
    if idle is None:
        return "-"
    least, most = f"{idle['least']:.0f}", f"{idle['most']:.0f}"
    return least if least == most else f"{least} to {most}"
