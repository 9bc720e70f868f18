"""The header in integrations/champsim within ChampSim itself: `make champsim-check CHAMPSIM=FOLDER`.

CXLOOM_CHAMPSIM names the program, built as docs/champsim.md says with the `champsim_config.json` that comes with it.
The traces are made here. What must come out is derived from the spec and from that configuration.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cxloom

CHAMPSIM = os.environ.get("CXLOOM_CHAMPSIM") or None
pytestmark = pytest.mark.skipif(CHAMPSIM is None, reason="needs a built ChampSim: make champsim-check")

SYSTEM = """
devices:
  host: {{kind: host, process_time: 10ns, queue: 256}}
  mem: {{kind: memory, capacity: {capacity}, controller_time: 40ns, media: {{kind: fixed, latency: {latency}ns}}}}
links: [{{between: [host, mem], bandwidth: {rate}GB/s, header: 16B, data_header: 16B, port_delay: 25ns, delay: 5ns}}]
address_map: [{{to: mem}}]
"""
BOTH = """
devices:
  host: {kind: host, process_time: 10ns, queue: 256}
  near: {kind: memory, capacity: 8GiB, controller_time: 20ns, media: {kind: fixed, latency: 45ns}}
  far: {kind: memory, capacity: 8GiB, controller_time: 40ns, media: {kind: fixed, latency: 45ns}}
links:
  - {between: [host, near], bandwidth: 32GB/s, header: 16B, data_header: 16B, port_delay: 0ns, delay: 5ns}
  - {between: [host, far], bandwidth: 32GB/s, header: 16B, data_header: 16B, port_delay: 25ns, delay: 5ns}
address_map: [{to: near}, {to: far}]
"""
NEAR = 10 + 2 * 5 + (16 + 80) / 32 + 20 + 45
"""Nanoseconds of a read of the near memory."""
CYCLE = 0.25
"""Nanoseconds of the core and of all caches, at 4 GHz."""
CACHES = 5 + 10 + 20
"""Cycles in the three caches, down and up again."""
LLC_FILL = 20 // 2
"""Cycles: half of the latency of a cache is its fill."""

INSTRUCTION = np.dtype(
    [
        ("ip", "<u8"),
        ("branch", "u1", 2),
        ("written", "u1", 2),
        ("read", "u1", 4),
        ("stores", "<u8", 2),
        ("loads", "<u8", 4),
    ]
)
"""A record of ChampSim's traces; a register or an address of 0 is none."""
LINES = 65536
"""Twice the last cache, so that a line is gone before its turn comes again; its pages fit into the second TLB."""
ACCESSES = 2000
"""Measured."""
IDLE = 2048
"""Instructions without an access between warm-up, which ends among them, and what is measured.

ChampSim takes the registers from the instructions that it has fetched in warm-up: none of them may be of a chase.
"""


def idle_latency(media: float, rate: float = 32) -> float:
    """Nanoseconds of a read: 16 bytes to the memory, and 80 back."""
    ways = 2 * (25 + 5 + 25) + (16 + 80) / rate
    return 10 + ways + 40 + media


def trace(path: Path, kind: str) -> Path:
    """A trace: accesses to all lines, each page in an order of its own; instructions without one; accesses again."""
    rng = np.random.default_rng(1)
    pages = np.arange(LINES).reshape(-1, 64)
    lines = rng.permuted(pages, axis=1).ravel()
    made = np.zeros(LINES + IDLE + 2 * ACCESSES, INSTRUCTION)
    made["ip"] = 0x400000 + 4 * (np.arange(len(made)) % 16)
    for part, which in ((made[:LINES], lines), (made[LINES + IDLE :], lines[: 2 * ACCESSES])):
        part["stores" if kind == "stores" else "loads"][:, 0] = 0x10000000 + 64 * which
        if kind == "chase":
            part["read"][:, 0] = part["written"][:, 0] = 1
    made.tofile(path)
    return path


