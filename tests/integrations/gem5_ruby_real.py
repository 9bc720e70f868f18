"""Caches of Ruby by the module's protocol CXL_MESI, in a gem5 that is built with it: `make gem5-check GEM5=FOLDER`.

Testers check every byte that they load, while lines are taken back from their caches.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from gem5_support import EXPANDER, GEM5, IDLE_TICKS, POOL, SCRIPTS, built_with, gem5, resolved, wants

LOADS = int(os.environ.get("CXLOOM_GEM5_LOADS", "100000"))
"""Loads of a tester; of four a run has about six times as many accesses."""

SNOOPED = EXPANDER.replace("kind: host,", "kind: host, external_cache: true,")


def memtest(folder: Path, *arguments: str | Path, loads: int = LOADS) -> dict[str, float]:
    # Where messages are late at random a functional read may find the bytes of a copy that has long left.
    if "--jitter" in arguments:
        arguments = (*arguments, "--functional", "0")
    return gem5(folder, "memtest.py", "--uncacheable", "0", "--loads", str(loads), *arguments)


@pytest.mark.parametrize("testers", [1, 2, 4])
@pytest.mark.parametrize("snoops", ["0ns", "1us", "100ns", "20ns"])
@pytest.mark.parametrize("jitter", [[], ["--jitter"]])
def test_testers_find_their_bytes_beside_random_snoops(
    tmp_path: Path, testers: int, snoops: str, jitter: list[str]
) -> None:
    wants("CXL_MESI")
    stats = memtest(
        tmp_path,
        "--ruby",
        "host",
        "--testers",
        str(testers),
        "--snoops",
        snoops,
        "--lines-of-l1",
        "32",
        *jitter,
    )
    snooped = snoops != "0ns"
    assert (stats["hosts.snoops"] > LOADS // 1000) == snooped
    assert (stats["hosts.dirtySnoops"] > 0) == snooped


@pytest.mark.parametrize("hosts", ["left", "left,right"])
@pytest.mark.parametrize("entries", [65536, 64])
@pytest.mark.parametrize("jitter", [[], ["--jitter"]])
def test_testers_find_their_bytes_in_a_coherent_pool(
    tmp_path: Path, hosts: str, entries: int, jitter: list[str]
) -> None:
    wants("CXL_MESI")
    system = resolved(tmp_path, POOL.replace("FILTER", str(entries)))
    functional = ["--functional", "0"] if "," in hosts else []
    memtest(tmp_path, "--hosts", hosts, "--ruby", "left", "--system", system, *functional, *jitter)


def test_a_read_takes_its_idle_latency(tmp_path: Path) -> None:
    wants("CXL_MESI")
    system = resolved(tmp_path, SNOOPED.format(queue=64))
    stats = gem5(tmp_path, "traffic.py", "--ruby", "--system", system, "--requests", "100")
    assert stats["host.reads"] > 90
    assert stats["host.meanReadLatency"] == IDLE_TICKS


def test_two_runs_are_the_same(tmp_path: Path) -> None:
    wants("CXL_MESI")
    system = resolved(tmp_path, POOL.replace("FILTER", "64"))
    arguments = ["--hosts", "left,right", "--ruby", "left", "--functional", "0", "--system", system]
    first = memtest(tmp_path / "first", *arguments, loads=5000)
    second = memtest(tmp_path / "second", *arguments, loads=5000)
    assert repr(first) == repr(second)


def test_another_protocol_is_refused(tmp_path: Path) -> None:
    if built_with()["CXL_MESI"]:
        pytest.skip("this gem5 has the protocol")
    wants("Ruby")
    command = [GEM5, "--outdir", tmp_path, SCRIPTS / "memtest.py", "--ruby", "host", "--snoops", "100ns"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "RUBY_PROTOCOL_CXL_MESI=y" in done.stderr + done.stdout
