"""``cxloom check``: is a spec valid, and what does it describe."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from cxloom.base.words import counted
from cxloom.cli.options import Plugins, Sets, Spec
from cxloom.cli.progress import ReadingBar
from cxloom.cli.run import resolve
from cxloom.display.console import output
from cxloom.display.notes import folded
from cxloom.display.plain_table import plain_table
from cxloom.system.simulation import describe, work_note

if TYPE_CHECKING:
    from rich.console import Console

_ROWS = 16


def check(
    spec: Spec,
    sets: Sets = [],  # noqa: B006 - typer wants a list, and copies it
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the description as one JSON object.")
    ] = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Check SPEC without running it.

    Says what it describes: devices, links, addresses, and how far the memories are: in links, and in time for
    one read with no other traffic. Traces are read, so that what they hold is checked, too.

    Exit code 0: SPEC is valid. 2: it is invalid; the reason is printed.
    """
    resolved = resolve(spec, sets, plugins)
    note = work_note(resolved)
    with ReadingBar() as bar:
        description = describe(resolved, bar.update)
    description["notes"] += [note] if note else []
    if as_json:
        print(json.dumps(description, indent=2))
    else:
        _show(output(), spec, description, resolved.threads())


def _show(out: Console, spec: str, description: Mapping[str, Any], threads: int) -> None:
    devices, links = description["devices"], description["links"]
    kinds = Counter(device["kind"] for device in devices)
    of_kinds = ", ".join(counted(count, kind) for kind, count in kinds.items())
    summary = f"{counted(len(devices), 'device')} ({of_kinds}), {counted(len(links), 'link')}"
    out.print(Text.assemble((spec, "bold"), f" is valid: {summary}"), soft_wrap=True)
    out.print(Text(f"addresses: {description['addresses'] or 'none'}"))
    out.print(Text(f"simulator memory: about {_memory(description['memory_bytes'])}"))
    partitions = description["partitions"]
    if partitions["lookahead"]:
        shortest = f"{partitions['lookahead']} from one to the other"
        out.print(Text(f"parts for several threads: {partitions['count']} ({shortest} at least)"))
    elif threads > 1:
        out.print(Text(f"parts for several threads: 1: {partitions['reason']}"), soft_wrap=True)
    _show_deadlock(out, description["deadlock"])
    if description["pbr_ids"]:
        out.print(Text(f"PBR identities: {len(description['pbr_ids'])} of 4096"))
    for memory in description["media"][:_ROWS]:
        out.print(Text(f"{memory['memory']}: {memory['capacity']} of {memory['media']}"), soft_wrap=True)
    for memory in description["unmapped"][:_ROWS]:
        hint = "; policy: capacity shares by capacity" if memory["equal_shares"] else ""
        text = f"{memory['mapped']} of {memory['capacity']} are in the address map{hint}"
        out.print(Text(f"note: of {memory['memory']} {text}"), soft_wrap=True)
    for note in folded(description["notes"]):
        out.print(Text(f"note: {note}"), soft_wrap=True)
    table = _table("link", "bandwidth", "64 B lines GB/s", "flight", "duplex")
    for link in links[:_ROWS]:
        forward, backward = link["ends"]
        table.add_row(
            Text(link["name"]),
            _both(forward["bandwidth"], backward["bandwidth"]),
            _both(_lines(forward), _lines(backward)),
            _both(forward["flight"], backward["flight"]),
            link["duplex"],
        )
    _print(out, table, len(links))
    table = _table("requester", "hops to memory", "idle read latency, ns")
    for route in description["routes"][:_ROWS]:
        links = _spread(route["nearest"], route["mean"], route["farthest"], ".0f")
        idle = route.get("idle_read_ns")
        missing = "not worked out" if "idle_read_ns" in route else "-"
        reads = _spread(idle["least"], idle["mean"], idle["most"], ".1f") if idle else missing
        table.add_row(route["requester"], links, reads)
    _print(out, table, len(description["routes"]))


def _show_deadlock(out: Console, deadlock: Mapping[str, Any]) -> None:
    """Whether routes and buffers can close a circle, and which."""
    if not deadlock["channels"]:
        return
    needed = deadlock["virtual_channels_needed"]
    if not deadlock["possible"]:
        proof = f"no circle of {counted(deadlock['channels'], 'channel')} with limited buffers"
        after = ", before and after all failures" if deadlock["epochs"] > 1 else ""
        channels = f"; the routes need {needed} virtual channels" if needed > 1 else ""
        out.print(Text(f"deadlock: impossible, {proof}{after}{channels}"))
        return
    circle, start = deadlock["circle"], deadlock["from"]
    since = f" from {start['at']} on ({start['event']})" if start else ""
    out.print(Text(f"deadlock: possible{since}, each of these channels may wait for the next:", style="bold"))
    for channel in circle[:_ROWS]:
        out.print(Text(f"  {channel}"), soft_wrap=True)
    if len(circle) > _ROWS:
        out.print(Text(f"  and {len(circle) - _ROWS} more"))
    out.print(Text("  ... and the last one for the first"))
    if start and start["only_while_routes_change"]:
        out.print(Text("  only with messages that were under way when the routes changed"))
    elif needed > 1:
        out.print(
            Text(f"  the routes need {needed} virtual channels between switches (virtual_channels of links)")
        )


def _memory(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _lines(end: Mapping[str, Any]) -> str:
    """The largest bandwidth of 64-byte lines in one direction, where the cost of a message says it."""
    return f"{end['lines_gb_per_s']:.2f}" if "lines_gb_per_s" in end else "-"


def _spread(least: float, mean: float, most: float, form: str) -> str:
    """One number if all are alike: 4, or 2 to 6, mean 3.5."""
    if least == most:
        return f"{least:{form}}"
    return f"{least:{form}} to {most:{form}}, mean {mean:.1f}"


def _both(forward: str, backward: str) -> str:
    return forward if forward == backward else f"{forward} / {backward}"


def _table(*names: str) -> Table:
    table = plain_table()
    for name in names:
        table.add_column(name, no_wrap=True)
    return table


def _print(out: Console, table: Table, count: int) -> None:
    if count:
        out.print()
        out.print(table)
    if count > _ROWS:
        out.print(Text(f"and {count - _ROWS} more", style="dim"))
