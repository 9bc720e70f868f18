"""Errors about where pages go say what is the matter: whose memory it is, and where a key belongs."""

from __future__ import annotations

from pathlib import Path

import pytest

import cxloom as cx
from cxloom.spec.override import Override
from cxloom.system.simulation import describe

SPEC = """\
devices:
  h[0-1]: {kind: host}
  sw: {kind: switch}
  mld:
    kind: memory
    media: {kind: fixed, latency: 45ns}
    logical_devices: [{capacity: 1GiB, host: h0}, {capacity: 1GiB, host: h1}]
  other: {kind: memory, logical_devices: [{capacity: 1GiB, host: h1}], media: {kind: fixed, latency: 45ns}}
  mem: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}
links: [{between: ["h[*]", sw]}, {between: [sw, mld]}, {between: [sw, other]}, {between: [sw, mem]}]
address_map: [{to: mld, ld: 0}, {to: mld, ld: 1}, {to: other, ld: 0}, {to: mem}]
workload:
  h0: {pattern: random, requests: 10, footprint: 1MiB, addresses: first-touch}
"""


def refusal(**overrides: object) -> cx.InputError:
    """What checking says of the system with these values."""
    system = cx.System.from_yaml(SPEC)
    with pytest.raises(cx.InputError) as error:
        describe(
            system.resolve([Override.of(path.replace("__", "."), value) for path, value in overrides.items()])
        )
    return error.value


@pytest.mark.parametrize("key", ["to", "from"])
@pytest.mark.parametrize("memory", ["mld ld 1", "other ld 0", "other"])
def test_pages_do_not_move_to_memory_of_another_host(key: str, memory: str) -> None:
    move = {"requester": "h0", "from": "mem", "to": "mem"} | {key: memory}
    error = refusal(events=[{"at": "1us", "move_pages": move}])
    assert error.path == f"events[0].move_pages.{key}"
    assert error.problem.startswith("this memory belongs to another device")
    assert (error.found, error.allowed) == (f"'{memory}' of 'h1'", "mld ld 0 or mem")


@pytest.mark.parametrize("memory", ["mld ld 1", "other ld 0", "other"])
@pytest.mark.parametrize("kind", ["bind", "interleave", "preferred"])
def test_pages_are_not_placed_in_memory_of_another_host(kind: str, memory: str) -> None:
    error = refusal(workload__h0__addresses={"kind": kind, "nodes": ["mem", memory]})
    assert error.path == "workload.h0.addresses.nodes[1]"
    assert error.problem.startswith("this memory belongs to another device")
    assert (error.found, error.allowed) == (f"'{memory}' of 'h1'", "mld ld 0 or mem")


def test_a_name_of_no_memory_is_still_one() -> None:
    error = refusal(workload__h0__addresses={"kind": "bind", "nodes": ["mld ld 7"]})
    assert error.problem.startswith("no node of this device has such a memory")


@pytest.mark.parametrize("kind", ["first-touch", "bind"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("touched", "during"),
        ("frames", "contiguous"),
        ("page", "2MiB"),
        ("footprint", "1MiB"),
        ("rate", "1GB/s"),
    ],
)
def test_a_key_of_the_workload_within_addresses_is_sent_there(kind: str, key: str, value: str) -> None:
    nodes = {"nodes": ["mem"]} if kind == "bind" else {}
    error = refusal(workload__h0__addresses={"kind": kind, key: value, **nodes})
    assert error.path == f"workload.h0.addresses.{key}"
    takes = "nodes" if nodes else "no parameters here"
    assert error.allowed == f"{takes}; '{key}' belongs beside 'addresses', in workload.h0"
    assert error.suggestion == ""


def test_a_key_of_a_device_within_its_media_is_sent_there() -> None:
    error = refusal(devices__mem__media={"kind": "fixed", "latency": "45ns", "controller_time": "40ns"})
    assert error.allowed.endswith("; 'controller_time' belongs beside 'media', in devices.mem")


def test_a_key_that_nothing_takes_has_its_nearest_name() -> None:
    error = refusal(workload__h0__addresses={"kind": "bind", "nods": ["mem"]})
    assert (error.allowed, error.suggestion) == ("nodes", "nodes")


def test_a_memory_without_room_for_a_page_has_a_way(tmp_path: Path) -> None:
    trace = tmp_path / "one.trace"
    trace.write_text("0x0 R\n")
    small = """
devices:
  h: {kind: host}
  mem: {kind: memory, capacity: 1MiB, media: {kind: fixed, latency: 45ns}}
links: [{between: [h, mem]}]
address_map: [{to: mem}]
workload: {h: {addresses: first-touch, page: 2MiB, %s}}
"""
    with pytest.raises(cx.InputError, match="the footprint is larger") as error:
        cx.run(cx.System.from_yaml(small % "pattern: random, requests: 1, footprint: 4KiB"))
    assert error.value.allowed == "at most 0B in whole pages of 2MiB"
    with pytest.raises(cx.InputError, match="out of memory") as error:
        cx.run(cx.System.from_yaml(small % f"trace: {trace}"))
    assert error.value.found == "a page of 2MiB"
    assert error.value.allowed.startswith("a memory with room for one")


LIMITED = {"kind": "preferred", "nodes": ["mld", "mem"], "limit": "512KiB"}


@pytest.mark.parametrize("touched", ["before", "during"])
@pytest.mark.parametrize(
    "addresses",
    [LIMITED, {"kind": "ranges", "ranges": [{"base": 0, "size": "1GiB", "place": LIMITED}]}],
    ids=["preferred", "ranges"],
)
def test_a_footprint_beyond_a_limit_is_the_footprints_fault(addresses: object, touched: str) -> None:
    """All memory is preferred, so that none is left to spill over to; each memory alone had room for the footprint."""
    error = refusal(workload__h0__addresses=addresses, workload__h0__touched=touched)
    assert error.path == "workload.h0.footprint"
    assert error.problem.startswith("the footprint is larger than the memory that its pages may be in")
    assert (error.found, error.allowed) == ("1MiB", "at most 512KiB in whole pages of 4KiB")


def test_what_is_beyond_a_limit_spills_over_where_there_is_other_memory() -> None:
    limited = LIMITED | {"nodes": ["mem"]}
    found = cx.run(cx.System.from_yaml(SPEC).set("workload.h0.addresses", limited)).summary
    assert dict(found["per_requester"]["h0"]["pages"]) == {"mld ld 0": 128, "mem": 128}
