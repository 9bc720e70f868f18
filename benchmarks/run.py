"""Speed and memory on the stated systems: requests per CPU-second of the whole process, and its peak memory.

``make bench`` builds and runs it; ``python benchmarks/run.py --repeat 5 --markdown`` gives the table of docs/speed.md.
Each row is the best of the repetitions: other work on the machine only ever makes a run slower. The systems are in
throughput.cpp; "bound" is what a bare prototype of the design reached on a 2.4 GHz-class core (two thirds is the aim);
of filters and persists it is the aim itself.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "build" / "benchmarks" / "cxloom_throughput"


@dataclass(frozen=True)
class System:
    """One row: its name in throughput.cpp, measured requests of each requester, and the prototype's rate (or none)."""

    name: str
    requests: int
    bound: float | None
    what: str


SYSTEMS = [
    System("bus", 5_000_000, 4.6e6, "host + bus + 4 memories"),
    System("bus-flits", 3_000_000, None, "the same, links of 68 B flits"),
    System("chain-output", 20_000, 0.46e6, "chain of 64, unbounded FIFO ports"),
    System("chain-voq", 10_000, 0.21e6, "chain of 64, virtual output queues"),
    System("chain-credits", 10_000, 0.17e6, "chain of 64, virtual output queues and 64 credits"),
    System("torus-voq", 20_000, None, "torus of 8 x 8, virtual output queues"),
    System(
        "torus-credits",
        15_000,
        None,
        "torus of 8 x 8, virtual output queues and 64 credits on each of 2 channels",
    ),
    System("spine-leaf-output", 60_000, 1.0e6, "spine-leaf 64+64, unbounded FIFO ports"),
    System("spine-leaf-voq", 40_000, None, "spine-leaf 64+64, virtual output queues"),
    System("spine-leaf-random", 40_000, None, "the same, ties drawn"),
    System("spine-leaf-adaptive", 40_000, None, "the same, ties by load"),
    System("spine-leaf-credits", 40_000, None, "spine-leaf 64+64, virtual output queues and 64 credits"),
    System("dram-saturated", 1_000_000, 1.5e6, "DRAM alone, saturated, random, two reads to a write"),
    System("dram-83ns", 3_000_000, None, "DRAM alone, one such access each 83 ns"),
    System("bus-dram", 500_000, None, "host + bus + 4 memories of DRAM"),
    System("ssd-hits", 2_000_000, 0.5e6, "host + bus + 4 CXL-SSDs, pages in their caches"),
    System("ssd-misses", 500_000, None, "the same, half of them in flash"),
    System("cache-hits", 10_000_000, None, "host that hits its cache"),
    System("persist-many", 2_000_000, 1.0e6, "host that persists, switch that forwards, many lines"),
    System("persist-few", 2_000_000, 1.0e6, "the same, twice the lines that it holds"),
    System("filter-hdm-db", 2_000_000, 0.3e6, "HDM-DB, filter of 10^6 entries with room"),
    System("filter-full-hdm-db", 2_000_000, 0.3e6, "HDM-DB, filter of 10^6 entries, full"),
    System("filter-hdm-h", 2_000_000, 0.3e6, "CXL.cache, filter of 10^6 entries with room"),
    System("filter-full-hdm-h", 2_000_000, 0.3e6, "CXL.cache, filter of 10^6 entries, full"),
    System("edge4096-output", 1, None, "4096 edge ports, spine-leaf: building alone"),
]


@dataclass(frozen=True)
class Cost:
    """What one process cost."""

    cpu_seconds: float
    peak_mib: float
    requests: int
    events: int


def measure(system: System) -> Cost:
    """Runs the system once, in a process of its own."""
    command = [str(PROGRAM), system.name, str(system.requests)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        counts = json.loads(process.stdout.read() or "{}")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{system.name} failed")
    # The peak is the program's word: ru_maxrss is at least that of this process, its launcher.
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Cost(cpu_seconds, counts["peak_kib"] / 1024, counts["requests"], counts["events"])


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="systems whose name contains this")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    line = (
        "| {} | {} | {} | {} | {} | {} |" if arguments.markdown else "{:55} {:>12} {:>12} {:>8} {:>9} {:>8}"
    )
    print(line.format("system", "requests/s", "events/s", "CPU s", "peak MiB", "of bound"))
    if arguments.markdown:
        print("| --- | --- | --- | --- | --- | --- |")
    for system in SYSTEMS:
        if arguments.only not in system.name:
            continue
        cost = min((measure(system) for _ in range(arguments.repeat)), key=lambda cost: cost.cpu_seconds)
        rate = cost.requests / cost.cpu_seconds
        row = (
            system.what,
            f"{rate:,.0f}" if cost.requests else "",
            f"{cost.events / cost.cpu_seconds:,.0f}" if cost.requests else "",
            f"{cost.cpu_seconds:.2f}",
            f"{cost.peak_mib:.0f}",
            f"{rate / system.bound:.2f}" if system.bound else "",
        )
        print(line.format(*row))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
