"""``cxloom import esf``: a configuration of the artifact as a spec that does what its devices do."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.base.words import exact_bytes
from cxloom.importing.esf import read_esf
from cxloom.importing.esf_system import spec_of
from cxloom.importing.imported import in_ranges

Call = Callable[..., Any]

MEMORY = {
    "tick_per_clock": 1,
    "process_time": 40,
    "start": 0,
    "capacity": 1 << 20,
    "wr_ratio": 0.0,
    "config_file": "DRAMsim3/configs/DDR4_8Gb_x8_3200.ini",
    "output_dir": "output",
}
HOST = {
    "q_capacity": 1,
    "cache_capacity": 64,
    "cache_delay": 12,
    "issue_delay": 0,
    "coherent": False,
    "burst_size": 1,
    "block_size": 64,
    "interleave_type": "stream",
    "interleave_param": 100,
    "hot_req_ratio": 0.5,
    "hot_region_ratio": 0.5,
    "trace_file": "",
}
BUS = {
    "is_full": True,
    "half_rev_time": 100,
    "delay_per_T": 1,
    "width": 64,
    "framing_time": 20,
    "frame_size": 64,
}
SNOOP = {"line_num": 16, "assoc": 8, "max_burst_inv": 8, "ranges": [[0, 1 << 20]], "eviction": "LIFO"}
DEFAULTS = {
    "Requester": HOST,
    "DRAMsim3Interface": MEMORY,
    "DuplexBus": BUS,
    "Snoop": SNOOP,
    "Switch": {"delay": 25},
}


def toml(devices: dict[str, tuple[str, dict[str, Any]]], edges: list[tuple[str, str]], more: str = "") -> str:
    """A configuration; what a device does not say itself is that of `DEFAULTS`."""
    lines = [more, f"edges = {json.dumps(edges)}", "[devices]"]
    lines += [f'{name} = "{kind}"' for name, (kind, _) in devices.items()]
    for name, (kind, parameters) in devices.items():
        lines += [f"[{name}]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in (DEFAULTS[kind] | parameters).items()]
    return "\n".join(lines)


def idle(
    *path: tuple[str, str, dict[str, Any]], host: dict[str, Any] | None = None, **memory: Any
) -> cx.Result:
    """The run of one request after the other from a host to a memory at the end of a path of devices."""
    devices = {"Host": ("Requester", host or {})}
    devices |= {name: (kind, parameters) for name, kind, parameters in path}
    devices["Mem"] = ("DRAMsim3Interface", memory)
    names = [*devices]
    made = spec_of(read_esf(toml(devices, [*itertools.pairwise(names)]), "x.toml"), Path())
    return cx.run(cx.System.from_yaml(made.text()))


def through(result: cx.Result) -> float:
    """The mean time on the way, in ns: of all but the memory and its queue."""
    parts = result.breakdown
    return sum(ns for part, ns in parts.items() if not part.startswith(("media", "controller")))


def test_a_switch_works_on_each_packet_that_it_sends() -> None:
    # Two switches, each passed twice, one in each direction: four times their 25 ns. The ends take nothing.
    result = idle(("One", "Switch", {}), ("Two", "Switch", {}))
    assert through(result) == pytest.approx(100, abs=0.01)
    assert result.breakdown["controller"] == 40
    # Switches of different speeds: twice 25 and twice 10.
    assert through(idle(("One", "Switch", {}), ("Two", "Switch", {"delay": 10}))) == pytest.approx(
        70, abs=0.01
    )


def test_a_bus_takes_whole_frames_and_then_framing_time() -> None:
    # A request without payload is a frame of 64 B, an answer of 64 B two: 8 and 16 transfers of 8 B, and twice 20 ns.
    assert through(idle(("Bus", "DuplexBus", {}))) == pytest.approx(8 + 16 + 40, abs=0.01)
    # Frames of 256 B: one each way, 32 transfers of 2 ns.
    slow = idle(("Bus", "DuplexBus", {"frame_size": 256, "delay_per_T": 2}))
    assert through(slow) == pytest.approx(2 * 64 + 40, abs=0.01)
    # Between switches each adds its own; one that is slower than the bus sets the pace and adds as much.
    for delay in (1, 25):
        result = idle(
            ("One", "Switch", {"delay": delay}),
            ("Bus", "DuplexBus", {"frame_size": 256}),
            ("Two", "Switch", {"delay": delay}),
        )
        assert through(result) == pytest.approx(4 * delay + 2 * 32 + 40, abs=0.01)
        result = idle(
            ("One", "Switch", {"delay": delay}),
            ("Bus", "DuplexBus", {"delay_per_T": 0}),
            ("Two", "Switch", {"delay": delay}),
        )
        assert through(result) == pytest.approx(4 * delay + 40, abs=0.01)


def test_the_output_of_a_switch_is_what_bounds() -> None:
    # One packet in 25 ns to the host: 2.56 GB/s of reads, whatever the width. With a bus of 16 ns an answer: 4 GB/s.
    # Refreshes of the only memory take what is missing.
    deep = {"q_capacity": 64, "interleave_param": 2000}
    assert idle(("One", "Switch", {}), host=deep).bandwidth == pytest.approx(2.56, rel=0.03)
    assert idle(("Bus", "DuplexBus", {}), host=deep).bandwidth == pytest.approx(4, rel=0.03)
    behind = idle(("One", "Switch", {}), ("Bus", "DuplexBus", {}), ("Two", "Switch", {}), host=deep)
    assert behind.bandwidth == pytest.approx(2.56, rel=0.03)
    half = idle(("Bus", "DuplexBus", {"is_full": False, "half_rev_time": 0}), host=deep)
    assert half.bandwidth == pytest.approx(64 / (8 + 16), rel=0.03)


def test_a_clock_of_dram_takes_as_long_as_the_file_says() -> None:
    # Only an access to a row that is open takes no more than CL and a burst; all are a number of clocks.
    media = [idle(tick_per_clock=tick).breakdown["media"] for tick in (1, 2)]
    assert media[1] == pytest.approx(2 * media[0], rel=0.02)


def test_a_snoop_filter_is_its_memory_s_and_what_is_lost_is_said(cxloom: Call, tmp_path: Path) -> None:
    hosts = {
        f"Host-{i}": ("Requester", {"coherent": True, "issue_delay": 2, "cache_delay": 12}) for i in range(2)
    }
    devices = {
        **hosts,
        "Switch": ("Switch", {"delay": 0}),
        "Snoop": ("Snoop", {}),
        "Mem": ("DRAMsim3Interface", {}),
    }
    edges = [
        ("Host-0", "Switch"),
        ("Host-1", "Switch"),
        ("Switch", "Snoop"),
        ("Snoop", "Mem"),
        ("Mem", "Snoop"),
    ]
    (tmp_path / "x.toml").write_text(toml(devices, edges, "max_clock = 5"))
    out = tmp_path / "made.yaml"
    done = cxloom("import", "esf", tmp_path / "x.toml", "--out", out)
    assert done.code == 0, done.err
    text = out.read_text()
    assert '"Host-[0-1]": {kind: host, process_time: 0ns, queue: 1, issue_interval: 2ns, cache:' in text
    assert "filter: {entries: 16, ways: 8, policy: lifo, block: 4, alignment: free}" in text
    assert "coherence: hdm-db" in text
    words = " ".join(done.out.split())
    for said in ("Host-[0-1]: cache_delay", "Snoop: max_burst_inv of 8", "max_clock"):
        assert said in words
        assert said in text
    summary = cxloom("run", out, "--json")
    assert json.loads(summary.out)["coherence"]["filter_evictions"] > 0


def test_a_trace_is_found_from_the_folder_of_configurations(cxloom: Call, tmp_path: Path) -> None:
    for folder in ("configs", "traces", "specs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "traces/a.trace").write_text(
        "".join(f"0x83da92{i:04x}c0 {'RW'[i % 2]} 0\n" for i in range(50))
    )
    host = {"interleave_type": "trace", "trace_file": "./traces/a.trace"}
    devices = {"Host": ("Requester", host), "Bus": ("DuplexBus", {})}
    devices |= {f"Mem-{i}": ("DRAMsim3Interface", {"capacity": 1 << 62}) for i in range(2)}
    switch = {"Switch": ("Switch", {"delay": 0})}
    edges = [("Host", "Bus"), ("Bus", "Switch"), ("Switch", "Mem-0"), ("Switch", "Mem-1")]
    (tmp_path / "configs/x.toml").write_text(toml(devices | switch, edges))
    out = tmp_path / "specs/made.yaml"
    done = cxloom("import", "esf", tmp_path / "configs/x.toml", "--out", out, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["spec"]["workload"]["Host"]["trace"] == "../traces/a.trace"
    assert any("Mem-[0-1]: a capacity of" in note for note in json.loads(done.out)["notes"])
    assert json.loads(cxloom("run", out, "--json").out)["requests"] == 50


ONE = {"Host": ("Requester", {}), "Mem": ("DRAMsim3Interface", {})}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("devices = [", "not TOML"),
        ("max_clock = 3", "no table of devices"),
        (toml(ONE, [("Host", "Mem")], "max_clok = 3"), "unknown key 'max_clok'"),
        (toml({**ONE, "A": ("Requester", {"q_capactiy": 3})}, []), "A.q_capactiy: unknown parameter 'q_capactiy'"),
        (toml({"Host": ("Requester", {"q_capacity": 0})}, []), "Host.q_capacity: not a value of q_capacity"),
        (toml({"Mem": ("DRAMsim3Interface", {"wr_ratio": 1.5})}, []), "allowed: a number from 0 to 1"),
        (toml({"Host": ("Requester", {"interleave_type": "zipf"})}, []), "stream, random, hotcold or trace"),
        (toml(ONE, [("Host", "Men")]), "edges[0]: unknown device 'Men'"),
        (toml({"Host": ("Requester", {})}, []), "no device of type DRAMsim3Interface"),
        (toml({**ONE, "Bus": ("DuplexBus", {})}, [("Host", "Bus")]), "Bus: a bus with 1 neighbours"),
        (toml({**ONE, "Snoop": ("Snoop", {})}, [("Host", "Snoop")]), "a snoop filter that is not just before a memory"),
        (toml({**ONE, "Host": ("Requester", {"interleave_type": "trace", "trace_file": "no"})}, []), "no such trace"),
        ('[devices]\nA = "Requestor"\n', "devices.A: unknown type of device"),
    ],
)  # fmt: skip
def test_what_is_refused(cxloom: Call, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    done = cxloom("import", "esf", tmp_path / "x.toml", "--out", tmp_path / "made.yaml")
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert not (tmp_path / "made.yaml").exists()


def test_tables_that_the_artifact_ignores_are_said() -> None:
    text = toml({**ONE, "Sw": ("Switch", {})}, [("Host", "Sw"), ("Sw", "Mem")]).replace(
        "wr_ratio = 0.0", "wr_ratio = 0"
    )
    made = read_esf(text.replace('output_dir = "output"\n', ""), "x.toml")
    (note,) = made.notes
    assert note.startswith("Mem: output_dir, wr_ratio is missing or of another type")


def test_memories_that_differ_are_said() -> None:
    more = {
        "Mem-1": (
            "DRAMsim3Interface",
            {"capacity": 1 << 21, "wr_ratio": 0.5, "config_file": "HBM2_8Gb_x128.ini"},
        )
    }
    devices = {"Host": ("Requester", {"interleave_type": "hotcold"}), "Mem-0": ONE["Mem"], **more}
    made = spec_of(read_esf(toml(devices, [("Host", "Mem-0"), ("Host", "Mem-1")]), "x.toml"), Path())
    said = "\n".join(made.notes)
    for words in (
        "several sizes",
        "one share of reads, their mean",
        "no preset for DRAMsim3's HBM2_8Gb_x128.ini",
    ):
        assert words in said
    assert made.spec["workload"]["Host"]["reads"] == "75%"
    assert made.spec["workload"]["Host"]["footprint"] == "3MiB"
    made.check("made.yaml", "x.toml")


def test_a_slow_switch_has_a_bandwidth_without_an_exponent() -> None:
    found = idle(("Switch", "Switch", {"delay": 2_000_000}))  # 64 B in 2 ms: 0.000032 GB/s, once each way
    assert found.latency.mean == pytest.approx(2 * 2_000_000, rel=1e-3)


def test_a_system_that_cannot_be_is_told_of_its_configuration(cxloom: Call, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(toml(ONE, []))
    done = cxloom("import", "esf", tmp_path / "x.toml", "--out", tmp_path / "made.yaml")
    assert done.code == 2
    assert f"{tmp_path / 'x.toml'}: devices.Mem of the spec made of it: no links lead" in " ".join(
        done.err.split()
    )
    assert not (tmp_path / "made.yaml").exists()


def test_names_in_ranges() -> None:
    assert in_ranges({"a0": 1, "a1": 1, "a2": 2, "b": 1, "a3": 2, "c9": 1, "c10": 1}) == {
        "a[0-1]": 1, "a2": 2, "b": 1, "a3": 2, "c[9-10]": 1,
    }  # fmt: skip
    assert [exact_bytes(count) for count in (1 << 30, 3 << 20, 1000)] == ["1GiB", "3MiB", "1000B"]
