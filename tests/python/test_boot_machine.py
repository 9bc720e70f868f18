"""The machine that a spec comes to, and the options of QEMU that make it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from boot_support import TOPOLOGIES, machine, system
from hypothesis import given
from hypothesis import strategies as st

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.booting.arguments import machine_arguments
from cxloom.booting.machine import Endpoint, HostBridge, InterleaveSet, Machine, RamNode, Span, Switch
from cxloom.booting.memory import check_memory
from cxloom.booting.performance import measured
from cxloom.booting.system import machine_of_system
from cxloom.spec.override import Override

GIB = 1 << 30
MIB = 1 << 20


def test_each_link_of_a_host_is_a_bridge() -> None:
    found = machine(TOPOLOGIES["direct"])
    assert found.ram == (RamNode(("local",), GIB, (Span(0, GIB),)),)
    assert found.bridges == (HostBridge("m0", (Endpoint("m0", 256 * MIB, 1),)),)
    assert found.sets == (InterleaveSet("address_map[1]", ("m0",), 256, 256 * MIB, GIB),)


def test_a_root_port_of_the_spec_is_a_bridge_with_a_port_for_each_device() -> None:
    (bridge,) = machine(TOPOLOGIES["two devices on one bridge"]).bridges
    assert bridge.name == "p"
    assert [below.name for below in bridge.below] == ["m0", "m1"]
    assert [each.name for each in machine(TOPOLOGIES["two bridges"]).bridges] == ["p0", "p1"]


def test_a_switch_hangs_on_a_port() -> None:
    (bridge,) = machine(TOPOLOGIES["a switch with two devices"]).bridges
    (switch,) = bridge.below
    assert isinstance(switch, Switch)
    assert [each.name for each in switch.endpoints] == ["m0", "m1"]


TWO_HOSTS = """
devices:
  host[0-1]: {kind: host}
  local: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}
  sw: {kind: switch, vcs: [{upstream: host0, vppbs: 4, bind: [m0]}, {upstream: host1, vppbs: 4}]}
  m[0-1]: {kind: memory, capacity: 512MiB, media: {kind: fixed, latency: 45ns}}
links:
  - {between: [host0, local], port_delay: 0ns}
  - {between: [sw, "host[*]"]}
  - {between: [sw, "m[*]"]}
address_map: [{to: local}, {to: m0}, {to: m1}]
"""


def test_memory_that_is_bound_to_no_virtual_switch_of_the_host_is_left_out() -> None:
    found = machine(TWO_HOSTS, "host0")
    assert [each.targets for each in found.sets] == [("m0",)]
    assert found.ram[0].memories == ("local",)
    assert [note for note in found.notes if "left out" in note] == [
        "m1: none of host0's, left out",
        "as host0 sees it: host1 is left out",
    ]
    assert {"+".join(each) for each in measured(cx.System.from_yaml(TWO_HOSTS).resolve(), found)} == {
        "local",
        "m0",
    }
    with pytest.raises(InputError, match="host1 has a way to none of the memory"):
        machine(TWO_HOSTS, "host1")


POD = """
devices:
  host[0-1]: {kind: host}
  own[0-1]: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}
  sw: {kind: switch}
  pool: {kind: memory, capacity: 512MiB, media: {kind: fixed, latency: 45ns}}
links:
  - {between: [host0, own0], port_delay: 0ns}
  - {between: [host1, own1], port_delay: 0ns}
  - {between: [sw, "host[*]"]}
  - {between: [sw, pool]}
