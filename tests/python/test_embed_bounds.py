"""What a program asks in mid-run: when an answer can come at the earliest, what an access takes alone, windows."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from embed_support import EXAMPLE, compiled, copied, resolved, run
from validation.examples import examples, some

PROGRAMS = Path(__file__).parent / "programs"
FIXED = {"kind": "memory", "capacity": "1GiB"}
DRAM = {"kind": "memory", "capacity": "4GiB", "media": {"kind": "dram", "preset": "DDR4-2400"}}
MEDIA: list[dict[str, Any]] = [
    FIXED,
    FIXED
    | {"controller_time": "0ns", "media": {"kind": "fixed", "latency": "30ns", "write_latency": "80ns"}},
    FIXED | {"queue": 2, "media": {"kind": "fixed", "banks": 2, "bandwidth": "4GB/s"}},
    FIXED | {"read_buffer": 4, "write_buffer": 2, "posted_writes": True},
    FIXED | {"media": {"kind": "nvm"}},
    DRAM,
    {
        "kind": "memory",
        "capacity": "1GiB",
        "media": {
            "kind": "cached",
            "size": "64KiB",
            "cache": {"kind": "fixed", "latency": "20ns"},
            "backing": {"kind": "fixed", "latency": "500ns"},
        },
    },
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return copied(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def program(installed: tuple[Path, Path]) -> Path:
    return compiled(PROGRAMS / "bounds.c", installed[0].parent / "bounds", installed)


def random_system(random: Random) -> dict[str, Any]:
    """One or two hosts, switches or a bus in any tree, and memories of any kind."""
    devices: dict[str, Any] = {"host": {"kind": "host", "queue": random.choice([1, 4, 64])}}
    if random.random() < 0.2:
        devices["host"]["issue_interval"] = "7ns"
    if random.random() < 0.2:
        devices["host"]["cache"] = {"levels": [{"size": "8KiB"}]}
    if random.random() < 0.4:
        devices["other"] = {"kind": "host", "process_time": random.choice(["0ns", "25ns"])}
    hosts = list(devices)
    middle = [f"m{i}" for i in range(random.randint(len(hosts) - 1, 3))]  # a memory has one link
    for name in middle:
        devices[name] = random.choice(
            [{"kind": "switch"}, {"kind": "switch", "switching_time": "45ns"}, {"kind": "bus"}]
        )
    memories = [f"mem{i}" for i in range(random.randint(1, 3))]
    for name in memories:
        devices[name] = random.choice(MEDIA)

    def link(a: str, b: str) -> dict[str, Any]:
        made: dict[str, Any] = {"between": [a, b]}
        made |= {"port_delay": random.choice(["0ns", "12ns", "25ns"])} if random.random() < 0.7 else {}
        made |= {"bandwidth": random.choice(["8GB/s", "31GB/s"])} if random.random() < 0.5 else {}
        return made

    links = [link(a, b) for a, b in pairwise(middle)]
    links += [
        link(end, random.choice(middle)) if middle else link(host, end)
        for end in ([*hosts, *memories] if middle else memories)
        for host in (hosts if not middle else ["-"])
    ]
    size = 1 << 21
    region = {"to": memories, "size": f"{size * len(memories)}B"}
    return {"devices": devices, "links": links, "address_map": [region]}


@pytest.mark.parametrize("seed", some(range(examples(24))))
def test_no_answer_comes_before_the_bound(
    tmp_path: Path, cxloom: Callable[..., Any], program: Path, seed: int
) -> None:
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(random_system(Random(seed))))
    spec = resolved(cxloom, tmp_path / "s.yaml", tmp_path / "s.json")
    for number in range(1, 4):
        done = run(program, "bound", number, spec)
        assert done.returncode == 0, done.stdout[:2000]


def test_the_bound_within_an_answer_has_the_place_that_is_free_then(
    tmp_path: Path, cxloom: Callable[..., Any], program: Path
) -> None:
    """A far memory has one place of a queue of two for 5 us, and accesses to a near one take turns in the other:
    what waits for a place is issued behind the answer, and answered long before the far one."""
    near = FIXED | {"media": {"kind": "fixed", "latency": "10ns"}}
    far = FIXED | {"media": {"kind": "fixed", "latency": "5us"}}
    system = {
        "devices": {"host": {"kind": "host", "queue": 2}, "near": near, "far": far},
        "links": [{"between": ["host", "near"]}, {"between": ["host", "far"]}],
        "address_map": [{"to": "near", "size": "512KiB"}, {"to": "far"}],
    }
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(system))
    spec = resolved(cxloom, tmp_path / "s.yaml", tmp_path / "s.json")
    for number in range(1, 4):
        done = run(program, "bound", number, spec)
        assert done.returncode == 0, done.stdout[:2000]


SWITCHED = {
    "devices": {"host": {"kind": "host"}, "switch": {"kind": "switch"}, "memory": FIXED},
    "links": [
        {"between": ["host", "switch"], "port_delay": "25ns"},
        {"between": ["switch", "memory"], "port_delay": "25ns"},
    ],
    "address_map": [{"to": "memory"}],
}


@pytest.mark.parametrize("system", [yaml.safe_load((EXAMPLE / "system.yaml").read_text()), SWITCHED])
@pytest.mark.parametrize("how", ["alone", "lines"])
def test_an_access_of_a_line_wakes_about_twice(
    tmp_path: Path, cxloom: Callable[..., Any], program: Path, system: dict[str, Any], how: str
) -> None:
    """Fixed times are known when an access is given, but for the bytes on wires and its present switch: once for
    these, and once for the answer; alone, or with 16 under way."""
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(system))
    done = run(program, how, 3, resolved(cxloom, tmp_path / "s.yaml", tmp_path / "s.json"))
    assert done.returncode == 0, done.stdout
    accesses, wakes, useful = map(int, done.stdout.split())
    assert useful <= accesses
    assert wakes <= 2.6 * accesses, done.stdout


@pytest.mark.parametrize(
    "memory",
    [FIXED, MEDIA[1], FIXED | {"media": {"kind": "fixed", "banks": 8}}],
)
@pytest.mark.parametrize("shape", ["direct", "bus", "switch"])
def test_an_estimate_is_what_an_access_alone_takes(
    tmp_path: Path, cxloom: Callable[..., Any], program: Path, memory: dict[str, Any], shape: str
) -> None:
    """To the picosecond, where nothing remembers and a wire takes whole picoseconds for a byte."""
    system: dict[str, Any] = {
        "devices": {"host": {"kind": "host"}, "memory": memory},
        "links": [{"between": ["host", "memory"], "bandwidth": "8GB/s", "port_delay": "10ns"}],
        "address_map": [{"to": "memory"}],
    }
    if shape != "direct":
        system["devices"]["middle"] = {"kind": shape}
        system["links"] = [
            {"between": [end, "middle"], "bandwidth": "8GB/s", "delay": "3ns"} for end in ("host", "memory")
        ]
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(system))
    done = run(program, "estimate", 60, resolved(cxloom, tmp_path / "s.yaml", tmp_path / "s.json"))
    assert done.returncode == 0, done.stdout


BOUND = """
devices:
  host: {kind: host}
  other: {kind: host}
  switch: {kind: switch, vcs: [{upstream: other, vppbs: 1, bind: [near]}, {upstream: host, vppbs: 1, bind: [memory]}]}
  near: {kind: memory, capacity: 16MiB}
  memory: {kind: memory, capacity: 16MiB}
