"""All errors of a spec are reported together, in the order of its lines."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.base.errors import InputError, InputErrors

WRONG = """\
devices:
  host:     {kind: host, process_time: 10, queue: 0}
  bus:      {kind: bus, bandwidth: fast, duplx: half}
  mem[0-3]: {kind: memory, capacity: 1B, media: {kind: fixed, latncy: 45ns, bandwidth: 3}}
links:
  - {between: [hots, bus], port_dealy: 25ns}
  - {between: [bus, "mem[*]"], bandwidth: 1}
  - {between: [bus, mem0]}
address_map:
  - {to: "mem[*]", interleave: 100B}
workload:
  host: {pattern: random, raeds: 67%, requests: 0, footprint: 1GiB}
rnu: {warmup: 200}
outputs: {requests: 3}
"""
FINE = """\
devices: {host: {kind: host}, mem: {kind: memory}}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 10, footprint: 1MiB}}
"""
FOUND = [
    (2, "devices.host.process_time"),
    (2, "devices.host.queue"),
    (3, "devices.bus.bandwidth"),
    (3, "devices.bus.duplx"),
    (4, "devices.mem[0-3].capacity"),
    (4, "devices.mem[0-3].media.latncy"),
    (4, "devices.mem[0-3].media.bandwidth"),
    (6, "links[0].between[0]"),
    (7, "links[1].bandwidth"),
    (8, "links[2]"),
    (10, "address_map[0].interleave"),
    (12, "workload.host.raeds"),
    (12, "workload.host.requests"),
    (13, "rnu"),
    (14, "outputs.requests"),
]


def places(error: InputError) -> list[tuple[int | None, str]]:
    assert isinstance(error, InputErrors)
    return [(each.line, each.path) for each in error.errors]


def test_the_name_of_a_system_is_a_text() -> None:
    for written, found in (("5", "5"), ("{a: 1}", "a map")):
        for act in (cx.System.check, cx.run):
            with pytest.raises(InputError) as caught:
                act(cx.System.from_yaml(f"name: {written}\n{FINE}"))
            assert (caught.value.line, caught.value.path) == (1, "name")
            assert (caught.value.found, caught.value.allowed) == (found, "a text")


def test_every_section_is_looked_at() -> None:
    with pytest.raises(InputErrors) as caught:
        cx.System.from_yaml(WRONG, "s.yaml").check()
    assert places(caught.value) == FOUND
    assert all(each.file == "s.yaml" for each in caught.value.errors)
    assert caught.value.path == "devices.host.process_time"
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert len(str(again).splitlines()) == len(FOUND)


@pytest.mark.parametrize("command", ["run", "check"])
def test_the_command_prints_them_all(tmp_path: Path, cxloom: Callable[..., Any], command: str) -> None:
    (tmp_path / "s.yaml").write_text(WRONG)
    outcome = cxloom(command, tmp_path / "s.yaml")
    assert outcome.code == 2
    messages = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
    assert [message.split(": ")[2] for message in messages] == [path for _, path in FOUND]
    assert messages[0].startswith(f"error: {tmp_path / 's.yaml'}:2:40: ")


def test_those_of_the_core_alone_come_together() -> None:
    text = WRONG.replace("hots", "host").replace("rnu", "run").replace("  - {between: [bus, mem0]}\n", "")
    with pytest.raises(InputErrors) as caught:
        cx.System.from_yaml(text, "s.yaml").check()
    assert {path for _, path in FOUND} - {path for _, path in places(caught.value)} == {
        "links[0].between[0]",
        "links[2]",
        "rnu",
    }


def test_what_takes_the_whole_system_comes_alone(spec_text: str) -> None:
    text = spec_text.replace("footprint: 1GiB", "footprint: 1TiB")
    with pytest.raises(InputError, match="runs out of the address map") as caught:
        cx.System.from_yaml(text).check()
    assert not isinstance(caught.value, InputErrors)


def test_twenty_are_shown_and_the_rest_counted(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    devices = "".join(f"  h{i}: {{kind: host, queue: 0}}\n" for i in range(100))
    (tmp_path / "s.yaml").write_text(f"devices:\n{devices}")
    outcome = cxloom("check", tmp_path / "s.yaml")
    assert outcome.code == 2
    lines = outcome.err.splitlines()
    assert sum(line.startswith("error: ") for line in lines) == 20
    assert lines[-1] == "and 80 more errors"
    assert [int(line.split(":")[2]) for line in lines if line.startswith("error: ")] == list(range(2, 22))


def test_what_is_wrong_with_all_that_a_glob_stands_for_is_said_once(
    tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    """Thirty hosts without `requests` hid the key below them: twenty errors of one place were shown."""
    (tmp_path / "s.yaml").write_text(
        "devices: {'host[0-29]': {kind: host}, mem: {kind: memory}}\n"
        "links: [{between: ['host[*]', mem]}]\n"
        "address_map: [{to: mem}]\n"
        "workload: {'host*': {pattern: random}}\n"
        "outputs: {serie: 1us}\n"
    )
    lines = cxloom("check", tmp_path / "s.yaml").err.splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    assert [int(line.split(":")[2]) for line in errors] == [4, 5]
    assert "workload.host*: a pattern needs `requests` ('host0' and 29 others)" in errors[0]
    assert not [line for line in lines if "more error" in line]


def test_overrides_are_all_looked_at(spec_file: Path, cxloom: Callable[..., Any]) -> None:
    outcome = cxloom("run", spec_file, "--set", "devices.hsot.queue=1", "--set", "run.sede=1")
    assert outcome.err.count("error: ") == 2
    assert "did you mean 'devices.host.queue'?" in outcome.err
    assert "did you mean 'run.seed'?" in outcome.err


def two_links(*links: str) -> cx.System:
    """A host, a switch and two memories; the host is linked to the switch by these entries."""
    return cx.System.from_yaml(
        "devices: {host: {kind: host, queue: 512}, sw: {kind: switch}, 'mem[0-1]': {kind: memory, capacity: 1GiB}}\n"
        f"links: [{', '.join(links)}, {{between: [sw, 'mem[*]']}}]\n"
        "address_map: [{to: 'mem[*]'}]\n"
        "workload: {host: {pattern: random, requests: 20000, footprint: 1GiB}}\n"
        "run: {routing: random}\n"
    )


def test_parallel_links_are_meant_by_their_count() -> None:
    once = "{between: [host, sw], bandwidth: 4GB/s}"
    twice = "{between: [host, sw], bandwidth: 4GB/s, count: 2}"
    other = "{between: [sw, host], bandwidth: 4GB/s, count: 1}"
    with pytest.raises(InputError, match="'host' and 'sw' are linked twice"):
        two_links(once, once).check()
    with pytest.raises(InputError, match="'sw' and 'host' are linked twice"):
        two_links(once, other.replace(", count: 1", "")).check()
    single = cx.run(two_links(once)).bandwidth
    double = cx.run(two_links(twice))
    assert double.bandwidth == pytest.approx(2 * single, rel=0.05)
    assert list(double["per_link"])[:2] == ["host-sw", "host-sw#2"]
    assert cx.run(two_links(once, other)).bandwidth == pytest.approx(2 * single, rel=0.05)
    again = cx.System.from_yaml(two_links(once, other).to_yaml())
    assert cx.run(again)["per_link"] == cx.run(two_links(once, other))["per_link"]


def test_an_address_may_be_written_as_a_size(spec_text: str) -> None:
    def placed_at(base: str) -> str:
        text = spec_text.replace("interleave: 256B", f"interleave: 256B, base: {base}")
        text = text.replace("footprint: 1GiB", f"footprint: 1GiB, base: {base}")
        return str(cx.System.from_yaml(text).check()["addresses"])

    assert placed_at("64GiB") == placed_at("0x1000000000") == placed_at("68719476736")
