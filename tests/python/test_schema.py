"""The JSON Schema of specs: a valid schema that accepts what the core accepts, and refuses what an editor can see."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cxloom import _core
from cxloom.spec import presets, read_file, read_text
from cxloom.spec.jsonschema import QUANTITIES, schema

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(schema())
    return Draft202012Validator(schema())


def test_the_command_prints_it(cxloom: Callable[..., Any]) -> None:
    assert json.loads(cxloom("schema").out) == schema()


def test_it_is_small_enough_for_an_editor() -> None:
    assert len(json.dumps(schema(), indent=2)) < 690_000


def test_it_accepts_the_example(validator: Draft202012Validator, spec_text: str) -> None:
    assert list(validator.iter_errors(read_text(spec_text).plain())) == []


def test_it_accepts_what_is_shipped(validator: Draft202012Validator) -> None:
    files = [path for name in presets.names() if (path := presets.path_of(name))]
    files += sorted((REPOSITORY / "examples").glob("*.yaml"))
    assert files
    for file in files:
        assert [error.message for error in validator.iter_errors(read_file(file).plain())] == [], file


@pytest.mark.parametrize(
    "text",
    [
        "topology: {kind: ring, switches: 8, link: {bandwidth: 8GB/s}}",
        "preset: esf/validation\ndevices: {host: {queue: 3}, 'mem[*]': {media: fixed}}",
        "preset: base.yaml",
        "devices: {h: {kind: host, cache: {size: 1MiB}}}",
        "devices: {h: {kind: host}}\nworkload: {h: {trace: x.parquet, addresses: first-touch}}",
        "devices: {h: {kind: host}}\nworkload: {h: {phases: [{pattern: random, requests: 5, footprint: 1MiB}]}}",
        "devices: {h: {kind: host}}\nworkload: {'*': {pattern: zipf, exponent: 0.5, requests: 5, rate: 5M/s}}",
        "devices: {'cpu[0-1]x[0-3]': {kind: host}, '*': {process_time: 1.5 ns}}",
        "devices: {a: {kind: host}}\nlinks: [{between: [a, 'm[*]'], pairwise: true, reverse: {delay: 1ns}}]",
        "devices: {m: {kind: memory}}\naddress_map: [{to: m}, {to: [m], base: 0x1000}, {to: [m], base: '0x1000'}]",
        "outputs: {requests: true, series: 5us}\ndevices: {}",
        "devices: {m: {kind: memory, media: {kind: cached, backing: {kind: cached, backing: fixed}}}}",
        "devices: {h: {kind: host, cache: {policy: lru}}, g: {kind: host, cache: {policy: {kind: srrip, bits: 3}}}}",
    ],
)
def test_it_accepts_valid_specs(validator: Draft202012Validator, text: str) -> None:
    assert [error.message for error in validator.iter_errors(read_text(text).plain())] == []


@pytest.mark.parametrize(
    "text",
    [
        "devics: {}",
        "devices: {h: {kind: hots}}",
        "devices: {h: {queue: 3}}",
        "devices: {h: {kind: host, queu: 3}}",
        "devices: {h: {kind: memory, process_time: 3ns}}",
        "devices: {h: {kind: host, queue: 0}}",
        "devices: {h: {kind: host, queue: '3'}}",
        "devices: {h: {kind: host, process_time: 10}}",
        "devices: {h: {kind: host, process_time: 10GiB}}",
        "devices: {b: {kind: bus, bandwidth: 64GB}}",
        "devices: {b: {kind: bus, duplex: hlaf}}",
        "devices: {m: {kind: memory, media: {kind: fixd}}}",
        "devices: {m: {kind: memory, media: {kind: fixed, latncy: 4ns}}}",
        "devices: {m: {kind: memory, media: {kind: cached, backing: {kind: cached, backing: fixd}}}}",
        "devices: {h: {kind: host, cache: {policy: lra}}}",
        "devices: {'0m': {kind: memory}}",
        "devices: {h: {kind: host, cache: {size: big}}}",
        "links: [{between: [a]}]",
        "links: [{bandwidth: 3GB/s}]",
        "links: [{between: [a, b], bandwidht: 3GB/s}]",
        "address_map: [{interleave: 256B}]",
        "address_map: [{to: []}]",
        "workload: {h: {pattern: randm}}",
        "workload: {h: {pattern: random, stride: 64B}}",
        "workload: {h: {pattern: random, reads: 1.5}}",
        "run: {sede: 1}",
        "outputs: {requests: 'yes'}",
        "topology: {kind: rng}",
        "topology: {kind: ring, switches: 8, leaves: 3}",
        "preset: esf/validatoin",
    ],
)
def test_it_refuses_what_is_wrong(validator: Draft202012Validator, text: str) -> None:
    assert list(validator.iter_errors(read_text(text).plain())) != []


def test_every_declared_parameter_is_described(validator: Draft202012Validator) -> None:
    branches = schema()["$defs"]["one-of-devices"]["allOf"]
    for kind, info in _core.declarations()["devices"].items():
        (branch,) = [b["then"] for b in branches if b["if"]["properties"]["kind"]["const"] == kind]
        for field in info["fields"]:
            assert field["doc"] in branch["properties"][field["name"]]["description"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("time", "10ns"), ("time", "1.5us"), ("time", "3 s"), ("time", "10"), ("time", "10GiB"), ("time", "ns"),
        ("bytes", "64B"), ("bytes", "16GiB"), ("bytes", "1kB"), ("bytes", "1KB"), ("bytes", "4k"), ("bytes", "-1B"),
        ("bandwidth", "64GB/s"), ("bandwidth", "512Gb/s"), ("bandwidth", "unlimited"), ("bandwidth", "1GiB/s"),
        ("bandwidth", "64GB"), ("bandwidth", "1Kb/s"), ("bandwidth", "infinite"),
        ("frequency", "50M/s"), ("frequency", "5/s"), ("frequency", "unlimited"), ("frequency", "50MHz"),
        ("period", "625ps"), ("period", "416.667ps"), ("period", "2.4GHz"), ("period", "2.4"), ("period", "2/s"),
    ],
)  # fmt: skip
def test_patterns_of_quantities_agree_with_the_core(kind: str, text: str) -> None:
    import re

    from cxloom.base.errors import InputError

    try:
        _core.parse(kind, text)
        accepted = True
    except InputError:
        accepted = False
    assert bool(re.search(QUANTITIES[kind][0], text)) == accepted
