"""How fast programs run on a simulated system: instructions per CPU second, and how much slower than by themselves.

    python benchmarks/exec.py [--system SPEC] [-- PROGRAM ARGS]

Two programs of examples/programs, which it builds: one whose data stay in its caches, and one that goes to memory. CPU
seconds of whole processes: of the program by itself, of the emulator, and of cxloom, online and in a replay of what was
recorded meanwhile, which is a run of its own. The system is a host with DRAM behind a CXL link. Minutes of a core.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import cxloom as cx
from cxloom.execution import execute, replay

ROOT = Path(__file__).parents[1]
PROGRAMS = {
    "in its caches": ["linear", "1500", "400", "800"],
    "in memory": ["graph", "200000", "1000000", "1"],
}
SYSTEM = "memory/local-remote-cxl"
PAGES = {"kind": "bind", "nodes": ["cxl"]}


def spent() -> tuple[float, float]:
    """CPU seconds of this process, and of those that it started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own, others = (usage.ru_utime + usage.ru_stime for usage in both)
    return own, others


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """What programs print goes nowhere."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def tell(name: str, what: str) -> None:
    """Says on standard error what takes its time now."""
    print(f"{name}: {what}", file=sys.stderr, flush=True)


def measure(name: str, command: list[str], spec: str, pages: object) -> None:
    """Prints a row for the program by itself, online and replayed."""
    before = spent()[1]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    native = spent()[1] - before
    with tempfile.TemporaryDirectory() as folder, silent():
        trace = Path(folder) / "trace.parquet"
        before = spent()
        tell(name, "online")
        online = execute(command, [cx.load(spec)], pages=[pages])
        own, others = (now - then for now, then in zip(spent(), before, strict=True))
        tell(name, "recorded")
        execute(command, [cx.load(spec)], pages=[pages], record=trace)
        tell(name, "replayed")
        start = spent()[0]
        replay(trace, [cx.load(spec)], pages=[pages])
        replayed = spent()[0] - start
    million = online.instructions / 1e6
    whole = own + others
    print(
        f"{name:<16} {million:8.0f} {online.accesses / 1e6:8.2f} {native:8.2f} {others:8.2f} {own:8.2f} "
        f"{million / whole:8.1f} {whole / native:8.0f} {replayed:8.2f} {online.accesses / 1e6 / replayed:8.2f}",
        flush=True,
    )


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--system", default=SYSTEM, help="default: %(default)s, with all pages in cxl")
    parser.add_argument("command", nargs="*", help="a program of your own")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make = ["make", "-s", "-C", ROOT / "examples" / "programs", f"BUILD={folder}", "all"]
        subprocess.run(make, check=True, stdout=sys.stderr)
        programs = {name: [f"{folder}/{command[0]}", *command[1:]] for name, command in PROGRAMS.items()}
        if options.command:
            programs = {Path(options.command[0]).name: options.command}
        pages = PAGES if options.system == SYSTEM else "first-touch"
        print(
            "CPU seconds: of the program by itself, of its emulation and of cxloom; million instructions per CPU second"
        )
        print(
            "of both, how often the first that is, CPU seconds of a replay and its million accesses per CPU second"
        )
        heads = (
            "Minstr.",
            "Macc.",
            "native",
            "emulator",
            "cxloom",
            "Mi/CPU-s",
            "slower",
            "replay",
            "Ma/CPU-s",
        )
        print(" " * 16, " ".join(f"{head:>8}" for head in heads))
        for name, command in programs.items():
            measure(name, command, options.system, pages)


if __name__ == "__main__":
    main()
