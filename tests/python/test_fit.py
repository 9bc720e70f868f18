"""``cxloom fit``: parameters that closed forms know, and what a curve does not tell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.examples import slow

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.curves.order import in_order
from cxloom.curves.points import Point
from cxloom.fitting.measured import parted
from cxloom.measure import loaded_latency
from cxloom.measure.bench import Bench

Call = Callable[..., Any]

SPEC = """
name: card
devices:
  host: {kind: host, queue: 256, process_time: 10ns}
  mem: {kind: memory, controller_time: 20ns, media: {kind: fixed, latency: 50ns}}
links: [{between: [host, mem], delay: 30ns}]
address_map: [{to: mem}]
"""
FLAT = "reads, bandwidth_gb_per_s, latency_ns\n" + "".join(f"100%, {gb}, 200\n" for gb in (1, 2, 4, 6, 8, 10))
"""10 + 2 x 30 + 50 ns and the controller: 80 ns of it are 200 in all."""


@pytest.fixture(autouse=True)
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaded_latency, "_LOADS", 4000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "card.yaml").write_text(SPEC)
    (tmp_path / "flat.csv").write_text(FLAT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_time_is_found_that_a_closed_form_knows() -> None:
    found = cx.fit(
        "card.yaml", "flat.csv", ["devices.mem.controller_time=5ns..150ns"], jobs=1, evaluations=20
    )
    (parameter,) = found.parameters
    assert float(str(parameter.value).removesuffix("ns")) == pytest.approx(80, abs=1.5)
    assert parameter.is_told
    assert found.error(held_back=False) < 0.01
    assert found.error(held_back=True) < 0.01
    assert found.error(held_back=False, before=True) == pytest.approx(0.3)
    assert [each.held_back for each in found.points] == [False, False, True, False, False, False]
    assert found.notes == []


@pytest.mark.usefixtures("folder")
def test_of_two_times_on_the_same_way_the_curve_tells_the_sum() -> None:
    vary = ["devices.mem.controller_time=5ns..150ns", "devices.mem.media.latency=5ns..150ns"]
    found = cx.fit("card.yaml", "flat.csv", vary, jobs=1, evaluations=40)
    total = sum(float(str(each.value).removesuffix("ns")) for each in found.parameters)
    assert total == pytest.approx(130, abs=3)
    assert found.together == (("devices.mem.controller_time", "devices.mem.media.latency"),)
    assert not any(each.is_told for each in found.parameters)
    assert "the curve tells only one number of" in found.notes[0]
    for each in found.parameters:  # the other has at least 5 ns
        assert float(str(each.high).removesuffix("ns")) == pytest.approx(125, abs=6)


@slow
def test_two_delays_are_told_together_on_a_curve_with_a_knee(folder: Path) -> None:
    """Each request has the link's delay twice, and the controller's time once: 2 x 30 + 75 ns, whatever the load."""
    spec = SPEC.replace("latency: 50ns", "latency: 60ns, bandwidth: 15GB/s")
    system = cx.System.from_yaml(spec.replace("controller_time: 20ns", "controller_time: 75ns"))
    rows = cx.measure.loaded(system, jobs=1).rows
    lines = [f"100%, {row['bandwidth_gb_per_s']}, {row['latency_ns']}" for row in rows]
    (folder / "knee.csv").write_text("\n".join(["reads, bandwidth_gb_per_s, latency_ns", *lines]))
    vary = ["links[0].delay=5ns..100ns", "devices.mem.controller_time=20ns..200ns"]
    found = cx.fit(cx.System.from_yaml(spec), folder / "knee.csv", vary, jobs=1)
    delay, controller = (float(str(each.value).removesuffix("ns")) for each in found.parameters)
    assert 2 * delay + controller == pytest.approx(135, abs=2)
    assert found.together == (tuple(each.split("=")[0] for each in vary),)


def test_a_bandwidth_is_told_by_where_the_curve_ends(folder: Path) -> None:
    wire = cx.load("card.yaml").set("links[0].bandwidth", "16GB/s")
    rows = cx.measure.loaded(wire, jobs=1).rows
    lines = [f"100%, {row['bandwidth_gb_per_s']}, {row['latency_ns']}" for row in rows]
    (folder / "curve.csv").write_text("\n".join(["reads, bandwidth_gb_per_s, latency_ns", *lines]))
    system = cx.load("card.yaml").set("links[0].bandwidth", "30GB/s")
    found = cx.fit(system, "curve.csv", ["links[0].bandwidth=8GB/s..64GB/s:log"], jobs=1, evaluations=30)
    (parameter,) = found.parameters
    assert float(str(parameter.value).removesuffix("GB/s")) == pytest.approx(16, rel=0.03)
    assert parameter.is_told


@pytest.mark.usefixtures("folder")
def test_what_changes_nothing_is_not_told() -> None:
    vary = ["devices.mem.controller_time=5ns..150ns", "devices.mem.queue=64..512"]
    found = cx.fit("card.yaml", "flat.csv", vary, jobs=1, evaluations=30)
    time, queue = found.parameters
    assert time.is_told
    assert not queue.is_told
    assert (queue.low, queue.high) == (64, 512)
    assert "the curve does not tell devices.mem.queue: any value from 64 to 512 fits as well" in found.notes


def test_the_command_writes_the_fitted_system(folder: Path, cxloom: Call) -> None:
    command = ["fit", "card.yaml", "--to", "flat.csv", "--jobs", "1", "--evaluations", "16"]
    vary = ["--vary", "devices.mem.controller_time=5ns..150ns"]
    done = cxloom(*command, *vary, "--out", "fitted.yaml")
    assert done.code == 0, done.err
    assert done.out.startswith("Latency is 0.")
    value = cx.load(folder / "fitted.yaml").resolve().plain()["devices"]["mem"]["controller_time"]
    assert value in done.out
    found = json.loads(cxloom(*command, *vary, "--json").out)
    assert found["settings"] == {"devices.mem.controller_time": value}
    assert [point["held_back"] for point in found["points"]].count(True) == 1


def test_a_quarter_of_the_points_within_a_curve_is_held_back() -> None:
    points = [Point(1.0, gb, 100, gb) for gb in range(1, 14)]
    parts = parted(points)
    assert [point.line for point in parts.held_back] == [3, 7, 11]
    assert sorted(point.line for point in (*parts.fitted, *parts.held_back)) == list(range(1, 14))
    assert parts.peaks == ()
    assert parted(points[:2]).fitted == tuple(points[:2])


def test_the_end_of_a_curve_is_a_peak_where_latency_rises() -> None:
    points = [Point(1.0, gb, ns, gb) for gb, ns in ((1, 100), (2, 101), (3, 140), (4, 200))]
    assert [point.line for point in parted(points).peaks] == [4]
    assert parted(points[:3]).peaks == ()


@pytest.mark.parametrize(("bandwidth", "peaks"), [(3.9999, [4]), (3.5, [])])
def test_a_row_without_a_limit_of_the_load_tells_the_peak(bandwidth: float, peaks: list[int]) -> None:
    """Its bandwidth may be less by the last digits, so that it is none of the curve; one far below tells nothing."""
    points = [Point(1.0, gb, ns, gb) for gb, ns in ((1, 100), (2, 101), (3, 102), (4, 130))]
    found = in_order([*points, Point(1.0, bandwidth, 200, 5)])
    assert [point.line for point in found.bent_back] == [5]
    assert [point.line for point in parted(found.points, found.bent_back).peaks] == peaks


def test_several_rows_at_one_peak_are_all_at_it() -> None:
    """MLC's delays 0, 2, 8 and 15; one with little latency or little bandwidth is no peak."""
    rows = ((1, 100), (20, 101), (38.5, 120), (30, 160), (38.6, 300), (39, 340), (39.2, 350), (39.1, 360))
    points = [Point(1.0, gb, ns, line) for line, (gb, ns) in enumerate(rows, 1)]
    parts = parted(points)
    assert [point.line for point in parts.peaks] == [5, 6, 7, 8]
    assert sorted(point.line for point in (*parts.fitted, *parts.held_back)) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "none.csv"], "no such file"),
        (["--to", "card.yaml"], "no table of a curve"),
        (["--to", "flat.csv", "--vary", "devices.mem.controller_time=5ns"], "not what to fit"),
        (["--to", "flat.csv", "--vary", "devices.mem.nosuch=1..2"], "nosuch"),
        (
            ["--to", "flat.csv", "--vary", "devices.mem.controller_time=9ns..5ns"],
            "a range that does not rise",
        ),
        (["--to", "two.csv"], "more parameters than the curve tells"),
        (["--to", "bad.csv"], "bad.csv:3: not a point of a curve"),
        (["--to", "flat.csv", "--memory", "mam"], "no memory of this name has addresses"),
        (["--to", "flat.csv", "--from", "hots"], "no requester of this name"),
        (["--to", "flat.csv", "--from", "mem"], "no requester of this name"),
        (["--to", "flat.csv", *2 * ["--vary", "devices.mem.controller_time=5ns..9ns"]], "fitted twice"),
        (["--to", "flat.csv", "--out", "fitted.txt"], "unsupported format of a spec"),
        (["--to", "flat.csv", "--reads", "2"], "not a share of reads"),
    ],
)
def test_what_cannot_be_fitted(folder: Path, cxloom: Call, arguments: list[str], words: str) -> None:
    head = "reads, bandwidth_gb_per_s, latency_ns\n"
    (folder / "two.csv").write_text(head + "100%, 1, 100\n100%, 2, 110\n")
    (folder / "bad.csv").write_text(head + "100%, 1, 100\n100%, fast, 110\n")
    vary = [] if "--vary" in arguments else ["--vary", "devices.mem.controller_time=5ns..150ns"]
    more = ["--vary", "devices.mem.media.latency=5ns..150ns"] if "two.csv" in arguments else []
    done = cxloom("fit", "card.yaml", *arguments, *vary, *more, "--jobs", "1", "--evaluations", "8")
    assert done.code == 2
    assert words in " ".join(done.err.split())


def test_a_path_that_matches_nothing_is_refused_before_a_run(
    folder: Path, cxloom: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bench, "run", lambda *_: pytest.fail("a run was made"))
    done = cxloom("fit", "card.yaml", "--to", "flat.csv", "--vary", "devices.man.controller_time=5ns..9ns")
    assert done.code == 2
    assert "'devices' has no 'man' (--vary devices.man.controller_time)" in done.err


def test_a_fit_in_python_refuses_nothing_to_fit(folder: Path) -> None:
    with pytest.raises(InputError, match="nothing to fit"):
        cx.fit(folder / "card.yaml", folder / "flat.csv", [])