links: [{between: [switch, host]}, {between: [switch, other]}, {between: [switch, near]}, {between: [switch, memory]}]
address_map: [{to: near}, {to: memory}]
"""


def test_an_access_of_memory_that_another_host_has_is_not_estimated(
    tmp_path: Path, cxloom: Callable[..., Any], program: Path
) -> None:
    (tmp_path / "s.yaml").write_text(BOUND)
    done = run(program, "unbound", 16 << 20, resolved(cxloom, tmp_path / "s.yaml", tmp_path / "s.json"))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("seed", range(examples(12)))
def test_a_new_window_measures_as_one_that_begins_then(
    tmp_path: Path, cxloom: Callable[..., Any], program: Path, seed: int
) -> None:
    """`run.warmup_time` opens the window at the same time: all measures are the same."""
    system = random_system(Random(1000 + seed))
    system["devices"].pop("other", None)
    system["links"] = [link for link in system["links"] if "other" not in link["between"]]
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(system))
    at = 1_234_567
    late = resolved(cxloom, tmp_path / "s.yaml", tmp_path / "late.json", "--set", f"run.warmup_time={at}ps")
    expected = run(program, "window", 0, late)
    assert expected.returncode == 0, expected.stdout[:2000]
    plain = resolved(cxloom, tmp_path / "s.yaml", tmp_path / "s.json")
    done = run(program, "window", at, plain)
    assert done.returncode == 0, done.stdout[:2000]
    one, two = json.loads(expected.stdout), json.loads(done.stdout)
    assert one["requests"] > 100
    for summary in (one, two):
        del summary["notes"]
    assert one == two
