"""How much longer programs take with their memory behind CXL: by gem5 with the module, and by `cxloom exec`.

    python slowdown.py --gem5 WHERE_GEM5_IS/build/RISCV/gem5.opt --tcc WHERE_TINYCC_IS --lemon INCLUDE_FOLDER

The system is that of ESF's Table III with DDR5-4800, the programs stand for those of its Table IV: TinyCC for gcc, and
the network simplex of LEMON for mcf. gem5 runs them for RISC-V on its O3 processor, `cxloom exec` the same source for
x86-64; of the simplex what is between its marks counts. All memory is local, then all of it behind CXL.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCES = ("btree",)
"""What TinyCC compiles: programs of the examples, one after the other."""
CACHES = "[{{size: {l1}, ways: 8}}, {{size: {l2}, ways: 16, cycles: 15}}]"
CORE = (
    ", core: {{clock: 3G/s, width: 8, window: 192, store_buffer: 32, mshrs: 20, fill_buffers: 16, caches: "
    + CACHES
    + "}}"
)
"""As gem5's O3 has it (numROBEntries, SQEntries) and the caches of its standard library (mshrs)."""
SYSTEM = """
devices:
  host: {{kind: host, process_time: 10ns, queue: 256{core}}}
  bus: {{kind: bus, bandwidth: {bandwidth}, bus_time: 1ns}}
  mem[0-3]: {{kind: memory, capacity: 1GiB, controller_time: 40ns, media: {{kind: dram, preset: DDR5-4800}}}}
links:
  - {{between: [host, bus], port_delay: {port_delay}}}
  - {{between: [bus, "mem[*]"]}}
address_map: [{{to: "mem[*]", interleave: 256B}}]
"""
PLACES = {
    "local": {"bandwidth": "unlimited", "port_delay": "0ns"},
    "cxl": {"bandwidth": "64GB/s", "port_delay": "25ns"},
}
PUBLISHED = {
    "tcc": "gcc: 15.6 % by the paper's gem5, 18.7 % by its traces, 18.0 % on hardware",
    "simplex": "mcf: 19.8 % by the paper's gem5, 29.8 % by its traces, 24.2 % on hardware",
}


COMMITTED = "board.processor.cores.core.commitStats0.numInsts"
"""Since the last reset; simInsts are those since the begin."""


@dataclass(frozen=True)
class Program:
    riscv: Path
    native: Path
    arguments: list[str]
    marked: bool


def build_tcc(source: Path, folder: Path) -> Program:
    """TinyCC twice, for RISC-V and for this machine, both with RISC-V as target: they do the same work."""
    config = '#define TCC_VERSION "0"\n#define CONFIG_TCCDIR ""\n#define CONFIG_TCC_PREDEFS 1\n#define CC_NAME CC_gcc\n'
    (folder / "config.h").write_text(config + "#define GCC_MAJOR 12\n#define GCC_MINOR 0\n")
    subprocess.run(["cc", "-DC2STR", source / "conftest.c", "-o", folder / "c2str"], check=True)
    subprocess.run([folder / "c2str", source / "include" / "tccdefs.h", folder / "tccdefs_.h"], check=True)
    flags = ["-std=gnu11", "-O2", "-w", "-static", "-DTCC_TARGET_RISCV64", "-DTCC_CROSS"]
    for compiler, name in (("riscv64-linux-gnu-gcc", "tcc-riscv"), ("cc", "tcc-native")):
        command = [compiler, *flags, f"-I{folder}", f"-I{source}", source / "tcc.c", "-o", folder / name]
        subprocess.run([*command, "-lm", "-ldl", "-lpthread"], check=True, capture_output=True)
    inputs = []
    for name in SOURCES:
        inputs.append(folder / f"{name}.c")
        preprocess = ["riscv64-linux-gnu-gcc", "-E", "-P", "-std=gnu11", f"-I{ROOT / 'include'}"]
        subprocess.run(
            [*preprocess, ROOT / "examples" / "programs" / f"{name}.c", "-o", inputs[-1]], check=True
        )
    return Program(
        folder / "tcc-riscv", folder / "tcc-native", ["-nostdinc", "-c", *map(str, inputs)], marked=False
    )


def build_simplex(lemon: Path, size: list[str], folder: Path) -> Program:
    flags = ["-O2", "-std=c++17", "-static", "-w", f"-isystem{lemon}", f"-I{ROOT / 'include'}"]
    for compiler, name, more in (
        ("riscv64-linux-gnu-g++", "simplex-riscv", ["-DCXLOOM_GEM5"]),
        ("c++", "simplex-native", []),
    ):
        subprocess.run([compiler, *flags, *more, HERE / "simplex.cpp", "-o", folder / name], check=True)
    return Program(folder / "simplex-riscv", folder / "simplex-native", size, marked=True)


