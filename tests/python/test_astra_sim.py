"""The adapter to ASTRA-sim, which is C++17 as ASTRA-sim is; tests/integrations/astra_sim_test.cpp has what it does."""

from __future__ import annotations

import subprocess
from pathlib import Path

from plugin_support import compiler

ROOT = Path(__file__).parents[2]


def test_the_adapter_needs_no_more_than_cpp17(tmp_path: Path) -> None:
    source = tmp_path / "use.cpp"
    source.write_text(
        '#include "integrations/astra-sim/remote_memory.hpp"\n'
        "int main() { return cxloom::integrations::RemoteMemory({}).finish().empty(); }\n"
    )
    standin = ROOT / "tests" / "integrations" / "standin"
    folders = [f"-I{folder}" for folder in (ROOT, ROOT / "include", standin)]
    flags = ["-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    done = subprocess.run(
        [compiler()[0], *flags, *folders, str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
