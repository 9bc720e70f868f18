"""What is too large, too little or not lined up is refused, or said; nothing is silently wrong."""

import re
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.base import limits
from cxloom.system.simulation import build
from cxloom.trace import convert


def spec(**host: Any) -> cx.System:
    system = cx.System()
    system.host("host", **host)
    system.memory("mem", capacity="1GiB")
    system.connect("host", "mem")
    system.map(to="mem")
    return system


def work(system: cx.System, **params: Any) -> cx.System:
    system.workload("host", **({"pattern": "random", "requests": 1000, "footprint": "1MiB"} | params))
    return system


@pytest.mark.parametrize(
    ("host", "params", "path"),
    [
        ({"process_time": "3601s"}, {}, "devices.host.process_time"),
        ({"instruction_time": "2us"}, {}, "devices.host.instruction_time"),
        ({}, {"base": "0x1001"}, "workload.host.base"),
    ],
)
def test_refused(host: dict[str, str], params: dict[str, str], path: str) -> None:
    with pytest.raises(cx.InputError) as refused:
        cx.run(work(spec(**host), **params))
    assert refused.value.path == path


def test_more_credits_than_a_link_can_have_are_refused() -> None:
    system = cx.System()
    system.host("host")
    system.memory("mem", capacity="1GiB")
    system.connect("host", "mem", credits=65537)
    system.map(to="mem")
    with pytest.raises(cx.InputError, match="at most 65536"):
        cx.run(work(system))


def test_a_run_needs_somebody_who_makes_requests() -> None:
    with pytest.raises(cx.InputError, match="nobody makes requests"):
        cx.run(spec())


def test_sums_of_long_latencies_do_not_wrap() -> None:
    # 20000 requests of 3600 s are 7.2e19 ps, beyond 64 bits; all start at once, so that simulated time stays short.
    system = work(spec(queue=20000, process_time="3600s"), requests=20000)
    result = cx.run(system)
    assert result.latency.min == result.latency.max == result.latency.mean == 3600e9 + 40 + 45
    assert sum(result.breakdown.values()) == pytest.approx(result.latency.mean, rel=1e-12)


def test_a_short_window_is_noted() -> None:
    assert any("three mean latencies" in note for note in cx.run(work(spec(), requests=10))["notes"])
    system = work(spec(), requests=10_000).set("links[0].bandwidth", "64GB/s").set("devices.mem.queue", 64)
    assert cx.run(system)["notes"] == []


def test_a_trace_that_ends_early_is_noted(tmp_path: Path) -> None:
    trace = tmp_path / "short.txt"
    trace.write_text("".join(f"0x{64 * i:x} R {i}\n" for i in range(100)))
    system = spec()
    system.workload("host", trace=str(trace), requests=1000)
    notes = cx.run(system)["notes"]
    assert any("ended after 100 of 1000" in note for note in notes)


def test_links_whose_names_would_be_the_same_are_told_apart() -> None:
    system = cx.System()
    for name in ("a", "a-b", "b-c", "c"):
        system.switch(name)
    system.host("h")
    system.memory("m", capacity="1GiB")
    for ends in (("a", "b-c"), ("a-b", "c"), ("b-c", "a-b"), ("h", "a"), ("c", "m")):
        system.connect(*ends)
    system.map(to="m")
    system.workload("h", pattern="random", requests=10, footprint="1MiB")
    links = cx.run(system)["per_link"]
    assert len(links) == 5
    assert {"a-b-c", "a-b-c#2"} <= set(links)


def test_a_whole_number_may_be_written_with_an_exponent() -> None:
    def requests(text: str) -> int:
        yaml = work(spec(), requests=7).to_yaml().replace("requests: 7", f"requests: {text}")
        return int(cx.run(cx.System.from_yaml(yaml))["requests"])

    assert requests("1e3") == 1000
    for text, problem in (("1000.5", "not a whole number"), ("-1e3", "negative"), ("1e300", "not a whole")):
        with pytest.raises(cx.InputError, match=problem):
            requests(text)


def test_a_footprint_below_the_map_is_told_its_base() -> None:
    system = cx.System()
    system.host("host").memory("mem", capacity="1GiB").connect("host", "mem").map(
        to="mem", base="0x100000000"
    )
    with pytest.raises(cx.InputError) as refused:
        cx.run(work(system))
    assert refused.value.path == "workload.host.base"
    assert refused.value.allowed.endswith("set base: 0x100000000")
    assert cx.run(work(system, base="0x100000000"))["completed"]


def test_a_traces_length_is_known_beforehand(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("".join(f"{64 * i:#x} R {i}\n" for i in range(100)))
    convert(tmp_path / "t.txt", tmp_path / "t.parquet", tick="1ns")
    system = spec()
    system.workload("host", trace=str(tmp_path / "t.parquet"))
    assert build(system.resolve()).progress()["expected"] == 100
    assert cx.run(system)["requests"] == 100


def test_the_documentation_lists_all_limits() -> None:
    table = (Path(__file__).parents[2] / "docs" / "spec.md").read_text().partition("## Limits")[2]
    listed = {int(row.replace(" ", "")) for row in re.findall(r"\| ([\d ]+) \|", table)}
    declared = {value for name, value in vars(limits).items() if name.isupper() and name != "SHOWN"}
    assert declared <= listed