address_map: [{to: own0}, {to: own1}, {to: pool}]
"""


@pytest.mark.parametrize("host", [0, 1])
def test_a_server_of_a_pod_boots_with_its_own_memory_and_the_pool(host: int) -> None:
    found = machine(POD, f"host{host}")
    assert [(each.memories, each.size) for each in found.ram] == [((f"own{host}",), GIB)]
    assert [each.targets for each in found.sets] == [("pool",)]
    assert f"own{1 - host}: none of host{host}'s, left out" in found.notes


def test_memory_of_which_the_host_has_extents_alone_is_refused() -> None:
    extents = "dynamic_capacity: {extents: [{base: 0GiB, size: 256MiB, host: host0}]}"
    text = TWO_HOSTS.replace("capacity: 512MiB,", f"capacity: 512MiB, {extents},")
    with pytest.raises(InputError, match="no extents") as error:
        machine(text, "host0")
    assert (error.value.found, error.value.line) == ("256 of 512 MiB", 11)
    with pytest.raises(InputError, match="host0 shares extents of this memory") as shared:
        machine(text.replace("host: host0}", "host: host0, tag: log}"), "host0")
    assert shared.value.line == 11


def test_devices_have_what_the_address_map_has_of_them() -> None:
    regions = ['"m[*]", interleave: 512B, size: 256MiB', "m0, size: 128MiB"]
    text = system("m[0-1]", "p: {kind: root-port, depth: 8}", ["[host, p]", '[p, "m[*]"]'], regions)
    with pytest.raises(InputError, match="multiple of 512 MiB"):
        machine(text)
    wide = (
        text.replace("256MiB,", "1GiB,", 1)
        .replace("size: 256MiB", "size: 512MiB")
        .replace("128MiB", "256MiB")
    )
    found = machine(wide)
    assert [(each.granularity, each.size) for each in found.sets] == [(512, 512 * MIB), (256, 256 * MIB)]
    assert [each.capacity for each in found.endpoints()] == [512 * MIB, 256 * MIB]


@pytest.mark.parametrize(
    ("preset", "own", "on_cxl"),
    [
        ("dmsim/asic", ["local"], ["cxl"]),
        ("dmsim/switch", ["local"], ["cxl"]),
        ("memory/local-remote-cxl", ["local"], ["remote", "cxl"]),
        ("server/epyc-9354", ["local0+local1+local2"], []),
    ],
)
def test_memory_behind_links_that_take_time_is_on_cxl(preset: str, own: list[str], on_cxl: list[str]) -> None:
    found = machine_of_system(cx.load(preset).resolve())
    assert ["+".join(node.memories) for node in found.ram] == own
    assert [each.name for each in found.endpoints()] == on_cxl


def test_the_work_of_a_spec_is_not_looked_at() -> None:
    """Its workload has a footprint of 2 GiB in the memory that is smaller here."""
    overrides = [Override.of("devices.cxl.capacity", "1GiB")]
    found = machine_of_system(cx.load("dmsim/asic").resolve(overrides))
    assert [each.capacity for each in found.endpoints()] == [GIB]


def test_local_says_which_memory_is_the_hosts_own() -> None:
    found = machine_of_system(cx.load("memory/local-remote-cxl").resolve(), local=["local", "re*"])
    assert [node.memories for node in found.ram] == [("local",), ("remote",)]
    assert [each.name for each in found.endpoints()] == ["cxl"]


def test_a_host_without_memory_of_its_own_gets_some_and_that_is_said() -> None:
    found = machine_of_system(cx.load("expander/x16-ddr5").resolve())
    # 1 GiB, and a 48th of the 64 GiB on CXL, up to the next 256 MiB.
    assert found.ram == (RamNode((), 2 * GIB + 512 * MIB),)
    assert any("2560 MiB of RAM are added" in note for note in found.notes)


@pytest.mark.parametrize(("capacity", "told"), [("16GiB", False), ("64GiB", True)])
def test_much_memory_on_cxl_is_said_to_take_time(capacity: str, told: bool) -> None:
    found = machine_of_system(cx.load("dmsim/asic").resolve([Override.of("devices.cxl.capacity", capacity)]))
    assert any("takes 64 GiB on CXL into use" in note for note in found.notes) == told


def test_a_kernel_needs_ram_for_the_memory_on_cxl() -> None:
    """64 GiB with 1 GiB of RAM panicked when they were taken into use."""
    text = TOPOLOGIES["direct"].replace("capacity: 256MiB", "capacity: 16GiB")
    assert machine(text).ram[0].size == GIB
    with pytest.raises(InputError, match="too little memory of its own for a kernel that keeps") as error:
        machine(text.replace("16GiB", "64GiB"))
    assert error.value.found == "1024 MiB, and 64 GiB on CXL"
    assert error.value.path == "devices.local"


def test_other_hosts_are_left_out_when_one_is_chosen() -> None:
    text = TOPOLOGIES["a switch with two devices"].replace("host: {", "host: {kind: host}\n  other: {", 1)
    text = text.replace("links:", "links:\n  - {between: [other, sw]}")
    with pytest.raises(InputError) as error:
        machine(text)
    assert "--host host" in error.value.allowed
    found = machine(text, "host")
    assert "as host sees it: other is left out" in found.notes


def test_memory_of_an_accelerator_stays_and_its_work_is_left_out() -> None:
    example = cx.load(Path(__file__).parents[2] / "examples" / "near-memory.yaml")
    notes = machine_of_system(example.resolve([Override.of("devices.local.capacity", "4GiB")])).notes
    assert "near: memory on CXL" in notes
    assert "as host sees it: the work of near is left out" in notes


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (
            system("m[0-1]", "b: {kind: bus}", ["[host, b], delay: 10ns", '[b, "m[*]"]'], ["m0", "m1"]),
            "devices.b",
            "no bus before memory",
        ),
        (
            system("m0", "s[0-1]: {kind: switch}", ["[host, s0]", "[s0, s1]", "[s1, m0]"], ["m0"]),
            "devices.m0",
            "one level of switches",
        ),
        (
            system(
                "m[0-3]",
                "p[0-1]: {kind: root-port, depth: 8}",
                ['[host, "p[*]"]', '[p0, "m[0-1]"]', '[p1, "m[2-3]"]'],
                ['"m[*]"'],
            ),
            "address_map[1]",
            "go round the host bridges in turn",
        ),
        (
            system("m[0-2]", "p: {kind: root-port, depth: 8}", ["[host, p]", '[p, "m[*]"]'], ['"m[*]"']),
            "address_map[1]",
            "no interleave of 3 ways",
        ),
        (
            system(
                "m[0-1]", "", ['[host, "m[*]"], delay: 10ns'], ['"m[*]", policy: weighted, weights: [2, 1]']
            ),
            "address_map[1]",
            "each device as much as the others",
        ),
        (
            system("m0", "", ["[host, m0], delay: 10ns"], ["m0, size: 128MiB"]),
            "address_map[1]",
            "a region that decoders cannot have",
        ),
        (
            system("m0", "", ["[host, m0], delay: 10ns"], ["[local, m0]"]).replace("  - {to: local}\n", ""),
            "address_map[0]",
            "the host's own memory and CXL together",
        ),
        (TOPOLOGIES["direct"].replace("1GiB", "256MiB"), "devices.local.capacity", "too little memory"),
        (TOPOLOGIES["direct"].replace("1GiB", "1TiB"), "devices", "more memory than QEMU's processor"),
        (
            TOPOLOGIES["direct"].replace("{to: m0}", "{to: m0, persistence: media}"),
            "address_map[1]",
            "persistent",
        ),
    ],
)
def test_what_a_machine_of_qemu_cannot_have_is_refused_at_its_place(text: str, place: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        machine(text)
    assert error.value.path == place or place.startswith(error.value.path)
    assert error.value.file == "system.yaml"
    assert error.value.line is not None


def test_a_memory_behind_a_bus_may_be_local() -> None:
    """As that of another socket, which the message says."""
    text = system("m0", "b: {kind: bus}", ["[host, b], delay: 10ns", "[b, m0]"], ["m0"])
    with pytest.raises(InputError, match="no bus before memory") as error:
        machine(text)
    assert "--local" in str(error.value)
    assert [node.memories for node in machine(text, local=["*"]).ram] == [("local",), ("m0",)]


def test_a_memory_that_is_not_there_cannot_be_local() -> None:
    with pytest.raises(InputError, match="no memory of the address map") as error:
        machine(TOPOLOGIES["direct"], local=["far"])
    assert error.value.path == "--local"


def test_too_little_memory_of_this_computer_is_an_error() -> None:
    """A kernel has 64 B of each page of 4 KiB: a 64th of 64 GiB is 1 GiB."""
    large = Machine("host", (RamNode(("local",), 64 * GIB),), (), ())
    check_memory(large, GIB + 500 * MIB)
    with pytest.raises(InputError, match="too large for this computer"):
        check_memory(large, GIB)


# --- options ---------------------------------------------------------------------------------------------------------


def test_the_options_of_a_small_machine() -> None:
    assert machine_arguments(machine(TOPOLOGIES["direct"])) == [
        *(
            "-machine",
            "q35,cxl=on,cxl-fmw.0.targets.0=bridge0,cxl-fmw.0.size=268435456,cxl-fmw.0.interleave-granularity=256",
        ),
        *("-accel", "tcg", "-cpu", "max,-hypervisor,-erms,-fsrm,-la57", "-smp", "1", "-m", "1073741824B"),
        *("-object", "memory-backend-ram,id=ram0,size=1073741824B,reserve=off"),
        *("-numa", "node,nodeid=0,memdev=ram0,cpus=0"),
        *("-object", "memory-backend-ram,id=memory1,size=268435456B,reserve=off"),
        *("-device", "pxb-cxl,id=bridge0,bus=pcie.0,bus_nr=12"),
        *("-device", "cxl-rp,id=bridge0.port0,bus=bridge0,port=0,chassis=0,slot=0,x-speed=64,x-width=16"),
        *(
            "-device",
            "cxl-type3,id=device1,bus=bridge0.port0,volatile-memdev=memory1,sn=1,x-speed=64,x-width=16",
        ),
        *("-device", "cxl-rp,id=bridge0.port1,bus=bridge0,port=1,chassis=0,slot=1,x-speed=64,x-width=16"),
    ]


def test_devices_that_are_disks_have_labels() -> None:
    options = machine_arguments(machine(TOPOLOGIES["direct"]), persistent=True)
    assert "memory-backend-ram,id=labels1,size=1048576B,reserve=off" in options
    assert any("persistent-memdev=memory1,lsa=labels1,sn=1" in each for each in options)
    assert not any("volatile" in each for each in options)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Machines of any shape: bridges, each with ports, each with a device or a switch of devices."""
    number = iter(range(1, 1000))

    def endpoint() -> Endpoint:
        serial = next(number)
        return Endpoint(f"m{serial}", 256 * MIB, serial)

    bridges = []
    for name in range(draw(st.integers(1, 4))):
        below: list[Endpoint | Switch] = []
        for port in range(draw(st.integers(1, 3))):
            fan = draw(st.integers(0, 3))
            below.append(
                Switch(f"s{name}.{port}", tuple(endpoint() for _ in range(fan))) if fan else endpoint()
            )
        bridges.append(HostBridge(f"b{name}", tuple(below)))
    ram = tuple(RamNode((f"r{node}",), GIB) for node in range(draw(st.integers(1, 3))))
    whole = Machine("host", ram, tuple(bridges), ())
    sets = [
        InterleaveSet(f"address_map[{each.serial}]", (each.name,), 256, each.capacity)
        for each in whole.endpoints()
    ]
    return Machine("host", ram, tuple(bridges), tuple(sets))


