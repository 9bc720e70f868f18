"""A result as a notebook shows it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from cxloom.base.words import counted
from cxloom.display.numbers import duration, percent, significant
from cxloom.display.shown import html_table
from cxloom.results.caveats import error_sentence
from cxloom.results.kinds import by_kind

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

_COLUMNS = ("mean", "p50", "p99", "p999", "max")


def to_html(summary: Summary) -> str:
    """The measures of all requests and of each kind as a table, and where the time of a request went as another."""
    length = duration(summary["simulated_time_ns"])
    measured = f"{counted(summary['requests'], 'request')} in {length} of simulated time"
    if summary["truncated"]:
        measured = f"TRUNCATED ({summary['stop_reason']}): {measured}"
    rows = [
        [name, f"{part['requests']:,}", _number(part["bandwidth_gb_per_s"]), *_latencies(part["latency_ns"])]
        for name, part in [("all", summary), *by_kind(summary).items()]
    ]
    parts = [f"<p>{escape(measured)}</p>"]
    if said := error_sentence(summary):
        parts.append(f"<p>errors: {escape(said)}</p>")
    parts.append(html_table(["", "requests", "GB/s", *(f"{key} ns" for key in _COLUMNS)], rows))
    mean = summary["latency_ns"]["mean"]
    segments = [(name, value) for name, value in summary["breakdown_ns"].items() if value]
    if segments and mean:
        shares = [[name, _number(value), percent(value / mean)] for name, value in segments]
        parts.append(html_table(["where a request's time went", "mean ns", "share"], shares))
    parts += [f"<p>note: {escape(note)}</p>" for note in summary.get("notes", [])]
    return "\n".join(parts)


def _latencies(latency: Mapping[str, Any]) -> list[str]:
    return [_number(latency[key]) for key in _COLUMNS]


def _number(value: float | None) -> str:
    return "-" if value is None else significant(value, 4)
