"""What is measured is declared: the keys of a run's results are those of `cxloom components`, in their order."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import cxloom as cx
from cxloom import _core
from cxloom.spec.declared import statistics

BANKS = {"kind": "fixed", "banks": 4}
NVM = {"kind": "nvm", "preset": "optane-dcpmm"}
MEDIA: list[dict[str, Any]] = [
    BANKS,
    NVM,
    {
        "kind": "curve",
        "points": [{"bandwidth": "1GB/s", "latency": "100ns"}, {"bandwidth": "9GB/s", "latency": "1us"}],
    },
    {"kind": "dram", "preset": "DDR5-4800", "row_hammer": {"prac": True, "alert_at": 9, "raaimt": 32}},
    {"kind": "inline-ecc", "cache": "1KiB", "backing": BANKS},
    {"kind": "compressed", "backing": BANKS},
    {"kind": "cached", "size": "64KiB", "cache": BANKS, "backing": NVM, "prefetch": "next-line"},
]


FLITS = {"phy": "pcie5-x16"}
TURNS = {"bandwidth": "32GB/s", "duplex": "half", "turnaround": "1ns"}


def result_of(media: dict[str, Any], folder: Path, link: Mapping[str, str] = FLITS) -> dict[str, Any]:
    spec = {
        "devices": {"host": {"kind": "host", "queue": 8}, "mem": {"kind": "memory", "media": media}},
        "links": [{"between": ["host", "mem"], **link}],
        "address_map": [{"to": "mem"}],
        "workload": {"host": {"pattern": "random", "requests": 300, "footprint": "1MiB"}},
    }
    file = folder / "system.json"
    file.write_text(json.dumps(spec))
    return dict(cx.run(cx.load(file)).values)


def declared(media: dict[str, Any], prefix: str = "") -> list[str]:
    own = [prefix + each["name"] for each in _core.declarations()["media"][media["kind"]]["statistics"]]
    for part in ("cache", "backing"):
        if isinstance(media.get(part), dict):
            own += declared(media[part], f"{prefix}{part}_")
    return own


def test_media_report_what_they_declare(tmp_path: Path) -> None:
    for media in MEDIA:
        reported = list(result_of(media, tmp_path)["per_memory"]["mem"])
        expected = declared(media)
        assert expected, f"{media['kind']} declares nothing"
        at = reported.index(expected[0])
        assert reported[at : at + len(expected)] == expected


def test_links_report_what_they_declare(tmp_path: Path) -> None:
    names = [each["name"] for each in _core.declarations()["link"]["statistics"]]
    for link, absent in ((FLITS, "turnaround"), (TURNS, "flits")):
        (ends,) = result_of(BANKS, tmp_path, link)["per_link"].values()
        for end in ends.values():
            assert list(end) == [name for name in names if name != absent]


EVERYTHING = """
devices:
  host0: {kind: host, queue: 8, cache: {size: 4KiB, ways: 4, levels: [{size: 16KiB}], prefetch: next-line},
          atomics: cache-or-home, throttle: {rate: 8GB/s}}
  host1: {kind: host, queue: 8, cache: {size: 4KiB, ways: 4, levels: [{size: 16KiB}], prefetch: next-line},
          atomics: cache-or-home, throttle: {rate: 8GB/s}, core: {}}
  gpu: {kind: accelerator, queue: 8, memory: {capacity: 1GiB}}
  nic: {kind: io-engine, target: mem0, rate: 1GB/s}
  bus: {kind: bus, bandwidth: 32GB/s, duplex: half, turnaround: 1ns}
  sw: {kind: switch}
  mem0: {kind: memory, capacity: 1GiB, write_buffer: 8, posted_writes: true, read_buffer: 8,
         dynamic_capacity: {extents: [{size: 512MiB, host: host0}]}}
  mem1: {kind: memory, capacity: 1GiB, media: {kind: dram, preset: DDR5-4800}, dcoh: {}}
  mem2: {kind: memory, queue: 8, qos: {moderate: 4, severe: 8}, logical_devices: [{capacity: 64KiB}, {capacity: 64KiB}]}
