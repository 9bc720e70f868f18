"""The adapters as plug-ins, built against stand-ins of their libraries."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from compiled import once, version_of
from forked import forked
from plugin_support import compiler

import cxloom

ROOT = Path(__file__).parents[2]
SPEC = """
devices:
  host: {{kind: host, queue: 1, process_time: 0ns}}
  mem: {{kind: memory, capacity: 1GiB, controller_time: 0ns, media: {{kind: {kind}, config: config/of.it}}}}
links:
  - {{between: [host, mem]}}
address_map:
  - {{to: mem}}
workload:
  host: {{pattern: random, reads: 100%, requests: 100}}
"""
CONFIG = {
    "dramsim3": "[dram_structure]\nprotocol = DDR4\n[timing]\ntCK = 0.416\n[system]\nchannel_size = 8192\n",
    "ramulator2": (
        "frontend.impl: External\nmemory_system.impl: GenericDRAM\n"
        "memory_system.controllers.0.dram.channel_width: 32\n"
        "memory_system.controllers.0.dram.org.count.0: 536870912\n"
    ),
    "simplessd": "[pal]\nPageAllocation = CWDP\n",
}
# 48 cycles of 0.416 ns, where a request comes a cycle after the last at most; a page read of the flash.
LATENCY_NS = {
    "dramsim3": (48 * 0.416, 49 * 0.416),
    "ramulator2": (48 * 0.416, 49 * 0.416),
    "simplessd": (75_000, 75_000),
}
WORK = {"dramsim3": "library_cycles", "ramulator2": "library_cycles", "simplessd": "library_events"}


@pytest.fixture(scope="module", params=sorted(CONFIG))
def adapter(request: pytest.FixtureRequest) -> tuple[str, Path]:
    """The name of a kind and its plug-in, built once for all tests."""
    kind, name = str(request.param), f"lib{request.param}.so"
    source, standins = ROOT / "integrations" / kind, ROOT / "tests" / "integrations" / "standin"
    command = [*compiler(), "-shared", f"-I{standins}", f"-I{standins / kind}", str(source / "plugin.cpp")]

    def make(folder: Path) -> None:
        subprocess.run([*command, "-o", str(folder / name)], check=True)

    files = [path for folder in (source.parent, standins) for path in sorted(folder.rglob("*.[hc]*"))]
    public = cxloom.include_dir() / "cxloom_version.hpp"  # it has a digest of all public headers
    return kind, once([version_of(command[0]), *command, *files, public], make) / name


def run(folder: Path, plugin: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return forked("run", folder / "spec.yaml", "--plugin", plugin, *arguments, cwd=Path("/"))


def test_a_run_uses_the_library(adapter: tuple[str, Path], tmp_path: Path) -> None:
    kind, plugin = adapter
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "of.it").write_text(CONFIG[kind])
    (tmp_path / "spec.yaml").write_text(SPEC.format(kind=kind))
    done = run(tmp_path, plugin, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    least, most = LATENCY_NS[kind]
    assert least <= summary["latency_ns"]["mean"] <= most
    assert summary["per_memory"]["mem"][WORK[kind]] > 0


def test_a_missing_configuration_is_refused(adapter: tuple[str, Path], tmp_path: Path) -> None:
    kind, plugin = adapter
    (tmp_path / "spec.yaml").write_text(SPEC.format(kind=kind))
    refused = run(tmp_path, plugin)
    assert refused.returncode == 2
    text = " ".join(refused.stderr.split())
    assert "spec.yaml:4" in text
    assert "of.it: the configuration cannot be read" in text


def test_without_the_plugin_there_is_no_trace_of_it(adapter: tuple[str, Path], tmp_path: Path) -> None:
    kind, _ = adapter
    (tmp_path / "spec.yaml").write_text(SPEC.format(kind=kind))
    refused = forked("check", tmp_path / "spec.yaml")
    assert refused.returncode == 2
    assert f"unknown media kind '{kind}'" in refused.stderr
