"""A program whose accesses are known, and small systems that it runs on, for the tests of `cxloom exec`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from cxloom.trace.capture import CacheLevel

ROOT = Path(__file__).parents[2]
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


def build_memory_program(folder: Path) -> str:
    """Compiles `programs/memory.c`, linked statically."""
    source = ROOT / "tests" / "python" / "programs" / "memory.c"
    flags = ["-O3", "-mavx2", "-static", "-pthread", f"-I{ROOT / 'include'}"]
    subprocess.run([shutil.which("cc") or "gcc", *flags, source, "-o", folder / "memory"], check=True)
    return str(folder / "memory")
