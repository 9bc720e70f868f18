"""Tiering beside everything else: all laws hold, no page is lost or in two places, and a run is the same each time."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from validation.examples import pairs, some
from validation.laws import LAWS, flattened, law_of
from validation.laws.coherence import COHERENCE
from validation.laws.logged_look import LoggedLook
from validation.laws.look import Look
from validation.systems import PERSIST_SEGMENTS, SEGMENTS, Run, Spec, changed, feed, logged, run
from validation.tiered_systems import CACHE, FOLLOWED, POLICIES, SYSTEMS, coherent, tiered

PAGE = 4096
PAGES = 16
PARTS = [*SEGMENTS, *PERSIST_SEGMENTS]


def of(name: str, policy: str) -> Spec:
    """A system whose programs have that policy."""
    spec = SYSTEMS[name]()
    work = {
        host: {**program, "tiering": POLICIES[policy]} if "tiering" in program else program
        for host, program in spec["workload"].items()
    }
    return {**spec, "workload": work}


def programs(spec: Spec) -> list[str]:
    """The requesters whose pages are tiered."""
    return [name for name, work in spec["workload"].items() if "tiering" in work]


def all_answered(outcome: Run) -> None:
    """Each request once, and all of its time is accounted for."""
    rows = outcome.requests
    assert outcome.summary["completed"]
    assert outcome.completed == outcome.expected
    latency = rows["completed_ps"] - rows["created_ps"]
    assert np.array_equal(sum(rows[f"{part}_ps"] for part in PARTS if f"{part}_ps" in rows), latency)


@pytest.mark.parametrize(("name", "policy"), some(pairs(SYSTEMS, POLICIES), 2))
def test_all_laws_hold_and_a_run_is_the_same_each_time(name: str, policy: str) -> None:
    spec = of(name, policy)
    outcome = logged(spec)
    all_answered(outcome)
    look, laws = (
        (LoggedLook(outcome), LAWS | COHERENCE) if outcome.summary["per_home"] else (Look(outcome), LAWS)
    )
    for path, value in flattened(outcome.summary):
        _, statement, names = law_of(path, laws)
        look.path, look.decisive = path, False
        statement(look, value, *names)
    assert logged(spec).canonical() == outcome.canonical()
    for host in programs(spec):
        own = outcome.summary["per_requester"][host]
        # Cores have taken a short work ahead of its time: nothing of it is to come for an oracle.
        assert own["pages_moved"] > 0 or (policy == "oracle" and "core" in spec["devices"][host])
        assert sum(own["pages"].values()) == 64 * 1024 // PAGE or "page" in spec["workload"][host]


def marked(seed: int, threads: int) -> Any:
    """A program of 16 pages, each of which is accessed at a line of its own, by which it is known in any frame."""
    rng = random.Random(seed)
    pages = [min(int(rng.expovariate(0.25)), PAGES - 1) for _ in range(2500)]
    kinds = np.asarray([rng.random() < 0.4 for _ in pages], dtype=np.uint8)
    numbers = [rng.randrange(threads) for _ in pages]
    return feed([page * (PAGE + 64) for page in pages], kind=kinds, thread=numbers, instruction_gap=30)


def stays(rows: pl.DataFrame, thing: str, where: str) -> int:
    """How often each of the things was seen elsewhere, in the order of answers, in all."""
    seen = rows.sort("completed_ps", "id").with_columns(before=pl.col(where).shift(1).over(thing))
    return seen.filter(pl.col("before").is_not_null() & (pl.col("before") != pl.col(where))).height


PLAYED = [
    name for name in SYSTEMS if name not in ("atomics", "fences", "large pages", "touched during the run")
]
"""Those that are what they are with a trace, too."""


# Cores take the whole of so short a trace from its stream at once, so that nothing is to come.
@pytest.mark.parametrize(
    ("name", "policy"),
    [(name, policy) for name, policy in pairs(PLAYED, POLICIES) if (name[:5], policy) != ("cores", "oracle")],
)
def test_no_page_is_lost_or_in_two_places(name: str, policy: str) -> None:
    """A page is somewhere else, and a frame another page's, as often as pages moved, at most."""
    spec = of(name, policy)
    feeds = {}
    for number, host in enumerate(programs(spec)):
        program = spec["workload"][host]
        kept = {
            key: program[key]
            for key in ("addresses", "tiering", "kernel", "rate", "arrivals")
            if key in program
        }
        spec = changed(spec, (f"workload.{host}", {"trace": host, **kept}))
        if (
            cache := spec["devices"][host].get("cache")
        ) is not None:  # which would hold all that the program uses
            cache = {**cache, "size": "256B", "ways": 4}
            if "levels" in cache:
                cache["levels"] = [{"size": "512B", "ways": 4}]
            spec = changed(spec, (f"devices.{host}.cache", cache))
        feeds[host] = marked(number, 3 if "core" in spec["devices"][host] else 1)
    outcome = run(spec, feeds)
    all_answered(outcome)
    rows = pl.DataFrame(outcome.requests)
    for host in programs(spec):
        own = outcome.summary["per_requester"][host]
        # Cores have taken a short work ahead of its time: nothing of it is to come for an oracle.
        assert own["pages_moved"] > 0 or (policy == "oracle" and "core" in spec["devices"][host])
        program = rows.filter(pl.col("requester") == outcome.nodes.index(host)).with_columns(
            page=pl.col("address") % PAGE // 64, frame=pl.col("address") // PAGE
        )
        assert program["page"].max() < PAGES, "an access that is in no page of the program"
        assert 0 < stays(program, "page", "frame") <= own["pages_moved"]
        assert stays(program, "frame", "page") <= own["pages_moved"]
        assert sum(own["pages"].values()) >= program["page"].n_unique()
        assert sum(own["pages"].values()) <= PAGES
    frames = [
        set((rows.filter(pl.col("requester") == outcome.nodes.index(host))["address"] // PAGE).to_list())
        for host in programs(spec)
    ]
    assert sum(map(len, frames)) == len(set().union(*frames)), "programs that have a frame in common"
    versions = outcome.summary.get("versions", {})
    assert not any(versions.values())


def test_lines_that_others_cache_are_taken_from_them() -> None:
    """Nobody writes but who copies pages: what a neighbour has of the frames that they come to is stale then."""
    neighbour = {"pattern": "random", "requests": 4000, "footprint": "128KiB", "size": "64B", "reads": 1.0}
    spec = changed(
        coherent(2, FOLLOWED, cache=CACHE), ("workload.host1", neighbour), ("workload.host0.reads", 1.0)
    )
    for name in ("near", "far"):  # it drives out nothing
        spec = changed(spec, (f"devices.{name}.dcoh.filter.entries", 16384))
    spec = changed(spec, ("devices.host1.cache", {"size": "128KiB", "ways": 0}))
    moved = run(spec).summary["per_requester"]
    still = run(changed(spec, ("workload.host0.tiering", ...), ("workload.host0.kernel", ...))).summary[
        "per_requester"
    ]
    assert moved["host0"]["pages_moved"] > 0
    assert still["host1"]["lines_lost"] == 0
    assert moved["host1"]["lines_lost"] > 0


def test_a_saturating_neighbour_does_not_stop_the_moves() -> None:
    alone, beside = (
        run(SYSTEMS[name]()).summary["per_requester"]["host0"]
        for name in ("two programs", "a neighbour that fills the link")
    )
    assert beside["pages_moved"] == alone["pages_moved"] == PAGES


def test_an_equally_near_node_is_no_place_to_promote_to() -> None:
    """Where the near one is full, pages stay, however much is free in others that are as far: but demotion."""
    spec = changed(SYSTEMS["logical devices"](), ("devices.near.capacity", "16KiB"))
    for policy in POLICIES.values():
        own = run(changed(spec, ("workload.host0.tiering", policy))).summary["per_requester"]["host0"]
        assert own["pages"]["far ld 0"] * PAGE <= own["tiering"]["demoted_bytes"]
        assert own["pages"]["near"] > 0


def test_scans_protect_no_page_that_has_no_nearer_node() -> None:
    spec = changed(tiered(), ("workload.host0.addresses", {"kind": "preferred", "nodes": ["near"]}))
    own = run(spec).summary["per_requester"]["host0"]
    assert own["tiering"]["protected_pages"] == 0
