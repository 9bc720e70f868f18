"""What the kernel is told of latency and bandwidth, as measured on the simulated system."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from boot_support import TOPOLOGIES, machine

import cxloom as cx
from cxloom.booting.arguments import machine_arguments, table_files, write_tables
from cxloom.booting.cdat import device_table, switch_table
from cxloom.booting.firmware import LINK_NS, Figures, Firmware, firmware_of
from cxloom.booting.machine import InterleaveSet, Machine
from cxloom.booting.performance import Performance, measured
from cxloom.booting.system import machine_of_system


@pytest.mark.parametrize(
    ("preset", "latency", "bandwidth"),
    [
        # docs/model of the presets: 65 + 65; 130 + 2 x 62 + 30; 284 + 90; 284 + 2 x 100
        ("dmsim/local", {"local": 130}, {"local": 35200}),
        ("dmsim/asic", {"local": 130, "cxl": 284}, {"local": 35200, "cxl": 32300}),
        ("dmsim/fpga", {"local": 130, "cxl": 374}, {"cxl": 12500}),
        ("dmsim/switch", {"local": 130, "cxl": 484}, {"cxl": 32300}),
    ],
)
def test_the_figures_are_the_closed_forms(
    preset: str, latency: dict[str, int], bandwidth: dict[str, int]
) -> None:
    resolved = cx.load(preset).resolve()
    made = machine_of_system(resolved)
    found = measured(resolved, made)
    assert {"+".join(node): each.idle_ns for node, each in found.items()} == latency
    for name, expected in bandwidth.items():
        assert found[name,].mb_per_s == pytest.approx(expected, rel=0.01)
    told = firmware_of(made, found)
    assert told is not None
    assert told.ram[0].ns == latency["local"]
    for name in (each.name for each in made.endpoints()):
        switches = [each.ns for each in told.switches.values()]
        links = LINK_NS * (1 + len(switches))
        assert told.bridges[0].ns + sum(switches) + told.devices[name].ns + links == latency[name]


def test_a_set_shares_its_bandwidth_and_a_node_without_a_number_leaves_all_out() -> None:
    made = machine(TOPOLOGIES["four ways over bridges and ports"])
    known = {
        ("local",): Performance(95, 10, 0, 40000),
        ("m0", "m1", "m2", "m3"): Performance(235, 10, 0, 20000),
    }
    told = firmware_of(made, known)
    assert told == Firmware(
        ram=(Figures(95, 40000),),
        bridges=(Figures(10, 10000), Figures(10, 10000)),
        switches={},
        devices={f"m{number}": Figures(224, 5000) for number in (0, 2, 1, 3)},
    )
    del known["local",]
    assert firmware_of(made, known) is None


def test_a_device_has_the_figures_of_the_node_that_it_shares_the_least() -> None:
    made = machine(TOPOLOGIES["a switch with two devices"])
    alone = InterleaveSet("address_map[2]", ("m1",), 256, 256 << 20)
    both = Machine(made.host, made.ram, made.bridges, (*made.sets, alone))
    known = {
        ("local",): Performance(95, 10, 0, 40000),
        ("m0", "m1"): Performance(235, 10, 40, 18000),
        ("m1",): Performance(240, 10, 40, 12000),
    }
    told = firmware_of(both, known)
    assert told is not None
    assert told.devices == {"m1": Figures(240 - 50 - 2, 12000), "m0": Figures(235 - 50 - 2, 9000)}
    assert told.switches == {"sw": Figures(40, 18000)}
    assert told.bridges == (Figures(10, 18000),)


# --- tables ---------------------------------------------------------------------------------------------------------


def rows(table: bytes) -> list[bytes]:
    """The rows behind the header, each of the length that it says."""
    length, revision, _, *_ = struct.unpack_from("<IBB", table)
    assert (length, revision) == (len(table), 1)
    assert sum(table) % 256 == 0
    found, at = [], 16
    while at < len(table):
        size = struct.unpack_from("<H", table, at + 2)[0]
        found.append(table[at : at + size])
        at += size
    return found


def told_by(table: bytes) -> dict[int, int]:
    """Latency in ps and bandwidth in MB/s by the kind of data: of reads and writes, each by unit times entry."""
    found = {}
    for row in rows(table):
        if row[0] == 1:
            unit, entry = struct.unpack_from("<QH", row, 8)
            found[row[6]] = unit * entry
        if row[0] == 5:
            (unit,) = struct.unpack_from("<Q", row, 8)
            entries = [struct.unpack_from("<HHHH", row, at) for at in range(16, len(row), 8)]
            assert [(one, other) for one, other, _, _ in entries] == [
                (0x100, port) for port in range(len(entries))
            ]
            (value,) = {unit * value for _, _, value, _ in entries}
            found[row[4]] = value
    return found


def test_the_table_of_a_device() -> None:
    table = device_table(1 << 30, 219, 32337)
    assert told_by(table) == {1: 219_000, 2: 219_000, 4: 32337, 5: 32337}
    first, last = rows(table)[0], rows(table)[-1]
    assert struct.unpack("<BBHBBHQQ", first) == (0, 0, 24, 0, 0, 0, 0, 1 << 30)
    assert struct.unpack("<BBHBBHQQ", last) == (4, 0, 24, 0, 0, 0, 0, 1 << 30)


def test_the_table_of_a_switch() -> None:
    assert told_by(switch_table(3, 200, 60000)) == {1: 200_000, 2: 200_000, 4: 60000, 5: 60000}


def test_a_figure_that_an_entry_cannot_hold_has_a_larger_unit() -> None:
    found = told_by(device_table(1 << 30, 70_000, 512_000))
    assert found[1] == pytest.approx(70_000_000, rel=1e-4)
    assert found[4] == pytest.approx(512_000, rel=1e-4)
    assert 0xFFFF not in struct.unpack_from("<H", rows(device_table(1 << 30, 1, 65535))[3], 16)


def test_options_tell_what_there_is(tmp_path: Path) -> None:
    """Windows come before bridges in the numbers of nodes: the kernel numbers them so, whatever has these numbers."""
    made = machine(TOPOLOGIES["a switch with two devices"])
    told = Firmware((Figures(95, 40000),), (Figures(10, 18000),), {"sw": Figures(40, 18000)}, {})
    told = Firmware(
        told.ram, told.bridges, told.switches, {name: Figures(180, 9000) for name in ("m0", "m1")}
    )
    options = machine_arguments(made, told, tmp_path)
    said = " ".join(options)
    assert options[1].startswith("q35,cxl=on,hmat=on,")
    assert (
        "-numa node,nodeid=1 -numa node,nodeid=2 -object acpi-generic-port,id=way0,pci-bus=bridge0,node=2 "
        in said
    )
    line = "-numa hmat-lb,initiator=0,target={},hierarchy=memory,data-type=access-{}"
    assert f"{line.format(0, 'latency')},latency=95 {line.format(0, 'bandwidth')},bandwidth=40000M" in said
    assert f"{line.format(2, 'latency')},latency=10 {line.format(2, 'bandwidth')},bandwidth=18000M" in said
    write_tables(made, told, tmp_path)
    files = table_files(made)
    for name, count in (("sw", "cxl-upstream"), ("m0", "cxl-type3"), ("m1", "cxl-type3")):
        (option,) = [
            each
            for each in options
            if each.startswith(count) and each.endswith(f"cdat={tmp_path}/{files[name]}")
        ]
        assert option
    assert told_by((tmp_path / files["sw"]).read_bytes())[1] == 40_000
    assert told_by((tmp_path / files["m1"]).read_bytes())[4] == 9000
