"""What a workload says of a trace that does not say it of itself: turned, with the file read as a run reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from validation.placement_rows import near_and_far
from validation.systems import Run, Spec, changed, direct, finished
from validation.turns import FALLS, RISES, Turn, bandwidth, highest, latency

import cxloom as cx
from cxloom.system.simulation import build


def replaying(trace: str) -> Callable[[Spec, Mapping[str, Any]], Run]:
    """Plays a spec whose host replays `trace`, the text of a file."""

    def play(spec: Spec, _feeds: Mapping[str, Any]) -> Run:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "given.trc"
            file.write_text(trace)
            whole = changed(spec, ("workload.host.trace", str(file)))
            return finished(build(cx.System.from_yaml(json.dumps(whole)).resolve()), whole)

    return play


def made(outcome: Run) -> int:
    """Measured requests."""
    return int(outcome.summary["requests"])


def trace_rows() -> Iterator[Turn]:
    """Cycles of DRAMsim3, coordinates of Ramulator 2, the form of a trace and how often it is played."""
    at = "workload.host"
    base = direct()
    cycles = "".join(f"{64 * i:#x} READ {1000 * i}\n" for i in range(50))
    timed = changed(base, (at, {"replay": "timestamps"}))
    yield Turn(
        "workload.tick", timed, f"{at}.tick", ("625ps", "2500ps"), FALLS, bandwidth, play=replaying(cycles)
    )
    # Two numbers a line: instructions and an address, or a label of Dinero and an address in hexadecimal.
    numbers = "".join(f"{i % 2} {64 * i}\n" for i in range(50))
    yield Turn(
        "workload.format",
        changed(base, (at, {})),
        f"{at}.format",
        ("ramulator2-simple-o3", "dinero"),
        RISES,
        highest,
        play=replaying(numbers),
    )
    yield Turn(
        "workload.repeat",
        changed(base, (at, {"replay": "timestamps", "tick": "1ns"})),
        f"{at}.repeat",
        (2, 4),
        RISES,
        made,
        play=replaying(cycles),
    )
    bursts = "".join(f"R {i // 4},{i % 4}\n" for i in range(8))
    yield Turn(
        "workload.levels",
        changed(base, (at, {})),
        f"{at}.levels",
        ([2, 4], [2, 8]),
        RISES,
        highest,
        play=replaying(bursts),
    )
    # Entries of page tables, in the nearer memory or in the other.
    walks = "# cxloom-trace 2: address kind role\n" + "".join(
        f"{4096 * i:#x} R page-walk\n" for i in range(50)
    )
    yield Turn(
        "workload.page_tables",
        changed(near_and_far(), (at, {"addresses": "first-touch"})),
        f"{at}.page_tables",
        ({"kind": "bind", "nodes": ["near"]}, {"kind": "bind", "nodes": ["far"]}),
        RISES,
        latency,
        play=replaying(walks),
    )
