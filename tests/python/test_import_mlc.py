"""``cxloom import mlc``: what MLC printed, as a medium that gives it back."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.curves.medium import ways_ns
from cxloom.curves.mlc import read_mlc
from cxloom.curves.order import NOISE, in_order
from cxloom.curves.points import Point

Call = Callable[..., Any]
EXAMPLES = Path(__file__).parents[2] / "examples"

HEAD = """Measuring Loaded Latencies for the system
Using all the threads from each core if Hyper-threading is enabled
Using Read-only traffic type
Inject  Latency Bandwidth
Delay   (ns)    MB/sec
==========================
"""
WHOLE = f"""Intel(R) Memory Latency Checker - v3.11
Measuring idle latencies for random access (in ns)...
                Numa node
Numa node            0       1
       0          81.2   138.9

Measuring Peak Injection Memory Bandwidths for the system
3:1 Reads-Writes :      240.1

{HEAD} 00000  430.31    31155.9
 00002  400.34    31653.8
 00008  390.37    31599.5
 00100  290.94    24357.8
"00300  285.29    13473.3" <--- marked by hand
 09000  283.00     1785.2

Measuring cache-to-cache transfer latency (in ns)...
00010 1.0 2.0
"""
SYSTEM = """
preset: expander/asic-ddr5
devices: {host: {queue: 256}, cxl: {read_buffer: 256}}
workload: {host: {reads: 100%}}
"""


def mlc_text(rows: list[tuple[float, float]], head: str = HEAD) -> str:
    """An output with these latencies in ns and bandwidths in GB/s, from the highest load on."""
    lines = [f" {i:05d}  {ns:.2f}  {gb * 1000:.1f}" for i, (ns, gb) in enumerate(rows)]
    return head + "\n".join(lines) + "\n"


def test_the_table_of_a_whole_output_is_read() -> None:
    points = read_mlc(WHOLE, "m.txt")
    assert [point.latency_ns for point in points] == [430.31, 400.34, 390.37, 290.94, 285.29, 283.0]
    assert [round(point.bandwidth_gb_per_s, 6) for point in points] == [
        31.1559, 31.6538, 31.5995, 24.3578, 13.4733, 1.7852,
    ]  # fmt: skip
    assert {point.reads for point in points} == {1.0}


def test_an_overload_is_left_out_and_noise_is_kept() -> None:
    ordered = in_order(read_mlc(WHOLE, "m.txt"))
    assert [point.latency_ns for point in ordered.points] == [283.0, 285.29, 290.94, 390.37, 400.34]
    assert [point.latency_ns for point in ordered.bent_back] == [430.31]
    noisy = in_order(read_mlc(mlc_text([(300, 20), (100, 10), (101, 5)]), "m.txt"))
    assert [point.latency_ns for point in noisy.points] == [101, 100, 300]


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)), min_size=1, max_size=60))
def test_what_is_left_is_a_curve_and_nothing_is_lost(pairs: list[tuple[int, int]]) -> None:
    points = [
        Point(1.0, bandwidth / 1000, latency / 1000, at) for at, (bandwidth, latency) in enumerate(pairs)
    ]
    try:
        ordered = in_order(points)
    except InputError:
        most = max(point.bandwidth_gb_per_s for point in points)
        best = min(point.latency_ns for point in points if point.bandwidth_gb_per_s == most)
        kept = [p for p in points if p.latency_ns <= (1 + NOISE) * best and p.bandwidth_gb_per_s < most]
        assert not kept  # only the point of the highest bandwidth could be one
        return
    rates = [point.bandwidth_gb_per_s for point in ordered.points]
    assert all(low < high for low, high in itertools.pairwise(rates))
    for at, point in enumerate(ordered.points):
        assert all(point.latency_ns <= (1 + NOISE) * later.latency_ns for later in ordered.points[at:])
    assert sorted(p.line for p in (*ordered.points, *ordered.bent_back, *ordered.repeated)) == list(
        range(len(points))
    )


def test_the_share_of_reads_is_said_or_given(tmp_path: Path, cxloom: Call) -> None:
    without = tmp_path / "w.txt"
    without.write_text(mlc_text([(200, 20), (100, 10)], "Measuring Loaded Latencies for the system\n"))
    refused = cxloom("import", "mlc", without, "--out", tmp_path / "x.csv")
    assert refused.code == 2
    assert f"{without}:2: the share of reads of this load is not in the file" in " ".join(refused.err.split())
    cxloom("import", "mlc", without, "--reads", "75%", "--out", tmp_path / "x.csv")
    assert "75%, 10, 100" in (tmp_path / "x.csv").read_text()
    ratio = mlc_text(
        [(200, 20), (100, 10)], "Measuring Loaded Latencies for the system\nUsing 3:1 Reads-Writes\n"
    )
    assert {point.reads for point in read_mlc(ratio, "r.txt")} == {0.75}
    with pytest.raises(InputError, match="another share of reads"):
        read_mlc(ratio, "r.txt", 0.5)


def test_files_of_several_shares_make_one_table(tmp_path: Path, cxloom: Call) -> None:
    (tmp_path / "r.txt").write_text(mlc_text([(200, 20), (100, 10)]))
    (tmp_path / "w.txt").write_text(
        mlc_text([(300, 15), (100, 10)], "Measuring Loaded Latencies for the system\n")
    )
    done = cxloom(
        "import", "mlc", tmp_path / "r.txt", f"50%={tmp_path / 'w.txt'}", "--out", tmp_path / "x.csv"
    )
    assert done.code == 0
    rows = [line for line in (tmp_path / "x.csv").read_text().splitlines() if "%" in line]
    assert rows == ["100%, 10, 100", "100%, 20, 200", "50%, 10, 100", "50%, 15, 300"]


def test_a_system_with_the_medium_gives_the_measured_curve_back(tmp_path: Path, cxloom: Call) -> None:
    """Idle exactly; a load at a rate within 1 %: 65 + 2 x 62 + 49 ns, and the flits, are taken off and come again."""
    measured = [(600.0, 30.0), (420.0, 28.0), (330.0, 20.0), (310.0, 10.0), (300.0, 1.0)]
    (tmp_path / "m.txt").write_text(mlc_text(measured))
    (tmp_path / "s.yaml").write_text(SYSTEM)
    out = tmp_path / "cxl.csv"
    arguments = ["--system", tmp_path / "s.yaml", "--memory", "cxl", "--out", out]
    elsewhere = json.loads(cxloom("import", "mlc", tmp_path / "m.txt", *arguments, "--json").out)[
        "elsewhere_ns"
    ]
    assert elsewhere == pytest.approx(65 + 2 * 62 + 49, abs=5)
    said = cxloom("import", "mlc", tmp_path / "m.txt", *arguments).out
    assert f"cxl: {{media: {{kind: curve, file: {out}, elsewhere: {elsewhere:.6g}ns}}}}" in " ".join(
        said.split()
    )
    media = {"kind": "curve", "file": str(out), "elsewhere": f"{elsewhere:.6g}ns"}
    system = cx.load(tmp_path / "s.yaml").set("devices.cxl.media", media)
    idle = cx.measure.latency(system, memories=["cxl"]).rows[0]["latency_ns"]
    assert idle == pytest.approx(300.0, rel=0.002)
    for rate, latency in ((10.0, 310.0), (20.0, 330.0)):
        loaded = system.copy().set("workload.host.rate", f"{round(rate * 1e9 / 64)}/s")
        assert cx.run(loaded).latency.mean == pytest.approx(latency, rel=0.01)


def test_the_requester_whose_way_is_taken_off_is_said(tmp_path: Path, cxloom: Call) -> None:
    """A second host is 2 x 7 ns farther: 14 ns more of what was measured there are way."""
    (tmp_path / "m.txt").write_text(mlc_text([(420.0, 28.0), (300.0, 1.0)]))
    system = cx.System("two").host("far").host("near").switch("sw").memory("cxl", capacity="1GiB")
    system.connect("far", "sw", delay="7ns").connect("near", "sw").connect("sw", "cxl").map("cxl")
    system.save(tmp_path / "s.yaml")
    arguments = ("import", "mlc", tmp_path / "m.txt", "--system", tmp_path / "s.yaml", "--memory", "cxl")
    ways = json.loads(cxloom(*arguments, "--out", tmp_path / "c.csv", "--json").out)["ways_ns"]
    assert list(ways) == ["near", "far"]
    assert ways["far"] == pytest.approx(ways["near"] + 14)
    said = " ".join(cxloom(*arguments, "--out", tmp_path / "c.csv").out.split())
    assert f"elsewhere: {ways['near']:g}ns" in said
    assert (
        f"from near, the nearest: where others were measured, elsewhere is from far {ways['far']:g} ns"
        in said
    )


def test_a_system_whose_way_is_longer_than_what_was_measured_is_refused(tmp_path: Path, cxloom: Call) -> None:
    (tmp_path / "m.txt").write_text(mlc_text([(200, 20), (100, 10)]))
    done = cxloom(
        "import", "mlc", tmp_path / "m.txt", "--system", "expander/asic-ddr5", "--memory", "cxl",
        "--out", tmp_path / "x.csv",
    )  # fmt: skip
    assert done.code == 2
    said = " ".join(done.err.split())
    assert "the way to 'cxl' alone takes longer than was measured" in said
    assert "m.txt:8" in said
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize(
    ("name", "memory"),
    [("coherence", "mem"), ("mld", "mld"), ("persist", "pm"), ("replication", "mem0"), ("failures", "mem0")],
)
def test_the_way_is_an_idle_read_less_the_medium(name: str, memory: str) -> None:
    """What keeps lines coherent takes its time on the way, too: 12 ns of a lookup were missing. Logical devices,
    persist buffers and timeouts were refused."""
    system = cx.load(EXAMPLES / f"{name}.yaml")
    ways = ways_ns(system, memory)
    instead = {"kind": "fixed", "latency": "100ns"}
    (route,) = [
        each
        for each in system.copy()
        .set("devices.*mem*.media" if memory == "mem0" else f"devices.{memory}.media", instead)
        .check()["routes"]
        if each["requester"] == "host0"
    ]
    assert ways["host0"] + 100 == pytest.approx(
        route["idle_read_ns"]["least" if name != "coherence" else "most"]
    )


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (" 00000  -250.50  200000.1", "'-250.50 200000.1'"),  # it was 250.5 ns
        (" 00000  250.50  200,000.1", "'250.50 200,000.1'"),  # it was 0.2 GB/s
        (" 00000  250,50  200000,1", "'250,50 200000,1'"),
        (" 00000  nan  200000.1", "'nan 200000.1'"),
        (" 00000  99999999999999999999.0  200000.1", "'99999999999999999999.0 200000.1'"),
        (" 00000  250.50", "'250.50'"),
    ],
)
def test_a_number_is_all_of_what_stands_there(row: str, found: str) -> None:
    with pytest.raises(InputError, match="not a latency in ns and a bandwidth in MB/sec") as refused:
        read_mlc(f"{HEAD}{row}\n 20000  90.00  2000.1\n", "m.txt")
    assert (refused.value.found, refused.value.line) == (found, 7)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_marks_around_a_row_are_no_part_of_it(ending: str) -> None:
    rows = [
        "| 00000 | 250.50 | 200000.1 |",
        '"00100\t150.10\t100000.1" <--- 2 of them',
        " 20000  90.00  2000.1",
    ]
    points = read_mlc(HEAD.replace("\n", ending) + ending.join(rows), "m.txt")
    assert [(p.latency_ns, round(p.bandwidth_gb_per_s, 6)) for p in points] == [
        (250.5, 200.0001), (150.1, 100.0001), (90.0, 2.0001),
    ]  # fmt: skip


@pytest.mark.parametrize("units", ["(ns)    GB/sec", "(ns)    MiB/s", "(us)    MB/sec"])
def test_other_units_than_those_of_mlc_are_refused(units: str) -> None:
    """A table in GB/sec gave a curve that ended at a thousandth of its bandwidth."""
    with pytest.raises(InputError, match="other units than those of MLC") as refused:
        read_mlc(mlc_text([(250, 0.2), (90, 0.002)], HEAD.replace("(ns)    MB/sec", units)), "m.txt")
    assert (refused.value.found, refused.value.line) == (f"'{units}'", 5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["FILE", "--memory", "cxl"], "no --system"),
        (["FILE", "--system", "expander/asic-ddr5"], "no --memory"),
        (["FILE", "--system", "expander/asic-ddr5", "--memory", "cxll"], "did you mean 'cxl'"),
        (["FILE", "--reads", "150%"], "not a share of reads"),
        (["NONE"], "no such file"),
        (["EMPTY"], "no table of loaded latencies"),
        (["CUT"], "not a latency in ns and a bandwidth in MB/sec"),
        (["SHORT"], "not a latency in ns and a bandwidth in MB/sec"),
        (["ONE"], "1 point is no curve, at 100 % reads"),
    ],
)
def test_what_cannot_be_imported(tmp_path: Path, cxloom: Call, arguments: list[str], words: str) -> None:
    texts = {
        "FILE": mlc_text([(400, 20), (300, 10)]),
        "EMPTY": "Measuring idle latencies\n",
        "CUT": mlc_text([(400, 20)]) + " 00007  1.2.3  4\n",
        "SHORT": mlc_text([(400, 20), (300, 10)]) + " 00700  290.0",
        "ONE": mlc_text([(400, 20)]),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    out = tmp_path / "x.csv"
    given = [str(tmp_path / word) if word in (*texts, "NONE") else word for word in arguments]
    done = cxloom("import", "mlc", *given, "--out", out)
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert not out.exists()
