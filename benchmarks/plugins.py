"""CPU time of the compiler for a plug-in of each kind: that of the tests, as a user compiles it.

``python benchmarks/plugins.py --markdown`` gives the table of docs/speed.md. User and system time, the median of the
repetitions, after one that reads the headers from the disk. The first row is what no plug-in can do without.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import cxloom

PLUGINS = Path(__file__).parents[1] / "tests" / "python" / "plugins"
OPTIONS = ("-std=c++20", "-O1", "-fPIC")
STANDARD = "".join(
    f"#include <{name}>\n" for name in ("functional", "memory", "optional", "string", "variant", "vector")
)
KINDS = {
    "placement": "fewest_uses",
    "tiering": "sampled_tiers",
    "policy of KV caches": "most_recent_kv",
    "pattern": "n_uses",
    "victim policy": "youngest",
    "prefetcher": "lines_before",
    "routing": "first",
    "arbitration": "input_shares",
    "topology": "star",
    "media": "mirrored",
    "DRAM scheduler": "idle_first",
    "garbage collection": "settled_greedy",
    "device of agents of its own": "astray",
    "switch": "holding_switch",
    "switch with memory": "memory_switch",
    "requester": "smart_nic",
}
"""A plug-in of the tests for each kind."""


def seconds(compiler: str, source: Path, repeat: int) -> float:
    """The median CPU time to compile this file."""
    command = [compiler, *OPTIONS, f"-I{cxloom.include_dir()}", "-c", str(source), "-o", "/dev/null"]
    subprocess.run(command, check=True)
    taken = []
    for _ in range(repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return statistics.median(taken)


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--markdown", action="store_true", help="the table of docs/speed.md")
    arguments = parser.parse_args()
    compiler = shutil.which("g++")
    if not compiler:
        raise SystemExit("plug-ins are compiled with g++, which is not here")
    version = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=True)
    print(f"CPU seconds of g++ {version.stdout.strip()} {' '.join(OPTIONS)} -c:")
    if arguments.markdown:
        print("\n| plug-in | source | CPU seconds |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        standard = Path(folder) / "standard.cpp"
        standard.write_text(STANDARD)
        sources = {"none: headers of the standard library alone": standard}
        sources |= {kind: PLUGINS / f"{name}.cpp" for kind, name in KINDS.items()}
        for kind, source in sources.items():
            taken = seconds(compiler, source, arguments.repeat)
            if arguments.markdown:
                print(f"| {kind} | `{source.name}` | {taken:.2f} |", flush=True)
            else:
                print(f"{kind:45}{source.name:24}{taken:6.2f}", flush=True)


if __name__ == "__main__":
    main()
