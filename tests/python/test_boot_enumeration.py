"""The kernel's accesses to CXL devices: read from what QEMU writes, and given to the devices of the spec."""

from __future__ import annotations

import struct
from pathlib import Path

from boot_support import TOPOLOGIES, machine

from cxloom.booting.enumeration import (
    ABSENT,
    Access,
    Places,
    bars,
    bridge_registers,
    counted_by,
    functions_of,
)
from cxloom.booting.tracing import Trace, Traced, traced

WAYS = """\
0x2 /sys/devices/pci0000:0c/0000:0c:00.0/0000:0d:00.0/0000:0e:01.0/0000:10:00.0/mem0
0x1 /sys/devices/pci0000:0c/0000:0c:00.0/0000:0d:00.0/0000:0e:00.0/0000:0f:00.0/mem1
"""
"""Two devices behind a switch, the second found first."""


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
        Traced("", "mailbox", True, 0xFD810090, 0x400),
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
