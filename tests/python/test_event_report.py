"""What the table at the end of a run and its page say of failures and repairs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cxloom as cx
from cxloom.results.blast import hit_hardest
from cxloom.results.terminal import LINES, to_text

Call = Callable[..., Any]

SPEC = """\
devices:
  host: {kind: host, queue: 8}
  front: {kind: switch}
  sw[0-1]: {kind: switch}
  rear: {kind: switch}
  mem[0-1]: {kind: memory}
links:
  - {between: [host, front], bandwidth: 16GB/s}
  - {between: [front, "sw[*]"], bandwidth: 16GB/s}
  - {between: ["sw[*]", rear], bandwidth: 16GB/s}
  - {between: [rear, mem0], bandwidth: 16GB/s}
  - {between: [sw0, mem1], bandwidth: 16GB/s}
address_map: [{to: [mem0, mem1]}]
workload:
  host: {pattern: random, reads: 60%, requests: 3000, footprint: 1GiB}
events:
"""
LINK = "{at: 2us, fail: {link: [sw0, rear], reroute_time: 1us}}"
REPAIR = "{at: 6us, repair: {link: [sw0, rear]}}"
SWITCH = "{at: 12us, fail: {device: sw0, reroute_time: 1us}}"


def run(*events: str) -> cx.Result:
    return cx.run(cx.System.from_yaml(SPEC + "".join(f"  - {event}\n" for event in events)))


def rows(text: str) -> dict[str, list[str]]:
    """The table of events: the numbers of each row by its name."""
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("event "))
    found = {}
    for line in lines[start + 1 :]:
        if not line or line.startswith("errors:"):
            break
        name, _, numbers = line.partition("   ")
        found[name] = numbers.split(maxsplit=3)
    return found


def test_the_table_says_what_each_event_cost() -> None:
    result = run(LINK, REPAIR, SWITCH)
    events = result.summary["events"]
    found = rows(to_text(result.summary))
    assert list(found) == list(events)
    assert list(events) == ["2us fail link sw0-rear", "6us repair link sw0-rear", "12us fail device sw0"]
    for name, (rerouted, failed, lost, _) in found.items():
        counts = [events[name][key] for key in ("rerouted", "failed", "lost")]
        assert [int(count.replace(",", "")) for count in (rerouted, failed, lost)] == counts
    # The way by the other switch is there; later the memory that only the first one leads to is cut off.
    assert int(found["2us fail link sw0-rear"][0]) > 0
    assert int(found["12us fail device sw0"][1].replace(",", "")) > 0
    assert int(found["12us fail device sw0"][2]) > 0
    # The first to wait for the failure is known after reroute_time.
    assert found["2us fail link sw0-rear"][3] == "1.00 us"
    # Nothing waited for the repair.
    assert found["6us repair link sw0-rear"] == ["0", "0", "0", "-"]


def test_equal_events_at_one_instant_have_an_entry_each() -> None:
    """It fails, is repaired and fails again at once: what failing costs is the second failure's."""
    repair = REPAIR.replace("6us", "2us")
    again = run(LINK, repair, LINK, repair, LINK).summary["events"]
    fail = "2us fail link sw0-rear"
    assert list(again) == [
        *(fail, "2us repair link sw0-rear"),
        *(f"{fail} (2)", "2us repair link sw0-rear (2)"),
        f"{fail} (3)",
    ]
    once = run(LINK).summary["events"][fail]
    assert once["rerouted"] > 0
    last = again[f"{fail} (3)"]
    assert {**last, "requesters": {}} == {**once, "requesters": {}}
    assert all(event["requesters"] == once["requesters"] for event in again.values())
    assert sum(cost["rerouted"] for cost in again.values()) == once["rerouted"]


def test_links_whose_names_join_to_the_same_words_have_an_entry_each() -> None:
    """The link between a-b and c, and that between a and b-c."""
    system = cx.System.from_yaml(
        "devices:\n"
        "  host: {kind: host}\n"
        "  a: {kind: switch}\n"
        "  a-b: {kind: switch}\n"
        "  b-c: {kind: switch}\n"
        "  c: {kind: memory}\n"
        "links: [{between: [host, a]}, {between: [a, b-c]}, {between: [b-c, a-b]}, {between: [a-b, c]}]\n"
        "address_map: [{to: c}]\n"
        "workload: {host: {pattern: random, requests: 100, footprint: 1MiB}}\n"
        "events: [{at: 1us, fail: {link: [a, b-c]}}, {at: 1us, fail: {link: [a-b, c]}}]\n"
    )
    assert list(cx.run(system).summary["events"]) == ["1us fail link a-b-c", "1us fail link a-b-c (2)"]


