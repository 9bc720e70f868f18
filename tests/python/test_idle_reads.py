"""`idle_read_ns` of `cxloom check`: what a read takes with nobody else about, by closed forms and by runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]


def test_check_says_how_long_an_idle_read_takes(tmp_path: Path, cxloom: Call) -> None:
    # Two memories of different media and distance: what runs of one read at a time, by either, find.
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "devices:\n"
        "  host: {kind: host, queue: 1}\n"
        "  sw:   {kind: switch}\n"
        "  near: {kind: memory, capacity: 1GiB}\n"
        "  far:  {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 100ns}}\n"
        "links:\n"
        "  - {between: [host, sw], bandwidth: 32GB/s}\n"
        "  - {between: [sw, near]}\n"
        "  - {between: [sw, far], delay: 7ns, errors: {every: 1}, phy: pcie5-x4}\n"
        "address_map:\n"
        "  - {to: [near]}\n"
        "  - {to: [far]}\n"
        "workload:\n"
        "  host: {pattern: random, reads: 100%, requests: 50, footprint: 1GiB}\n"
    )
    (route,) = json.loads(cxloom("check", spec, "--json").out)["routes"]
    idle = route["idle_read_ns"]
    clean = ("--json", "--quiet", "--set", "links[2].errors={}")
    near = json.loads(cxloom("run", spec, *clean).out)["latency_ns"]
    far = json.loads(cxloom("run", spec, *clean, "--set", "workload.host.base=0x40000000").out)["latency_ns"]
    assert near["min"] == near["max"] == idle["least"]
    assert far["min"] == far["max"] == idle["most"] > idle["least"] + 55
    assert idle["mean"] == (idle["least"] + idle["most"]) / 2
    table = cxloom("check", spec).out
    assert f"{idle['least']:.1f} to {idle['most']:.1f}, mean {idle['mean']:.1f}" in table


@pytest.mark.parametrize(
    ("region", "share"),
    [
        ("{to: [near, far], policy: weighted, weights: [3, 1]}", 3 / 4),
        ("{to: [far, near], policy: weighted, weights: [5, 2]}", 2 / 7),
        ("{to: [near, far], policy: capacity}", 1 / 4),
        ("{to: [near, far]}", 1 / 2),
        ("{to: near}, {to: far}", 1 / 4),
        ("{to: [near, far], size: 512MiB}, {to: far}", 256 / (512 + 2816)),
        ("{to: [near, far], size: 256B}, {to: far, size: 768B}", 1 / 4),
    ],
)
def test_each_address_counts_once_in_the_mean_of_idle_reads(
    tmp_path: Path, cxloom: Call, region: str, share: float
) -> None:
    """`share` of the addresses lead to the near memory: 50 ns there, 150 in the other."""
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "devices:\n"
        "  host: {kind: host}\n"
        "  near: {kind: memory, capacity: 1GiB, controller_time: 0ns, media: {kind: fixed, latency: 50ns}}\n"
        "  far: {kind: memory, capacity: 3GiB, controller_time: 0ns, media: {kind: fixed, latency: 150ns}}\n"
        "links: [{between: [host, near]}, {between: [host, far]}]\n"
        f"address_map: [{region}]\n"
    )
    (route,) = json.loads(cxloom("check", spec, "--json").out)["routes"]
    idle = route["idle_read_ns"]
    assert idle["most"] - idle["least"] == 100
    assert idle["mean"] == pytest.approx(idle["least"] + 100 * (1 - share))


def test_an_idle_read_of_a_logical_device_counts_as_often_as_its_addresses(
    tmp_path: Path, cxloom: Call
) -> None:
    """That of another host is answered with an error, and its addresses count nothing."""
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "devices:\n"
        "  'host[0-1]': {kind: host}\n"
        "  sw: {kind: switch}\n"
        "  mld: {kind: memory, controller_time: 0ns, media: {kind: fixed, latency: 50ns}, logical_devices: "
        "[{capacity: 1GiB, host: host0}, {capacity: 6GiB, host: host1}]}\n"
        "  far: {kind: memory, capacity: 3GiB, controller_time: 0ns, media: {kind: fixed, latency: 150ns}}\n"
        "links: [{between: ['host[*]', sw]}, {between: [mld, sw]}, {between: [far, sw]}]\n"
        "address_map: [{to: mld, ld: 0}, {to: mld, ld: 1}, {to: far}]\n"
    )
    routes = json.loads(cxloom("check", spec, "--json").out)["routes"]
    for route, part in zip(routes, (1 / 4, 6 / 9), strict=True):
        idle = route["idle_read_ns"]
        assert idle["mean"] == pytest.approx(idle["least"] + 100 * (1 - part)), route


def test_an_idle_read_is_one_that_the_beginning_answers_with_data(tmp_path: Path, cxloom: Call) -> None:
    # The first of two memories is bound to the host. The other one comes at once; an error would be faster than data.
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "devices:\n"
        "  'host[0-1]': {kind: host}\n"
        "  mem0: {kind: memory, capacity: 1GiB}\n"
        "  mem1: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 500ns}}\n"
        "  sw: {kind: switch, vcs: [{upstream: host0, bind: [mem0]}, {upstream: host1}]}\n"
        "links: [{between: ['host[0-1]', sw]}, {between: ['mem[0-1]', sw]}]\n"
        "address_map: [{to: [mem0]}, {to: [mem1]}]\n"
        "workload: {host0: {pattern: random, requests: 50, footprint: 1GiB}}\n"
        "events: [{at: 1ns, bind: {switch: sw, vcs: 0, vppb: 1, to: mem1}}]\n"
    )
    bound, nothing = json.loads(cxloom("check", spec, "--json").out)["routes"]
    idle = json.loads(cxloom("run", spec, "--json", "--quiet", "--set", "devices.host0.queue=1").out)
    assert bound["idle_read_ns"]["least"] == bound["idle_read_ns"]["most"] == idle["latency_ns"]["min"]
    assert nothing["idle_read_ns"] is None


def test_an_idle_read_is_before_anything_fails(tmp_path: Path, cxloom: Call) -> None:
    spec = tmp_path / "s.yaml"
    sound = (
        "devices: {host: {kind: host}, sw: {kind: switch}, 'mem[0-1]': {kind: memory, capacity: 1GiB}}\n"
        "links: [{between: [host, sw]}, {between: [sw, mem0]}, {between: [sw, mem1], delay: 100ns}]\n"
        "address_map: [{to: [mem0]}, {to: [mem1]}]\n"
        "workload: {host: {pattern: random, requests: 50, footprint: 1GiB}}\n"
    )
    found = []
    for events in ("", "events: [{at: 1ns, fail: {link: [sw, mem1], reroute_time: 0ns}}]\n"):
        spec.write_text(sound + events)
        found += [
            route["idle_read_ns"] for route in json.loads(cxloom("check", spec, "--json").out)["routes"]
        ]
    assert found[0] == found[1]
    assert found[1]["most"] == found[1]["least"] + 200


def test_an_idle_read_meets_no_refresh(tmp_path: Path, cxloom: Call) -> None:
    """Sixteen memories are read one after the other, over four refreshes, of which each takes 295 ns."""
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "devices:\n"
        "  host: {kind: host}\n"
        "  bus: {kind: bus}\n"
        "  mem[0-15]: {kind: memory, media: {kind: dram, preset: DDR5-4800}}\n"
        "links: [{between: [host, bus]}, {between: [bus, 'mem[*]']}]\n"
        "address_map: [{to: 'mem[*]'}]\n"
        "workload: {host: {pattern: random, requests: 50, footprint: 1GiB}}\n"
    )
    (route,) = json.loads(cxloom("check", spec, "--json").out)["routes"]
    idle = route["idle_read_ns"]
    assert idle["most"] - idle["least"] < 1  # where they fall in a cycle of the DRAM


def test_an_idle_read_is_of_each_logical_device(cxloom: Call) -> None:
    """In the example either host has other logical devices of the same memory."""
    example = Path(__file__).parents[2] / "examples" / "mld.yaml"
    first, last = (
        route["idle_read_ns"] for route in json.loads(cxloom("check", example, "--json").out)["routes"]
    )
    assert first["mean"] > 200
    assert abs(first["mean"] - last["mean"]) < 1  # where they fall in a cycle of the DRAM


def test_of_many_requesters_those_behind_the_first_say_that_they_were_left_out(
    tmp_path: Path, cxloom: Call
) -> None:
    def checked(hosts: int, memories: int, *more: str) -> str:
        spec = tmp_path / "s.yaml"
        spec.write_text(
            f"devices: {{'host[0-{hosts - 1}]': {{kind: host}}, sw: {{kind: switch}},"
            f" 'mem[0-{memories - 1}]': {{kind: memory, capacity: 1GiB}}}}\n"
            "links: [{between: ['host[*]', sw]}, {between: [sw, 'mem[*]']}]\n"
            "address_map: [{to: [mem0]}]\n"
            "workload: {'host[*]': {pattern: random, requests: 1}}\n"
        )
        return str(cxloom("check", spec, *more).out)

    routes = json.loads(checked(18, 1, "--json"))["routes"]
    assert [route["idle_read_ns"] is None for route in routes] == [False] * 16 + [True] * 2
    shown = [line.split() for line in checked(2, 2100).splitlines()]
    assert [line[2:] for line in shown if line[:1] == ["host1"]] == [["not", "worked", "out"]]
    assert "not worked out" not in checked(2, 4)
