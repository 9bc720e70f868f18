"""`cxloom epochs`: what it prints and writes, its parameters, and what it refuses, with the reason."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plugin_support import PLUGINS, built, run
from test_epochs import HOT, KINDS, PROMOTES, played, spec_of
from test_tiering_kinds import FAR_FIRST
from tiering_support import PAGE
from validation.examples import some

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.epochs.scaled import scaled

Spec = dict[str, Any]
WORK = {**HOT, "requests": 40_000, "addresses": "first-touch"}


def small(tiering: Any = PROMOTES, work: Spec = WORK, **more: Any) -> Spec:
    return spec_of(work, tiering, **{"near": "512KiB", **FAR_FIRST, **more})


def test_pages_that_take_long_to_move_starve_no_window() -> None:
    """A page of 2 MiB takes hundreds of looks of a window, in which a program without cores stands still for it."""
    work = {"pattern": "random", "footprint": "1536MiB", "page": "2MiB", "addresses": "first-touch"}
    spec = spec_of({**work, "requests": 10**9}, {"kind": "hemem"}, near="1GiB", host={"queue": 32})
    spec["devices"]["far"]["capacity"] = "4GiB"
    assert played(spec, duration="2ms")["accesses"] > 0


# --- what moves -------------------------------------------------------------------------------------------------------

MOVING: Spec = {
    "phases": [
        {"pattern": "random", "footprint": "64KiB", "base": base, "requests": 40_000}
        for base in ("0x0", "0x20000")
    ],
    "requests": 80_000,
    "addresses": "first-touch",
}
"""16 pages are hot, and then 16 others."""


def test_a_hot_set_that_moves_is_followed_by_who_makes_room() -> None:
    policy = {**KINDS["hot-pages"], "keep_free": "32KiB"}
    found = played(spec_of(MOVING, policy, near="96KiB", **FAR_FIRST), duration="1s", epoch="100us")
    assert found["demoted_bytes"] >= 8 * PAGE
    assert found["promoted_bytes"] >= 24 * PAGE
    rows = found["epochs"]
    starts = [row["access_shares"]["near"] for row in rows]
    changed = next(
        i for i, row in enumerate(rows) if sum(each["accesses"] for each in rows[: i + 1]) > 41_000
    )
    assert max(starts[:changed]) > 0.9
    assert min(starts[changed - 3 :]) < 0.5 < starts[-1]
    assert {each["phase"] for each in found["windows"]} == {0, 1}


def test_a_hot_set_that_moves_is_lost_by_who_only_promotes() -> None:
    found = played(spec_of(MOVING, PROMOTES, near="64KiB", **FAR_FIRST), duration="1s")
    assert found["demoted_bytes"] == 0
    assert found["pages"] == {"near": 16, "far": 16}
    assert found["epochs"][-1]["access_shares"] == pytest.approx({"near": 0, "far": 1})


def test_a_program_that_comes_nearer_gets_faster() -> None:
    rows = played(small(), duration="1s", epoch="500us")["epochs"]
    assert rows[0]["access_shares"]["near"] < rows[-1]["access_shares"]["near"]
    assert rows[-1]["accesses_per_s"] > 1.3 * rows[0]["accesses_per_s"]


@pytest.mark.parametrize(
    ("key", "value", "grows"),
    some(
        [
            ("fault", "100us", "time_s"),
            ("protect", "20us", "time_s"),
            ("shootdown", "300us", "page_moves_ns"),
            ("unmap", "300us", "page_moves_ns"),
            ("interrupt", "50us", "interrupted_ns"),
        ]
    ),
)
def test_costs_of_the_kernel_are_those_of_lines(key: str, value: str, grows: str) -> None:
    cheap = played(small(kernel={"fault": "1us"}), duration="1s")
    dear = played(small(kernel={"fault": "1us", key: value}), duration="1s")
    assert dear[grows] > 1.2 * cheap[grows]


def test_samples_and_scans_cost_what_they_do_in_lines() -> None:
    cheap = played(small(KINDS["hot-pages"]), duration="1s")
    for key in ("sample", "scan"):
        dear = played(small(KINDS["hot-pages"], kernel={key: "5us"}), duration="1s")
        assert dear["time_s"] > 1.1 * cheap["time_s"], key
    other = played(small(KINDS["hot-pages"], kernel={"scan": "5us", "scanner": "other"}), duration="1s")
    assert other["time_s"] < dear["time_s"]


# --- parameters -------------------------------------------------------------------------------------------------------


def test_the_duration_ends_it() -> None:
    whole = played(small(), duration="1s")
    part = played(small(), duration="1ms")
    assert part["time_s"] == pytest.approx(1e-3)
    assert part["accesses"] < whole["accesses"] == 40_000


def test_an_epoch_is_a_row() -> None:
    assert len(played(small(), duration="1ms", epoch="100us")["epochs"]) == 10
    assert len(played(small(), duration="1ms")["epochs"]) == 100


def test_the_window_is_so_many_accesses() -> None:
    few, many = (played(small(), duration="1s", window=window) for window in (1000, 4000))
    for found, window in ((few, 1000), (many, 4000)):
        assert found["window_accesses"] == window * found["window_runs"]


def test_the_tolerance_asks_for_windows() -> None:
    coarse, fine = (played(small(), duration="1s", window=1000, tolerance=each) for each in (0.5, 0.02))
    assert len(coarse["windows"]) < len(fine["windows"])
    for first in fine["windows"]:
        others = [each for each in fine["windows"] if each is not first]
        assert all(abs(first["shares"][0] - each["shares"][0]) > 0.01 for each in others)
    assert sum(each["uses"] for each in fine["windows"]) > len(fine["windows"])


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    spec = tmp_path / "spec.yaml"
    spec.write_text(json.dumps(small()))
    return spec


def test_the_command_gives_the_course_and_the_error(
    file: Path, cxloom: Callable[..., Any], tmp_path: Path
) -> None:
    out = tmp_path / "found.json"
    done = cxloom("epochs", file, "--duration", "1s", "--json", "--check", "20000", "--out", out)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert json.loads(out.read_text()) == found
    check = found["check"]
    assert check["factor"] == 1
    assert check["accesses"] == 20_000
    assert set(check["lines"]) == set(check["epochs"]) == set(check["difference"])
    assert check["difference"]["time_s"] == pytest.approx(
        check["epochs"]["time_s"] / check["lines"]["time_s"] - 1
    )
    assert found["cost"]["cpu_s"] > 0
    shown = cxloom("epochs", file, "--duration", "1s", "--check", "20000")
    assert " ".join(found["sentence"].split()) in " ".join(shown.out.split())
    assert "Error of the split" in shown.out
    assert {"accesses/s", "promoted", "stalled", "near"} <= set(shown.out.split())
    assert "…" not in shown.out, "in 80 columns no figure and no head is cut"
    none = cxloom("epochs", file, "--duration", "1s", "--check", "0")
    assert "Error of the split" not in none.out


def test_a_large_program_is_checked_by_a_small_copy() -> None:
    large = spec_of(
        {**WORK, "footprint": "64MiB", "requests": 10**8}, {**PROMOTES, "scan": "4MiB"}, **FAR_FIRST
    )
    large["devices"]["near"]["capacity"] = "32MiB"
    large["devices"]["far"]["capacity"] = "64MiB"
    found = cx.play_epochs(cx.System.from_yaml(json.dumps(large)), duration="50ms", check=30_000)
    assert found.check is not None
    assert found.check["factor"] == 16
    assert found.check["footprint_bytes"] == 4 << 20
    assert sum(found.check["lines"]["pages"].values()) == 1024
    assert abs(found.check["difference"]["time_s"]) < 0.2


def test_a_copy_has_all_sizes_and_times_by_one_factor() -> None:
    whole = small({"kind": "memory-tiering", "scan_size": "256KiB"})
    spec = cx.System.from_yaml(json.dumps(whole)).resolve().plain()
    before = copy.deepcopy(spec)
    copied = scaled(spec, "host", PAGE, 8)
    assert copied["devices"]["near"]["capacity"] == f"{64 << 10}B"
    assert copied["workload"]["host"]["footprint"] == f"{128 << 10}B"
    assert copied["workload"]["host"]["requests"] == 5000
    policy = copied["workload"]["host"]["tiering"]
    assert policy["scan_size"] == f"{32 << 10}B"
    assert policy["period_min"] == "125000000000ps"
    assert policy["enough_free"] == f"{128 << 20}B"
    assert "high_watermark" not in policy
    assert spec == before


def test_a_copy_has_less_of_the_memory_within_a_host_too() -> None:
    whole = small()
    del whole["devices"]["near"]
    whole["devices"]["host"]["memory"] = {"capacity": "512KiB"}
    whole["links"] = whole["links"][1:]
    whole["address_map"] = [{"to": "far"}, {"to": "host"}]
    spec = cx.System.from_yaml(json.dumps(whole)).resolve().plain()
    assert scaled(spec, "host", PAGE, 8)["devices"]["host"]["memory"]["capacity"] == f"{64 << 10}B"


def test_a_copy_that_cannot_be_made_is_a_note() -> None:
    spec = spec_of({**WORK, "footprint": "64MiB"}, PROMOTES)
    spec["devices"]["far"]["capacity"] = "64MiB"
    spec["address_map"] = [{"to": "near", "base": "0x0"}, {"to": "far"}]
    found = cx.play_epochs(cx.System.from_yaml(json.dumps(spec)), duration="1ms")
    assert found.check is None
    assert "a region with a size or an address" in found.notes[0]


def test_a_policy_of_a_plug_in_is_played(tmp_path: Path) -> None:
    """It samples, reads accessed bits and looks at the traffic of nodes."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(json.dumps(small({"kind": "sampled-tiers", "period": "100us"}, near="256KiB")))
    library = built(PLUGINS / "sampled_tiers.cpp")
    done = run(
        "epochs", str(spec), "--plugin", str(library), "--duration", "1s", "--json", "--check", "40000"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["samples"] == 40_000 // 16
    assert found["promoted_bytes"] > 0
    assert found["scanned_pages"] > 0
    assert abs(found["check"]["difference"]["time_s"]) < 0.15


# --- refused ----------------------------------------------------------------------------------------------------------

REFUSED: list[tuple[Spec, str, str]] = [
    ({"touched": "during"}, "workload.host.touched", "all pages have been touched"),
    ({"rate": "1M/s"}, "workload.host.rate", "closed loops"),
    ({"pattern": "strided", "stride": "192KiB"}, "pattern", "does not say how often"),
    ({"pattern": "strided", "stride": "8KiB"}, "workload", "a stride above a page"),
    ({"pattern": "cycle"}, "pattern", "does not say how often"),
    ({"tiering": None}, "workload.host.tiering", "a policy that moves pages"),
]


@pytest.mark.parametrize(("change", "path", "why"), REFUSED)
def test_what_epochs_cannot_give_is_refused(
    change: Spec, path: str, why: str, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    work = {key: value for key, value in WORK.items() if "pattern" not in change or not key.startswith("hot")}
    spec = small()
    spec["workload"]["host"] = {**work, "tiering": PROMOTES, **change}
    file = tmp_path / "spec.yaml"
    file.write_text(json.dumps(spec))
    out = tmp_path / "out.json"
    done = cxloom("epochs", file, "--duration", "1ms", "--out", out)
    assert done.code == 2, done.out
    assert why in " ".join(done.err.split())
    assert path in done.err
    assert str(file) in done.err
    assert not out.exists()


def test_other_things_that_epochs_cannot_give() -> None:
    def refused(spec: Spec) -> str:
        with pytest.raises(InputError) as caught:
            played(spec, duration="1ms")
        return str(caught.value)

    event = {"at": "1us", "move_pages": {"requester": "host", "from": "far", "to": "near"}}
    assert "events come at times of lines" in refused(small(events=[event]))
    two = small()
    two["devices"]["other"] = {"kind": "host"}
    two["links"].append({"between": ["other", "far"]})
    two["workload"]["other"] = {"pattern": "random", "footprint": "64KiB", "requests": 10}
    assert "a single program" in refused(two)
    cached = small(KINDS["hemem"], host={"cache": {"size": "32KiB"}})
    assert "which pages miss in a cache" in refused(cached)
    threads = small(KINDS["oracle"], work={**WORK, "threads": 2}, host={"core": {}})
    assert "the future of one thread" in refused(threads) or "knows it of one thread" in refused(threads)


@pytest.mark.parametrize(
    ("words", "option", "why"),
    [
        (["--duration", "0s"], "--duration", "0"),
        (["--duration", "soon"], "--duration", "soon"),
        (["--epoch", "1ns"], "--epoch", "more than 100000 epochs"),
        (["--window", "7"], "--window", "100"),
        (["--tolerance", "0%"], "--tolerance", "at least"),
        (["--tolerance", "some"], "--tolerance", "not a share"),
        (["--out", "found.csv"], "--out", ".json"),
    ],
)
def test_a_wrong_option_is_refused(
    words: list[str], option: str, why: str, file: Path, cxloom: Callable[..., Any]
) -> None:
    given = words if "--duration" in words else ["--duration", "1s", *words]
    done = cxloom("epochs", file, *given)
    assert done.code == 2
    assert option in done.err
    assert why in done.err
