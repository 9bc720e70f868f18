"""``cxloom fit`` to what LMbench's lat_mem_rd and STREAM print: parameters that closed forms know, and wrong files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.curves.lmbench import read_lmbench
from cxloom.curves.points import SizePoint
from cxloom.curves.read import read_measured
from cxloom.curves.stream import read_stream
from cxloom.fitting.measured import SIZES, parted_sizes
from cxloom.measure import peak

Call = Callable[..., Any]

# A read that hits takes 10 + 2 ns, another one 10 + 2 + 2 x 15 + 20 + 50 = 112.
SPEC = """
name: card
devices:
  host: {kind: host, queue: 64, process_time: 10ns, cache: {size: 16KiB, ways: 0, access_time: 2ns}}
  mem: {kind: memory, capacity: 1GiB, controller_time: 20ns, media: {kind: fixed, latency: 50ns, bandwidth: 20GB/s}}
links: [{between: [host, mem], delay: 15ns}]
address_map: [{to: mem}]
"""


def lmbench(latencies: dict[int, float], stride: int = 64) -> str:
    """What lat_mem_rd prints of these latencies, by size in bytes."""
    rows = "".join(f"{size / 2**20:.5f} {latency:.3f}\n" for size, latency in latencies.items())
    return f'"stride={stride}\n{rows}\n'


def sizes(largest: int) -> list[int]:
    """The sizes of lat_mem_rd: twice as much to 1 KiB, 1 KiB more to 4, then four steps to twice as much."""
    found, size = [], 512
    while size <= largest:
        found.append(size)
        if size < 1024:
            size *= 2
        elif size < 4096:
            size += 1024
        else:
            size += 2 ** int(math.log2(size)) // 4
    return found


STREAM = """\
-------------------------------------------------------------
STREAM version $Revision: 5.10 $
-------------------------------------------------------------
This system uses 8 bytes per array element.
-------------------------------------------------------------
Array size = 10000000 (elements), Offset = 0 (elements)
Memory per array = 76.3 MiB (= 0.1 GiB).
Total memory required = 228.9 MiB (= 0.2 GiB).
Each kernel will be executed 10 times.
 The *best* time for each kernel (excluding the first iteration)
 will be used to compute the reported bandwidth.
-------------------------------------------------------------
Number of Threads requested = 4
Number of Threads counted = 4
-------------------------------------------------------------
Your clock granularity/precision appears to be 1 microseconds.
-------------------------------------------------------------
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           10666.7     0.015100     0.015000     0.015300
Scale:          10666.7     0.015100     0.015000     0.015300
Add:            12000.0     0.020100     0.020000     0.020300
Triad:          12000.0     0.020100     0.020000     0.020300
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
-------------------------------------------------------------
"""
"""A memory of 16 GB/s: with the lines that stores fetch, a copy moves three lines, of which two count; a sum, four."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "card.yaml").write_text(SPEC)
    far = {size: 12.0 if size <= 16 * 1024 else 140.0 for size in sizes(128 * 1024)}
    (tmp_path / "lat.txt").write_text(lmbench(far))
    (tmp_path / "stream.txt").write_text(STREAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sizes_are_lines_again() -> None:
    """0.00049 MiB are 512 bytes, and 0.00293 are 3072: five digits are ten bytes."""
    wanted = sizes(1 << 20)
    points = read_lmbench(lmbench(dict.fromkeys(wanted, 1.5)), "lat.txt")
    assert [each.bytes for each in points] == wanted
    assert {each.latency_ns for each in points} == {1.5}
    assert points[0] == SizePoint(512, 1.5, 2)


def test_it_stands_among_the_results_of_a_whole_run() -> None:
    text = f"Memory load latency\n{lmbench({512: 1.5, 1024: 1.6})}\nRandom load latency\n0.1 2 3\n"
    assert [each.line for each in read_lmbench(text, "all.txt")] == [3, 4]


@pytest.mark.parametrize(
    "head", ["Function    Best Rate MB/s  Avg time", "Function      Rate (MB/s)   Avg time"]
)
def test_rates_are_the_best_of_each_kernel(folder: Path, head: str) -> None:
    """5.10 and 5.9 have other heads."""
    text = STREAM.replace("Function    Best Rate MB/s  Avg time", head)
    (folder / "stream.txt").write_text(text)
    found = read_measured("stream.txt")
    assert found == read_stream(text, "stream.txt")
    assert [(each.kernel, each.bandwidth_gb_per_s) for each in read_stream(text, "")] == [
        ("copy", 10.6667),
        ("scale", 10.6667),
        ("add", 12.0),
        ("triad", 12.0),
    ]


@pytest.mark.usefixtures("folder")
def test_a_time_is_found_over_sizes() -> None:
    """140 ns beyond the cache are 28 more than there are: a controller of 48 ns. Hits do not depend on it."""
    found = cx.fit("card.yaml", "lat.txt", ["devices.mem.controller_time=5ns..150ns"], jobs=1, evaluations=12)
    (parameter,) = found.parameters
    assert float(str(parameter.value).removesuffix("ns")) == pytest.approx(48, abs=1)
    assert parameter.is_told
    assert found.error(held_back=False) < 0.01
    assert len(found.points) <= SIZES
    first, last = found.points[0], found.points[-1]
    assert (first.point.latency_ns, first.before_ns) == (12.0, pytest.approx(12.0))
    assert (last.before_ns, last.after_ns) == (pytest.approx(112.0), pytest.approx(140.0, abs=1))
    assert "at the " in found.sentence
    assert " sizes that were fitted" in found.sentence
    frame = found.frame()
    assert frame.columns == ["bytes", "unit", "measured", "before", "fitted", "held_back"]
    assert len(frame) == len(found.points)
    assert "128 KiB" in str(found)


@pytest.fixture
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peak, "_ROUNDS", 1500)