links:
  - {between: ["host[0-1]", bus]}
  - {between: [bus, sw], phy: pcie6-x16, credits: 4, errors: {every: 99}}
  - {between: [sw, gpu], credits: 1}
  - {between: [sw, nic], phy: pcie5-x16}
  - {between: [sw, "mem[0-2]"]}
address_map: [{to: mem2, ld: 1}, {to: [gpu, mem0], interleave: 256B, size: 448KiB}, {to: mem1, coherence: hdm-db}]
workload:
  "host*": {pattern: random, requests: 2000, footprint: 1MiB, reads: 0.5, atomics: 0.2, fence_every: 100,
            addresses: first-touch}
  gpu: {pattern: random, requests: 2000, footprint: 1MiB, reads: 0.5}
outputs: {mix_windows: 500}
"""
BESIDE = {"spec_hash", "version", "cost"}
"""What the front end adds: it is of the program, not of the system."""


def paths(value: Any, prefix: str = "") -> Iterator[str]:
    """Every key of a summary with those above it."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield f"{prefix}{key}"
        yield from paths(inner, f"{prefix}{key}.")


def declared_paths(devices: dict[str, Any]) -> list[str]:
    """Patterns of all keys that a summary of these devices may have."""
    declared_of = _core.declarations()
    found = [path for path, _ in statistics(declared_of["measures"])]
    found += [path for path, _ in statistics(declared_of["link"]["statistics"], "per_link.*.*.")]
    found += [
        "per_*.*",
        "per_link.*.*",
        "by_hops.*",
    ]  # names of components and directions, and numbers of links
    found += [f"{path}.*" for path in found if path.endswith(("_by_class", ".slots", "flits.flits"))]
    for name, device in devices.items():
        own = [declared_of["devices"][device["kind"]]["statistics"]]
        for memory in (device, device.get("memory", {})):
            if device["kind"] == "memory" or memory is not device:
                kind = memory.get("media", {}).get("kind", "fixed")
                own += [
                    declared_of["devices"]["memory"]["statistics"],
                    declared_of["media"][kind]["statistics"],
                ]
        found += [path for each in own for path, _ in statistics(each, f"per_*.{name}.")]
        found += [
            f"per_*.{name}.{names}.*" for names in ("extent_bytes", "logical_devices", "pages", "throttle")
        ]
        found += [f"per_*.{name}.core.memory_ns.*"]
    return found


def undeclared(summary: dict[str, Any], patterns: Iterable[str]) -> list[str]:
    """Keys of a summary that no pattern of as many keys matches."""
    by_depth: dict[int, list[str]] = {}
    for pattern in patterns:
        by_depth.setdefault(pattern.count("."), []).append(pattern)
    return [
        path
        for path in paths({key: value for key, value in summary.items() if key not in BESIDE})
        if not any(fnmatchcase(path, pattern) for pattern in by_depth.get(path.count("."), ()))
    ]


def test_every_key_of_a_summary_is_declared() -> None:
    system = cx.System.from_yaml(EVERYTHING)
    result = dict(cx.run(system).values)
    devices = system.resolve().plain()["devices"]
    patterns = declared_paths(devices)
    for group in ("requester", "memory", "io", "link", "switch", "home"):
        assert result[f"per_{group}"], f"the system has something of every group: {group}"
    assert undeclared(result, patterns) == []
    assert undeclared({"requests": 1, "secret": 2}, patterns) == ["secret"]
    # What the run itself declares is there, but for what only plug-ins, failures and persistent memory have.
    names = [measure["name"] for measure in _core.declarations()["measures"]]
    elsewhere = ("per_device", "tasks", "events", "removals", "flushes", "flush", "versions", "sharing")
    elsewhere += ("replication",)  # test_replication.py
    assert [name for name in names if name not in elsewhere] == [key for key in result if key not in BESIDE]


