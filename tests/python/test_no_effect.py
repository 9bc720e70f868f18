"""Keys that others leave without effect: refused where they were written so, left out where an upper layer did it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.spec import read_text, resolve, to_yaml
from cxloom.spec.override import Override

BASE = """\
devices:
  host: {kind: host}
  "mem[0-1]": {kind: memory, capacity: 1GiB, media: {kind: fixed, banks: 4, bank_interleave: 64B}}
  bus: {kind: bus}
links: [{between: [bus, "*"], flit: 256B, phy: pcie6-x8}]
address_map: [{to: "mem[*]"}]
workload: {host: {pattern: random, requests: 10, footprint: 1MiB, rate: 1M/s, arrivals: poisson}}
"""
DRAM = """\
devices:
  host: {kind: host}
  mem: {kind: memory, media: {kind: dram, preset: DDR5-4800, row_policy: {kind: timeout, after: 1us}, timing: {tXP: 20},
        power_down: 1us}}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 10, footprint: 1MiB}}
"""


def resolved(text: str, *sets: str) -> dict[str, Any]:
    return resolve(read_text(text, "s.yaml"), [Override.parse(each) for each in sets]).plain()


def test_what_an_override_leaves_without_effect_is_left_out() -> None:
    spec = resolved(BASE, "devices.mem1.media.banks=null", "links[0].phy=null", "workload.host.rate=null")
    assert spec["devices"]["mem0"]["media"] == {"kind": "fixed", "banks": 4, "bank_interleave": "64B"}
    assert spec["devices"]["mem1"]["media"] == {"kind": "fixed"}
    assert "arrivals" not in spec["workload"]["host"]
    assert ["flit" in link for link in spec["links"]] == [False] * 3
    assert cx.run(cx.System.from_yaml(to_yaml(spec)))["requests"] == 10  # it loads to the same system


def test_what_a_file_leaves_without_effect_in_its_preset_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(DRAM)
    file = tmp_path / "top.yaml"
    file.write_text("preset: base.yaml\ndevices: {mem: {media: {row_policy: open, power_down: null}}}\n")
    media = cx.load(file).resolve().plain()["devices"]["mem"]["media"]
    assert media == {"kind": "dram", "preset": "DDR5-4800", "row_policy": "open", "timing": {}}
    assert cx.run(file)["requests"] == 10
    # What the file itself says beside it is refused, be it what the preset says.
    file.write_text("preset: base.yaml\ndevices: {mem: {media: {power_down: null, timing: {tXP: 20}}}}\n")
    with pytest.raises(InputError, match=r"top.yaml:2: devices.mem.media.timing.tXP: .* has no effect"):
        cx.run(file)


@pytest.mark.parametrize("sets", [[], ["run.seed=2"], ["devices.host.queue=2"]])
def test_what_never_had_an_effect_is_refused_whatever_is_set(sets: list[str]) -> None:
    system = cx.System.from_yaml(BASE.replace("banks: 4, ", ""), "s.yaml")
    for each in sets:
        path, _, value = each.partition("=")
        system.set(path, int(value))
    with pytest.raises(InputError, match=r"s.yaml:3: .*media.bank_interleave: bank_interleave has no effect"):
        cx.run(system)


def test_what_is_set_without_effect_is_refused() -> None:
    system = cx.System.from_yaml(BASE.replace(", bank_interleave: 64B", ""))
    system.set("devices.mem0.media.banks", None).set("devices.mem0.media.bank_interleave", "64B")
    with pytest.raises(InputError, match="has no effect"):
        cx.run(system)
    # In the other order it had one when it was set.
    system = cx.System.from_yaml(BASE.replace(", bank_interleave: 64B", ""))
    system.set("devices.mem0.media.bank_interleave", "64B").set("devices.mem0.media.banks", None)
    assert cx.run(system)["requests"] == 10


TRACE = """\
devices: {host: {kind: host, instruction_time: 1ns}, mem: {kind: memory, capacity: 1GiB}}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {trace: t.trace}}
"""


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("gap", [None, 0, 3])
def test_a_trace_without_instruction_gaps_needs_no_instruction_time(
    tmp_path: Path, cxloom: Callable[..., Any], command: str, gap: int | None
) -> None:
    (tmp_path / "spec.yaml").write_text(TRACE)
    columns = "address kind" + (" instruction_gap" if gap is not None else "")
    last = "" if gap is None else f" {gap}"
    first = "" if gap is None else " 0"
    lines = [f"# cxloom-trace 1: {columns}", *(f"{64 * i:#x} R{first}" for i in range(20)), f"0x40 W{last}"]
    (tmp_path / "t.trace").write_text("\n".join(lines) + "\n")
    outcome = cxloom(
        command, tmp_path / "spec.yaml", *(["--out", tmp_path / "out"] if command == "run" else [])
    )
    if command == "check" and not gap:
        assert outcome.code == 2
        assert "spec.yaml:1:48: devices.host.instruction_time: instruction_time has no effect" in outcome.err
        assert "have no instruction gaps" in outcome.err
        return
    assert outcome.code == 0, outcome.err
    if command == "run":
        # A run that is through keeps its results, and says that the key did nothing.
        summary = json.loads((tmp_path / "out" / "summary.json").read_text())
        said = [note for note in summary["notes"] if "devices.host.instruction_time had no effect" in note]
        assert len(said) == (0 if gap else 1)
        assert summary["requests"] == 21


FAILING = """\
devices:
  "h[0-1]": {kind: host, completion_timeout: 5us}
  mem: {kind: memory, capacity: 1GiB, heads: 2}
  other: {kind: memory, capacity: 1GiB, heads: 2}
links: [{between: ["h[*]", "*"]}]
address_map: [{to: mem}, {to: other}]
workload: {"h[*]": {pattern: random, requests: 10, footprint: 1MiB}}
events: [{at: 1us, fail: {device: other}}]
"""


# What a failure costs is a run beside one without it: `--with events=null`.
def test_timeouts_are_left_out_where_no_failure_is_left(tmp_path: Path) -> None:
    spec = resolved(FAILING, "events=null")
    assert [device.get("completion_timeout") for device in spec["devices"].values()] == [None] * 4
    assert cx.run(cx.System.from_yaml(to_yaml(spec)))["errors"]["requests"] == 0
    assert resolved(FAILING, "events[0].at=2us")["devices"]["h1"]["completion_timeout"] == "5us"
    (tmp_path / "base.yaml").write_text(FAILING)
    file = tmp_path / "top.yaml"
    file.write_text("preset: base.yaml\nevents: null\n")
    assert cx.run(file)["errors"]["requests"] == 0
    # A timeout that is set beside it is refused, as one that never had an effect.
    file.write_text("preset: base.yaml\nevents: null\ndevices: {h0: {completion_timeout: 9us}}\n")
    with pytest.raises(InputError, match=r"h0.completion_timeout: completion_timeout has no effect"):
        cx.run(file)
