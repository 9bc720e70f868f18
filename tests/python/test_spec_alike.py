"""Devices that are declared by another one: `like`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from validation.examples import slow

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.spec import read_text, resolve
from cxloom.spec.jsonschema import schema

Call = Callable[..., Any]

BASE = """
devices:
  host: {kind: host, queue: 32}
  sw: {kind: switch}
  cxl: {kind: memory, capacity: 64GiB, controller_time: 49ns, media: {kind: dram, preset: DDR5-4800, channels: 2}}
DEVICES
links:
  - {between: [host, sw], delay: 5ns}
  - {between: [cxl, sw], bandwidth: 32GB/s, reverse: {bandwidth: 16GB/s}}
LINKS
address_map: [{to: cxl}]
"""


def resolved(devices: str, links: Sequence[str] = ()) -> dict[str, Any]:
    text = BASE.replace("DEVICES", devices).replace("LINKS", "\n".join(f"  - {link}" for link in links))
    return resolve(read_text(text, "s.yaml")).plain()


def refused(devices: str, links: Sequence[str] = ()) -> InputError:
    with pytest.raises(InputError) as caught:
        resolved(devices, links)
    return caught.value


def links_of(spec: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [link for link in spec["links"] if name in link["between"]]


def test_a_device_has_the_parameters_of_another_and_its_own() -> None:
    devices = resolved("  cxl2: {like: cxl, controller_time: 70ns, media: {channels: 1}}")["devices"]
    media = {"kind": "dram", "preset": "DDR5-4800", "channels": 1}
    assert devices["cxl2"] == {**devices["cxl"], "controller_time": "70ns", "media": media}
    assert devices["cxl"]["media"]["channels"] == 2


def test_media_of_another_kind_replace_the_others() -> None:
    devices = resolved("  cxl2: {like: cxl, media: {kind: fixed, latency: 60ns}}")["devices"]
    assert devices["cxl2"]["media"] == {"kind": "fixed", "latency": "60ns"}


def test_a_device_without_links_has_links_like_the_other() -> None:
    spec = resolved('  "cxl[2-3]": {like: cxl}')
    wire = {"bandwidth": "32GB/s", "reverse": {"bandwidth": "16GB/s"}}
    assert links_of(spec, "cxl2") == [{"between": ["cxl2", "sw"], **wire}]
    assert links_of(spec, "cxl3") == [{"between": ["cxl3", "sw"], **wire}]


def test_a_link_to_the_same_neighbour_starts_from_the_others() -> None:
    spec = resolved("  cxl2: {like: cxl}", ["{between: [cxl2, sw], bandwidth: 8GB/s}"])
    (link,) = links_of(spec, "cxl2")
    assert link == {"between": ["cxl2", "sw"], "bandwidth": "8GB/s", "reverse": {"bandwidth": "16GB/s"}}


def test_a_link_to_another_neighbour_starts_from_the_only_one() -> None:
    spec = resolved(
        "  cxl2: {like: cxl}\n  sw2: {like: sw}", ["{between: [sw, sw2]}", "{between: [cxl2, sw2]}"]
    )
    assert links_of(spec, "cxl2") == [
        {"between": ["cxl2", "sw2"], "bandwidth": "32GB/s", "reverse": {"bandwidth": "16GB/s"}}
    ]
    # The other switch has several links: none says what one between switches is like.
    assert links_of(spec, "sw2")[0] == {"between": ["sw", "sw2"]}


def test_links_with_two_directions_stand_as_the_others() -> None:
    error = refused("  cxl2: {like: cxl}", ["{between: [sw, cxl2]}"])
    assert "the other way round" in error.problem
    assert error.allowed == "between: [cxl2, sw]"


def test_the_link_between_two_that_are_alike_is_as_it_is_written() -> None:
    """Not laid over itself, whose directions would be those of the other way round."""
    link = {"between": ["sw2", "sw3"], "bandwidth": "9GB/s", "reverse": {"bandwidth": "4GB/s"}}
    devices = "  sw2: {kind: switch}\n  sw3: {like: sw2}"
    written = "{between: [sw2, sw3], bandwidth: 9GB/s, reverse: {bandwidth: 4GB/s}}"
    assert links_of(resolved(devices, [written]), "sw3") == [link]
    # Nor over the only other link of the one, which goes to a third device.
    others = ["{between: [sw, sw2], delay: 7ns}", written]
    assert links_of(resolved(devices, others), "sw3") == [link]


def test_a_device_may_be_like_one_that_is_like_another() -> None:
    lines = [
        "c: {like: b, controller_time: 3ns}",
        "b: {like: a, media: {channels: 4}}",
        "a: {like: cxl, capacity: 1GiB}",
    ]
    spec = resolved("\n".join(f"  {line}" for line in lines))
    found = spec["devices"]["c"]
    assert (found["capacity"], found["media"]["channels"], found["controller_time"]) == ("1GiB", 4, "3ns")
    assert [link["between"] for link in links_of(spec, "c")] == [["c", "sw"]]


def test_globs_set_what_devices_that_are_alike_have() -> None:
    devices = resolved('  cxl2: {like: cxl}\n  "cxl*": {read_buffer: 9}')["devices"]
    assert devices["cxl2"]["read_buffer"] == devices["cxl"]["read_buffer"] == 9


@pytest.mark.parametrize(
    ("devices", "line", "words"),
    [
        ("  cxl2: {like: cxm}", 6, ["unknown device 'cxm'", "cxl"]),
        ("  cxl2: {like: cxl, kind: memory}", 6, ["'kind' beside 'like'"]),
        ("  a: {like: b}\n  b: {like: a}", 6, ["a device that is like itself", "a like b like a"]),
        ("  a: {like: a}", 6, ["a device that is like itself"]),
        ("  a: {like: [cxl]}", 6, ["not a text"]),
        ("  a: {like: cxl, capacty: 1GiB}", 6, ["capacty", "capacity"]),
    ],
)
def test_what_cannot_be_like_something(devices: str, line: int, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        cx.System.from_yaml(BASE.replace("DEVICES", devices).replace("LINKS", ""), "s.yaml").check()
    assert all(word in str(caught.value) for word in words), caught.value
    assert f"s.yaml:{line}" in str(caught.value)


def test_a_device_of_the_preset_cannot_become_like_another(tmp_path: Path, cxloom: Call) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text("preset: expander/asic-ddr5\ndevices:\n  host: {like: cxl}\n")
    refusal = cxloom("check", spec)
    assert refusal.code == 2
    assert "'host' is declared by what this spec starts from" in " ".join(refusal.err.split())


def test_a_second_card_doubles_what_a_system_reads(tmp_path: Path, cxloom: Call) -> None:
    spec = tmp_path / "two.yaml"
    spec.write_text(
        "preset: expander/x16-ddr5\n"
        "devices: {cxl2: {like: cxl}, host: {queue: 2048}}\n"
        "address_map: [{to: [cxl, cxl2], interleave: 256B}]\n"
        "workload: {host: {reads: 100%}}\n"
    )
    one = cx.run(cx.load(spec).set("address_map", [{"to": ["cxl"]}]))
    two = cx.run(spec)
    assert two.bandwidth == pytest.approx(2 * one.bandwidth, rel=0.03)
    assert cxloom("check", spec).out.startswith(f"{spec} is valid: 3 devices (1 host, 2 memories), 2 links")


@slow
def test_the_builder_and_the_schema_know_it() -> None:
    built = cx.System("two", preset="expander/x16-ddr5").like("cxl", "cxl2", controller_time="70ns")
    assert built.resolve().plain()["devices"]["cxl2"]["controller_time"] == "70ns"
    with pytest.raises(InputError, match="declared twice"):
        built.like("cxl", "cxl2")
    jsonschema.validate({"devices": {"a": {"kind": "host"}, "b": {"like": "a"}}}, schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"devices": {"b": {"queue": 3}}}, schema())


@given(st.permutations(range(5)), st.integers(1, 4))
def test_the_order_of_devices_changes_nothing(order: list[int], depth: int) -> None:
    entries = {0: "  d0: {kind: memory, capacity: 1GiB}"}
    entries |= {i: f"  d{i}: {{like: d{max(0, i - depth)}, controller_time: {i}ns}}" for i in range(1, 5)}
    text = "devices:\n  sw: {kind: switch}\nDEVICES\nlinks: [{between: [sw, d0], delay: 2ns}]\n"
    spec = resolve(read_text(text.replace("DEVICES", "\n".join(entries[i] for i in order)))).plain()
    for i in range(1, 5):
        assert spec["devices"][f"d{i}"] == {"kind": "memory", "capacity": "1GiB", "controller_time": f"{i}ns"}
    joined = sorted(tuple(link["between"]) for link in spec["links"])
    assert joined == sorted(("sw", f"d{i}") for i in range(5))
    assert all(link["delay"] == "2ns" for link in itertools.chain(spec["links"]))


def test_a_setting_makes_no_device_like_another(tmp_path: Path, cxloom: Call) -> None:
    done = cxloom("check", "expander/asic-ddr5", "--set", "devices.cxl2={like: cxl}")
    assert done.code == 2
    assert "'like' is for devices of a file" in " ".join(done.err.split())


def test_what_is_allowed_does_not_name_the_device_itself() -> None:
    error = refused("  m2: {like: m3}")
    assert "m2" not in error.allowed
    assert "cxl" in error.allowed
