"""Every statistic of a result obeys its law, in random systems. One without a law fails."""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given, settings
from validation.examples import examples
from validation.law_examples import EXAMPLES, of_threads
from validation.laws import LAWS, Path, check, law_of
from validation.laws.coherence import COHERENCE
from validation.laws.failures import OF_HOMES
from validation.random_systems import may_deadlock
from validation.rich_systems import rich_systems
from validation.systems import Spec, logged

from cxloom import _core
from cxloom.base.errors import SimulationError
from cxloom.spec.declared import Measure

TESTS = pathlib.Path(__file__).parents[1]

BOUNDED = {
    # What test_coherent_failures.py judges in systems of its own.
    *(f"{part}.{key}" for part in ("per_home.*", "coherence") for key in (*OF_HOMES, "poisoned_lines")),
    "per_requester.*.poison_consumed",
    "per_requester.*.dirty_lines_lost",
    # memory_failures_test.cpp and failures_test.cpp have them exactly.
    "per_memory.*.poison_delivered",
    "events.*.requesters.*.dirty_lines_lost",
    # What test_page_moves.py has exactly of pages that move.
    "per_requester.*.pages_not_moved",
    "per_requester.*.page_moves_ns",
    "per_requester.*.page_wait_ns",
    # What test_removal.py has exactly.
    *(f"removals.*.{what}" for what in ("pages_left", "flushed_lines", "requesters.*.errors")),
    # row_hammer_test.cpp and ecc/media_test.cpp have them exactly.
    "per_memory.*.row_alerts",
    "per_memory.*.ecc_write_backs",
    # test_explain.py has systems that they limit, in closed form.
    *(f"per_memory.*.{side}_accesses.breakdown_ns.*" for side in ("cache", "backing")),
    # test_duplex.py has it exactly.
    "per_switch.*.turnaround",
    # root_port_test.cpp has it exactly.
    "per_switch.*.overtaking_writes",
    # What becomes of pages: test_tiering.py has it exactly.
    *(f"per_requester.*.tiering.{what}" for what in ("faults", "interrupted_ns", "protected_pages")),
    *(f"per_requester.*.tiering.{what}" for what in ("scanned_pages", "demoted_bytes")),
    # What tells of the run rather than of the system.
    *(
        "completed",
        "truncated",
        "stop_reason",
        "seed",
        "notes",
        "coherence",
        "per_home",
        "failed_write_backs",
        "per_requester.*.prefetches_failed",
    ),
    # How long the rate was low: bounded by its neighbours.
    "per_requester.*.throttle.*.throttled",
    # Only a trace asks another host's logical device: test_logical_devices.py.
    "per_memory.*.logical_devices.*.refused",
    # What the time of a core, which is known, is divided into: core_cluster_test.cpp.
    *(f"per_requester.*.core.{part}" for part in ("chain_ns", "mshr_ns", "walk_ns", "idle_ns")),
    *("per_requester.*.core.memory_ns", "per_requester.*.core.memory_ns.*"),
    # Messages that another way leads on: player_test.cpp, test_failures.py.
    "events.*.rerouted",
    # Heights of a level and what depends on the order of things inside a device: their neighbours bound them.
    *("per_link.*.*.queue_p50", "per_memory.*.write_buffer_mean", "per_memory.*.write_buffer_max"),
    *(f"per_memory.*.{kind}_queue_{what}" for kind in ("read", "write") for what in ("mean", "max")),
    *("per_memory.*.merged_writes", "per_memory.*.forwarded_reads", "per_memory.*.read_buffer_hits"),
    *("per_memory.*.power_down_share", "per_memory.*.wear_max", "per_memory.*.worn_lines"),
    *(f"per_memory.*.{what}" for what in ("erases_max", "erases_mean", "worn_blocks", "block_erases")),
    *("per_memory.*.curve_load", "per_memory.*.throttled", "per_io.*.in_flight_mean"),
    *(f"per_switch.*.{way}_queue_p99" for way in ("downstream", "upstream")),
    # What a buffer holds when the window opens, and how often it was full: persist_buffer_test.cpp. Nothing is too old.
    *(f"per_switch.*.persist_buffer.{what}" for what in ("resident_before", "stalls")),
    *("versions.stale_reads", "versions.lost_updates"),
    # What fails beside a buffer: persist_failures_test.cpp.
    *(f"per_switch.*.persist_buffer.{what}" for what in ("drain_errors", "refused", "lost_acknowledged")),
    "versions.unreachable_lines",
    # Pages that are asked for ahead, and misses at work: bounded by their neighbours.
    *(f"per_memory.*.page_prefetches{what}" for what in ("", "_useful", "_late", "_useless", "_dropped")),
    *(f"per_memory.*.misses_{what}" for what in ("mean", "max")),
    "per_memory.*.page_write_backs",
    *(f"per_memory.*.{side}_media_queue_{what}" for side in ("cache", "backing") for what in ("mean", "max")),
    # Maps without an entry.
    *(
        "by_hops",
        "per_io",
        "per_switch",
        "per_link.*.*.credit_blocked_ns_by_class",
        "per_requester.*.throttle",
    ),
    *(f"per_link.*.*.flits.{table}" for table in ("flits", "slots", "slots_by_class", "messages_by_class")),
}
"""Statistics of which a law gives bounds, or says only when they are 0."""


def test_every_statistic_obeys_its_law_in_random_systems() -> None:
    decided: Counter[Path] = Counter()

    @settings(max_examples=examples(150))
    @given(rich_systems())
    def play(spec: Spec) -> None:
        try:
            outcome = logged(spec)
        except SimulationError:
            assert may_deadlock(spec)
            return
        check(outcome, decided)

    for each in EXAMPLES:
        check(logged(each), decided)
    for host in ({}, {"cache": {"size": "4KiB"}}):
        check(of_threads(host), decided)
    play()
    undecided = {".".join(pattern) for pattern in LAWS if not decided[pattern]}
    unsaid = sorted(undecided - BOUNDED)
    assert not unsaid, (
        f"laws that never said what a value must be (if they cannot, list them in BOUNDED): {unsaid}"
    )


