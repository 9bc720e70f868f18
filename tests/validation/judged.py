"""What holds of every answer, whatever the system: counts and sums, bounds, and tools that agree with each other.

`python -m pytest tests/validation/test_statistics.py` has a law for every statistic of systems whose parts are known;
these are the ones that need to know nothing of the system.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = Mapping[str, NDArray[Any]]
Values = dict[str, Any]

KINDS = ("reads", "writes", "atomics", "flushes")
AT_MOST_ONE = ("utilization", "efficiency", "hit_rate", "_share")
ROUNDING = 1e-9
EDGE = 0.02
"""What the requests at the edges of a window may add to a share of it that Little's law gives."""


def close(found: float, expected: float, rel: float = ROUNDING) -> bool:
    """Equal but for rounding."""
    return math.isclose(found, expected, rel_tol=rel, abs_tol=1e-12)


def judge_run(summary: Values, rows: Rows) -> Iterator[str]:
    """What is wrong with the summary of a run and the rows of its requests."""
    yield from judge_rows(summary, rows)
    yield from judge_requesters(summary, rows)
    yield from judge_memories(summary)
    yield from judge_numbers(summary)


def judge_rows(summary: Values, rows: Rows) -> Iterator[str]:
    """Segments sum to latencies, and what the summary counts are the rows."""
    wrong = rows["error"].astype(bool)
    latency = rows["completed_ps"].astype(np.int64) - rows["created_ps"]
    segments = [name for name in rows if name.endswith("_ps") and name not in ("created_ps", "completed_ps")]
    if len(latency) and not np.array_equal(sum(rows[name].astype(np.int64) for name in segments), latency):
        yield "segments of some request do not sum to its latency"
    if any((rows[name] < 0).any() for name in segments):
        yield "a segment is negative"
    if summary["requests"] != int((~wrong).sum()) or summary["errors"]["requests"] != int(wrong.sum()):
        yield "requests and errors are not those of the rows"
    if sum(summary.get(kind, 0) for kind in KINDS) != summary["requests"]:
        yield "kinds do not sum to the requests"
    if not summary["requests"]:
        return
    if not close(summary["latency_ns"]["mean"], float(latency[~wrong].mean()) / 1000):
        yield "the mean latency is not that of the rows"
    if not close(sum(summary["breakdown_ns"].values()), summary["latency_ns"]["mean"]):
        yield "the breakdown does not sum to the mean latency"
    ordered = [summary["latency_ns"][key] for key in ("min", "p50", "p90", "p99", "p999", "max")]
    if ordered != sorted(ordered):
        yield f"percentiles out of order: {ordered}"


def judge_requesters(summary: Values, rows: Rows) -> Iterator[str]:
    """Requesters make up the whole, each has its rows, and one that got nothing is named."""
    requesters, wrong = summary["per_requester"], rows["error"].astype(bool)
    if not close(
        sum(mine["bandwidth_gb_per_s"] for mine in requesters.values()), summary["bandwidth_gb_per_s"]
    ):
        yield "bandwidths of requesters do not sum"
    for name, mine in requesters.items():
        own = rows["requester"] == name
        errors = mine.get("errors", {}).get("requests", 0)
        if mine["requests"] != int((own & ~wrong).sum()) or errors != int((own & wrong).sum()):
            yield f"requests and errors of {name} are not those of its rows"
        if len(np.unique(rows["id"][own])) != int(own.sum()):
            yield f"a request of {name} ended twice"
        silent = mine["requests"] == 0
        if silent and len(wrong) and not any(f"'{name}'" in note for note in summary["notes"]):
            yield f"{name} got no data, and no note says so"
        if any((value is None) != silent for key, value in mine["latency_ns"].items() if key != "ci95"):
            yield f"latencies of {name} are null without need, or are not"


