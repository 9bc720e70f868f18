"""``cxloom import mess``: the curves of the Mess benchmark as a medium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx

Call = Callable[..., Any]

FULL = "29000.5\t1155.0\n29001.0 1156.0\n"
CURVE = "29075.8\t280.0\n20000.0\t231.0\n\n640.0\t214.83\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    curves = tmp_path / "curves"
    curves.mkdir()
    (curves / "bwlat_100.txt").write_text(CURVE)
    (curves / "bwlat_50.txt").write_text(FULL + "10000 220\n500 210\n")
    (curves / "other.txt").write_text("none of it")
    return curves


def test_cycles_become_nanoseconds_and_shares_come_from_names(
    folder: Path, cxloom: Call, tmp_path: Path
) -> None:
    out = tmp_path / "x.csv"
    done = cxloom("import", "mess", folder, "--clock", "2.1GHz", "--out", out)
    assert done.code == 0, done.err
    rows = [line for line in out.read_text().splitlines() if "%" in line]
    assert rows == [
        "100%, 0.64, 102.3", "100%, 20, 110", "100%, 29.0758, 133.333",
        "50%, 0.5, 100", "50%, 10, 104.762", "50%, 29.0005, 550", "50%, 29.001, 550.476",
    ]  # fmt: skip
    cxloom("import", "mess", folder / "bwlat_100.txt", "--clock", "ns", "--out", out)
    assert "100%, 20, 231" in out.read_text()
    medium = {"kind": "curve", "file": str(out)}
    assert cx.run(cx.load("dmsim/asic").set("devices.cxl.media", medium)).latency.mean > 200


def test_a_file_of_another_name_is_told_its_share(folder: Path, cxloom: Call, tmp_path: Path) -> None:
    (folder / "bwlat_100.txt").rename(folder / "cxl.dat")
    refused = cxloom("import", "mess", folder / "cxl.dat", "--clock", "ns", "--out", tmp_path / "x.csv")
    assert refused.code == 2
    assert "the share of reads is not in the name of the file" in " ".join(refused.err.split())
    assert "or the share before it: 90%=FILE" in " ".join(refused.err.split())
    cxloom("import", "mess", f"75%={folder / 'cxl.dat'}", "--clock", "ns", "--out", tmp_path / "x.csv")
    assert "75%, 20, 231" in (tmp_path / "x.csv").read_text()


@pytest.mark.parametrize(
    ("name", "text", "clock", "words"),
    [
        ("bwlat_60.txt", "1000 fast\n", "ns", "bwlat_60.txt:1: not a bandwidth in MB/s and a latency"),
        ("bwlat_60.txt", "1000 20 30\n", "ns", "not a bandwidth in MB/s and a latency"),
        ("bwlat_60.txt", "\n", "ns", "no points"),
        ("bwlat_60.txt", "1000 100\n", "ns", "1 point is no curve, at 60 % reads"),
        ("bwlat_60.txt", "1000 100\n2000 110\n", "fast", "not a clock"),
        ("bwlat_60.txt", "1000 100\n2000 110\n", "0Hz", "not a clock"),
        (
            "bwlat_60.txt",
            "1000 100\ninf 110\n",
            "ns",
            "bwlat_60.txt:2: not a bandwidth in MB/s and a latency",
        ),
        ("bwlat_160.txt", "1000 100\n2000 110\n", "ns", "the share of reads is not in the name"),
    ],
)
def test_what_is_no_curve(tmp_path: Path, cxloom: Call, name: str, text: str, clock: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    done = cxloom("import", "mess", tmp_path / name, "--clock", clock, "--out", tmp_path / "x.csv")
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert not (tmp_path / "x.csv").exists()


def test_a_share_that_the_name_contradicts(folder: Path, cxloom: Call, tmp_path: Path) -> None:
    out = tmp_path / "x.csv"
    done = cxloom("import", "mess", f"50%={folder}", "--clock", "ns", "--out", out)
    assert done.code == 2
    assert "bwlat_100.txt: another share of reads than in the name of the file" in " ".join(done.err.split())
    assert "found: 50 % given, 100 % in the name" in done.err
    assert not out.exists()
    (folder / "bwlat_100.txt").rename(folder / "bwlat_67.txt")
    cxloom("import", "mess", f"66.7%={folder / 'bwlat_67.txt'}", "--clock", "ns", "--out", out)
    assert "66.7%, 20, 231" in out.read_text()


def test_what_is_left_out_is_told_with_its_file(folder: Path, cxloom: Call, tmp_path: Path) -> None:
    with (folder / "bwlat_50.txt").open("a") as file:
        file.write("28000 1300\n")
    out = tmp_path / "x.csv"
    both = cxloom("import", "mess", folder, "--clock", "ns", "--out", out)
    assert "left out, bwlat_50.txt:5: less bandwidth" in both.out
    one = cxloom("import", "mess", folder / "bwlat_50.txt", "--clock", "ns", "--out", out)
    assert "left out, line 5: less bandwidth" in one.out


def test_a_folder_without_curves(tmp_path: Path, cxloom: Call) -> None:
    done = cxloom("import", "mess", tmp_path, "--clock", "ns", "--out", tmp_path / "x.csv")
    assert done.code == 2
    assert "no curves in this folder" in done.err
