"""The commands of DRAM as a table: they keep the constraints of the standard, and are as many as the summary counts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cxloom as cx

EXAMPLE = Path(__file__).parents[2] / "examples" / "dram.yaml"
TIMING = {
    "tRCD": 39,
    "tRCD_WR": 39,
    "tRP": 39,
    "tRAS": 77,
    "tRRD_S": 8,
    "tRRD_L": 12,
    "tFAW": 40,
    "tRFC": 710,
}
CLOCK_PS = 416  # of test-D5
RANK = ["memory", "channel", "sub_channel", "rank"]
BANK = [*RANK, "bank_group", "bank"]
COLUMN = ["RD", "RDA", "WR", "WRA"]
SPEC = f"""\
devices:
  host: {{kind: host, queue: 256}}
  mem:
    kind: memory
    capacity: 8GiB
    media:
      kind: dram
      preset: test-D5
      timing: {json.dumps(TIMING)}
  plain: {{kind: memory, media: {{kind: fixed, latency: 45ns}}}}
  bus: {{kind: bus}}
links: [{{between: [host, bus]}}, {{between: [bus, mem]}}, {{between: [bus, plain]}}]
address_map: [{{to: mem}}, {{to: plain}}]
workload: {{host: {{pattern: random, reads: 60%, requests: 4000, footprint: 4GiB}}}}
run: {{warmup: 500}}
outputs: {{commands: true}}
"""


@pytest.fixture
def system(tmp_path: Path) -> cx.System:
    path = tmp_path / "dram.yaml"
    path.write_text(SPEC)
    return cx.load(path)


def is_in(*commands: str) -> pl.Expr:
    return pl.col("command").cast(pl.String).is_in(commands)


def since(*commands: str, over: list[str]) -> pl.Expr:
    """Clocks since the last such command to the same bank or rank."""
    last = pl.when(is_in(*commands)).then(pl.col("clock")).shift(1).forward_fill().over(over)
    return pl.col("clock") - last


def least(frame: pl.DataFrame, of: pl.Expr, clocks: pl.Expr) -> Any:
    return frame.with_columns(clocks=clocks).filter(of)["clocks"].min()


def test_the_commands_keep_the_constraints_and_these_bind(system: cx.System) -> None:
    frame = cx.run(system.set("devices.mem.media.refresh", "off")).commands()
    for access, name in (("RD", "tRCD"), ("WR", "tRCD_WR")):
        assert least(frame, is_in(access), since("ACT", over=BANK)) == TIMING[name]
    assert least(frame, is_in("PRE"), since("ACT", over=BANK)) == TIMING["tRAS"]
    assert least(frame, is_in("ACT"), since("PRE", over=BANK)) == TIMING["tRP"]
    activates = frame.filter(is_in("ACT"))
    assert (
        activates.select((pl.col("clock") - pl.col("clock").shift(4)).over(RANK).min()).item()
        == TIMING["tFAW"]
    )
    # A bank is opened when it is closed, closed when it is open, and used in the row that is open.
    row = pl.when(is_in("ACT")).then(pl.col("row")).when(is_in("PRE")).then(-1)
    open_row = frame.with_columns(open=row.shift(1).forward_fill().over(BANK))
    assert open_row.filter(is_in(*COLUMN))["open"].equals(
        open_row.filter(is_in(*COLUMN))["row"], check_names=False
    )
    assert (open_row.filter(is_in("ACT"))["open"].fill_null(-1) == -1).all()
    assert (open_row.filter(is_in("PRE"))["open"] >= 0).all()


def test_refreshes_close_the_rank_first(system: cx.System) -> None:
    frame = cx.run(system).commands()
    assert len(frame.filter(is_in("REF"))) == frame["time_ps"].max() // (9375 * CLOCK_PS)  # type: ignore[operator]
    assert least(frame, is_in("REF"), since("PREA", over=RANK)) == TIMING["tRP"]
    assert least(frame, is_in("ACT"), since("REF", over=RANK)) == TIMING["tRFC"]
    assert frame.filter(is_in("REF", "PREA"))["bank"].is_null().all()


def test_times_are_those_of_the_clock_and_in_order(system: cx.System) -> None:
    frame = cx.run(
        system.set("devices.mem.media.ranks", 2).set("devices.mem.media.power_down", "100ns")
    ).commands()
    assert (frame["time_ps"] == frame["clock"] * CLOCK_PS).all()
    assert frame.select((pl.col("clock").diff() >= 0).over(RANK).all()).item()
    assert set(frame["rank"]) == {0, 1}
    assert frame["memory"].cast(pl.String).unique().to_list() == ["mem"]  # the other has no commands


@pytest.mark.parametrize("policy", ["open", "closed"])
def test_there_are_as_many_as_the_summary_counts(system: cx.System, policy: str) -> None:
    result = cx.run(system.set("devices.mem.media.row_policy", policy), requests=True)
    memory, frame = result.per_memory["mem"], result.commands()
    assert memory["merged_writes"] == memory["forwarded_reads"] == 0
    assert (
        len(frame.filter(is_in(*COLUMN))) == 4500
    )  # every access, also the writes that were queued at the end
    window = frame.filter(pl.col("part").cast(pl.String) == "window")
    assert len(window.filter(is_in("ACT"))) == memory["activates"]
    assert len(window.filter(is_in("REF"))) == memory["refreshes"]
    bursts = memory["row_hits"] + memory["row_misses"] + memory["row_conflicts"]
    assert len(window.filter(is_in(*COLUMN))) == bursts
    assert frame["part"].cast(pl.String).unique(maintain_order=True).to_list() == [
        "warm-up",
        "window",
        "drain",
    ]
    assert set(frame.filter(is_in(*COLUMN))["command"]) == (
        {"RD", "WR"} if policy == "open" else {"RDA", "WRA"}
    )


def test_recording_changes_nothing(system: cx.System) -> None:
    system = system.set("devices.mem.media.power_down", "100ns").set("workload.host.rate", "300M/s")
    recorded, plain = cx.run(system), cx.run(system.set("outputs.commands", False))
    different = {"cost", "spec_hash"}
    assert {k: v for k, v in recorded.summary.items() if k not in different} == {
        k: v for k, v in plain.summary.items() if k not in different
    }
    with pytest.raises(cx.InputError, match="recorded no commands"):
        plain.commands()


def test_a_directory_holds_the_same_table(system: cx.System, tmp_path: Path) -> None:
    cx.run(system, out=tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["commands.parquet", "spec.yaml", "summary.json"]
    assert cx.Result.load(tmp_path / "out").commands().equals(cx.run(system).commands())


def test_a_run_that_is_ended_early_ends_its_commands(system: cx.System) -> None:
    result = cx.run(system, max_time="10us")
    frame = result.commands()
    assert result.truncated
    assert 9_900_000 < frame["time_ps"].max() <= 10_000_000  # type: ignore[operator]


def test_a_system_without_dram_has_none(spec_file: Path, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    with spec_file.open("a") as spec:
        spec.write("outputs: {commands: true}\n")
    out = tmp_path / "out"
    outcome = cxloom("run", spec_file, "--out", out)
    assert outcome.code == 2
    line = spec_file.read_text().count("\n")
    assert f"{spec_file}:{line}" in outcome.err
    assert "outputs.commands: there are no commands to record" in outcome.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("preset", "groups", "banks"), [("DDR5-4800", {None}, 4), ("LPDDR5-6400", {0, 1, 2, 3}, 4)]
)
def test_refreshes_by_bank_take_turns(preset: str, groups: set[int | None], banks: int) -> None:
    media = {"kind": "dram", "preset": preset, "channels": 2}
    system = cx.load(EXAMPLE).set("devices.mem.media", media).set("devices.mem.capacity", "4GiB")
    frame = cx.run(system.set("outputs.commands", True)).commands()
    assert set(frame["channel"]) == {0, 1}
    assert set(frame["sub_channel"]) == ({0, 1} if preset == "DDR5-4800" else {0})
    refreshes = frame.filter(is_in("REFSB"))
    assert set(refreshes["bank_group"]) == groups
    turns = refreshes.filter(channel=0, sub_channel=0)["bank"].to_list()
    assert turns == [turn % banks for turn in range(len(turns))]
    assert len(turns) > len(groups) * banks
