"""`cxloom report`: what stands on the page of a run, and what is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cxloom as cx
from cxloom.bottleneck.resources import cause
from cxloom.bottleneck.shared_limits import all_resources
from cxloom.display import palette
from cxloom.display.numbers import margin, significant
from cxloom.report.distribution import distributions, edges_of
from cxloom.report.run_answer import answer_of_run
from cxloom.report.series import series_of
from cxloom.report.utilisation import directions, load_of

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a run that recorded everything."""
    folder = tmp_path_factory.mktemp("run") / "results"
    system = cx.System("A <b>bold</b> & 'quoted' name", preset="esf/validation")
    system.host("host", queue=64)
    system.workload("host", requests=4000)
    system.outputs(requests=True, series="1us")
    cx.run(system, seed=3, out=folder)
    return folder


@pytest.fixture
def copied(results: Path, tmp_path: Path) -> Path:
    """A copy of these results, to be spoilt."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for file in results.iterdir():
        if file.name != "report.html":
            (folder / file.name).write_bytes(file.read_bytes())
    return folder


@pytest.fixture(scope="module")
def page(results: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    from cxloom.report.run_page import run_page

    return run_page(cx.Result.load(results), results)


class Page(HTMLParser):
    """Every tag that is opened is closed; ids are given once and links within the page lead somewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)
        given = dict(attrs)
        if given.get("id") and not str(given["id"]).startswith("cx-"):
            self.ids.append(str(given["id"]))
        href = given.get("href") or ""
        if href.startswith("#"):
            self.targets.append(href[1:])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in ("meta", "br", "link", "img"):
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def plots_of(page: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The plots of a page, by their names."""
    for key, source in re.findall(
        r'<script type="application/json" data-plot="([^"]+)">(.*?)</script>', page
    ):
        yield key, json.loads(source)


def test_the_page_opens_with_the_answer(results: Path, page: str) -> None:
    result = cx.Result.load(results)
    first = page[: page.index('class="tiles"')]
    assert (
        f"{significant(result.bandwidth)} GB/s at {significant(result.latency.mean)} ns on average, mostly"
        in first
    )
    limit = cause(all_resources(result.spec.plain(), result.summary))
    assert limit is not None
    assert f"Full last on a request&#x27;s way: {limit.name}" in first


def test_how_well_a_value_is_known_stands_behind_it() -> None:
    assert f"100{margin(100.0, (96.0, 104.4))}" == "100 ±4.2"
    assert f"100{margin(100.0, (50.0, 200.0))}" == "100 (50.0 to 200)"
    assert f"207{margin(207.0, (22.0, 217.0))}" == "207 (22.0 to 217)"
    assert f"207{margin(207.0, (197.0, 392.0))}" == "207 (197 to 392)"
    assert f"100{margin(100.0, (95.0, 104.0))}" == f"100{margin(100.0, (96.0, 105.0))}" == "100 ±4.5"
    assert f"100{margin(100.0, (50.0, math.inf))}" == "100 (from 50.0)"
    assert f"0{margin(0.0, (0.0, 0.0), '+- ')}" == "0 +- 0"


def test_an_offered_load_is_the_answer_where_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    work = {"pattern": "random", "rate": "1M/s", "requests": 500}
    idle = cx.run(cx.load("dmsim/asic").set("workload.host", work))
    said = answer_of_run(idle.spec, idle.summary)
    assert "at 130 ns on average, mostly 65.0 ns of process and 65.0 ns of media. Full last on" in said
    assert "the offered load of host" in said
    monkeypatch.setattr("cxloom.report.run_answer.cause", lambda _resources: None)
    assert answer_of_run(idle.spec, idle.summary).endswith("and 65.0 ns of media. Nothing is full.")


def test_the_page_says_what_makes_the_slowest_slow(results: Path, page: str) -> None:
    tail = cx.Result.load(results).tail(0.99)
    text = "".join(Page(page).text)
    assert tail.sentence in text
    (media,) = (part for part in tail.notable if part.name == "media")
    assert f"media{significant(media.of_all_ns)}{significant(media.of_tail_ns)}" in text
    assert "from p99 on, ns" in text
    assert "from p99.9 on" not in text  # 4 of 4000 requests


def test_no_tail_is_shown_of_a_run_that_recorded_no_requests(copied: Path) -> None:
    from cxloom.report.run_page import run_page

    (copied / "requests.parquet").unlink()
    assert "What makes the slowest requests slow" not in run_page(cx.Result.load(copied), copied)


def test_a_page_is_whole_and_asks_for_nothing(page: str) -> None:
    parsed = Page(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert set(parsed.targets) - set(parsed.ids) <= {
        target for target in parsed.targets if target.startswith("cx-")
    }
    own = page.replace('"http://www.w3.org/2000/svg"', "")  # a name, which nobody asks for
    assert not re.search(r"""https?://|(src|href)=["']?//|url\((?!#|\$)|@import|<link|<iframe""", own)
    assert len(page) < 300_000
    assert "A &lt;b&gt;bold&lt;/b&gt; &amp; &#x27;quoted&#x27; name" in page
    assert "<b>bold" not in page


def test_axes_say_that_they_are_logarithmic_and_percentiles_are_marked(page: str, results: Path) -> None:
    found = dict(plots_of(page))
    assert sorted(found) == sorted(["breakdown", "histogram", "slower", "busy", "queues"])
    for figure in found.values():
        for axis in (figure["layout"]["xaxis"], figure["layout"]["yaxis"]):
            assert axis.get("title", "").endswith(", logarithmic") == (axis.get("type") == "log")
    summary = cx.Result.load(results).summary
    for name in ("histogram", "slower"):
        layout = found[name]["layout"]
        assert layout["yaxis"]["type"] == "log"
        marks = [(mark["name"].split()[0], mark["x"]) for mark in layout["marks"]]
        assert marks == [
            (name, summary[kind]["latency_ns"][key])
            for kind in ("read", "write")
            for key, name in (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9"))
        ]


def test_a_histogram_holds_every_request_and_no_outlier_squeezes_it() -> None:
    values = np.concatenate([np.linspace(100, 200, 999), [90_000.0]])
    edges, is_long = edges_of(values, 60)
    assert is_long
    counts, _ = np.histogram(values, edges)
    assert counts.sum() == 1000
    assert np.count_nonzero(counts) > 5
    assert np.allclose(edges[1:] / edges[:-1], edges[1] / edges[0])
    assert np.allclose(np.diff(edges_of(values[:-1], 60)[0]), 100 / 60)


def test_the_bars_are_the_breakdowns_of_the_summary(page: str, results: Path) -> None:
    summary = cx.Result.load(results).summary
    bars = dict(plots_of(page))["breakdown"]["data"]
    parts = {"all": summary, "reads": summary["read"], "writes": summary["write"], **summary["per_memory"]}
    for trace in bars:
        if trace["type"] == "bar":
            assert trace["y"] == list(parts)
            segment = trace["name"].replace(" ", "_")
            assert trace["x"] == [part["breakdown_ns"][segment] for part in parts.values()]
    names = [trace["name"].replace(" ", "_") for trace in bars if trace["type"] == "bar"]
    assert names == [segment for segment, value in summary["breakdown_ns"].items() if value]


def test_the_distribution_is_that_of_the_requests(results: Path) -> None:
    result = cx.Result.load(results)
    requests = result.requests()
    for kind, found in distributions(result).items():
        latency = requests.filter(pl.col("kind").cast(pl.String) == kind).select(
            (pl.col("completed_ps") - pl.col("created_ps")) / 1000
        )
        values = latency.to_series().to_numpy()
        assert found.count == len(values)
        for at, share in zip(*found.slower, strict=True):
            assert (values > at - 1e-9).mean() * 100 >= share - 1e-9  # ties are not all slower
            assert (values > at + 1e-9).mean() * 100 <= share + 1e-9
        assert found.histogram is not None
        assert np.isclose(sum(found.histogram[1]), 100, atol=0.2)  # of the slowest 0.05 % there is no bar


def test_without_requests_the_distribution_is_that_of_the_percentiles(copied: Path, cxloom: Call) -> None:
    (copied / "requests.parquet").unlink()
    result = cx.Result.load(copied)
    found = distributions(result)["read"]
    assert found.histogram is None
    latency = result.summary["read"]["latency_ns"]
    assert found.slower[0] == [latency[key] for key in ("p50", "p90", "p99", "p999")]
    assert np.allclose(found.slower[1], [50, 10, 1, 0.1])
    assert cxloom("report", copied).code == 0
    assert "recorded no requests" in (copied / "report.html").read_text()


def test_series_are_those_of_the_table(results: Path) -> None:
    result = cx.Result.load(results)
    series = result.series().with_columns(pl.col("name").cast(pl.String))
    for each, column, scale in zip(series_of(result), ("utilization", "queue"), (100, 1), strict=True):
        assert each.curves
        for name, (_, values) in each.curves.items():
            rows = series.filter(pl.col("name") == name)
            assert np.allclose(values, rows[column] * scale, atol=1e-4)


@pytest.mark.parametrize("turnaround", [0, 10])
def test_a_full_wire_of_half_duplex_is_full_over_time(turnaround: int) -> None:
    """Both directions take turns: each has half of the wire less what turning takes, and no time is left."""
    shared = {"bandwidth": "16GB/s", "duplex": "half", "turnaround": f"{turnaround}ns"}
    system = cx.System("half")
    system.host("host", queue=64).bus("bus", **shared)
    system.memory("mem", capacity="1GiB", media={"kind": "fixed", "latency": "45ns"})
    system.connect("host", "bus", **shared).connect("bus", "mem")
    system.map("mem")
    system.workload("host", pattern="random", reads="50%", requests=4000, footprint="1GiB")
    system.outputs(series="1us")
    found = {each.key: each for each in series_of(cx.run(system, seed=1))}
    busy = found["busy"].curves
    assert list(busy) == ["bus", "host-bus"]
    for _, values in busy.values():
        assert np.mean(values[1:-2]) == pytest.approx(100, abs=0.5)
        assert max(values) <= 100
    assert {"host->bus", "bus upstream"} <= set(found["queues"].curves)


def test_every_direction_and_device_is_in_the_tables(page: str, results: Path) -> None:
    summary = cx.Result.load(results).summary
    text = Page(page).text
    for way in directions(summary):
        assert way.name in text
    for name in [*summary["per_memory"], *summary["per_requester"]]:
        assert name in text


def test_the_load_of_a_picture_is_that_of_the_summary(results: Path) -> None:
    summary = cx.Result.load(results).summary
    load = load_of(summary)
    bus = summary["per_switch"]["bus"]
    assert load.nodes == {"bus": max(bus["upstream_utilization"], bus["downstream_utilization"])}
    assert load.queues["bus"] == bus["upstream_queue_mean"] + bus["downstream_queue_mean"]
    assert load.queues["mem2"] == summary["per_memory"]["mem2"]["queue_mean"]
    assert load.links == {}  # the links of this system have no bandwidth
    system = cx.System(preset="esf/validation")
    system.connect("host", "bus", bandwidth="32GB/s")
    system.workload("host", requests=2000)
    summary = cx.run(system, seed=1).summary
    assert load_of(summary).links == {
        ("host-bus", "host"): summary["per_link"]["host-bus"]["host->bus"]["utilization"],
        ("host-bus", "bus"): summary["per_link"]["host-bus"]["bus->host"]["utilization"],
    }


def test_parameters_and_provenance_are_there(page: str, results: Path) -> None:
    from html import escape

    assert escape((results / "spec.yaml").read_text()) in page
    summary = json.loads((results / "summary.json").read_text())
    for value in (
        summary["version"],
        summary["spec_hash"],
        summary["seed"],
        f"{summary['cost']['events']:,}",
    ):
        assert str(value) in page


def test_a_run_of_nothing_and_a_truncated_one_have_pages(
    cxloom: Call, spec_file: Path, tmp_path: Path
) -> None:
    for limit, expected in (("1ns", "Nothing was measured"), ("5us", "Truncated")):
        folder = tmp_path / limit
        assert cxloom("run", spec_file, "--max-time", limit, "--out", folder, "--quiet").code == 1
        assert cxloom("report", folder).code == 0
        page = (folder / "report.html").read_text()
        assert expected in page
        Page(page)


def test_coherent_systems_have_a_table_of_homes(cxloom: Call, tmp_path: Path) -> None:
    spec = tmp_path / "coherent.yaml"
    spec.write_text(
        "devices:\n"
        "  host[0-1]: {kind: host, cache: {size: 4KiB}}\n"
        "  sw: {kind: switch}\n"
        "  mem: {kind: memory, capacity: 1MiB, dcoh: {filter: {entries: 64}}}\n"
        "links: [{between: ['host[*]', sw]}, {between: [sw, mem]}]\n"
        "address_map: [{to: mem, coherence: hdm-db}]\n"
        "workload: {'host[*]': {pattern: random, requests: 500, footprint: 64KiB}}\n"
    )
    assert cxloom("run", spec, "--out", tmp_path / "r", "--quiet").code == 0
    assert cxloom("report", tmp_path / "r").code == 0
    assert "Homes of coherent lines" in (tmp_path / "r" / "report.html").read_text()


def test_equal_results_are_equal_pages(cxloom: Call, copied: Path) -> None:
    texts = []
    for _ in range(2):
        assert cxloom("report", copied).code == 0
        texts.append((copied / "report.html").read_text())
    assert texts[0] == texts[1]


def test_colours_of_segments_are_seen_on_both_papers() -> None:
    from cxloom.report import plots

    figure = plots.breakdown({"all": dict.fromkeys(palette.SEGMENTS, 1.0)}, "")
    colours = [trace["marker"]["color"] for trace in figure["data"] if trace["type"] == "bar"]
    assert len(colours) == len(palette.SEGMENTS)
    assert "#000000" not in colours


# --- bad input -------------------------------------------------------------------------------------------------------


def refused(cxloom: Call, folder: Path, *arguments: object) -> str:
    """What a report of a directory is refused with; nothing is written."""
    before = sorted(folder.rglob("*")) if folder.is_dir() else []
    outcome = cxloom("report", folder, *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert (sorted(folder.rglob("*")) if folder.is_dir() else []) == before
    return str(outcome.err)


def test_what_is_no_directory_of_results_is_refused(cxloom: Call, tmp_path: Path) -> None:
    assert "no such directory" in refused(cxloom, tmp_path / "none")
    (tmp_path / "file").write_text("{}")
    assert "not a directory" in refused(cxloom, tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert "no results here: there is no summary.json, outcome.json or sweep.json" in refused(
        cxloom, tmp_path / "empty"
    )
    assert "the name of the directory is empty" in cxloom("report", "").err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is no JSON"),
        ('{"requests": 4, "latency_ns": {"me', "it is no JSON"),
        ("[1, 2]", "not a summary"),
        ("{}", "not the summary of a run: no 'requests'"),
    ],
)
def test_a_summary_that_is_none_is_refused(cxloom: Call, copied: Path, text: str, said: str) -> None:
    (copied / "summary.json").write_text(text)
    assert said in refused(cxloom, copied)


@pytest.mark.parametrize("key", ["per_link", "per_switch", "cost", "breakdown_ns", "seed"])
def test_a_summary_without_a_key_is_refused(cxloom: Call, copied: Path, key: str) -> None:
    summary = json.loads((copied / "summary.json").read_text())
    del summary[key]
    (copied / "summary.json").write_text(json.dumps(summary))
    assert f"not the whole summary of a run: no '{key}'" in refused(cxloom, copied)


@pytest.mark.parametrize("name", ["requests.parquet", "series.parquet"])
@pytest.mark.parametrize("keep", [0, 100, -100])
def test_a_table_that_is_cut_off_is_refused(cxloom: Call, copied: Path, name: str, keep: int) -> None:
    whole = (copied / name).read_bytes()
    (copied / name).write_bytes(whole[:keep])
    said = refused(cxloom, copied)
    assert name in said
    assert "it is no Parquet" in said


def test_a_table_of_something_else_is_refused(cxloom: Call, copied: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(copied / "requests.parquet")
    assert "of something else" in refused(cxloom, copied)


def test_a_spec_that_is_missing_or_wrong_is_refused(cxloom: Call, copied: Path) -> None:
    (copied / "spec.yaml").write_text("devices: {host: {kind: hos")
    assert "spec.yaml" in refused(cxloom, copied)
    (copied / "spec.yaml").unlink()
    assert "spec.yaml" in refused(cxloom, copied)


def test_a_page_that_cannot_be_written_is_refused(cxloom: Call, copied: Path, tmp_path: Path) -> None:
    assert "not the name of a page" in refused(cxloom, copied, "--out", tmp_path / "page.pdf")
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused(cxloom, copied, "--out", tmp_path / "file" / "page.html")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    page = tmp_path / "page.html"
    assert "cannot be written" in refused(cxloom, copied, "--out", page, "--figures", tmp_path / "file")
    assert not page.exists()