ELSEWHERE = {
    "per_device": "python/test_plugin.py",
    "per_memory.*.copied_lines": "python/test_replication.py",
    **dict.fromkeys(
        (
            *(f"tasks.{key}" for key in ("time_ns", "error_ns", "skipped_ns", "per_link")),
            *(f"tasks.critical_path.*.{key}" for key in ("task", "time_ns")),
            *(f"tasks.per_lane.*.{key}" for key in ("tasks", "busy_ns")),
            *(
                f"tasks.per_task.*.{key}"
                for key in ("kind", "lane", "start_ns", "end_ns", "waited_for", "bytes", "failed")
            ),
        ),
        "python/test_tasks.py",
    ),
    **dict.fromkeys(
        (
            *(f"tasks.windows.*.{key}" for key in ("relative_error", "stood_for_ns", "used")),
            *(f"tasks.windows.*.transfers.*.{key}" for key in ("transfer", "gb_per_s")),
        ),
        "python/test_task_windows.py",
    ),
    **dict.fromkeys(
        (f"per_requester.*.{key}" for key in ("tags_mean", "posted_mean", "copies_failed")),
        "validation/test_dma.py",
    ),
    "per_requester.*.core.waits_ns": "python/test_boot_times.py",
    **dict.fromkeys(
        (
            *(
                f"replication.*.{key}"
                for key in ("reads", "writes", "copies", "met_failure", "failed", "left")
            ),
            *(f"replication.*.{key}" for key in ("degraded_ns", "resyncs", "given_up", "resynced_bytes")),
            *(f"replication.*.{key}" for key in ("state", "stale_reads")),
            *(
                f"per_switch.*.replication.{key}"
                for key in ("writes", "stalls", "entries_mean", "waiting_mean")
            ),
        ),
        "python/test_replication.py",
    ),
    **dict.fromkeys(
        (f"replication.*.{key}" for key in ("reversed_reads", "differing_lines")),
        "python/test_replication_switch.py",
    ),
    **dict.fromkeys(
        (
            f"per_memory.*.{key}"
            for key in ("corrected_errors", "suspicious_parts", "unspared_parts", "threshold_ns")
        ),
        "python/test_sparing_errors.py",
    ),
    **dict.fromkeys(
        (f"replication.*.{key}" for key in ("lost_writes", "lag_ns")),
        "python/test_replication_early.py",
    ),
    **dict.fromkeys(
        (
            *(f"per_requester.*.{key}" for key in ("combined_full", "combined_partial", "combining_mean")),
            *(f"sharing.{key}" for key in ("stale_reads", "lost_updates", "lines")),
            *(
                f"sharing.per_{part}.*.{key}"
                for part in ("line", "pair")
                for key in ("stale_reads", "lost_updates")
            ),
        ),
        "validation/test_sharing.py",
    ),
}
"""Declared statistics of plug-ins' devices alone, of graphs of tasks, of GPUs, of booted machines, or of what hosts
share, and the test that has each."""

GROUPS = ("requester", "memory", "switch", "home", "io")


def leaves(measures: Iterable[Measure], *above: str) -> Iterator[Path]:
    """Declared statistics that are no maps of others, each with its path."""
    for measure in measures:
        path = (*above, measure["name"])
        inside = (*path, "*") if measure["by_name"] else path
        yield from leaves(measure["parts"], *inside) if measure["parts"] else [path]


def alike(pattern: Path, path: Path) -> bool:
    """The pattern is of the path, or of what is in it."""
    pairs = zip(pattern, path, strict=False)
    return len(pattern) >= len(path) and all(a == b or "*" in (a, b) for a, b in pairs)


def declared_paths() -> dict[str, list[Path]]:
    """For each declared statistic the paths that it may have: those of a device may be those of any group."""
    declared = _core.declarations()
    found = {".".join(path): [path] for path in leaves(declared["measures"])}
    found |= {".".join(path): [path] for path in leaves(declared["link"]["statistics"], "per_link", "*", "*")}
    for category in declared["categories"]:
        groups = ("memory",) if category == "media" else GROUPS
        for kind, info in declared[category].items():
            for path in leaves(info["statistics"]):
                found[".".join((kind, *path))] = [(f"per_{group}", "*", *path) for group in groups]
    return found


def test_every_declared_statistic_has_a_law() -> None:
    """The statistics of all kinds of components, of links, and of the run."""
    elsewhere = {tuple(name.split(".")): file for name, file in ELSEWHERE.items()}
    known = [*LAWS, *COHERENCE, *elsewhere]
    declared = declared_paths()
    assert len(declared) > 300
    without = [
        name
        for name, paths in declared.items()
        if not any(alike(law, path) for law in known for path in paths)
    ]
    assert not without, f"declared statistics without a law (tests/validation/laws/): {without}"
    everything = [path for paths in declared.values() for path in paths]
    for pattern, file in elsewhere.items():
        assert any(alike(pattern, path) for path in everything), f"nothing declares {'.'.join(pattern)}"
        name = [part for part in pattern if part != "*"][-1]
        assert name in (TESTS / file).read_text(), f"{file} does not know {name}"


def test_a_statistic_without_a_law_is_found() -> None:
    law_of(("per_memory", "mem", "requests"))
    with pytest.raises(LookupError, match=r"no law for the statistic per_memory\.mem\.new"):
        law_of(("per_memory", "mem", "new"))
