"""``cxloom presets``: what is shipped, found by a word, and what is said of names that there are none of."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import cxloom as cx
from cxloom.spec import presets

Call = Callable[..., Any]


def test_every_preset_is_listed_with_its_idle_reads(cxloom: Call) -> None:
    rows = {row["preset"]: row for row in json.loads(cxloom("presets", "--json").out)}
    assert sorted(rows) == presets.names()
    assert all(row["name"] for row in rows.values())
    # 65 ns to the memory and back, and 65 ns in it; 284 ns of the card (the preset's file has the parts).
    assert rows["dmsim/asic"]["idle_read_ns"] == {"least": 130.0, "most": 284.0}
    assert rows["dmsim/asic"]["devices"] == {"host": 1, "memory": 2}


def test_the_table_has_a_line_for_each(cxloom: Call) -> None:
    lines = cxloom("presets").out.splitlines()
    for name in presets.names():
        assert [line for line in lines if line.startswith(f"{name} ")], name
    assert [line for line in lines if "dmsim/asic" in line and "130 to 284" in line]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("z-nand", ["expander/cxl-ssd"]),
        ("EXPANDER/FPGA", ["expander/fpga-ddr4"]),
        ("gpu/", ["gpu/a10-pcie4", "gpu/h100-pcie5"]),
    ],
)
def test_a_word_finds_those_that_have_it(cxloom: Call, word: str, found: list[str]) -> None:
    assert [row["preset"] for row in json.loads(cxloom("presets", word, "--json").out)] == found


def test_the_name_of_one_prints_its_file(cxloom: Call) -> None:
    path = presets.path_of("dmsim/fpga")
    assert path is not None
    assert cxloom("presets", "dmsim/fpga").out == path.read_text(encoding="utf-8")


def test_a_word_that_none_has_names_the_nearest(cxloom: Call) -> None:
    done = cxloom("presets", "dmsim/fpgaa")
    assert done.code == 2
    assert "did you mean 'dmsim/fpga'?" in done.err


@pytest.mark.parametrize("command", ["run", "check", "draw"])
def test_a_name_that_is_neither_file_nor_preset_says_where_they_are_listed(
    cxloom: Call, command: str
) -> None:
    done = cxloom(command, "nosuchpreset")
    assert done.code == 2
    assert "no such file, and no preset of this name" in done.err
    assert "`cxloom presets` lists: char/a" in done.err


def test_a_file_that_is_missing_is_only_that(cxloom: Call) -> None:
    assert "preset" not in cxloom("run", "system.yaml").err


def test_presets_run_as_they_are_shown() -> None:
    assert cx.System.load("dmsim/local").resolve().root.get("name") is not None


def test_a_value_shows_the_parameters_that_take_it(cxloom: Call) -> None:
    shown = cxloom("components", "DDR5-4800")
    assert shown.code == 0
    assert "dram.preset" in shown.out
    assert "dram.preset" in json.dumps(
        json.loads(cxloom("components", "ddr5-4800", "--json").out)["parameters"]
    )
    assert cxloom("components", "DDR5-48").code == 2
