"""Transfers of many bytes by a program that embeds a system: closed forms, contention, what is refused."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from embed_support import EXAMPLE, compiled, copied, resolved, run

MIB = 1 << 20
PACKET = 256
EACH = (PACKET + 24) / 28 * 1000  # ps of a packet of the GPU's link: 10 ns


@dataclass
class Outcome:
    ends: dict[int, int]  # ps
    bytes: dict[int, int]
    refused: dict[int, str]
    summary: dict[str, Any]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return copied(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def program(installed: tuple[Path, Path]) -> Path:
    source = Path(__file__).parent / "programs" / "transfers.c"
    return compiled(source, installed[0].parent / "transfers", installed)


Moved = Callable[..., Outcome]


@pytest.fixture
def moved(tmp_path: Path, cxloom: Callable[..., Any], program: Path) -> Moved:
    """Runs transfers on the system of the example, changed by `--set`."""

    def moves(*transfers: str, sets: tuple[str, ...] = (), spec: Path = EXAMPLE / "gpu.yaml") -> Outcome:
        more = [part for each in sets for part in ("--set", each)]
        done: subprocess.CompletedProcess[str] = run(
            program, *transfers, resolved(cxloom, spec, tmp_path / "s.json", *more)
        )
        assert done.returncode == 0, done.stdout + done.stderr
        *lines, summary = done.stdout.splitlines()
        outcome = Outcome({}, {}, {}, json.loads(summary))
        for word, number, *rest in (line.split(maxsplit=2) for line in lines):
            if word == "refused":
                outcome.refused[int(number)] = rest[0]
            else:
                end, moved_bytes = rest[0].split()
                outcome.ends[int(number)], outcome.bytes[int(number)] = int(end), int(moved_bytes)
        return outcome

    return moves


@pytest.mark.parametrize("way", ["0:self", "self:0"])
def test_a_transfer_alone_takes_its_launch_and_its_packets(
    tmp_path: Path, cxloom: Callable[..., Any], moved: Moved, way: str
) -> None:
    # t0 + L of one packet, and each packet behind it: docs/model/dma.md.
    first = moved(f"gpu:{PACKET}:{way}")
    whole = moved(f"gpu:{MIB}:{way}")
    assert whole.ends[1] == first.ends[1] + (MIB / PACKET - 1) * EACH
    assert whole.bytes == {1: MIB}
    gpu = whole.summary["per_requester"]["gpu"]
    assert gpu["large_accesses"] == 1
    assert gpu["large_access_ns"] == whole.ends[1] / 1000
    # As the same copy of a workload.
    spec = yaml.safe_load((EXAMPLE / "gpu.yaml").read_text())
    direction = "in" if way.endswith("self") else "out"
    spec["workload"] = {
        "gpu": {
            "pattern": "transfer",
            "direction": direction,
            "size": f"{MIB}B",
            "footprint": f"{MIB}B",
            "requests": 1,
        }
    }
    (tmp_path / "copy.yaml").write_text(yaml.safe_dump(spec))
    summary = json.loads(cxloom("run", tmp_path / "copy.yaml", "--json").out)
    assert summary["per_requester"]["gpu"]["large_access_ns"] == gpu["large_access_ns"]
    slower = moved(f"gpu:{MIB}:{way}", sets=("devices.gpu.launch_time=6800ns",))
    assert slower.ends[1] == whole.ends[1] + 1_000_000


def test_two_transfers_share_the_link_packet_by_packet(moved: Moved) -> None:
    alone = moved(f"gpu:{MIB}:self:0").ends[1]
    both = moved(f"gpu:{MIB}:self:0", f"gpu:{MIB}:self:{4 * MIB}")
    packets = MIB // PACKET
    assert both.ends[2] == alone + packets * EACH
    assert both.ends[1] == both.ends[2] - EACH
    # One that is short has its packets between those of the long one: it waits for as many of these.
    short = moved(f"gpu:{MIB}:self:0", f"gpu:{64 * PACKET}:self:{4 * MIB}")
    begun = moved(f"gpu:{PACKET}:self:0").ends[1]
    assert short.ends[2] == begun + (2 * 64 - 1) * EACH
    assert short.ends[1] == alone + 64 * EACH


def test_a_single_stream_makes_one_after_the_other(moved: Moved) -> None:
    outcome = moved(f"gpu:{MIB}:self:0", f"gpu:{MIB}:self:0", sets=("devices.gpu.streams=1",))
    alone = moved(f"gpu:{MIB}:self:0").ends[1]
    assert outcome.ends == {1: alone, 2: 2 * alone}
    # Those that are called before the one ahead has ended have their launch behind them.
    calls = ("devices.gpu.streams=1", "devices.gpu.queue=2")
    earlier = moved(f"gpu:{MIB}:self:0", f"gpu:{MIB}:self:0", sets=calls)
    assert earlier.ends[2] == 2 * alone - 5_800_000


@pytest.mark.parametrize("way", ["0:self", "self:0"])
def test_a_host_moves_lines_with_all_of_its_queue(moved: Moved, way: str) -> None:
    line = moved(f"host:64:{way}").ends[1]
    sets = ("devices.host.queue=8", "links[1].bandwidth=2000GB/s")
    latency = moved(f"host:64:{way}", sets=sets).ends[1]
    outcome = moved(f"host:{1024 * 64}:{way}", sets=sets)
    assert outcome.bytes[1] == 1024 * 64
    assert outcome.ends[1] == pytest.approx(1024 / 8 * latency, rel=0.01)
    assert outcome.summary["reads" if way.endswith("self") else "writes"] == 1024
    assert line >= latency


def test_a_copy_of_a_host_is_that_of_a_graph_of_tasks(
    tmp_path: Path, cxloom: Callable[..., Any], moved: Moved
) -> None:
    spec = yaml.safe_load((EXAMPLE / "gpu.yaml").read_text())
    spec["tasks"] = {
        "exact": True,
        "objects": [{"name": name, "size": "1MiB"} for name in ("a", "b")],
        "graph": [{"name": "t", "kind": "copy", "from": "a", "to": "b", "bytes": "64KiB", "on": "host"}],
    }
    (tmp_path / "tasks.yaml").write_text(yaml.safe_dump(spec))
    tasks = json.loads(cxloom("run", tmp_path / "tasks.yaml", "--json").out)["tasks"]
    outcome = moved(f"host:65536:0:{MIB}")
    assert outcome.ends[1] == pytest.approx(tasks["per_task"]["t"]["end_ns"] * 1000)
    assert (outcome.summary["reads"], outcome.summary["writes"]) == (1024, 1024)


def test_transfers_of_a_host_take_turns(moved: Moved) -> None:
    sets = ("links[1].bandwidth=4GB/s", "devices.host.queue=64")
    line = 80 / 4 * 1000  # ps of 64 B and 16 B of header
    alone = moved("host:65536:self:0", sets=sets).ends[1]
    both = moved("host:65536:self:0", f"host:65536:self:{MIB}", sets=sets)
    assert both.ends[2] == alone + 1024 * line
    # The first has filled the queue when the second begins, and stays ahead by as much.
    assert both.ends[1] == both.ends[2] - (64 + 1) * line


def test_a_transfer_of_another_device_slows_it_by_its_share(moved: Moved) -> None:
    # The memory's link serves lines in the order in which they come: each has the share of its lines under way.
    sets = ("links[1].bandwidth=10GB/s",)
    alone = moved(f"gpu:{MIB}:self:0", sets=sets).ends[1] - 5_800_000
    times = []
    for queue in (64, 512):  # beside lines_at_completer: 512
        more = (*sets, f"devices.host.queue={queue}")
        both = moved(f"gpu:{MIB}:self:0", f"host:{4 * MIB}:self:{4 * MIB}", sets=more)
        times.append((both.ends[1] - 5_800_000) / alone)
    assert times[0] == pytest.approx(1 + 64 / 512, rel=0.03)
    assert times[1] == pytest.approx(2, rel=0.05)


def test_odd_bytes_are_moved(moved: Moved) -> None:
    outcome = moved("gpu:1001:77:self", "host:1001:77:self", f"host:1001:77:{77 + MIB}", "gpu:1:5:self")
    assert outcome.bytes == {1: 1001, 2: 1001, 3: 1001, 4: 1}


def test_what_is_answered_without_data_is_told_as_no_bytes(moved: Moved) -> None:
    # Nobody has an extent there.
    sets = ("devices.cxl.dynamic_capacity={}",)
    outcome = moved("gpu:65536:0:self", "host:4096:0:self", "host:4096:self:0", sets=sets)
    assert outcome.bytes == {1: 0, 2: 0, 3: 0}


@pytest.mark.parametrize(
    ("transfer", "said"),
    [
        ("gpu:4096:0:65536", "a DMA engine moves blocks between the memory of its device and system memory"),
        ("gpu:4096:self:self", "from the device to itself"),
        ("host:4096:self:self", "from the device to itself"),
        ("host:4096:0:65540", "shifts bytes within their lines"),
        ("host:4096:0:64", "a copy onto itself"),
        ("host:0:0:self", "a transfer of no bytes"),
        (f"gpu:{25 << 30}:0:self", "at most 24GiB, its hbm.capacity"),
        (f"gpu:4096:{64 << 30}:self", "no region holds"),
        (f"gpu:4096:{(64 << 30) - 4095}:self", "no region holds"),
        (f"host:4096:self:{(64 << 30) - 4032}", "no region holds"),
        (f"host:4096:0:{64 << 30}", "no region holds"),
        ("host:4096:0xfffffffffffff800:self", "past the end of all addresses"),
        ("undriven:64:0:self", "'undriven' is not driven from outside"),
    ],
)
def test_what_no_device_moves_is_refused_with_nothing_changed(moved: Moved, transfer: str, said: str) -> None:
    outcome = moved(transfer, f"gpu:{PACKET}:0:self")
    assert said in outcome.refused[1]
    assert outcome.ends == {2: moved(f"gpu:{PACKET}:0:self").ends[1]}


def test_cores_move_no_blocks(moved: Moved) -> None:
    outcome = moved("host:4096:0:self", sets=("devices.host.core={}",))
    assert "'host' has cores" in outcome.refused[1]


def test_the_example_fetches_two_at_a_time(
    tmp_path: Path, cxloom: Callable[..., Any], installed: tuple[Path, Path]
) -> None:
    fetch = compiled(EXAMPLE / "fetch.c", tmp_path / "fetch", installed)
    done = run(fetch, resolved(cxloom, EXAMPLE / "gpu.yaml", tmp_path / "gpu.json"))
    assert done.returncode == 0, done.stderr
    *blocks, total = done.stdout.splitlines()
    assert len(blocks) == 8
    assert all(": 2097152 bytes in 1" in line for line in blocks)
    # 8 x 2 MiB by packets of 10 ns, and the first launch: calls of one stream are hidden by copies of the other.
    packets = 8 * 2 * MIB / PACKET * 10 / 1000
    words = total.split()
    assert words[:2] == ["8", "blocks"]
    assert packets + 5.8 < float(words[3]) < packets + 20
