"""Speed and memory on the stated systems: requests per CPU-second of the whole process, and its peak memory.

``make bench`` builds and runs it; ``python benchmarks/run.py --repeat 5 --markdown`` gives the tables of docs/speed.md.
Each row is the best of the repetitions: other work on the machine only ever makes a run slower. The systems are in
throughput.cpp; instructions are the newest of history.csv.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from history import kept

PROGRAM = Path(__file__).parents[1] / "build" / "benchmarks" / "cxloom_throughput"


@dataclass(frozen=True)
class System:
    """One row: its name in throughput.cpp, measured requests of each requester, and what it is."""

    name: str
    requests: int
    what: str


TABLES = {
    "fabrics and buses": (
        System("bus", 5_000_000, "host + bus + 4 memories"),
        System("bus-flits", 3_000_000, "the same, all links of 68 B flits"),
        System("chain-output", 20_000, "chain of 64, unbounded FIFO ports"),
        System("chain-voq", 10_000, "chain of 64, virtual output queues"),
        System("chain-credits", 10_000, "chain of 64, virtual output queues, 64 credits"),
        System("torus-voq", 20_000, "torus of 8 x 8, virtual output queues"),
        System(
            "torus-credits", 15_000, "torus of 8 x 8, virtual output queues, 64 credits on each of 2 channels"
        ),
        System("spine-leaf-output", 60_000, "spine-leaf 64+64, unbounded FIFO ports"),
        System("spine-leaf-voq", 40_000, "spine-leaf 64+64, virtual output queues"),
        System("spine-leaf-random", 40_000, "the same, ties drawn (`random`)"),
        System("spine-leaf-adaptive", 40_000, "the same, ties by load (`adaptive`)"),
        System("spine-leaf-credits", 40_000, "spine-leaf 64+64, virtual output queues, 64 credits"),
        System("spine-leaf1024-voq", 2_000, "spine-leaf 512+512, virtual output queues"),
        System("spine-leaf1024-credits", 2_000, "spine-leaf 512+512, virtual output queues, 64 credits"),
    ),
    "memories": (
        System("dram-saturated", 1_000_000, "DRAM alone, saturated"),
        System("dram-83ns", 3_000_000, "DRAM alone, an access each 83 ns"),
        System("bus-dram", 500_000, "host + bus + 4 memories of DRAM"),
        System("ssd-hits", 2_000_000, "host + bus + 4 CXL-SSDs, pages in their caches"),
        System("ssd-misses", 500_000, "the same, half of them in flash"),
        System("persist-many", 2_000_000, "persists of many lines"),
        System("persist-few", 2_000_000, "persists of twice as many lines as the buffer holds"),
    ),
    "coherent requests": (
        System("cache-hits", 10_000_000, "host that hits its cache: whole requests"),
        System("filter-hdm-db", 2_000_000, "HDM-DB, filter with room"),
        System("filter-full-hdm-db", 2_000_000, "HDM-DB, filter full"),
        System("filter-hdm-h", 2_000_000, "CXL.cache, filter with room"),
        System("filter-full-hdm-h", 2_000_000, "CXL.cache, filter full"),
    ),
}
HEAD = ("system", "requests/CPU-s", "events/CPU-s", "instructions/request", "peak MiB")


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


def row(system: System, repeat: int, instructions: int | None) -> tuple[str, ...]:
    """What the table says of the best of so many runs."""
    cost = min((measure(system) for _ in range(repeat)), key=lambda cost: cost.cpu_seconds)
    return (
        system.what,
        f"{cost.requests / cost.cpu_seconds:,.0f}",
        f"{cost.events / cost.cpu_seconds:,.0f}",
        f"{instructions:,}" if instructions is not None else "",
        f"{cost.peak_mib:.0f}",
    )


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="systems whose name contains this")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    instructions = {count.system: count.instructions for count in kept()}  # the newest of each
    line = "| {} | {} | {} | {} | {} |" if arguments.markdown else "{:72} {:>14} {:>12} {:>20} {:>8}"
    for title, systems in TABLES.items():
        chosen = [system for system in systems if arguments.only in system.name]
        if not chosen:
            continue
        print(f"\n{title}\n")
        print(line.format(*HEAD))
        if arguments.markdown:
            print("| --- | --- | --- | --- | --- |")
        for system in chosen:
            print(line.format(*row(system, arguments.repeat, instructions.get(system.name))), flush=True)


if __name__ == "__main__":
    main()