def judge_memories(summary: Values) -> Iterator[str]:
    """Accesses of a memory are those of requests, of write-backs and of what was asked for ahead."""
    for name, mine in summary["per_memory"].items():
        if mine.get("atomics"):
            continue  # they are neither reads nor writes
        besides = sum(mine.get(key, 0) for key in ("write_backs", "prefetches", "drains"))
        if mine["reads"] + mine["writes"] != mine["requests"] + besides:
            yield f"accesses of {name} do not sum"
        if not close(mine["read_gb_per_s"] + mine["write_gb_per_s"], mine["bandwidth_gb_per_s"]):
            yield f"bandwidths of {name} do not sum"


def judge_numbers(plain: Any, path: str = "") -> Iterator[str]:
    """No number is negative, none is infinite, and no share is more than all."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            if key not in ("mix_windows", "gain"):  # slopes and gains may be negative
                yield from judge_numbers(value, f"{path}.{key}")
    elif isinstance(plain, list):
        for value in plain:
            yield from judge_numbers(value, path)
    elif isinstance(plain, int | float) and not 0 <= plain < math.inf:
        yield f"{path} is {plain}"
    elif (
        isinstance(plain, int | float) and any(word in path for word in AT_MOST_ONE) and plain > 1 + ROUNDING
    ):
        yield f"{path} is more than all: {plain}"


def judge_again(summary: Values, again: Values, what: str) -> Iterator[str]:
    """The same system gives the same result; its cost and the hash of its text aside."""
    for key in summary:
        if key not in ("cost", "spec_hash") and summary[key] != again.get(key):
            yield f"{what} changes {key}: {summary[key]} and {again.get(key)}"


SHOWN = {
    "requests": "requests",
    "GB/s": "bandwidth_gb_per_s",
    "mean ns": "mean",
    "p50": "p50",
    "p99": "p99",
    "p99.9": "p999",
    "max": "max",
    "in flight mean": "in_flight_mean",
    "queue mean": "queue_mean",
}
"""Columns of the table of a run, and the keys of what they show."""


def judge_table(summary: Values, printed: str) -> Iterator[str]:
    """The numbers of the table are those of the summary, to the figures that are shown."""
    parts = {
        "": {"all": summary, **{kind: summary.get(kind) for kind in ("read", "write", "atomic", "flush")}}
    }
    parts |= {"requester": summary["per_requester"], "memory": summary["per_memory"]}
    head: list[str] = []
    for line in printed.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if "requests" in cells:
            head = cells if cells[0] in parts else ["", *cells]
        elif not line.strip():
            head = []
        elif len(cells) == len(head) and (mine := parts.get(head[0], {}).get(cells[0])):
            for title, text in zip(head[1:], cells[1:], strict=True):
                if title in SHOWN and not shows(text, {**mine, **mine["latency_ns"]}.get(SHOWN[title])):
                    yield f"{title} of {cells[0]}: {text}"


def shows(text: str, value: float | None) -> bool:
    """The text is that of the value: half a unit of its last figure off at most."""
    if value is None:
        return text == "-"
    mantissa, _, exponent = text.replace(",", "").partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(text.replace(",", "")) - value) <= 0.5001 * unit + ROUNDING * abs(value)


def judge_explanation(found: Values) -> Iterator[str]:
    """No bound is below what was seen, and nothing is more than full."""
    for each in found["resources"]:
        bound = each["bound_gb_per_s"]
        if bound is not None and bound < found["throughput_gb_per_s"] * (1 - ROUNDING):
            yield f"{each['name']} bounds at {bound}, below {found['throughput_gb_per_s']}"
    names = [each["name"] for each in found["resources"]]
    if len(set(names)) != len(names):
        yield f"resources share a name: {names}"


def judge_latencies(found: Values) -> Iterator[str]:
    """Times on the way are parts of the idle latency, which lies between its least and its most."""
    for row in found["rows"]:
        if row["latency_ns"] is None:
            continue
        if not close(sum(row["breakdown_ns"].values()), row["latency_ns"], rel=1e-6):
            yield f"the breakdown of {row} does not sum"
        if not row["least_ns"] <= row["latency_ns"] * (1 + ROUNDING) <= row["most_ns"] * (1 + 2 * ROUNDING):
            yield f"{row['latency_ns']} is not between the least and the most of {row}"
