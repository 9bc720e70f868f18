"""The parameters of cores that matter to programs that run: each row runs one under the emulator."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from validation.systems import Spec, changed
from validation.turns import FALLS, RISES, Turn

from cxloom import System, _core
from cxloom.execution import execute
from cxloom.execution.result import ExecutionResult

ROOT = Path(__file__).parents[2]


@cache
def built() -> str:
    """The program whose accesses and branches are known, linked statically."""
    folder = tempfile.mkdtemp(prefix="cxloom-rows-")
    flags = ["-O2", "-static", "-pthread", f"-I{ROOT / 'include'}"]
    source = ROOT / "tests" / "python" / "programs" / "memory.c"
    subprocess.run([shutil.which("cc") or "gcc", *flags, source, "-o", f"{folder}/memory"], check=True)
    return f"{folder}/memory"


@cache
def ran(spec: str, *arguments: str) -> ExecutionResult:
    """What the marked part of the program takes on a system, which is written as JSON."""
    return execute([built(), *arguments], [System.from_yaml(spec)], region="marks")


def runs(*arguments: str) -> Callable[..., Any]:
    """Plays the program with these arguments in place of the workload of a spec."""

    def play(spec: Spec, _feeds: Any) -> ExecutionResult:
        plugin = Path(str(_core.__file__)).with_name("cxloom_qemu.so")
        if shutil.which("qemu-x86_64") is None or not plugin.exists():
            pytest.skip("QEMU or its plug-in is not there")
        return ran(json.dumps(spec), *arguments)

    return play


def took(result: ExecutionResult) -> float:
    """The time of the thread that took longest."""
    return result.executions[0].time_ns


def accesses(result: ExecutionResult) -> int:
    """What missed the caches of the cores."""
    return result.accesses


def program_rows(name: str, at: str, base: Spec) -> Iterator[Turn]:
    """Those of one kind of requester, which is at `at` in `base`."""
    at = f"{at}.core"
    small = {"size": "4KiB", "ways": 4, "cycles": 5}
    large = {"size": "64KiB", "ways": 16, "cycles": 15}
    system = changed(base, (at, {"caches": [small, large]}))
    branches = partial(Turn, base=system, measure=took, play=runs("branches", "20000"))
    yield branches(f"{name}.core.branch_penalty", path=f"{at}.branch_penalty", values=(5, 20), effect=RISES)
    # A core with next to no tables remembers few of 32 branches.
    many = partial(Turn, base=system, measure=took, play=runs("many", "1000"))
    yield many(f"{name}.core.branch_entries", path=f"{at}.branch_entries", values=(2, 4096), effect=FALLS)
    # A cycle of 256 lines, 16 KiB: within the second level, and not in the first.
    chase = partial(Turn, base=system, play=runs("chase", "256"))
    yield chase(
        f"{name}.core.caches",
        path=f"{at}.caches",
        values=([small], [small, large]),
        effect=FALLS,
        measure=took,
    )
    key = f"{name}.core.caches"
    second = f"{at}.caches.1"
    yield chase(f"{key}.cycles", path=f"{second}.cycles", values=(15, 30), effect=RISES, measure=took)
    yield chase(
        f"{key}.size", path=f"{second}.size", values=("8KiB", "64KiB"), effect=FALLS, measure=accesses
    )
    alone = changed(system, (f"{at}.caches", [{"size": "12KiB", "ways": 192, "cycles": 5}]))
    first = f"{at}.caches.0"
    # LRU loses each line of a cycle before it comes again; with one way a set those stay that do not collide.
    for parameter, values in (("ways", (192, 1)), ("policy", ("lru", "mru"))):
        yield Turn(
            f"{key}.{parameter}",
            alone,
            f"{first}.{parameter}",
            values,
            FALLS,
            accesses,
            play=runs("chase", "256"),
        )
    yield from tlb_rows(name, at, changed(base, (at, {"caches": [small]})))
    # Two threads, each with a cycle of 128 lines: both together do not fit into 12 KiB.
    yield Turn(f"{name}.core.cores", alone, f"{at}.cores", (1, 2), FALLS, accesses, play=runs("pair", "128"))


SMALL_PAGE, HUGE_PAGE = "4096", str(2 << 20)


def tlb_rows(name: str, at: str, base: Spec) -> Iterator[Turn]:
    """Those of the TLB of a core, which is at `at` in `base`: a line of each of so many pages."""
    tlb = f"{at}.tlb"
    here = {"entries": 16, "ways": 16, "second_entries": 64, "second_ways": 64, "walk_cache": 32}
    system = changed(base, (tlb, here))
    huge = changed(base, (tlb, {**here, "page": "2MiB", "huge_entries": 16, "huge_ways": 16}))

    def row(key: str, base: Spec, values: tuple[Any, Any], pages: int, size: str = SMALL_PAGE) -> Turn:
        play = runs("pages", str(pages), size)
        return Turn(f"{name}.core.tlb.{key}", base, f"{tlb}.{key}", values, FALLS, took, play=play)

    yield Turn(f"{name}.core.tlb", base, tlb, (..., here), RISES, took, play=runs("pages", "256", SMALL_PAGE))
    yield row("page", system, ("4KiB", "2MiB"), 256)
    yield row("entries", system, (16, 64), 32)
    yield row("huge_entries", huge, (16, 64), 32, HUGE_PAGE)
    # LRU of 24 keeps none of a cycle of 32 pages; with one way a set it keeps pages that no other falls onto.
    yield row("ways", changed(system, (f"{tlb}.entries", 24)), (24, 1), 32)
    yield row("huge_ways", changed(huge, (f"{tlb}.huge_entries", 24)), (24, 1), 32, HUGE_PAGE)
    yield row("second_entries", system, (64, 512), 256)
    yield row("second_ways", changed(system, (f"{tlb}.second_entries", 48)), (48, 1), 64)
    yield row("second_cycles", system, (20, 7), 32)
    yield row("walk_cache", system, (0, 32), 256)
    independent = runs("touch", "256", SMALL_PAGE)
    key = f"{name}.core.tlb.walkers"
    yield Turn(key, system, f"{tlb}.walkers", (1, 4), FALLS, took, play=independent)