def by_gem5(program: Program, spec: Path, args: argparse.Namespace, folder: Path) -> tuple[float, str]:
    """The ticks of the program, and what gem5 says of it."""
    command = [args.gem5, "--outdir", folder, HERE / "one_host.py", "--system", spec, "--size", "256MiB"]
    caches = ["--l1", args.l1, "--l2", args.l2, *([] if args.prefetchers else ["--no-prefetchers"])]
    done = subprocess.run(
        [*command, *caches, "--", program.riscv, *program.arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder.parent,
        env={**os.environ, "CXLOOM_PYTHON": sys.executable},
    )
    if done.returncode != 0 or "ended at" not in done.stdout:
        sys.exit(f"slowdown.py: gem5: {done.stdout[-1000:]}{done.stderr[-2000:]}")
    window = (folder / "stats.txt").read_text().split("Begin Simulation Statistics")[1]
    rows = (line.split() for line in window.splitlines())
    stats = {row[0]: row[1] for row in rows if len(row) > 1}
    ticks, instructions = float(stats["simTicks"]), float(stats[COMMITTED])
    misses = float(stats["board.memory.host.reads"]) / instructions * 1000
    per_cycle = instructions / (ticks / (1000 / 3))
    return (
        ticks,
        f"{instructions / 1e6:.1f} M instructions, {per_cycle:.2f} per cycle, {misses:.1f} misses in 1000",
    )


def by_exec(program: Program, specs: dict[str, Path], folder: Path) -> tuple[float, str]:
    results = folder / "exec.json"
    command = [sys.executable, "-m", "cxloom", "exec", "--system", specs["cxl"], "--against", specs["local"]]
    region = ["--roi", "marks"] if program.marked else []
    done = subprocess.run(
        [*command, *region, "--out", results, "--", program.native, *program.arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    if done.returncode != 0:
        sys.exit(f"slowdown.py: exec: {done.stdout[-1000:]}{done.stderr[-2000:]}")
    found = json.loads(results.read_text())
    local, cxl = (system["instructions_per_cycle"] for system in found["systems"])
    misses = found["systems"][0]["reads"] / found["instructions"] * 1000
    return found["systems"][1]["slowdown"], (
        f"{found['instructions'] / 1e6:.1f} M instructions, {local:.2f} and {cxl:.2f} per cycle, "
        f"{misses:.1f} misses in 1000"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--gem5", type=Path, help="gem5 with the module and RISC-V; without it exec alone runs"
    )
    parser.add_argument("--tcc", type=Path, help="the sources of TinyCC")
    parser.add_argument("--lemon", type=Path, help="the folder that has LEMON's headers in lemon/")
    parser.add_argument("--l1", default="32KiB", help="first-level caches, of 8 ways")
    parser.add_argument("--l2", default="2MiB", help="second-level cache, of 16 ways")
    parser.add_argument("--prefetchers", action="store_true", help="gem5's, of which exec here has none")
    parser.add_argument("--simplex", default="1000 20000", help="nodes and arcs of the network")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = {}
        if args.tcc:
            programs["tcc"] = build_tcc(args.tcc.resolve(), folder)
        if args.lemon:
            programs["simplex"] = build_simplex(args.lemon.resolve(), args.simplex.split(), folder)
        specs: dict[str, dict[str, Path]] = {"gem5": {}, "exec": {}}
        for place, values in PLACES.items():
            for tool, core in (("gem5", ""), ("exec", CORE.format(l1=args.l1, l2=args.l2))):
                specs[tool][place] = folder / f"{place}-{tool}.yaml"
                specs[tool][place].write_text(SYSTEM.format(core=core, **values))
        for which, program in programs.items():
            slowdown, what = by_exec(program, specs["exec"], folder)
            print(f"{which}: {slowdown - 1:.1%} by exec: {what}", flush=True)
            ticks = {}
            for place in PLACES if args.gem5 else ():
                ticks[place], what = by_gem5(program, specs["gem5"][place], args, folder / f"{which}-{place}")
                print(f"{which} in {place}: {ticks[place] / 1e9:.3f} ms by gem5: {what}", flush=True)
            if ticks:
                print(f"{which}: {ticks['cxl'] / ticks['local'] - 1:.1%} by gem5")
            print(f"  {PUBLISHED[which]}", flush=True)


if __name__ == "__main__":
    main()
