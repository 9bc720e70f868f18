"""Files that media name: found beside the spec, hashed by their contents, refused with file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx

Call = Callable[..., Any]

SPEC = """
devices:
  host: {kind: host, queue: 1}
  mem: {kind: memory, controller_time: 0ns, media: {kind: curve, file: tables/curve.csv}}
links:
  - {between: [host, mem]}
address_map:
  - {to: mem}
workload:
  host: {pattern: random, reads: 100%, requests: 100}
"""
TABLE = "bandwidth_gb_per_s,latency_ns\n1,100\n10,200\n"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "curve.csv").write_text(TABLE)
    (tmp_path / "spec.yaml").write_text(SPEC)
    return tmp_path / "spec.yaml"


def test_a_file_is_found_beside_its_spec(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    result = cx.run(spec)
    assert result.breakdown["media"] == 100
    media = cx.load(spec).resolve().plain()["devices"]["mem"]["media"]
    assert media["file"] == str(spec.parent / "tables" / "curve.csv")


def test_the_hash_is_of_its_contents(spec: Path, tmp_path: Path) -> None:
    before = cx.load(spec).resolve().hash()
    (tmp_path / "tables" / "copy.csv").write_text(TABLE)
    assert (
        cx.load(spec).set("devices.mem.media.file", str(tmp_path / "tables" / "copy.csv")).resolve().hash()
        == before
    )
    (spec.parent / "tables" / "curve.csv").write_text(TABLE.replace("200", "201"))
    assert cx.load(spec).resolve().hash() != before


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (None, "the table cannot be read"),
        ("bandwidth_gb_per_s,latency_ns\n5,100\n4,110\n", "curve.csv:3: the bandwidth does not rise"),
        ("bandwidth_gb_per_s,latency_ns\n5,100\n", "curve.csv:2: too few points"),
        ("bandwidth_gb_per_s,latency_ns\n5,100\n6,1e22\n", "curve.csv:3: not a latency"),
        ("no table at all\n", "curve.csv:1: column 1 is not one of a curve"),
    ],
)
def test_what_is_wrong_names_both_files_and_lines(
    spec: Path, table: str | None, says: str, cxloom: Call
) -> None:
    file = spec.parent / "tables" / "curve.csv"
    file.unlink() if table is None else file.write_text(table)
    refused = cxloom("run", spec)
    assert refused.code == 2
    text = " ".join(refused.err.split())
    assert "spec.yaml:4" in text
    assert "media.file" in text
    assert says in text
