"""Persistent memory and persistent switches as a user meets them: specs, traces, results, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import cxloom as cx
from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.results.terminal import to_text
from cxloom.trace import FLUSH, FLUSH_KEEPING, convert, open_trace
from cxloom.trace import info as trace_info

SPEC = """
devices:
  host: {kind: host, queue: 8, cache: {size: 4KiB}}
  sw: {kind: switch, persist_buffer: {policy: forward}}
  pm: {kind: memory, media: {kind: nvm, write_buffer: 0}}
links:
  - {between: [host, sw], port_delay: 25ns}
  - {between: [sw, pm], port_delay: 25ns}
address_map: [{to: pm, persistence: media}]
workload:
  host: {pattern: random, persists: 50%, reads: 100%, epoch: 2, footprint: 2KiB, requests: 1000}
outputs: {requests: true, versions: true}
"""


def test_a_run_tells_of_flushes_and_buffers() -> None:
    result = cx.run(cx.System.from_yaml(SPEC))
    assert result.flushes > 0
    assert result.count == result.reads + result.writes + result.flushes
    assert result.flush is not None
    rows = result.requests()
    assert rows.filter(rows["kind"] == "flush").height == result.flushes
    assert {"persist_queue_ps", "persist_buffer_ps"} <= set(rows.columns)
    buffer = result.per_switch["sw"]["persist_buffer"]
    assert buffer["persists"] == buffer["coalesced"] + buffer["drained"] + buffer["resident"]
    assert result.values["versions"] == {"stale_reads": 0, "lost_updates": 0, "unreachable_lines": 0}
    assert "flush" in to_text(result.values)


# Host a stores at 0 and flushes at 1 us; b has the line since its read at 0, and reads at 1 to 9 us.
SHARED = """\
devices:
  a: {kind: host, queue: 1, issue_interval: 1us, cache: {size: 4KiB}}
  b: {kind: host, queue: 1, issue_interval: 1us, cache: {size: 4KiB}}
  sw: {kind: switch, persist_buffer: {}}
  pm: {kind: memory, media: {kind: nvm, write_buffer: 0}}
links:
  - {between: [a, sw]}
  - {between: [b, sw]}
  - {between: [sw, pm]}
address_map: [{to: pm, persistence: media}]
workload:
  a: {pattern: sequential, footprint: 64B, requests: 10, persists: 100%}
  b: {pattern: sequential, footprint: 64B, requests: 10}