@pytest.mark.usefixtures("folder", "shorter")
def test_a_rate_is_found_by_kernels(cxloom: Call) -> None:
    """Stores that allocate fetch lines that do not count: 16 GB/s are 10.7 of a copy and 12 of a sum."""
    vary = ["--vary", "devices.mem.media.bandwidth=4GB/s..40GB/s"]
    words = ["fit", "card.yaml", "--to", "stream.txt", *vary, "--jobs", "1", "--evaluations", "20"]
    done = cxloom(*words, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert float(found["settings"]["devices.mem.media.bandwidth"].removesuffix("GB/s")) == pytest.approx(
        16, rel=0.02
    )
    assert found["points"] == []
    assert [each["kernel"] for each in found["peaks"]] == ["copy", "scale", "add", "triad"]
    assert found["error"] < 0.02 < found["error_before"]
    assert found["sentence"].startswith("Bandwidth is ")


def test_many_sizes_are_thinned_and_a_quarter_is_held_back() -> None:
    points = [SizePoint(64 * n, 1.0, n) for n in range(1, 62)]
    parts = parted_sizes(points)
    assert len(parts.fitted) + len(parts.held_back) == SIZES
    assert (parts.fitted[0], parts.fitted[-1]) == (points[0], points[-1])
    assert len(parts.held_back) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (lmbench({512: 1.0, 1024: 1.0}) + lmbench({512: 1.0}, 128), "several strides"),
        (lmbench({512: 1.0, 1024: 1.0}, 16), "the stride is less than a line"),
        (lmbench({512: 1.0}), "no latencies over sizes"),
        (lmbench({512: 1.0, 1024: 1.0}).replace("0.00098 1.000", "0.00098"), "lat.txt:3: not a size in MiB"),
        (lmbench({512: 1.0, 1024: 0.0}), "lat.txt:3: not a size in MiB"),
        (STREAM.replace("Triad:", "Tried:"), "no rate of triad"),
        (STREAM.replace("10666.7", "fast", 1), "not a rate in MB/s"),
        (STREAM + "Copy: 1.0\n", "'Copy' a second time"),
        (
            STREAM.replace("Solution Validates", "Failed Validation on array a[], AvgRelAbsErr"),
            "did not validate",
        ),
    ],
)
def test_what_is_no_output_of_them(folder: Path, cxloom: Call, text: str, words: str) -> None:
    (folder / "lat.txt").write_text(text)
    done = cxloom("fit", "card.yaml", "--to", "lat.txt", "--vary", "devices.mem.controller_time=5ns..150ns")
    assert done.code == 2
    assert words in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lat.txt", "--reads", "50%"], "a share of reads is of a load"),
        (["stream.txt", "--reads", "50%"], "a share of reads is of a load"),
        (["lat.txt", "--stores", "streaming"], "stores are those of STREAM's kernels"),
        (["stream.txt", "--stores", "past"], "unknown choice"),
        (["stream.txt", "--from", "host"], "STREAM is run by all requesters"),
        (["lat.txt", "--threads", "2"], "latency over size is read by one"),
        (["stream.txt", "--threads", "2"], "threads need cores to run on"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_options_that_would_do_nothing_are_refused(cxloom: Call, arguments: list[str], words: str) -> None:
    vary = ["--vary", "devices.mem.controller_time=5ns..150ns"]
    done = cxloom("fit", "card.yaml", "--to", *arguments, *vary, "--jobs", "1")
    assert done.code == 2
    assert words in " ".join(done.err.split())
