"""The kernel's accesses to CXL devices: read from what QEMU writes, and given to the devices of the spec."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from boot_support import TOPOLOGIES, machine

import cxloom as cx
from cxloom.booting.enumeration import (
    ABSENT,
    Access,
    Places,
    Times,
    bars,
    bridge_registers,
    counted_by,
    functions_of,
)
from cxloom.booting.io_time import IoTimes, Packet
from cxloom.booting.tracing import Trace, Traced, traced
from cxloom.cli.enumeration import show_enumeration
from cxloom.running.run import simulate
from cxloom.system.simulation import build, describe

WAYS = """\
0x2 /sys/devices/pci0000:0c/0000:0c:00.0/0000:0d:00.0/0000:0e:01.0/0000:10:00.0/mem0
0x1 /sys/devices/pci0000:0c/0000:0c:00.0/0000:0d:00.0/0000:0e:00.0/0000:0f:00.0/mem1
"""
"""Two devices behind a switch, the second found first."""


def test_one_of_several_parallel_links_has_the_time_of_all() -> None:
    def times(count: int) -> IoTimes:
        resolved = cx.System.from_yaml(
            "devices: {host: {kind: host}, mem: {kind: memory, heads: 2}}\n"
            f"links: [{{between: [host, mem], bandwidth: 8GB/s, delay: 30ns, count: {count}}}]\n"
            "address_map: [{to: mem}]\n"
        ).resolve()
        return IoTimes(resolved.plain(), describe(resolved))

    packet = Packet(8)
    assert times(2).one_way_ns(("host", "mem"), packet) == times(1).one_way_ns(("host", "mem"), packet) > 30


def test_lines_of_the_log_are_accesses() -> None:
    text = """\
pci_cfg_read cxl-type3 0f:00.0 @0x100 -> 0x1e1001e
12@1.5:pci_cfg_write empty 0e:1f.0 @0x72 <- 0xff8f
memory_region_ops_write cpu 0 mr 0x7fa54e7a2840 addr 0xfd810090 value 0x400 size 8 name 'mailbox'
memory_region_ops_read cpu -1 mr 0x1 addr 0x100001000 value 0x5110001 size 4 name '.cache_mem'
something else
"""
    assert list(traced(text)) == [
        Traced("0f:00.0", "cxl-type3", False, 0x100, 0x1E1001E),
        Traced("0e:1f.0", "empty", True, 0x72, 0xFF8F),
        Traced("", "mailbox", True, 0xFD810090, 0x400, 8),
        Traced("", ".cache_mem", False, 0x100001000, 0x5110001),
    ]


def test_steps_have_what_was_written_since_the_last_one(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace")
    assert trace.options() == ["-D", str(tmp_path / "trace")]
    with open(tmp_path / "trace", "w") as file:
        file.write("pci_cfg_read a 0f:00.0 @0x0 -> 0x1\n")
        file.flush()
        assert [each.value for each in trace.step()] == [1]
        assert trace.step() == []
        file.write("pci_cfg_read a 0f:00.0 @0x0 -> 0x2\npci_cfg_read a 0f:00.0 @0x0 -> 0x3\n")
        file.flush()
        assert [each.value for each in trace.step()] == [2, 3]


def test_functions_are_the_devices_of_the_spec() -> None:
    assert functions_of(machine(TOPOLOGIES["a switch with two devices"]), WAYS) == {
        "0c:00.0": "sw root port 0",
        "0d:00.0": "sw upstream port",
        "0e:00.0": "sw downstream port 0",
        "0e:01.0": "sw downstream port 1",
        "0f:00.0": "m0",
        "10:00.0": "m1",
    }
    direct = "0x1 /sys/devices/pci0000:0c/0000:0c:00.0/0000:0d:00.0/mem0"
    assert functions_of(machine(TOPOLOGIES["direct"]), direct) == {
        "0c:00.0": "m0 root port 0",
        "0d:00.0": "m0",
    }


def test_registers_are_where_base_address_registers_lead() -> None:
    listed = """\
