"""Two builds of the stated systems beside each other: instructions per request, and CPU time in simultaneous pairs.

``make bench-against BASE=<commit>`` builds both and runs it. Instructions are counted by callgrind, as the slope
between a short and a longer run, so that start-up does not count; no other work on the machine moves them. Time is
taken with both builds running at once, each on a core of its own, cores swapped each round: runs one after the other
on a shared machine differ by more than what is looked for. A system that the other build does not know is new.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path("build/benchmarks/cxloom_throughput")


@dataclass(frozen=True)
class System:
    """Measured requests of each requester: of the short and the longer counted run, and of a timed one."""

    short: int
    longer: int
    timed: int


SYSTEMS = {
    "bus": System(4000, 24_000, 1_500_000),
    "bus-flits": System(3000, 13_000, 1_000_000),
    "chain-output": System(40, 160, 1500),
    "chain-voq": System(20, 90, 1000),
    "chain-credits": System(20, 90, 1000),
    "spine-leaf-output": System(100, 500, 8000),
    "spine-leaf-voq": System(100, 400, 6000),
    "spine-leaf-random": System(100, 400, 6000),
    "spine-leaf-adaptive": System(100, 400, 6000),
    "spine-leaf-credits": System(100, 400, 6000),
    "spine-leaf1024-voq": System(10, 50, 400),
    "spine-leaf1024-credits": System(10, 50, 400),
    "dram-saturated": System(4000, 16_000, 600_000),
    "dram-83ns": System(4000, 20_000, 2_000_000),
    "bus-dram": System(3000, 12_000, 400_000),
    "cores": System(3000, 12_000, 400_000),
    "ssd-misses": System(3000, 12_000, 400_000),
    "cache-hits": System(4000, 24_000, 2_000_000),
    "filter-hdm-db": System(4000, 16_000, 400_000),
    "filter-hdm-h": System(4000, 16_000, 400_000),
    "persist-many": System(3000, 12_000, 1_000_000),
}


def counted(tree: Path, name: str, requests: int) -> tuple[int, int] | None:
    """Instructions and requests of one run under callgrind; none if the build does not know the system."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    run = subprocess.run(
        [*command, str(tree / PROGRAM), name, str(requests)], capture_output=True, text=True, check=False
    )
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found:
        return None
    return int(found[1]), json.loads(run.stdout)["requests"]


def instructions(tree: Path, name: str) -> float | None:
    """Instructions per request, from the slope between two lengths."""
    short = counted(tree, name, SYSTEMS[name].short)
    longer = counted(tree, name, SYSTEMS[name].longer)
    if not short or not longer:
        return None
    return (longer[0] - short[0]) / (longer[1] - short[1])


def seconds(trees: list[Path], name: str, rounds: int) -> list[float]:
    """CPU time of each build over all rounds, both running at once."""
    total = [0.0, 0.0]
    cores = sorted(os.sched_getaffinity(0))[:2]
    for turn in range(rounds):
        order = [0, 1] if turn % 2 == 0 else [1, 0]
        running = []
        for core, which in zip(cores, order, strict=True):
            command = ["taskset", "-c", str(core), str(trees[which] / PROGRAM), name]
            process = subprocess.Popen([*command, str(SYSTEMS[name].timed)], stdout=subprocess.DEVNULL)
            running.append((which, process))
        for which, process in running:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                raise SystemExit(f"{name} failed in {trees[which]}")
            total[which] += usage.ru_utime + usage.ru_stime
    return total


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path, help="the tree of the other build")
    parser.add_argument("--only", default="", help="systems whose name contains this")
    parser.add_argument("--rounds", type=int, default=6, help="timed pairs; 0: instructions alone")
    arguments = parser.parse_args()
    trees = [arguments.base, Path()]
    print(f"{'system':24}{'instructions per request':>32}{'change':>10}{'speed':>10}", flush=True)
    for name in [name for name in SYSTEMS if arguments.only in name]:
        before, after = (instructions(tree, name) for tree in trees)
        if after is None:
            raise SystemExit(f"{name} failed; valgrind must be installed")
        if before is None:
            print(f"{name:24}{'':>14}{after:>18.0f}{'new':>10}", flush=True)
            continue
        line = f"{name:24}{before:>14.0f}{after:>18.0f}{100 * (after / before - 1):>+9.1f} %"
        if arguments.rounds > 0:
            then, now = seconds(trees, name, arguments.rounds)
            line += f"{100 * (then / now - 1):>+8.1f} %"
        print(line, flush=True)


if __name__ == "__main__":
    main()
