"""The page of a program on simulated systems: how long it takes, what slows it down, and what of its memory is hot."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from cxloom import _core
from cxloom.base.granules import LINE
from cxloom.base.words import counted
from cxloom.display.numbers import duration, percent, significant, size
from cxloom.execution.objects import most_used
from cxloom.execution.result import REGION, WALKS, Execution, ExecutionResult
from cxloom.report import plots
from cxloom.report.execution_table import margin, names_of, sentence
from cxloom.report.page import Cell, Section, answer, document, facts, notes, plot, table, tiles
from cxloom.spec import declared

_PLACES = {
    "cache": "caches",
    "link": "links",
    "bus": "links",
    "switch": "switches",
    "persistence": "persistence",
    "coherence": "coherence",
    "memory": "memory",
}
"""What people call the places of segments, but for the requester: its waiting and its work are two."""
_POINTS = 300  # of a curve, at most
_MOST_THREADS = 200  # in a table
_SCALES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def execution_page(
    result: ExecutionResult, more: Sequence[Section] = (), owners: Mapping[int, str] | None = None
) -> str:
    """The text of the page.

    Args:
        more: further sections, behind that of the time.
        owners: who accesses a region of memory most, by its number, where that is known.
    """
    title = shlex.join(result.command)[:120] or "A program"
    foot = f"cxloom {escape(_core.__version__)}. This page holds all that it needs; nothing is fetched."
    first, *others = _sections(result, owners)
    return document(title, _lead(result), [first, *more, *others], foot)


def groups() -> dict[str, list[str]]:
    """What the time of a program goes to, by where that is: segments, and what cores do besides."""
    found = {
        "instructions": ["busy", "dependent computation"],
        "page walks": [WALKS],
        "waiting for an MSHR": ["waiting for an MSHR"],
    }
    found |= {name: [] for name in ("host", *dict.fromkeys(_PLACES.values()))}
    for name, segment in declared.segments().items():
        own = "waiting for an MSHR" if segment["waits"] else "host"
        found[_PLACES.get(segment["place"], own)].append(name)
    return found | {"kernel": ["kernel"], "idle": ["idle"]}


def groups_of(execution: Execution) -> dict[str, float]:
    """Shares of the time of the run, by `groups`; they sum to 1."""
    parts = execution.parts()
    return {name: sum(parts.get(part, 0.0) for part in members) for name, members in groups().items()}


def _lead(result: ExecutionResult) -> str:
    names = names_of(result)
    entries = []
    for name, each, slowdown in zip(names, result.executions, result.slowdowns, strict=True):
        sampled = each.sampled
        entries.append(
            (
                f"time on {name}",
                duration(each.time_ns),
                f"{margin(sampled.time_ns)} (95 %)" if sampled else "",
            )
        )
        if each is not result.executions[0]:
            known = margin(sampled.slowdown) if sampled else ""
            entries.append(
                ("slowdown", significant(slowdown, 4), f"{known} (95 %)" if known else f"against {names[0]}")
            )
        entries.append(("instructions per cycle", significant(each.instructions_per_cycle), f"on {name}"))
    return answer(sentence(result.executions[-1], names[-1])) + tiles(entries) + notes(result.notes)


def _sections(result: ExecutionResult, owners: Mapping[int, str] | None) -> Iterator[Section]:
    yield Section("time", "Where the time goes", _breakdown(result))
    if any(each.threads(result.threads) for each in result.executions):
        yield Section("threads", "Threads", _threads(result))
    bandwidth = _bandwidth(result)
    if bandwidth:
        yield Section("bandwidth", "Bandwidth over time", bandwidth)
    if result.objects:
        yield Section("objects", "What the memory is for", _objects(result))
    if result.regions:
        yield Section("memory", "Hot memory", _hot(result, owners))
    yield Section("program", "The program", _program(result))


def _breakdown(result: ExecutionResult) -> str:
    names = names_of(result)
    parts = {name: _shown(each) for name, each in zip(names, result.executions, strict=True)}
    keys = dict.fromkeys(
        key for members in groups().values() for key in members if any(key in each for each in parts.values())
    )
    longest = max(sum(each.values()) for each in parts.values())
    unit = duration(longest).split()[1]
    bars = {name: {key: each.get(key, 0.0) / _SCALES[unit] for key in keys} for name, each in parts.items()}
    figure = plots.breakdown(bars, "Time of the run by what it went to", f"time ({unit})", unit)
    text = (
        "An instruction that waits for an answer is charged to what the request was on its way through at that time. "
        "Click on a name below the plot to hide it."
    )
    shares = [groups_of(each) for each in result.executions]
    rows = [
        [Cell(name, look="text"), *(Cell(percent(each[name]), each[name]) for each in shares)]
        for name in groups()
        if any(each[name] for each in shares)
    ]
    return (
        f'<p class="soft">{text}</p>{plot("breakdown", figure, "Time by what it went to")}'
        f"{table(['', *names], rows, caption='Shares of the time', sortable=False)}"
    )


def _threads(result: ExecutionResult) -> str:
    """The threads on the last of the systems."""
    execution, name = result.executions[-1], names_of(result)[-1]
    threads = execution.threads(result.threads)
    sampled = " Of a sample: of what was simulated." if execution.sampled is not None else ""
    text = (
        f"The critical path on {escape(name)}: the thread that ended last from when it waited last, the one that it "
        "waited for up to when that let it go on, and so forth to the start. Its times sum to that of the run. The "
        f"other columns are of each thread from its beginning to its end.{sampled}"
    )
    rows = [
        [
            Cell(str(each.name), look="text"),
            Cell(percent(each.share), each.share),
            Cell(duration(each.begun_ns), each.begun_ns),
            Cell(duration(each.ended_ns), each.ended_ns),
            Cell(f"{each.instructions:,}", each.instructions),
            Cell(significant(each.instructions_per_cycle), each.instructions_per_cycle),
            *(Cell(percent(share), share) for share in (each.busy, each.memory, each.idle)),
        ]
        for each in threads[:_MOST_THREADS]
    ]
    head = [
        "thread",
        "critical path",
        "begun",
        "ended",
        "instructions",
        "per cycle",
        "busy",
        "memory",
        "idle",
    ]
    return f'<p class="soft">{text}</p>{table(head, rows, caption="Threads, the longest on the critical path first")}'


def _shown(execution: Execution) -> dict[str, float]:
    return {name: value for name, value in execution.times_ns().items() if value}


def _bandwidth(result: ExecutionResult) -> str:
    longest = max((each.progress[-1][0] for each in result.executions if each.progress), default=0.0)
    if not longest:
        return ""
    unit = duration(longest).split()[1]
    curves = {
        name: curve
        for name, each in zip(names_of(result), result.executions, strict=True)
        if (curve := _curve(each, _SCALES[unit]))[0]
    }
    if not curves:
        return ""
    figure = plots.lines(
        curves,
        "Lines moved to and from memory",
        plots.titled(f"simulated time ({unit})", range=[0, longest / _SCALES[unit]]),
        plots.titled("GB/s", rangemode="tozero", showgrid=True),
        tip="{y} GB/s at {x} " + unit,
        showlegend=len(curves) > 1,
    )
    for trace in figure["data"]:
        trace["line"]["shape"] = "hvh"
    sampled = any(each.sampled for each in result.executions)
    more = (
        " Of a sample: the time of the windows that were simulated, one behind the other." if sampled else ""
    )
    text = f"Accesses that were answered, at {LINE} bytes each.{more}"
    return f'<p class="soft">{text}</p>{plot("moved", figure, "Bandwidth over time")}'


def _curve(execution: Execution, scale: float) -> tuple[list[float], list[float]]:
    """Means over equal parts of the time, at their middles; as many as there are turns of the simulation."""
    times, answered = np.array([(0.0, 0), *execution.progress]).T
    if not times[-1]:
        return [], []
    edges = np.linspace(0.0, times[-1], min(_POINTS, len(times) - 1) + 1)
    moved = LINE * np.diff(np.interp(edges, times, answered))
    return ((edges[:-1] + edges[1:]) / 2 / scale).tolist(), (moved / np.diff(edges)).tolist()


def _objects(result: ExecutionResult) -> str:
    whole = sum(each.accesses for each in result.objects)
    rows: list[list[Any]] = [
        [
            Cell(each.name, look="text"),
            Cell(size(each.bytes), each.bytes),
            Cell(f"{each.accesses:,}", each.accesses),
            Cell(percent(each.accesses / whole), each.accesses / whole),
            Cell(significant(each.accesses / (each.bytes / LINE)), each.accesses / each.bytes),
        ]
        for each in most_used(result.objects)[:30]
    ]
    text = (
        "Accesses beyond the caches of the cores, by what they are for: data: static data of that name, heap: and map: "
        "what that function had allocated, on the heap and in pieces of their own. "
        "<code>--place 'NAME=MEM'</code> puts one elsewhere."
    )
    head = ["object", "touched", "accesses", "share", "accesses per line"]
    return f'<p class="soft">{text}</p>{table(head, rows, caption="Objects, the most accessed first")}'


def _hot(result: ExecutionResult, owners: Mapping[int, str] | None) -> str:
    counts = sorted(result.regions.values(), reverse=True)
    whole, reached = sum(counts), 0
    xs, ys = [0.0], [0.0]
    for number, count in enumerate(counts, 1):
        reached += count
        xs.append(number * REGION / 2**20)
        ys.append(100 * reached / whole)
    figure = plots.lines(
        {"accesses": _thinned(xs, ys)},
        "Accesses that go to the hottest memory",
        plots.titled("hottest memory (MiB)", rangemode="tozero"),
        plots.titled("of all accesses (%)", range=[0, 104], showgrid=True),
        tip="{y} % go to {x} MiB",
        showlegend=False,
    )
    half = next(number for number, y in enumerate(ys) if y >= 50)
    ninety = next(number for number, y in enumerate(ys) if y >= 90)
    text = (
        f"Half of the accesses beyond the caches go to {size(half * REGION)}, nine of ten to {size(ninety * REGION)} "
        f"of the {size(len(counts) * REGION)} that are accessed. A fast memory of that size could take them."
    )
    hottest = sorted(result.regions.items(), key=lambda each: -each[1])[:12]
    rows: list[list[Any]] = [
        [
            Cell(f"{size(number * REGION)} to {size((number + 1) * REGION)}", number),
            Cell(f"{count:,}", count),
            percent(count / whole),
            *([] if owners is None else [Cell(owners.get(number, "the kernel"), look="text")]),
        ]
        for number, count in hottest
    ]
    head = ["address" if result.physical else "in the order of first touch", "accesses", "share"]
    head += [] if owners is None else ["most by"]
    return (
        f'<p class="soft">{text}</p>{plot("hot", figure, "Share of accesses over share of memory")}'
        f"{table(head, rows, caption='The hottest regions of 64 KiB')}"
    )


def _thinned(xs: list[float], ys: list[float]) -> tuple[list[float], list[float]]:
    step = max(1, len(xs) // _POINTS)
    return [*xs[::step], xs[-1]], [*ys[::step], ys[-1]]


def _program(result: ExecutionResult) -> str:
    first = result.executions[0]
    entries = [
        ("command", shlex.join(result.command) or "unknown"),
        ("instructions", f"{result.instructions:,} of {counted(first.core['threads'], 'thread')}"),
        ("accesses beyond its caches", f"{result.accesses:,}"),
        *(() if result.translation is None else (("TLB", result.translation.text(result.instructions)),)),
        ("ended", "replayed from a trace" if result.ended is None else str(result.ended)),
        *(
            (f"pages on {name}", each.pages)
            for name, each in zip(names_of(result), result.executions, strict=True)
        ),
    ]
    return facts(entries)
