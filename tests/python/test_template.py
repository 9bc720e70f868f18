"""A template resolves as a spec does that is read anew each time, and reads its files once."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from cxloom.base.errors import InputError
from cxloom.spec.node import Node
from cxloom.spec.override import Override
from cxloom.spec.reader import read_file
from cxloom.spec.resolve import Template, resolve

BASE = """\
topology: {kind: ring, switches: 4, placement: split}
workload: {"host*": {pattern: random, requests: 10}}
"""
SPEC = """\
preset: base.yaml
devices:
  extra[0-1]: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}
links:
  - {between: [sw0, "extra[*]"], port_delay: 5ns}
address_map:
  - {to: "extra[*]", interleave: 256B}
run: {seed: 3}
"""
POINTS = [
    ["run.seed=4"],
    ["topology.switches=6", "run.seed=4"],
    ["topology.switches=6", "devices.host5.queue=9"],
    ["topology.switches=4", "devices.host5.queue=9"],  # there is no such host in this one
    ["topology.kind=chain"],
    ["devices.extra[*].media.latency=50ns", "links[0].port_delay=7ns"],
    ["devices.extra0.media={kind: dram, preset: DDR5-4800}", "devices.extra0.media.preset=DDR4-3200"],
    ["preset=other.yaml", "topology.switches=5"],
    ["preset=gone.yaml"],
    ["topology.colour=red"],
    [],
    ["run.seed=4"],
]


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    monkeypatch.chdir(tmp_path)  # a preset that an override names is found from here
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "other.yaml").write_text(BASE.replace("ring", "chain"))
    (tmp_path / "spec.yaml").write_text(SPEC)
    return read_file(tmp_path / "spec.yaml")


def outcome(template: Template, point: list[str]) -> str:
    """The spec with the place of each value, or what is wrong with it."""
    try:
        resolved = template.resolve([Override.parse(text) for text in point])
    except InputError as error:
        return str(error)
    return f"{resolved.root.get('run')!r} {resolved.root.get('links')!r} {resolved.plain()!r}"


@pytest.mark.parametrize("sent", [False, True])
def test_a_template_resolves_as_a_fresh_spec_does(top: Node, sent: bool) -> None:
    template = Template(top, [Override.parse("run.warmup=7")])
    expected = [outcome(Template(top, [Override.parse("run.warmup=7")]), point) for point in POINTS]
    assert len(set(expected)) == len(POINTS) - 1  # the last point is the first
    if sent:
        template = pickle.loads(pickle.dumps(template))
    assert [outcome(template, point) for point in [*POINTS, *POINTS]] == [*expected, *expected]


def test_files_are_read_once(top: Node) -> None:
    template = Template(top)
    first = template.resolve([Override.parse("run.seed=1")])
    Path("base.yaml").unlink()
    second = template.resolve([Override.parse("run.seed=2")])
    assert first.plain() | {"run": 0} == second.plain() | {"run": 0}
    assert first.hash() != second.hash()
    with pytest.raises(InputError, match=r"base\.yaml"):
        resolve(top)


def test_few_systems_are_kept(top: Node) -> None:
    template = Template(top)
    for switches in range(4, 40, 2):
        template.resolve([Override.of("topology.switches", switches)])
    assert len(template._expanded) <= 8


def test_a_trace_that_changes_changes_the_hash(tmp_path: Path) -> None:
    """Its digest is kept by inode, size and time of change."""
    trace = tmp_path / "a.txt"
    trace.write_text("0x0 R 0\n")
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}\nlinks: [{between: [host, mem]}]\n"
        "address_map: [{to: mem}]\nworkload: {host: {trace: a.txt}}\n"
    )
    resolved = resolve(read_file(spec))
    before = resolved.hash()
    assert resolved.hash() == before == resolved.digest()[:16]
    trace.write_text("0x40 R 0\n")
    assert resolved.hash() != before
