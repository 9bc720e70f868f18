"""A program whose accesses are known, and small systems that it runs on, for the tests of `cxloom exec`."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from compiled import ROOT, once, version_of

from cxloom.trace.capturing import CacheLevel

SMALL = (CacheLevel("L1", "4KiB", 4),)
SYSTEM = """
name: {name}
devices:
  host: {{kind: host, process_time: 5ns, queue: 256, core: {{}}}}
  mem:
    {{kind: memory, capacity: 1GiB, controller_time: 5ns,
     media: {{kind: fixed, latency: {latency}, bandwidth: 20GB/s}}}}
links: [{{between: [host, mem], bandwidth: 64GB/s}}]
address_map: [{{to: [mem]}}]
"""


def spec(folder: Path, name: str = "near", latency: str = "80ns", **instead: str) -> Path:
    """A host and a memory in a file."""
    text = SYSTEM.format(name=name, latency=latency)
    for found, put in instead.items():
        assert found in text
        text = text.replace(found, put)
    file = folder / f"{name}.yaml"
    file.write_text(text)
    return file


@cache
def memory_program() -> str:
    """`programs/memory.c`, compiled and linked statically."""
    source = ROOT / "tests" / "python" / "programs" / "memory.c"
    compiler = shutil.which("cc") or "gcc"
    flags = ["-O3", "-mavx2", "-static", "-pthread", f"-I{ROOT / 'include'}"]

    def make(folder: Path) -> None:
        subprocess.run([compiler, *flags, source, "-o", folder / "memory"], check=True)

    headers = sorted((ROOT / "include" / "cxloom").glob("*.h"))
    return str(once([version_of(compiler), *flags, source, *headers], make) / "memory")
