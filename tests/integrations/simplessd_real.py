"""The adapter to SimpleSSD against an installed one: single operations to the picosecond, saturation beside our flash.

``make simplessd-check SIMPLESSD_ROOT=...`` builds the plug-in and runs this with its path in ``CXLOOM_SIMPLESSD``. What
must come out is derived from SimpleSSD's configuration: of its firmware nothing takes time here (no cores), and its
cache is off.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PLUGIN = os.environ.get("CXLOOM_SIMPLESSD")
pytestmark = pytest.mark.skipif(PLUGIN is None, reason="needs an installed SimpleSSD: make simplessd-check")

READ, PROGRAM, ERASE = 75_000_000, 750_000_000, 3_800_000_000  # of the array, in picoseconds
TRANSFER = 1e12 / (333 * 2**20)  # of a byte: the library counts 2^20 transfers as a mega
COMMAND, PAGE = 7 * TRANSFER, 4096 * TRANSFER
# A row of its DRAM, whatever is asked for: tRP + tRAS + 4096 B at 6.4 GB/s. One for the page's entry, one for its data.
ROW = 700_000

CONFIG = """
[cpu]
HILCoreCount = 0
ICLCoreCount = 0
FTLCoreCount = 0
[pal]
Channel = {channels}
Package = 1
Die = {dies}
Plane = 1
Block = {blocks}
Page = 256
PageSize = 4096
EnableMultiPlaneOperation = 0
NANDType = 0
LSBRead = 75000000
LSBWrite = 750000000
Erase = 3800000000
DMASpeed = 333
DMAWidth = 8
{superblock}
PageAllocation = CWDP
[ftl]
OverProvisioningRatio = 0.25
FillRatio = 1.0
EnableRandomIOTweak = {tweak}
[icl]
EnableReadCache = 0
EnableWriteCache = 0
"""
OURS = (
    "{{kind: flash, channels: {channels}, packages: 1, dies: {dies}, planes: 1, pages: 256, page: 4KiB, "
    "sector: 4KiB, read_time: 75us, program_time: 750us, erase_time: 3800us, command_time: 20047ps, "
    "bus_bandwidth: 349.175808MB/s, over_provisioning: 33.33%, write_buffer: 0, filled: 100%}}"
)
# Lines one page apart, or a cache of pages that fetches whole ones.
SPEC = """
devices:
  host: {{kind: host, queue: {queue}, process_time: 0ns}}
  mem: {{kind: memory, capacity: {capacity}, controller_time: 0ns, media: {media}}}
links:
  - {{between: [host, mem]}}
address_map:
  - {{to: mem}}
workload:
  host: {{pattern: {pattern}, footprint: {capacity}, reads: {reads}, requests: {requests}}}
"""
CACHED = (
    "{{kind: cached, size: 8MiB, page: 4KiB, ways: 0, lookup_time: 0ns, misses: 4096, backing: {backing}, "
    "cache: {{kind: fixed, latency: 0ns}}}}"
)


def config(folder: Path, channels: int = 1, dies: int = 1, superblock: bool = False) -> str:
    blocks = 512 // (channels * dies)
    text = CONFIG.format(
        channels=channels,
        dies=dies,
        blocks=blocks,
        superblock="SuperblockSize = C" if superblock else "",
        tweak=int(superblock),
    )
    (folder / "ssd.cfg").write_text(text)
    return "{kind: simplessd, config: ssd.cfg}"


def run(folder: Path, **values: Any) -> dict[str, Any]:
    (folder / "spec.yaml").write_text(SPEC.format(**{"capacity": "384MiB", "queue": 1, **values}))
    command = [sys.executable, "-m", "cxloom", "run", str(folder / "spec.yaml"), "--plugin", str(PLUGIN)]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


STRIDED = "strided, stride: 4KiB"


def test_one_page_read(tmp_path: Path) -> None:
    # PAL2 keeps a second command time free before data come out.
    found = run(tmp_path, media=config(tmp_path), pattern=STRIDED, reads="100%", requests=200)["latency_ns"]
    expected = READ + 2 * COMMAND + PAGE + 2 * ROW
    assert found["min"] == found["max"]
    assert found["mean"] * 1000 == pytest.approx(expected, abs=10)  # it truncates each part


def test_one_page_program(tmp_path: Path) -> None:
    # The entry is read and written, and the data pass the DRAM once more.
    found = run(tmp_path, media=config(tmp_path), pattern=STRIDED, reads="0%", requests=200)["latency_ns"]
    expected = PROGRAM + 2 * COMMAND + PAGE + TRANSFER + 3 * ROW
    assert found["min"] == found["max"]
    assert found["mean"] * 1000 == pytest.approx(expected, abs=10)


def test_an_erase(tmp_path: Path) -> None:
    # Every 256 pages of a superblock that is overwritten in order, two victims without current pages are erased one
    # after the other; the next write waits for both, while its rows of DRAM pass.
    media = config(tmp_path, channels=2, superblock=True)
    found = run(tmp_path, media=media, pattern=STRIDED, reads="0%", requests=120_000)
    program = PROGRAM + 2 * COMMAND + PAGE + TRANSFER + 3 * ROW
    erase = ERASE + 5 * TRANSFER + COMMAND + TRANSFER
    assert found["latency_ns"]["max"] * 1000 == pytest.approx(2 * erase + program - 3 * ROW, abs=20)
    assert found["per_memory"]["mem"]["block_erases"] > 0
    assert found["per_memory"]["mem"]["pages_moved"] == 0


SATURATED = [(1, 1, 64, "100%"), (1, 4, 128, "100%"), (1, 8, 512, "100%"), (8, 8, 2048, "100%")]
# Not until it collects: with one page in a superpage the library takes every page of a victim for a current one.
SATURATED += [(1, 1, 64, "0%"), (1, 4, 128, "0%"), (1, 8, 512, "0%")]


@pytest.mark.parametrize(("channels", "dies", "queue", "reads"), SATURATED)
def test_saturation(tmp_path: Path, channels: int, dies: int, queue: int, reads: str) -> None:
    def rates(backing: str) -> tuple[float, float]:
        requests = 20 * queue + 4000
        media = CACHED.format(backing=backing)
        done = run(tmp_path, media=media, pattern="random", reads=reads, queue=queue, requests=requests)
        memory = done["per_memory"]["mem"]
        seconds = done["simulated_time_ns"] * 1e-9
        return memory["backing_page_reads"] / seconds, memory["backing_page_programs"] / seconds

    theirs = rates(config(tmp_path, channels, dies))
    ours = rates(OURS.format(channels=channels, dies=dies))
    print(f"{channels} channels x {dies} dies, {queue} at a time, reads {reads}: ", end="")
    print(f"SimpleSSD {theirs[0]:.0f} {theirs[1]:.0f}, flash {ours[0]:.0f} {ours[1]:.0f} pages/s")
    if reads == "100%":
        bound = min(channels * dies / (READ + 2 * COMMAND + PAGE), channels / (COMMAND + PAGE)) * 1e12
        assert theirs[0] <= bound * 1.001
        assert theirs[0] == pytest.approx(ours[0], rel=0.05)
    else:
        # It writes to the dies in turn, ours to the die of the address, so that draws leave some of ours idle.
        assert ours[1] * 0.99 <= theirs[1] <= ours[1] * 1.1
