"""Adapters of simulators that are C++17 need no more; the C++ tests say what they do, and compile gem5's module so."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from plugin_support import compiler
from validation.examples import some

ROOT = Path(__file__).parents[2]
STANDIN = ROOT / "tests" / "integrations" / "standin"


@pytest.mark.parametrize(
    ("header", "folder", "use"),
    some(
        [
            (
                "astra-sim/remote_memory.hpp",
                STANDIN,
                "return cxloom::integrations::RemoteMemory({}).finish().empty();",
            ),
            (
                "champsim/dram_controller.h",
                STANDIN / "champsim",
                "return cxloom::integrations::ChampsimMemory().run_until(0);",
            ),
            (
                "sst/host_backend.hpp",
                STANDIN / "sst",
                "SST::Params unset; return cxloom::integrations::HostBackend(1, unset).isClocked();",
            ),
        ]
    ),
)
def test_the_adapter_needs_no_more_than_cpp17(tmp_path: Path, header: str, folder: Path, use: str) -> None:
    source = tmp_path / "use.cpp"
    source.write_text(f'#include "integrations/{header}"\nint main() {{ {use} }}\n')
    compile_alone(source, folder)


def compile_alone(source: Path, folder: Path) -> None:
    folders = [f"-I{each}" for each in (ROOT, ROOT / "include", folder)]
    flags = ["-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    done = subprocess.run(
        [compiler()[0], *flags, *folders, str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
