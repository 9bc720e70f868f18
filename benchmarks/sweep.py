"""What a sweep costs beyond its simulations: CPU time of the whole command with its workers, a point.

``make bench`` runs it; ``python benchmarks/sweep.py --repeat 5 --markdown`` gives the table of docs/speed.md. Each row
is the best of the repetitions. Of the CPU time of the command and all its processes, what each point says that its
simulation took (`cost.cpu_seconds`) is taken away. What is left is loading Python, planning, resolving, building,
storing and the table. Beside it stands what a point costs that is resolved and built anew each time, in one process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from cxloom.running.run import simulate
from cxloom.spec.override import Override
from cxloom.system.simulation import build
from cxloom.system.system import System

PRESET = """\
preset: esf/validation
workload: {host: {requests: 100}}
run: {warmup: 0}
"""
SPINE_LEAF = """\
topology: {kind: spine-leaf, leaves: 8, spines: 4, devices_per_leaf: 8}
workload: {"host*": {pattern: random, requests: 10, footprint: 1GiB}}
run: {warmup: 0}
"""


@dataclass(frozen=True)
class Case:
    """A sweep: a spec, and axes whose product is its points."""

    what: str
    spec: str
    sets: dict[str, list[int]]


CASES = [
    Case(
        "a preset, 100 requests",
        PRESET,
        {"devices.host.queue": list(range(1, 41)), "run.seed": list(range(1, 26))},
    ),
    Case(
        "spine-leaf of 64 devices, 10 requests per host",
        SPINE_LEAF,
        {"devices.host*.queue": list(range(1, 11)), "run.seed": list(range(1, 21))},
    ),
]


@dataclass(frozen=True)
class Cost:
    """CPU milliseconds per point."""

    whole: float
    simulation: float
    points: int

    @property
    def beyond(self) -> float:
        """What is not simulation."""
        return self.whole - self.simulation


def measure(case: Case, folder: Path) -> Cost:
    """Runs the sweep once, into a new directory."""
    spec, out = folder / "spec.yaml", folder / f"out{time.monotonic_ns()}"
    spec.write_text(case.spec)
    sets = [f"--set={path}={','.join(map(str, values))}" for path, values in case.sets.items()]
    command = [sys.executable, "-P", "-m", "cxloom", "sweep", str(spec), *sets, "--out", str(out), "--quiet"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    records = [json.loads(path.read_bytes())["point"] for path in (out / "points").glob("*.json")]
    simulation = sum(record["cost"]["cpu_seconds"] for record in records)
    return Cost(1e3 * seconds / len(records), 1e3 * simulation / len(records), len(records))


def one_by_one(case: Case, folder: Path, points: int = 50) -> float:
    """CPU milliseconds beyond simulation of a point that is resolved and built on its own, in one process."""
    spec = folder / "spec.yaml"
    spec.write_text(case.spec)
    system, simulation = System.load(spec), 0.0
    started = time.process_time()
    for index in range(points):
        at = {path: values[index % len(values)] for path, values in case.sets.items()}
        resolved = system.resolve([Override.of(path, value) for path, value in at.items()])
        simulation += simulate(resolved, build(resolved), keep=False).plain()["cost"]["cpu_seconds"]
    return 1e3 * (time.process_time() - started - simulation) / points


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    line = "| {} | {} | {} | {} | {} |" if arguments.markdown else "{:50} {:>7} {:>14} {:>12} {:>12}"
    print(line.format("sweep", "points", "simulation ms", "beyond ms", "one by one"))
    if arguments.markdown:
        print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in CASES:
            costs = [measure(case, folder) for _ in range(arguments.repeat)]
            best = min(costs, key=lambda cost: cost.beyond)
            alone = min(one_by_one(case, folder) for _ in range(arguments.repeat))
            numbers = (f"{best.simulation:.2f}", f"{best.beyond:.2f}", f"{alone:.2f}")
            print(line.format(case.what, best.points, *numbers), flush=True)


if __name__ == "__main__":
    main()