def test_without_events_there_is_no_table() -> None:
    text = to_text(cx.run(cx.System.from_yaml(SPEC + "  []\n")).summary)
    assert "error answers" not in text


def test_many_events_stay_on_one_screen_and_the_worst_are_shown() -> None:
    events = [LINK, REPAIR]
    for at in range(7, 19):
        events.append(f"{{at: {at}us, fail: {{link: [sw1, rear], reroute_time: 1us}}}}")
        events.append(f"{{at: {at}500ns, repair: {{link: [sw1, rear]}}}}")
    result = run(*events)
    text = to_text(result.summary)
    assert len(text.splitlines()) <= LINES
    found = rows(text)
    assert "2us fail link sw0-rear" in found
    *_, last = found
    assert last == f"and {len(result.summary['events']) - len(found) + 1} more"


def test_a_run_that_measured_nothing_still_tells_them() -> None:
    system = cx.System.from_yaml(SPEC + f"  - {LINK}\n").set("run.warmup", 100_000)
    summary = cx.run(system, max_time="5us").summary
    assert summary["requests"] == 0
    assert list(rows(to_text(summary))) == ["2us fail link sw0-rear"]


def test_the_page_has_the_table(cxloom: Call, tmp_path: Path) -> None:
    spec = tmp_path / "failing.yaml"
    spec.write_text(SPEC + f"  - {LINK}\n  - {REPAIR}\n  - {SWITCH}\n")
    assert cxloom("run", spec, "--out", tmp_path / "r", "--quiet").code == 0
    assert cxloom("report", tmp_path / "r").code == 0
    page = (tmp_path / "r" / "report.html").read_text()
    assert "What failed and was repaired" in page
    events = json.loads((tmp_path / "r" / "summary.json").read_text())["events"]
    for name, cost in events.items():
        start = page.index(f"<td>{name}</td>")
        row = page[start : page.index("</tr>", start)]
        for key in ("rerouted", "failed", "lost"):
            assert f'data-value="{cost[key]}"' in row


def test_whom_an_event_hit_hardest_has_most_errors_or_became_slowest() -> None:
    def each(before: float | None, after: float | None, errors: int = 0, lines: int = 0) -> dict[str, object]:
        latencies = {"latency_before_ns": before, "latency_ns": after}
        return {**latencies, "errors": errors, "dirty_lines_lost": lines}

    requesters = {
        "h0": each(100.0, None),
        "h1": each(100.0, 150.0),
        "h2": each(400.0, 500.0),
        "h3": each(9.0, 3.0),
    }
    assert hit_hardest({"requesters": requesters}) == "h1: 100 ns to 150 ns"
    assert hit_hardest({"requesters": {name: requesters[name] for name in ("h0", "h3")}}) is None
    failed = {"h4": each(9.0, 8.0, 2), "h5": each(9.0, 1.0, 1052)}  # only hits are left of the latter
    assert hit_hardest({"requesters": requesters | failed}) == "h5: 1,052 errors"
    lines = {"h6": each(9.0, 9.0, 0, 1)}
    assert hit_hardest({"requesters": requesters | lines}) == "h6: 1 modified line lost"
    both = {"h5": each(9.0, 1.0, 1052, 3)}
    assert hit_hardest({"requesters": requesters | both}) == "h5: 1,052 errors, 3 modified lines lost"


def test_of_many_devices_those_with_errors_are_shown() -> None:
    """Eight hosts make more requests than the one that asks for what has failed."""
    hosts = "\n".join(f"  good{i}: {{pattern: random, requests: 2000, footprint: 1MiB}}" for i in range(8))
    system = cx.System.from_yaml(
        "devices:\n"
        '  "good[0-7]": {kind: host}\n'
        "  hit: {kind: host, completion_timeout: 2us}\n"
        "  sw: {kind: switch}\n"
        '  "mem[0-1]": {kind: memory, capacity: 1MiB}\n'
        'links: [{between: ["good[*]", sw]}, {between: [hit, sw]}, {between: ["mem[*]", sw]}]\n'
        "address_map: [{to: mem0}, {to: mem1}]\n"
        f"workload:\n{hosts}\n"
        "  hit: {pattern: random, requests: 300, base: 1MiB, footprint: 1MiB}\n"
        "events: [{at: 500ns, fail: {device: mem1, reroute_time: 0ns}}]\n"
    )
    text = to_text(cx.run(system).summary)
    assert "more" in text
    assert any(line.startswith("hit ") for line in text.splitlines())