outputs: {versions: true}
"""


@pytest.mark.parametrize(
    ("was", "other", "stale"),
    [
        ("", "", 8),  # those behind the answer to the first flush
        ("persists: 100%", "persists: 100%, flush: keep", 8),
        ("persists: 100%", "persists: 0%", 0),  # nobody persists
        ("requests: 10}", "requests: 10, persists: 100%}", 0),  # b reads anew behind each flush of its own
        ("requests: 10}", "requests: 10, base: 64}", 0),  # another line
        ("  b: {", "  b: {reads: 0%, ", 0),  # its own stores, which nobody can tell the order of
    ],
)
def test_a_hit_in_a_cache_that_nobody_keeps_coherent_may_be_stale(was: str, other: str, stale: int) -> None:
    at = SHARED.rindex(was)
    result = cx.run(cx.System.from_yaml(SHARED[:at] + other + SHARED[at + len(was) :]))
    assert result.values["versions"] == {"stale_reads": stale, "lost_updates": 0, "unreachable_lines": 0}


def test_what_a_run_reports_is_declared() -> None:
    result = cx.run(cx.System.from_yaml(SPEC)).values
    declared = _core.declarations()
    names = [measure["name"] for measure in declared["measures"]]
    assert {"flushes", "flush", "versions"} <= set(names)
    assert [name for name in result if name in names] == [name for name in names if name in result]
    [buffer] = [
        each for each in declared["devices"]["switch"]["statistics"] if each["name"] == "persist_buffer"
    ]
    assert [each["name"] for each in buffer["parts"]] == list(result["per_switch"]["sw"]["persist_buffer"])


def test_without_persistent_memory_nothing_tells_of_it() -> None:
    plain = SPEC.replace(", persist_buffer: {policy: forward}", "").replace(", persistence: media", "")
    plain = plain.replace("persists: 50%, ", "").replace("epoch: 2, ", "").replace(", versions: true", "")
    result = cx.run(cx.System.from_yaml(plain))
    assert not {"flushes", "flush", "versions"} & set(result.values)
    assert not [column for column in result.requests().columns if column.startswith("persist")]
    assert not [segment for segment in result.values["breakdown_ns"] if segment.startswith("persist")]
    assert "persist_buffer" not in result.per_switch["sw"]


def test_traces_have_flushes(tmp_path: Path) -> None:
    text = tmp_path / "t.txt"
    text.write_text(
        "# cxloom-trace 2: address kind dependence\n0x0 W 0\n0x0 F 0\n0x40 W all\n0x40 K 0\n0x40 R all\n"
    )
    found = trace_info(text)
    assert (found.reads, found.writes, found.flushes, found.fences) == (1, 2, 2, 2)
    kinds = [int(kind) for batch in open_trace(text) for kind in batch.kind]
    assert kinds == [1, FLUSH, 1, FLUSH_KEEPING, 0]
    parquet, again = tmp_path / "t.parquet", tmp_path / "again.txt"
    convert(text, parquet)
    convert(parquet, again)
    assert [line.split()[1] for line in again.read_text().splitlines() if line[0] != "#"] == list("WFWKR")
    spec = tmp_path / "s.yaml"
    replay = SPEC[: SPEC.index("  host: {pattern")] + "  host: {trace: t.parquet}\n"
    spec.write_text(replay)
    result = cx.run(cx.load(spec))
    assert (result.reads, result.writes, result.flushes) == (1, 2, 2)


def test_a_file_that_calls_itself_version_1_means_the_same(tmp_path: Path) -> None:
    """Flushes and what else only version 2 has: docs/trace-format.md says why it is not refused."""
    counts = []
    for version in (1, 2):
        text = tmp_path / f"{version}.txt"
        text.write_text(f"# cxloom-trace {version}: address kind dependence\n0x0 W 0\n0x0 K all\n0x40 L 0\n")
        counts.append((trace_info(text).flushes, trace_info(text).accesses))
    assert counts == [(2, 3)] * 2


@pytest.mark.parametrize("cache", ["", ", cache: {size: 4KiB}"])
def test_a_trace_may_flush_volatile_memory(tmp_path: Path, cache: str) -> None:
    """Its flushes are counted all the same; the one that writes takes as long as a write."""
    text = tmp_path / "t.txt"
    text.write_text("# cxloom-trace 2: address kind dependence\n0x0 W 0\n0x0 F all\n0x40 R all\n")
    plain = SPEC[: SPEC.index("  host: {pattern")].replace(", persist_buffer: {policy: forward}", "")
    plain = plain.replace(", persistence: media", "").replace(", cache: {size: 4KiB}", cache)
    result = cx.run(cx.System.from_yaml(plain + f"  host: {{trace: {text}}}\n"))
    assert (result.count, result.reads, result.writes, result.flushes) == (3, 1, 1, 1)
    assert result.per_memory["pm"]["writes"] == (1 if cache else 2)
    notes = [note for note in result.values["notes"] if "volatile memory 1 time:" in note]
    assert len(notes) == 1


def test_flushes_bring_data_of_caches_in_front(tmp_path: Path) -> None:
    """The host's own cache has the lines clean, or not at all: only the flushes that bring data write."""
    text, parquet, again = (tmp_path / name for name in ("t.txt", "t.parquet", "again.txt"))
    text.write_text(
        "# cxloom-trace 2: address kind dependence\n"
        "0x0 R 0\n0x40 R 0\n0x0 G all\n0x40 L all\n0x80 L all\n0x40 K all\n0x40 R all\n0x0 R all\n"
    )
    found = trace_info(text)
    assert (found.reads, found.writes, found.flushes) == (4, 0, 4)
    convert(text, parquet)
    convert(parquet, again)
    assert [line.split()[1] for line in again.read_text().splitlines() if line[0] != "#"] == list("RRGLLKRR")
    replay = SPEC[: SPEC.index("  host: {pattern")].replace(", persist_buffer: {policy: forward}", "")
    result = cx.run(cx.System.from_yaml(replay + f"  host: {{trace: {parquet}}}\n"))
    assert result.per_memory["pm"]["writes"] == 3
    assert result.per_memory["pm"]["reads"] == 3  # of both lines at first, and again of the one that left


@pytest.mark.parametrize(
    ("old", "new", "path", "words"),
    [
        (", persistence: media", "", "persist_buffer", "on no way to persistent memory"),
        ("write_buffer: 0", "write_buffer: 4", "address_map[0].to", "persistence: controller"),
        ("policy: forward", "entries: 0", "persist_buffer.entries", "at least 1"),
        ("policy: forward", "policy: forward, drain_to: 90%", "drain_to", "less than drain_from"),
        ("policy: forward", "drain_to: 50%", "drain_to", "policy: forward"),
        ("persists: 50%", "persists: 150%", "persists", "at most 1"),
        ("epoch: 2", "epoch: 0", "epoch", "at least 1"),
        ("persists: 50%, ", "", "epoch", "without persists"),
        ("persistence: media", "persistence: medium", "persistence", "volatile, media or controller"),
        ("persistence: media", "persistence: media, coherence: hdm-h", "persistence", "is volatile"),
    ],
)
def test_mistakes_get_an_answer(old: str, new: str, path: str, words: str) -> None:
    assert old in SPEC
    with pytest.raises(InputError) as error:
        cx.run(cx.System.from_yaml(SPEC.replace(old, new)))
    assert path in str(error.value)
    assert words in str(error.value)


def test_a_flush_of_volatile_memory_is_refused() -> None:
    plain = SPEC.replace(", persist_buffer: {policy: forward}", "").replace(", persistence: media", "")
    with pytest.raises(InputError, match="flushes a line of volatile memory"):
        cx.run(cx.System.from_yaml(plain.replace(", versions: true", "")))
