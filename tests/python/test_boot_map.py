"""The kernel's decoders held against the address map of the spec."""

from __future__ import annotations

from dataclasses import replace

import pytest
from boot_support import TOPOLOGIES, closed_form, listed, machine
from hypothesis import given
from hypothesis import strategies as st

from cxloom.base.errors import InputError, SimulationError
from cxloom.booting.comparison import check_map, mapped_sets
from cxloom.booting.decoded import KernelMap
from cxloom.booting.decoders import Level, levels
from cxloom.booting.machine import UNIT, Endpoint, HostBridge, InterleaveSet, Machine, RamNode, Switch

BASE = 0x110000000


def interleaved(bridges: int, ports: int, fan: int, granularity: int) -> Machine:
    """A set over so many bridges, each with so many root ports, each with so many devices: neighbours far apart."""
    places = [(b, p, d) for d in range(fan) for p in range(ports) for b in range(bridges)]
    devices = {place: Endpoint(f"m{serial}", UNIT, serial) for serial, place in enumerate(places, 1)}
    made = []
    for b in range(bridges):
        below = [
            Switch(f"s{b}.{p}", tuple(devices[b, p, d] for d in range(fan))) if fan > 1 else devices[b, p, 0]
            for p in range(ports)
        ]
        made.append(HostBridge(f"b{b}", tuple(below)))
    names = tuple(devices[place].name for place in places)
    wanted = InterleaveSet("address_map[1]", names, granularity, UNIT * len(names))
    return Machine("host", (RamNode(("local",), 1 << 30),), tuple(made), (wanted,))


@given(
    st.sampled_from(
        [(1, 1, 1), (1, 2, 1), (2, 1, 1), (2, 2, 1), (1, 1, 4), (2, 1, 2), (2, 2, 2), (4, 1, 1), (4, 2, 2)]
    ),
    st.sampled_from([256, 512, 1024, 2048]),
    st.integers(0, UNIT - 1),
)
def test_decoders_of_all_levels_together_are_the_address_map(
    shape: tuple[int, int, int], granularity: int, offset: int
) -> None:
    made = interleaved(*shape, granularity)
    (wanted,) = made.sets
    kernel = KernelMap(listed(made, BASE, [levels(made, wanted)]))
    names = {each.serial: each.name for each in made.endpoints()}
    found = kernel.locate(BASE + offset)
    assert found is not None
    assert (names[found[0]], found[1]) == closed_form(wanted, offset)
    assert check_map(made, kernel) > 100


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_the_map_of_each_topology_passes(name: str) -> None:
    made = machine(TOPOLOGIES[name])
    kernel = KernelMap(listed(made, BASE, [levels(made, each) for each in made.sets]))
    assert [mapped.base for mapped in mapped_sets(made, kernel)] == [
        BASE + sum(each.size for each in made.sets[:number]) for number in range(len(made.sets))
    ]
    check_map(made, kernel)


def wrong_granularity(found: dict[str, Level]) -> dict[str, Level]:
    return found | {"bridge b0": Level(2, found["bridge b0"].granularity * 2)}


def wrong_device(found: dict[str, Level]) -> dict[str, Level]:
    return found | {"device m1": Level(4, 512)}


@pytest.mark.parametrize("change", [wrong_granularity, wrong_device])
def test_a_difference_is_an_error(change: object) -> None:
    assert callable(change)
    made = interleaved(2, 2, 1, 256)
    kernel = KernelMap(listed(made, BASE, [change(levels(made, made.sets[0]))]))
    with pytest.raises(SimulationError, match=r"lead byte 0x[0-9a-f]+ of address_map\[1\] to m\d"):
        check_map(made, kernel)


def test_targets_in_another_order_are_an_error() -> None:
    made = interleaved(2, 1, 1, 256)
    other = replace(made, sets=(replace(made.sets[0], targets=made.sets[0].targets[::-1]),))
    kernel = KernelMap(listed(other, BASE, [levels(other, other.sets[0])]))
    with pytest.raises(SimulationError, match=r"byte 0x0 .* to m2, 0x0; the address map has it at m1, 0x0"):
        check_map(made, kernel)


def test_windows_of_other_sizes_are_an_error() -> None:
    made = machine(TOPOLOGIES["two bridges"])
    one = replace(made, sets=made.sets[:1])
    kernel = KernelMap(listed(one, BASE, [levels(one, one.sets[0])]))
    with pytest.raises(SimulationError, match="the kernel has windows of"):
        check_map(made, kernel)


def test_decoders_that_are_not_set_lead_nowhere() -> None:
    made = machine(TOPOLOGIES["direct"])
    said = listed(made, BASE, [levels(made, made.sets[0])])
    said[0]["ports:root0"][0]["endpoints:port"][0]["decoders:endpoint"] = []
    with pytest.raises(SimulationError, match=r"lead byte 0x0 of .* nowhere"):
        check_map(made, KernelMap(said))


def test_a_switch_cannot_take_turns_above_16_kib() -> None:
    made = interleaved(2, 1, 2, 16384)
    with pytest.raises(InputError, match="would take turns of 32768 B") as error:
        levels(made, made.sets[0])
    assert error.value.path == "address_map[1]"


def test_a_device_has_four_decoders() -> None:
    from cxloom.booting.decoders import check_decoders

    device = Endpoint("m1", 5 * UNIT, 1)
    regions = tuple(InterleaveSet(f"address_map[{each}]", ("m1",), 256, UNIT) for each in range(5))
    ram = (RamNode(("local",), 1 << 30),)
    check_decoders(Machine("host", ram, (HostBridge("b", (device,)),), regions[:4]))
    with pytest.raises(InputError, match="too many regions of 'm1'"):
        check_decoders(Machine("host", ram, (HostBridge("b", (device,)),), regions))
