"""What a system of cxloom costs gem5: host instructions and user time beside memories of the same latency.

``python benchmarks/gem5.py --gem5 build/RISCV/gem5.opt`` runs a program of SE mode on gem5's O3 processor with
- `simple`: gem5's own SimpleMemory,
- `delay`: this module without a system (CxlDelay), what lies between a packet of gem5 and an access,
- `fabric`: a host, a link and a memory of cxloom, whose idle latency is that of the others,
and above SimpleMemory with the caches of Ruby, by its simple network (`ruby`) and by Garnet (`garnet`).

Instructions are those of valgrind, of the longer run less the shorter one, so that start-up does not count; other work
on the machine does not move them. User time is taken in rounds: all ways one after the other, then in the other order;
that of a short run of the same way, mostly start-up, is taken off.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "integrations" / "gem5" / "one_host.py"
LATENCY = "208ns"
SYSTEM = """
devices:
  host: {kind: host, process_time: 10ns, queue: 256}
  mem: {kind: memory, capacity: 64MiB, controller_time: 40ns, media: {kind: fixed, latency: 45ns}}
links: [{between: [host, mem], bandwidth: 32GB/s, header: 16B, data_header: 16B, port_delay: 25ns, delay: 5ns}]
address_map: [{to: mem}]
"""
WAYS = {
    "simple": ["--simple", LATENCY],
    "delay": ["--delay", LATENCY],
    "fabric": ["--system", "SYSTEM"],
    "ruby": ["--simple", LATENCY, "--caches", "ruby"],
    "garnet": ["--simple", LATENCY, "--caches", "garnet"],
}
SHORT, LONGER = ["20", "60", "1"], ["200", "800", "5"]
"""Arguments of mincostflow: nodes, arcs, units of flow. Starts differ by some ten million instructions."""


@dataclass
class Run:
    """What one run of gem5 gave."""

    simulated: int  # instructions
    ticks: int
    user_s: float
    host_instructions: int = 0


@dataclass
class Bench:
    gem5: Path
    program: Path
    folder: Path
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def run(self, way: str, arguments: list[str], counted: bool = False) -> Run:
        memory = [str(self.folder / "system.json") if word == "SYSTEM" else word for word in WAYS[way]]
        command = [self.gem5, "--outdir", self.folder / way, SCRIPT, *memory, "--", self.program, *arguments]
        valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        before = os.times()
        done = subprocess.run(
            [*(valgrind if counted else []), *command],
            capture_output=True,
            text=True,
            check=False,
            env=self.environment,
        )
        after = os.times()
        if done.returncode != 0 or "ended at" not in done.stdout:
            sys.exit(f"gem5.py: {way}: {done.stdout[-1000:]}{done.stderr[-2000:]}")
        rows = (line.split() for line in (self.folder / way / "stats.txt").read_text().splitlines())
        stats = {row[0]: row[1] for row in rows if len(row) > 1}
        found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
        return Run(
            int(stats["simInsts"]),
            int(stats["simTicks"]),
            after.children_user - before.children_user,
            int(found[1].replace(",", "")) if found else 0,
        )


def count(bench: Bench, ways: list[str]) -> None:
    print(f"{'':8} host instructions per simulated one, and over simple; simulated time over simple")
    first = None
    for way in ways:
        short, longer = (bench.run(way, arguments, counted=True) for arguments in (SHORT, LONGER))
        simulated = longer.simulated - short.simulated
        each = (longer.host_instructions - short.host_instructions) / simulated
        ticks = longer.ticks - short.ticks
        first = first or (each, ticks)
        print(f"{way:8} {each:9.0f} {each / first[0] - 1:+8.2%} {ticks / first[1] - 1:+8.2%}", flush=True)


def time(bench: Bench, ways: list[str], rounds: int) -> None:
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    start = {way: bench.run(way, SHORT).user_s for way in ways}
    for number in range(rounds):
        for way in ways if number % 2 == 0 else ways[::-1]:
            seconds[way].append(bench.run(way, LONGER).user_s - start[way])
    print(f"{'':8} user time of {rounds} rounds, s, and the median of its ratio to simple of the same round")
    for way in ways:
        ratios = [one / simple for one, simple in zip(seconds[way], seconds["simple"], strict=True)]
        times = " ".join(f"{each:6.2f}" for each in seconds[way])
        print(
            f"{way:8} {times}  {median(ratios) - 1:+8.2%} ({min(ratios) - 1:+.2%} to {max(ratios) - 1:+.2%})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--gem5", type=Path, required=True, help="gem5 with the module, RISC-V and MESI_Two_Level"
    )
    parser.add_argument("--rounds", type=int, default=5, help="of user time")
    parser.add_argument("--ways", default=",".join(WAYS), help="simple and others")
    parser.add_argument("--only", choices=["count", "time"], help="one of the two measurements")
    args = parser.parse_args()
    compiler, ways = shutil.which("riscv64-linux-gnu-gcc"), args.ways.split(",")
    if compiler is None or not shutil.which("valgrind"):
        sys.exit("gem5.py: riscv64-linux-gnu-gcc and valgrind must be installed")
    if ways[0] != "simple" or not set(ways) <= set(WAYS):
        sys.exit(f"gem5.py: --ways begins with simple, and has some of {', '.join(WAYS)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = ROOT / "examples" / "programs" / "mincostflow.c"
        subprocess.run([compiler, "-O2", "-static", source, "-o", folder / "program"], check=True)
        (folder / "system.yaml").write_text(SYSTEM)
        resolve = [sys.executable, "-m", "cxloom", "resolve", folder / "system.yaml"]
        (folder / "system.json").write_text(
            subprocess.run(resolve, capture_output=True, text=True, check=True).stdout
        )
        bench = Bench(args.gem5, folder / "program", folder)
        bench.environment["CXLOOM_PYTHON"] = sys.executable
        bench.environment["PYTHONHASHSEED"] = "0"  # or each start takes another number of instructions
        if args.only != "time":
            count(bench, ways)
        if args.only != "count":
            time(bench, ways, args.rounds)


if __name__ == "__main__":
    main()
