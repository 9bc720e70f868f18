"""A result as a notebook shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from cxloom.base.words import counted
from cxloom.display.numbers import duration, percent, significant
from cxloom.results.caveats import error_sentence

_COLUMNS = ("mean", "p50", "p99", "p999", "max")
KINDS = ("read", "write", "atomic", "flush")


def to_html(summary: Mapping[str, Any]) -> str:
    """The measures of all requests and of each kind as a table, and where the time of a request went as another."""
    length = duration(summary["simulated_time_ns"])
    measured = f"{counted(summary['requests'], 'request')} in {length} of simulated time"
    if summary["truncated"]:
        measured = f"TRUNCATED ({summary['stop_reason']}): {measured}"
    rows = [
        [name, f"{part['requests']:,}", _number(part["bandwidth_gb_per_s"])]
        + [_number(part["latency_ns"][key]) for key in _COLUMNS]
        for name, part in [("all", summary), *((kind, summary[kind]) for kind in KINDS if kind in summary)]
    ]
    parts = [f"<p>{escape(measured)}</p>"]
    if said := error_sentence(summary):
        parts.append(f"<p>errors: {escape(said)}</p>")
    parts.append(_table(["", "requests", "GB/s", *(f"{key} ns" for key in _COLUMNS)], rows))
    mean = summary["latency_ns"]["mean"]
    segments = [(name, value) for name, value in summary["breakdown_ns"].items() if value]
    if segments and mean:
        shares = [[name, _number(value), percent(value / mean)] for name, value in segments]
        parts.append(_table(["where a request's time went", "mean ns", "share"], shares))
    parts += [f"<p>note: {escape(note)}</p>" for note in summary.get("notes", [])]
    return "\n".join(parts)


def _number(value: float | None) -> str:
    return "-" if value is None else significant(value, 4)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in head)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows]
    return "<table>\n" + "\n".join(lines) + "\n</table>"
