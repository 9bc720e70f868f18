"""memkind in a booted machine, where it is installed: kinds in a device, and on nodes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from boot_support import TOPOLOGIES
from compiled import ROOT
from test_boot import boot, boots
from validation.examples import slow

SOURCE = Path(__file__).parent / "programs" / "memkinds.c"


@boots
@slow
@pytest.mark.parametrize(
    ("mode", "arguments", "said"),
    [("device", ["/dev/dax0.0"], "in the device\n"), ("kernel", [], "on node 1\n")],
)
@pytest.mark.parametrize("topology", ["direct", "a switch with two devices"])
def test_memkind_finds_memory_on_cxl(
    topology: str, mode: str, arguments: list[str], said: str, tmp_path: Path
) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    program = tmp_path / "memkinds"
    flags = ["-O1", f"-I{ROOT / 'include'}", "-o", program, SOURCE, "-lmemkind", "-pthread"]
    made = subprocess.run([compiler, *flags], capture_output=True, text=True, check=False)
    if "memkind.h: No such file" in made.stderr:
        pytest.skip("memkind is not installed")
    assert made.returncode == 0, made.stderr
    spec = tmp_path / "system.yaml"
    spec.write_text(TOPOLOGIES[topology])
    done = boot(spec, "--untimed", "--mode", mode, "--", program, *arguments)
    assert (done.returncode, done.stdout) == (0, said), done.stderr