MOVES = ("pages_moved", "pages_not_moved", "page_moves_ns", "page_wait_ns", "tiering")


def test_devices_report_what_they_declare() -> None:
    result = cx.run(cx.System.from_yaml(EVERYTHING)).values
    kinds = _core.declarations()["devices"]
    for group, kind, name in (
        ("requester", "host", "host0"),
        ("switch", "bus", "bus"),
        ("switch", "switch", "sw"),
        ("memory", "memory", "mem0"),
        ("io", "io-engine", "nic"),
        ("home", "dcoh", "mem1"),
    ):
        expected = [measure["name"] for measure in kinds[kind]["statistics"]]
        assert expected, f"{kind} declares nothing"
        if kind == "host":  # its memory has an entry of its own, if it has one
            memory = {measure["name"] for measure in kinds["memory"]["statistics"]}
            expected = [name for name in expected if name not in memory]
            expected.remove("core")  # fences beside a core are its own
            assert "core" in result["per_requester"]["host1"]
            expected = [name for name in expected if name not in MOVES]  # test_page_moves.py, test_tiering.py
            for large in ("large_accesses", "large_access_ns"):  # test_copy_engines.py
                expected.remove(large)
            for failed in ("poison_consumed", "dirty_lines_lost"):  # validation/test_coherent_failures.py
                expected.remove(failed)
            for combining in ("combined_full", "combined_partial", "combining_mean"):  # test_sharing.py
                expected.remove(combining)
        if kind == "memory":  # what cannot be beside the rest
            expected.remove("poison_delivered")  # of a memory that fails: memory_failures_test.cpp
            expected.remove("viral_errors")  # test_viral.py
            for name_of_spares in ("spared", "spare_copy_ns", "spare_waits", "spare_wait_ns"):
                expected.remove(name_of_spares)  # where parts are spared: test_sparing.py
            for of_errors in ("corrected_errors", "suspicious_parts", "unspared_parts", "threshold_ns"):
                expected.remove(of_errors)  # test_sparing_errors.py
            for name_of_mem2 in ("logical_devices", "devload_mean"):
                expected.remove(name_of_mem2)
                assert name_of_mem2 in result["per_memory"]["mem2"]
        if kind == "io-engine":  # where something fails: validation/test_failures.py
            expected = expected[: expected.index("sent")]
        if kind == "dcoh":  # where transactions have a limit: test_explain.py
            expected.remove("transactions_mean")
            expected = expected[: expected.index("snoops_timed_out")]  # validation/test_coherent_failures.py
        if kind == "switch":  # test_virtual_switches.py, test_persist.py, test_replication.py
            elsewhere = ("isolation_errors", "removal_errors", "persist_buffer", "replication")
            expected = [name for name in expected if name not in elsewhere]
        assert list(result[f"per_{group}"][name])[: len(expected)] == expected


def every_meaning() -> Iterator[tuple[str, str]]:
    """The name and the meaning of all that is declared anywhere: parameters, measures and columns."""
    pending: list[Any] = [_core.declarations()]
    while pending:
        match pending.pop():
            case dict(found):
                if isinstance(found.get("name"), str) and isinstance(found.get("doc"), str):
                    yield found["name"], found["doc"]
                pending += found.values()
            case list(found):
                pending += found


def test_a_meaning_stands_alone() -> None:
    """It is read by itself, in `cxloom components` and beside a number: it does not point at the one before."""
    meanings = list(every_meaning())
    assert len(meanings) > 500
    pointing = re.compile(r"the same\b|of these\b|of them\b|such\b|those\b|likewise\b", re.IGNORECASE)
    assert not [each for each in meanings if pointing.match(each[1]) or "likewise" in each[1]]