@given(machines())
def test_options_name_what_there_is_and_buses_do_not_meet(made: Machine) -> None:
    options = machine_arguments(made)
    said = [
        dict(part.partition("=")[::2] for part in each.split(","))
        for each in options
        if re.search(r"\bid=", each)
    ]
    names = [each["id"] for each in said]
    assert len(set(names)) == len(names)
    for each in said:
        for key in ("bus", "volatile-memdev"):
            assert each.get(key, "pcie.0") in {*names, "pcie.0"}
    devices = [each for each in options if each.startswith("cxl-type3")]
    assert len(devices) == len(list(made.endpoints()))
    # A bus for each device that hangs on a port, and one within each switch; those of a bridge lie before the next.
    firsts = [int(number) for number in re.findall(r"bus_nr=(\d+)", " ".join(options))]
    needed = [
        1 + sum(2 + len(below.endpoints) if isinstance(below, Switch) else 1 for below in bridge.below)
        for bridge in made.bridges
    ]
    assert all(
        after >= first + count for (first, after), count in zip(pairwise(firsts), needed, strict=False)
    )
    slots = re.findall(r"chassis=(\d+),slot=(\d+)", " ".join(options))
    assert len(set(slots)) == len(slots)
    # Each bridge and each switch has two ports at least.
    for parent in [name for name in names if re.fullmatch(r"bridge\d+|.*\.up", name)]:
        assert sum(each.get("bus") == parent for each in said) >= 2
