"""What the tests in gem5 itself share: systems, runs of gem5 and what they say, and the same without gem5."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GEM5 = os.environ.get("CXLOOM_GEM5", "")
CXLOOM = ROOT / ".venv" / "bin" / "cxloom"
SCRIPTS = ROOT / "integrations" / "gem5"

EXPANDER = """
devices:
  host: {{kind: host, process_time: 10ns, queue: {queue}}}
  mem: {{kind: memory, capacity: 16MiB, controller_time: 40ns, media: {{kind: fixed, latency: 45ns}}}}
links: [{{between: [host, mem], bandwidth: 32GB/s, header: 16B, data_header: 16B, port_delay: 25ns, delay: 5ns}}]
address_map: [{{to: mem}}]
"""
IDLE_TICKS = 208_000
"""10 + (25 + 0.5 + 5 + 25) + 40 + 45 + (25 + 2.5 + 5 + 25) ns: 16 bytes to the memory, and 80 back, at 32 GB/s."""
MEDIUM_TICKS = 45_000

POOL = """
devices:
  left: {kind: host, external_cache: true, queue: 256}
  right: {kind: host, external_cache: true, queue: 256}
  switch: {kind: switch}
  pool: {kind: memory, capacity: 16MiB, dcoh: {filter: {entries: FILTER}}}
links:
  - {between: [left, switch]}
  - {between: [right, switch]}
  - {between: [switch, pool]}
address_map: [{to: pool, coherence: hdm-db}]
"""


def cxloom(*arguments: str | Path) -> str:
    return subprocess.run([CXLOOM, *arguments], capture_output=True, text=True, check=True).stdout


def resolved(folder: Path, spec: str, *arguments: str | Path) -> Path:
    """The spec as gem5's module wants it."""
    (folder / "system.yaml").write_text(spec)
    system = folder / "system.json"
    system.write_text(cxloom("resolve", folder / "system.yaml", *arguments))
    return system


def output(folder: Path, script: str, *arguments: str | Path, flags: tuple[str, ...] = ()) -> str:
    """What a run that ends well prints."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [GEM5, "--outdir", folder, *flags, SCRIPTS / script, *map(str, arguments)]
    settings = {**os.environ, "CXLOOM_PYTHON": str(CXLOOM.with_name("python"))}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=settings)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-3000:]
    assert "ended at" in done.stdout
    return done.stdout


def statistics(folder: Path, window: int = -1) -> dict[str, float]:
    """By their names below the system or board."""
    windows = (folder / "stats.txt").read_text().split("Begin Simulation Statistics")
    rows = (line.split() for line in windows[window].splitlines())
    return {
        row[0].partition(".")[2] or row[0]: float(row[1])
        for row in rows
        # The rows of a histogram have bars between their numbers.
        if len(row) > 1 and row[1] != "|" and ("." in row[0] or row[0] == "simTicks")
    }


def gem5(folder: Path, script: str, *arguments: str | Path, flags: tuple[str, ...] = ()) -> dict[str, float]:
    """The statistics of a run that ends well."""
    output(folder, script, *arguments, flags=flags)
    return statistics(folder)


LOGS = ("--debug-flags=CxlHost", "--debug-file=accesses.txt")


def replayed(folder: Path, spec: str, *arguments: str | Path, host: str = "host", offset: int = 0) -> dict:
    """The summary of cxloom without gem5 for the accesses that the module logged, each at its time."""
    words = {"read": "R", "write": "W"}
    pattern = re.compile(r"access (\w+) of (\d+) bytes at (\w+), ready at (\d+)")
    accesses = sorted(
        (int(ready), words[kind], int(address, 16), int(size))
        for kind, size, address, ready in pattern.findall((folder / "accesses.txt").read_text())
    )
    lines = [f"{address:#x} {kind} {ready} {size}" for ready, kind, address, size in accesses]
    header = "# cxloom-trace 2: address kind timestamp size"
    (folder / "accesses.trace").write_text("\n".join([header, *lines, ""]))
    played = f"  {host}: {{trace: accesses.trace, replay: timestamps}}\n"
    spec = (
        spec.replace("workload:\n", f"workload:\n{played}")
        if "workload:" in spec
        else f"{spec}workload:\n{played}"
    )
    (folder / "replayed.yaml").write_text(spec)
    return json.loads(cxloom("run", folder / "replayed.yaml", "--json", *arguments))


@cache
def built_with() -> dict[str, bool]:
    """What this gem5 has."""
    probe = (
        "import json, importlib.util\nfrom m5.defines import buildEnv\n"
        "has = lambda name: importlib.util.find_spec(name) is not None\n"
        "print('\\nbuilt with', json.dumps({'riscv': bool(buildEnv.get('USE_RISCV_ISA')), 'boards': has('gem5'),"
        " 'Ruby': bool(buildEnv.get('RUBY')), 'CXL_MESI': buildEnv.get('PROTOCOL') == 'CXL_MESI',"
        " 'MESI_Two_Level': buildEnv.get('PROTOCOL') == 'MESI_Two_Level'}))"
    )
    with tempfile.TemporaryDirectory() as folder:
        command = [GEM5, "--outdir", folder, "-c", probe]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.rsplit("built with", 1)[-1]))


def wants(*features: str) -> None:
    for feature in features:
        if not built_with()[feature]:
            pytest.skip(f"this gem5 is built without {feature}")


def program(folder: Path, source: Path, *flags: str) -> Path:
    """A program for RISC-V."""
    wants("riscv")
    compiler = shutil.which("riscv64-linux-gnu-gcc")
    if compiler is None:
        pytest.skip("no compiler for RISC-V")
    built = folder / source.stem
    always = ["-O2", "-static", "-std=gnu11", f"-I{ROOT / 'include'}"]
    subprocess.run([compiler, *always, *flags, source, "-o", built, "-lm", "-pthread"], check=True)
    return built
