"""CPU time and peak memory of whole commands, where loading, reading and printing cost more than simulating.

``make bench`` runs it; ``python benchmarks/startup.py --repeat 5 --markdown`` gives the table of docs/speed.md. Each
row is the best of the repetitions, after one that fills the caches of byte code. Peak memory is what the process says
of itself at its end: what the system reports to whoever waits for it includes the peak of its launcher.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
ACCESSES = 50_000
PROGRAM = Path(__file__).with_name("own_peak.py")
CHAR_B = ("--set", "workload.cpu1.requests=300000")
EPYC = ("--set", "workload.host.requests=300000")
COMMANDS = {
    "`cxloom --help`": ("--help",),
    "`cxloom run` of the README's system: 32,000 requests": ("run", "readme.yaml"),
    f"`cxloom run` of a trace in text, {ACCESSES:,} accesses": ("run", "replay.yaml"),
    f"`cxloom run` of the same trace in Parquet, {ACCESSES:,} accesses": ("run", "parquet.yaml"),
    "`cxloom run char/b`: 300,000 requests of 52 cores": ("run", "char/b", *CHAR_B),
    "`cxloom run server/epyc-9354`: 300,000 requests of 32 cores": ("run", "server/epyc-9354", *EPYC),
    "`cxloom run` of 512 fully connected switches, two requests per host": ("run", "switches.yaml"),
    "`cxloom run --json` of the same": ("run", "switches.yaml", "--json"),
}
SWITCHES = """\
topology: {kind: fully-connected, switches: 512}
workload: {"host*": {pattern: random, requests: 2}}
"""


@dataclass(frozen=True)
class Cost:
    """What one process cost."""

    cpu_seconds: float
    peak_mib: float


def write_inputs(folder: Path) -> None:
    """Writes the specs and the trace that the commands name."""
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    spec = readme.split("```yaml\n")[1].split("```")[0]
    (folder / "readme.yaml").write_text(spec)
    devices = spec[: spec.index("workload:")]
    (folder / "replay.yaml").write_text(f"{devices}workload: {{host: {{trace: accesses.txt}}}}\n")
    (folder / "parquet.yaml").write_text(f"{devices}workload: {{host: {{trace: accesses.parquet}}}}\n")
    (folder / "switches.yaml").write_text(SWITCHES)
    draw = random.Random(1)
    with (folder / "accesses.txt").open("w") as trace:
        for tick in range(ACCESSES):
            trace.write(f"{64 * draw.randrange(1 << 24):#x} {draw.choice('RRW')} {1000 * tick}\n")
    convert = ("trace", "convert", "accesses.txt", "accesses.parquet", "--tick", "1ps")
    subprocess.run(
        [sys.executable, "-m", "cxloom", *convert], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )


def measure(arguments: tuple[str, ...], folder: Path) -> Cost:
    """Runs the command once, in a process of its own."""
    command = [sys.executable, "-P", str(PROGRAM), *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder, env=environment) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"cxloom {' '.join(arguments)} failed")
    return Cost(usage.ru_utime + usage.ru_stime, int((folder / "peak").read_text()) / 1024)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    line = "| {} | {} | {} |" if arguments.markdown else "{:75} {:>8} {:>9}"
    print(line.format("command", "CPU s", "peak MiB"))
    if arguments.markdown:
        print("| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        for what, command in COMMANDS.items():
            measure(command, folder)
            costs = [measure(command, folder) for _ in range(arguments.repeat)]
            best = min(costs, key=lambda cost: cost.cpu_seconds)
            print(line.format(what, f"{best.cpu_seconds:.2f}", f"{best.peak_mib:.0f}"), flush=True)


if __name__ == "__main__":
    main()