0000:00:02.0
0x00000000000000a0 0x00000000000000af 0x0
0000:0f:00.0
0x00000000fd800000 0x00000000fd80ffff 0x0000000000140204
0x0000000000000000 0x0000000000000000 0x0000000000000000
0x00000000fd810000 0x00000000fd811fff 0x0000000000140204
0x0000000000000000 0x0000000000000000 0x0000000000000000
0x00000000fd812000 0x00000000fd812fff 0x0000000000040200
"""
    assert bars(listed, {"0f:00.0": "m0"}) == [
        (0xFD800000, 0xFD80FFFF, "m0", "component"),
        (0xFD810000, 0xFD811FFF, "m0", "device"),
    ]


def test_host_bridges_have_their_registers_by_the_table_of_the_firmware() -> None:
    made = machine(TOPOLOGIES["two bridges"])
    window = struct.pack("<BBH", 1, 0, 40) + bytes(36)
    bridges = [
        struct.pack("<BBHIIIQQ", 0, 0, 32, uid, 1, 0, base, 1 << 16)
        for uid, base in ((12, 0x1000000), (15, 0x2000000))
    ]
    assert bridge_registers(made, bytes(36) + bridges[0] + window + bridges[1]) == [
        (0x1000000, 0x100FFFF, "p0 host bridge", "component"),
        (0x2000000, 0x200FFFF, "p1 host bridge", "component"),
    ]


def test_accesses_are_given_to_devices_and_counted() -> None:
    where = Places({"0f:00.0": "m0"}, [(0x1000, 0x1FFF, "m0", "component")])
    found = where.attributed(
        "drivers",
        [
            Traced("0f:00.0", "cxl-type3", False, 0x10, 1),
            Traced("", ".cache_mem", True, 0x1010, 2),
            Traced("0e:1f.0", "empty", False, 0, 0xFFFF),
            Traced("00:1f.2", "ich9-ahci", False, 0, 3),  # no CXL device
            Traced("", "apic-msi", True, 0xFEE00000, 4),
        ],
    )
    assert found == [
        Access("drivers", "m0", "configuration", 0x10, False, 1),
        Access("drivers", "m0", "component", 0x10, True, 2),
        Access("drivers", ABSENT, "configuration", 0, False, 0xFFFF),
    ]
    counts = counted_by([*found, found[0]])
    assert list(counts) == [("drivers", "m0"), ("drivers", ABSENT)]
    assert counts["drivers", "m0"] == {("configuration", False): 2, ("component", True): 1}


# --- their times -----------------------------------------------------------------------------------------------------

SWITCH = {"sw": {"kind": "switch"}}
STORED = {"sw": {"kind": "switch", "forwarding": "store-and-forward"}}
TWO_LINKS = [
    {"between": ["nic", "sw"], "delay": "62ns", "bandwidth": "4GB/s"},
    {"between": ["sw", "mem"], "delay": "10ns", "bandwidth": "1GB/s"},
]


def _over(**link: str) -> list[dict[str, Any]]:
    return [{"between": ["nic", "mem"], "delay": "62ns", **link}]


@pytest.mark.parametrize("traffic", ["config-read", "dma-read", "dma-write"])
@pytest.mark.parametrize(
    ("links", "between", "by_hand"),
    [
        # 62 ns each way, 16 B of request, 20 of completion, 24 of a write, 100 ns of io_time.
        (_over(bandwidth="2GB/s"), {}, {"config-read": 242, "dma-read": 244, "dma-write": 74}),
        # 72 ns each way and 20 of the switch, the bytes at the slower link.
        (TWO_LINKS, SWITCH, {"config-read": 420, "dma-read": 424, "dma-write": 166}),
        # The bytes at each link.
        (TWO_LINKS, STORED, {"config-read": 429, "dma-read": 434, "dma-write": 172}),
        # Flits of 256 B at 32 GB/s.
        (_over(phy="pcie6-x4"), {}, {"config-read": 240, "dma-read": 240, "dma-write": 70}),
        (_over(phy="pcie5-x16"), {}, None),
        (_over(phy="pcie4-x4", flit="none"), {}, None),
    ],
    ids=["a link", "a switch", "a switch that stores", "flits", "flits of 68 B", "PCIe"],
)
def test_a_time_is_what_the_model_has_for_such_a_packet(
    links: list[dict[str, Any]],
    between: dict[str, Any],
    by_hand: dict[str, float] | None,
    traffic: str,
) -> None:
    """An engine makes one at a time, beside a host that is busy elsewhere."""
    engine: dict[str, Any] = {"kind": "io-engine", "target": "mem", "traffic": traffic, "outstanding": 1}
    engine |= {} if traffic == "config-read" else {"size": "8B"}
    engine |= {"rate": "0.01GB/s"} if traffic == "dma-write" else {}
    memories = {"own": {"kind": "memory"}, "mem": {"kind": "memory", "heads": 2}}
    spec = {
        "devices": {"host": {"kind": "host"}, **memories, "nic": engine, **between},
        "links": [{"between": ["host", "own"]}, {"between": ["host", "mem"]}, *links],
        "address_map": [{"to": "own"}],
        "workload": {"host": {"pattern": "pointer-chase", "requests": 300, "footprint": "1MiB"}},
        "run": {"warmup": 0},
    }
    resolved = cx.System.from_yaml(json.dumps(spec)).resolve()
    times = IoTimes(resolved.plain(), describe(resolved))
    way = ["nic", *between, "mem"]
    if traffic == "dma-write":
        found = times.one_way_ns(way, Packet(8))
    else:
        found = times.round_trip_ns(
            way, Packet(0), Packet(4 if traffic == "config-read" else 8, is_completion=True)
        )
    modelled = simulate(resolved, build(resolved)).plain()["per_io"]["nic"]["latency_ns"]["min"]
    assert found == pytest.approx(modelled, abs=0.003)
    if by_hand is not None:
        assert found == pytest.approx(by_hand[traffic])


def test_accesses_take_the_way_to_who_answers() -> None:
    """The switch is half way, and has no time of its own to answer; root ports are in the host."""
    text = TOPOLOGIES["a switch with two devices"].replace("[host, sw]", "[host, sw], delay: 50ns")
    resolved = cx.System.from_yaml(text).resolve()
    times = Times(machine(text), resolved.plain(), describe(resolved))

    def ns(device: str, space: str = "configuration", *, is_write: bool = False) -> float:
        return times.ns(Access("drivers", device, space, 0, is_write, 0))

    port = 25.0  # of the switch, on each of its links, and 20 ns in it
    there, on = 50 + port, 20 + port
    assert ns("sw upstream port") == ns("sw downstream port 1") == pytest.approx(2 * there)
    assert ns("m1") == ns("m1", is_write=True) == ns("m0", "device") == pytest.approx(2 * (there + on) + 100)
    assert ns("m0", "component", is_write=True) == pytest.approx(there + on)  # posted
    assert ns("sw root port 0") == ns(ABSENT) == ns("sw host bridge", "component") == 0


def test_the_table_and_the_file_have_their_sums(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = TOPOLOGIES["direct"]  # 10 ns each way
    resolved = cx.System.from_yaml(text).resolve()
    times = Times(machine(text), resolved.plain(), describe(resolved))
    accesses = [
        Access("buses", "m0 root port 0", "configuration", 0x10, False, 1),
        *[Access("drivers", "m0", "configuration", 0x10, False, 1)] * 3,
        Access("drivers", "m0", "device", 0x20, True, 5, 8),
    ]
    show_enumeration(accesses, times, None)
    said = capsys.readouterr().err
    each = times.ns(accesses[1])
    assert f"{3 * each / 1000:.2f}" in said
    assert f"{times.ns(accesses[-1]) / 1000:.2f}" in said
    assert "io_time" in said
    file = tmp_path / "log.csv"
    show_enumeration(accesses, times, file)
    lines = file.read_text().splitlines()
    assert lines[0] == "step,device,space,register,way,value,bytes,posted,time_ns"
    assert lines[2] == f"drivers,m0,configuration,0x10,read,0x1,4,no,{each:.3f}"
    assert lines[5] == f"drivers,m0,device,0x20,write,0x5,8,yes,{times.ns(accesses[-1]):.3f}"
