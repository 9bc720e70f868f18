"""CPU time of the compiler for plug-ins of all kinds: the example, and each of the tests that adds one kind.

``python benchmarks/plugins.py --markdown`` gives the table of docs/speed.md. User and system time, the median of the
repetitions, after one that reads the headers from the disk. The first row is what no plug-in can do without.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import cxloom

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "examples" / "plugin", ROOT / "tests" / "python" / "plugins")
OPTIONS = ("-std=c++20", "-O1", "-fPIC")
STANDARD = ("memory", "optional", "string", "variant", "vector")
ADDED = re.compile(r"\bregistry\.([\w.]+)\.add<")


def plugins() -> dict[Path, str]:
    """What a plug-in adds to which list of the registry, by its source, in the order of the lists."""
    found = {}
    for source in (file for folder in FOLDERS for file in folder.glob("*.cpp")):
        added = ADDED.findall(source.read_text(encoding="utf-8"))
        if len(added) == 1:
            found[source] = added[0]
    return dict(sorted(found.items(), key=lambda each: (each[1], each[0].name)))


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
        print("\n| list of the registry | plug-in | CPU seconds |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        standard = Path(folder) / "standard.cpp"
        standard.write_text("".join(f"#include <{name}>\n" for name in STANDARD))
        for source, added in {standard: "none: headers of the standard library", **plugins()}.items():
            taken = seconds(compiler, source, arguments.repeat)
            if arguments.markdown:
                print(f"| {added} | `{source.name}` | {taken:.2f} |", flush=True)
            else:
                print(f"{added:40}{source.name:24}{taken:6.2f}", flush=True)


if __name__ == "__main__":
    main()
