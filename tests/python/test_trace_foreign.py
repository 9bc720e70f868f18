"""The traces of DRAMsim3 and Ramulator 2: recognised by what is in them, read to the accesses that they stand for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cxloom as cx
from cxloom.errors import InputError
from cxloom.trace import READ, WRITE, TraceBatch, open_trace, write_trace
from cxloom.trace.format import DTYPES

FORMS: dict[str, tuple[str, TraceBatch]] = {
    "dramsim3": (
        "0x40 READ 0\n0x1f40 WRITE 3\n0x80 READ 3\n",
        TraceBatch.of([0x40, 0x1F40, 0x80], [READ, WRITE, READ], timestamp=[0, 3, 3]),
    ),
    "ramulator2-load-store": (
        "LD 0x40\nST 8000\n",
        TraceBatch.of([0x40, 8000], [READ, WRITE]),
    ),
    "ramulator2-simple-o3": (
        "3 8000 16000\n0 64\n",
        TraceBatch.of([8000, 16000, 64], [READ, WRITE, READ], instruction_gap=[4, 0, 1]),
    ),
}

SYSTEM = """\
devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}
links: [{between: [host, mem], bandwidth: 32GB/s}]
address_map: [{to: mem}]
"""
WORK = "workload: {{host: {{trace: {}}}}}\n"


def read(path: Path, **options: Any) -> TraceBatch:
    batches = list(open_trace(path, **options))
    return TraceBatch(*(np.concatenate([getattr(batch, name) for batch in batches]) for name in DTYPES))


def same(one: TraceBatch, other: TraceBatch) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in DTYPES)


@pytest.mark.parametrize("form", FORMS)
def test_forms_are_recognised(form: str, tmp_path: Path) -> None:
    text, expected = FORMS[form]
    (tmp_path / "given").write_text(text)
    assert open_trace(tmp_path / "given").format == form
    assert same(read(tmp_path / "given"), expected)
    assert same(read(tmp_path / "given", format=form), expected)


def test_a_cycle_of_dramsim3_is_a_tick(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    path = tmp_path / "trace"
    path.write_text(FORMS["dramsim3"][0])
    assert read(path, tick="625ps").timestamp.tolist() == [0, 1875, 1875]
    assert cxloom("trace", "convert", path, tmp_path / "ours.parquet", "--tick", "625ps").code == 0
    assert read(tmp_path / "ours.parquet").timestamp.tolist() == [0, 1875, 1875]


def test_coordinates_become_addresses_by_the_levels(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    path = tmp_path / "trace"
    path.write_text("R 0,0,3\nW 1,2,3\n")  # of 2 channels with 3 banks of 4 bursts
    found = json.loads(cxloom("trace", "info", path, "--levels", "2,3,4", "--json").out)
    assert found["format"] == "ramulator2-read-write"
    assert (found["lowest_address"], found["highest_address"]) == (3 * 64, (1 * 12 + 2 * 4 + 3) * 64 + 63)


def test_a_spec_replays_them(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    spec = SYSTEM + WORK.format("given.trc, replay: timestamps, tick: 625ps")
    (tmp_path / "given.trc").write_text("".join(f"{64 * i:#x} READ {1000 * i}\n" for i in range(20)))
    (tmp_path / "spec.yaml").write_text(spec)
    result = json.loads(cxloom("run", tmp_path / "spec.yaml", "--json").out)
    assert (result["requests"], result["reads"]) == (20, 20)
    # From the first access to the last one's answer: 19 000 cycles, and a latency.
    assert result["simulated_time_ns"] == 19_000 * 0.625 + result["latency_ns"]["mean"]


def test_a_spec_says_how_large_the_dram_is_whose_coordinates_a_trace_has(tmp_path: Path) -> None:
    (tmp_path / "given.trc").write_text("R 0,0,3\nW 1,2,3\n")
    spec = SYSTEM + WORK.format("given.trc, levels: [2, 3, 4]") + "outputs: {requests: true}\n"
    (tmp_path / "spec.yaml").write_text(spec)
    rows = cx.run(cx.load(tmp_path / "spec.yaml")).requests()
    assert sorted(rows["address"].to_list()) == [3 * 64, (1 * 12 + 2 * 4 + 3) * 64]


@pytest.mark.parametrize(
    ("form", "levels"), [*((form, ()) for form in FORMS), ("ramulator2-read-write", (1, 1))]
)
def test_options_that_a_form_has_no_use_for_are_refused(
    form: str, levels: tuple[int, ...], tmp_path: Path
) -> None:
    path = tmp_path / "given"
    path.write_text(FORMS[form][0] if form in FORMS else "R 0,0\n")
    assert open_trace(path, levels=levels).format == form
    if form != "dramsim3":
        with pytest.raises(InputError, match="a tick of a trace that has no times") as caught:
            open_trace(path, tick="1ns", levels=levels)
        assert caught.value.path == "tick"
    if not levels:
        with pytest.raises(InputError, match="levels of a trace that has addresses") as caught:
            open_trace(path, levels=[2])
        assert caught.value.path == "levels"


def test_our_own_forms_know_their_times(tmp_path: Path) -> None:
    for name in ("ours.parquet", "ours.txt"):
        write_trace(tmp_path / name, [FORMS["dramsim3"][1]])
        with pytest.raises(InputError, match="a tick of a trace whose times are picoseconds"):
            open_trace(tmp_path / name, tick="1ns")


def test_what_a_preset_says_of_its_trace_is_forgotten_with_it(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(
        SYSTEM + WORK.format("a.trc, replay: timestamps, tick: 1ns, levels: [2]")
    )
    over = "preset: ./base.yaml\nworkload: {host: {requests: 5, %s}}\n"
    for source, kept in [("trace: b.trc", {"replay": "timestamps"}), ("pattern: random", {})]:
        (tmp_path / "over.yaml").write_text(over % source)
        work = cx.load(tmp_path / "over.yaml").resolve().plain()["workload"]["host"]
        assert {key: work[key] for key in ("replay", "tick", "levels") if key in work} == kept
