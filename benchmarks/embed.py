"""Instructions of an access that a program gives, beside those of a workload of the same kind.

``python benchmarks/embed.py`` compiles embed.c against what is installed, and runs it under valgrind with N and with
2 N accesses: the difference is the cost of N, without that of opening the system. The system is host + bus + 4
memories, as that of the README; two thirds of the accesses are reads, and 64 are under way.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cxloom

ACCESSES = 50_000
SYSTEM = """
devices:
  host: {kind: host, queue: 64}
  bus: {kind: bus, bandwidth: 64GB/s}
  mem[0-3]: {kind: memory, capacity: 16GiB, media: {kind: fixed, latency: 45ns}}
links:
  - {between: [host, bus], port_delay: 25ns}
  - {between: [bus, "mem[0-3]"]}
address_map: [{to: [mem0, mem1, mem2, mem3]}]
"""
WORKLOAD = "workload: {{host: {{pattern: random, reads: 67%, footprint: 1GiB, requests: {requests}}}}}\n"


def instructions(program: Path, way: str, accesses: int, here: Path) -> int:
    """Those of the whole process."""
    spec = here / "system.yaml"
    spec.write_text(SYSTEM + (WORKLOAD.format(requests=accesses) if way == "workload" else ""))
    resolved = subprocess.run(
        [sys.executable, "-m", "cxloom", "resolve", spec], capture_output=True, text=True, check=True
    )
    (here / "system.json").write_text(resolved.stdout)
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        [*command, program, way, str(accesses), here / "system.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    counted = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    assert counted, done.stderr
    return int(counted[1].replace(",", ""))


def main() -> None:
    if not shutil.which("valgrind"):
        sys.exit("embed.py: valgrind is not installed")
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        program = here / "embed"
        source = Path(__file__).parent / "embed.c"
        library = cxloom.library_dir()
        rest = [f"-Wl,-rpath,{library}", "-o", program]
        subprocess.run(
            ["cc", "-O2", f"-I{cxloom.include_dir()}", source, f"-L{library}", "-lcxloom", *rest],
            check=True,
        )
        for way in ("workload", "give", "inject"):
            cost = instructions(program, way, 2 * ACCESSES, here) - instructions(program, way, ACCESSES, here)
            print(f"{way:10}{cost / ACCESSES:8.0f} instructions an access")


if __name__ == "__main__":
    main()