def play(folder: Path, kind: str, spec: str, **settings: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    (folder / "system.yaml").write_text(spec)
    resolve = [sys.executable, "-m", "cxloom", "resolve", str(folder / "system.yaml")]
    (folder / "system.json").write_bytes(subprocess.run(resolve, capture_output=True, check=True).stdout)
    paths = {"CXLOOM_SYSTEM": folder / "system.json", "CXLOOM_SUMMARY": folder / "summary.json"}
    paths["LD_LIBRARY_PATH"] = cxloom.library_dir()
    instructions = ["-w", LINES + IDLE // 2, "-i", IDLE // 2 + ACCESSES, "--json", folder / "champsim.json"]
    command = [CHAMPSIM, *instructions, trace(folder / "trace", kind)]
    environment = {**os.environ, **{name: str(value) for name, value in paths.items()}, **settings}
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=environment)


def measured(folder: Path, kind: str, spec: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What ChampSim has measured, and the summary of cxloom."""
    done = play(folder, kind, spec)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    (phase,) = json.loads((folder / "champsim.json").read_text())
    return phase["roi"], json.loads((folder / "summary.json").read_text())


def of_mem(latency: float = 45, rate: float = 32, capacity: str = "16GiB") -> str:
    return SYSTEM.format(latency=latency, rate=rate, capacity=capacity)


@pytest.fixture(scope="module")
def chase(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a memory gives whose medium takes 45 ns."""
    return measured(tmp_path_factory.mktemp("chase"), "chase", of_mem())


def test_a_chase_takes_the_latency_of_the_system(chase: tuple[dict[str, Any], dict[str, Any]]) -> None:
    theirs, ours = chase
    assert theirs["LLC"]["LOAD"]["miss"] == [ACCESSES]
    assert ours["read"]["requests"] == ACCESSES
    assert ours["read"]["latency_ns"]["mean"] == pytest.approx(idle_latency(45), rel=1e-6)
    assert theirs["LLC"]["miss latency"] == pytest.approx(idle_latency(45) / CYCLE + LLC_FILL, rel=0.005)
    a_step = theirs["cores"][0]["cycles"] / ACCESSES
    assert a_step == pytest.approx(idle_latency(45) / CYCLE + CACHES, rel=0.03)


def test_more_latency_is_in_each_step_of_a_chase(
    chase: tuple[dict[str, Any], dict[str, Any]], tmp_path: Path
) -> None:
    """To the cycle: a multiple of both clocks, 250 and 625 ps, moves each answer by as much."""
    near, _ = chase
    more = 200
    far, _ = measured(tmp_path, "chase", of_mem(45 + more))
    assert far["LLC"]["LOAD"]["miss"] == [ACCESSES]
    cycles = far["cores"][0]["cycles"] - near["cores"][0]["cycles"]
    assert cycles == ACCESSES * more / CYCLE


@pytest.mark.parametrize(("kind", "line_bytes"), [("loads", 64 + 16), ("stores", 64 + 16 + 16)])
def test_a_stream_has_the_bandwidth_of_a_slow_link(tmp_path: Path, kind: str, line_bytes: int) -> None:
    """A line is read, or read and written back: a request, data and what answers a write have 16 bytes of header."""
    theirs, ours = measured(tmp_path, kind, of_mem(rate=4))
    lines = ours["read"]["requests"]
    assert theirs["cores"][0]["cycles"] * CYCLE / lines == pytest.approx(line_bytes / 4, rel=0.03)
    writes = ours["write"]["requests"] if kind == "stores" else 0
    assert writes == pytest.approx(lines if kind == "stores" else 0, rel=0.03)


def test_two_runs_are_the_same(tmp_path: Path) -> None:
    assert measured(tmp_path / "first", "stores", of_mem()) == measured(
        tmp_path / "second", "stores", of_mem()
    )


def test_pages_are_in_both_memories_by_their_sizes(tmp_path: Path) -> None:
    """ChampSim's pages are in a random order: a page is in either half as a coin falls."""
    theirs, ours = measured(tmp_path, "chase", BOTH)
    near, far = (ours["per_memory"][name]["requests"] for name in ("near", "far"))
    assert near + far == ours["read"]["requests"]
    assert far / near == pytest.approx(1, rel=0.8)
    shares = (near * NEAR + far * idle_latency(45)) / (near + far)
    assert ours["read"]["latency_ns"]["mean"] == pytest.approx(shares, rel=1e-6)
    assert theirs["LLC"]["miss latency"] == pytest.approx(shares / CYCLE + LLC_FILL, rel=0.01)


@pytest.mark.parametrize(
    ("capacity", "settings", "said"),
    [
        ("1GiB", {}, "cxloom: .*0x"),
        ("16GiB", {"CXLOOM_SYSTEM": ""}, "cxloom: CXLOOM_SYSTEM names no file"),
        ("16GiB", {"CXLOOM_HOST": "nobody"}, 'cxloom: CXLOOM_HOST: there is no device "nobody"'),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, capacity: str, settings: dict[str, str], said: str) -> None:
    done = play(tmp_path, "chase", of_mem(capacity=capacity), **settings)
    assert done.returncode == 2
    assert re.search(said, done.stderr), done.stderr
