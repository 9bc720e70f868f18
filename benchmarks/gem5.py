"""What a system of cxloom costs gem5: host instructions and user time beside memories of the same latency.

``python benchmarks/gem5.py --gem5 build/RISCV/gem5.opt`` runs a program of SE mode on gem5's O3 processor with
- `simple`: gem5's own SimpleMemory,
- `delay`: this module without a system (CxlDelay), what lies between a packet of gem5 and an access,
- `fabric`: a host, a link and a memory of cxloom, whose idle latency is that of the others,
and above SimpleMemory with the caches of Ruby, by its simple network (`ruby`) and by Garnet (`garnet`).

Instructions are those of valgrind, of the longer run less the shorter one, so that start-up does not count; other work
on the machine does not move them. The caches of its model give an estimate of cycles beside them. User time is taken in
pairs: `simple` and another way run at the same time, on a core each, then with the cores swapped; a pair's ratio is the
geometric mean of the two, less what short runs take. A clock that changes moves both times of a pair.
"""

from __future__ import annotations

import argparse
import math
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
SHORT, LONGER, LONGEST = ["20", "60", "1"], ["200", "800", "5"], ["400", "1600", "5"]
"""Arguments of mincostflow: nodes, arcs, units of flow. Starts differ by some ten million instructions."""


_COUNTS = re.compile(r"(I refs|I1 misses|LLi misses|D1 misses|LLd misses):\s+([\d,]+)")


@dataclass
class Run:
    """What one run of gem5 gave."""

    simulated: int  # instructions
    ticks: int
    user_s: float
    counts: dict[str, int]  # of valgrind, by its names

    @property
    def host_instructions(self) -> int:
        return self.counts["I refs"]

    @property
    def host_cycles(self) -> int:
        """As KCachegrind estimates them: 10 for a miss that a last cache serves, 100 for one that none does."""
        missed = self.counts["I1 misses"] + self.counts["D1 misses"]
        missed_all = self.counts["LLi misses"] + self.counts["LLd misses"]
        return self.host_instructions + 10 * missed + 100 * missed_all


@dataclass
class Bench:
    gem5: Path
    program: Path
    folder: Path
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def run(self, way: str, arguments: list[str], counted: bool = False) -> Run:
        valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"]
        child = self.start(way, arguments, before=valgrind if counted else [])
        return self.ended(way, child)

    def beside(self, ways: tuple[str, str], arguments: list[str], cores: tuple[int, int]) -> list[float]:
        """User time of two runs at the same time, each on a core of its own."""
        children = [
            self.start(way, arguments, before=["taskset", "-c", str(core)])
            for way, core in zip(ways, cores, strict=True)
        ]
        return [self.ended(way, child).user_s for way, child in zip(ways, children, strict=True)]

    def start(self, way: str, arguments: list[str], before: list[str]) -> subprocess.Popen[bytes]:
        memory = [str(self.folder / "system.json") if word == "SYSTEM" else word for word in WAYS[way]]
        command = [self.gem5, "--outdir", self.folder / way, SCRIPT, *memory, "--", self.program, *arguments]
        with (self.folder / f"{way}.out").open("w") as out, (self.folder / f"{way}.err").open("w") as err:
            return subprocess.Popen([*before, *command], stdout=out, stderr=err, env=self.environment)

    def ended(self, way: str, child: subprocess.Popen[bytes]) -> Run:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out, err = ((self.folder / f"{way}.{kind}").read_text() for kind in ("out", "err"))
        if child.returncode != 0 or "ended at" not in out:
            sys.exit(f"gem5.py: {way}: {out[-1000:]}{err[-2000:]}")
        rows = (line.split() for line in (self.folder / way / "stats.txt").read_text().splitlines())
        stats = {row[0]: row[1] for row in rows if len(row) > 1}
        return Run(
            int(stats["simInsts"]),
            int(stats["simTicks"]),
            usage.ru_utime,
            {name: int(value.replace(",", "")) for name, value in _COUNTS.findall(re.sub(" +", " ", err))},
        )


def count(bench: Bench, ways: list[str]) -> None:
    print(f"{'':8} host instructions per simulated one; they, cycles and simulated time over simple")
    first = None
    for way in ways:
        short, longer = (bench.run(way, arguments, counted=True) for arguments in (SHORT, LONGER))
        simulated = longer.simulated - short.simulated
        each = (longer.host_instructions - short.host_instructions) / simulated
        cycles = (longer.host_cycles - short.host_cycles) / simulated
        ticks = longer.ticks - short.ticks
        first = first or (each, cycles, ticks)
        over = (now / then - 1 for now, then in zip((each, cycles, ticks), first, strict=True))
        print(f"{way:8} {each:9.0f}", *(f"{share:+8.2%}" for share in over), flush=True)


def time(bench: Bench, ways: list[str], rounds: int) -> None:
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit("gem5.py: two cores are needed, so that two runs are timed under the same clock")
    print(f"{'':8} user time over that of simple beside it, {rounds} pairs: median and range")
    for way in ways[1:]:
        pair, ratios = ("simple", way), []
        for _ in range(rounds):
            ratio = 1.0
            for first, second in ((cores[0], cores[1]), (cores[1], cores[0])):
                starts = bench.beside(pair, SHORT, (first, second))
                ends = bench.beside(pair, LONGEST, (first, second))
                simple, other = (end - start for end, start in zip(ends, starts, strict=True))
                ratio *= other / simple
            ratios.append(math.sqrt(ratio) - 1)
        print(f"{way:8} {median(ratios):+8.2%} ({min(ratios):+.2%} to {max(ratios):+.2%})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--gem5", type=Path, required=True, help="gem5 with the module, RISC-V and MESI_Two_Level"
    )
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs, of user time")
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
