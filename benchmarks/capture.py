"""How fast programs are captured: CPU seconds of a program by itself, under QEMU, and of a capture through caches.

    python benchmarks/capture.py [-- PROGRAM ARGS]

Whole processes, those of the emulator apart from cxloom's own. By default sqlite3 counts to 300000.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cxloom.trace import CacheLevel, capture
from cxloom.trace.emulator import CPU, EMULATOR

QUERY = (
    "with recursive c(x) as (select 1 union all select x+1 from c where x<300000) "
    "select sum(x*2), count(distinct x%1000) from c;"
)
LEVELS = ["L1D:48KiB:12", "L2:2MiB:16"]


def spent() -> tuple[float, float]:
    """CPU seconds of this process, and of those that it started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own, others = (usage.ru_utime + usage.ru_stime for usage in both)
    return own, others


def cost_of(command: list[str]) -> float:
    """CPU seconds of a process."""
    before = spent()[1]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return spent()[1] - before


def main() -> None:
    """Prints a line for each way to run the program."""
    command = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else ["sqlite3", ":memory:", QUERY]
    program = shutil.which(command[0]) or command[0]
    native = cost_of(command)
    emulated = cost_of([EMULATOR, "-cpu", CPU, program, *command[1:]])
    caches = [CacheLevel.parse(level) for level in LEVELS]
    with tempfile.TemporaryDirectory() as folder:
        before = spent()
        result = capture(command, Path(folder) / "out.parquet", caches=caches)
        own, others = (now - then for now, then in zip(spent(), before, strict=True))
    million = result.instructions_in_all / 1e6
    accesses = ((result.loads or 0) + (result.stores or 0)) / 1e6
    print(
        f"{million:.0f} million instructions, {accesses:.0f} million accesses; CPU seconds, of the native ones,"
    )
    print("million instructions and accesses per CPU second:")
    rows = {
        "by itself": native,
        "emulated, nothing reported": emulated,
        "captured: the emulator": others,
        "captured: cxloom": own,
    }
    for name, seconds in rows.items():
        print(
            f"{name:<24} {seconds:8.2f} {seconds / native:7.1f} {million / seconds:8.0f} {accesses / seconds:8.0f}"
        )


if __name__ == "__main__":
    main()
