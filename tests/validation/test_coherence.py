"""What coherence measures is what the messages of the run say, in random systems: the log is a second account of it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from validation.coherent_systems import coherent_systems
from validation.examples import examples
from validation.laws import LAWS, Path, flattened, law_of
from validation.laws.coherence import COHERENCE
from validation.laws.logged_look import LoggedLook
from validation.mixed_systems import mixed_systems
from validation.systems import Spec, host_and_memory, logged

GENERAL = (
    *("requests", "reads", "writes", "atomics", "latency_ns.*", "breakdown_ns.*", "simulated_time_ns"),
    *("per_requester.*.requests", "per_requester.*.latency_ns.*", "per_requester.*.in_flight_mean"),
    *("prefetches", "per_memory.*.prefetches", "per_requester.*.prefetches"),
    *(f"per_requester.*.prefetches_{end}" for end in ("useful", "late", "useless", "dropped")),
)
"""Laws of all systems that hold of coherent ones too: the others count two messages for each request."""
BOUNDED = {f"{part}.bias_flips_to_{to}" for part in ("per_home.*", "coherence") for to in ("device", "host")}
BOUNDED |= {"per_home.*.transactions_mean"}  # test_explain.py has it exactly
"""Statistics of which a law says only when they are 0, and otherwise between what they are."""


def one_host(work: Spec, cache: Spec, filter: Spec) -> Spec:
    """A host and a memory that keeps it coherent."""
    spec = host_and_memory(work={"requests": 300, "footprint": "16KiB", **work}, warmup=0, seed=1)
    spec["devices"]["host"]["cache"] = cache
    spec["devices"]["mem"]["dcoh"] = {"filter": filter}
    spec["address_map"][0]["coherence"] = "hdm-db"
    return {**spec, "outputs": {"requests": True}}


def own_cache_at_once() -> Spec:
    """A host whose own home agent has entries for fewer lines than the host asks for at once."""
    agent = {"filter": {"entries": 4}}
    cache = {"size": "64B", "ways": 0, "access_time": "0ns"}
    spec = host_and_memory(work={"requests": 20, "footprint": "1KiB", "pattern": "random"}, warmup=0, seed=1)
    spec["devices"]["host"] |= {"cache": cache, "home_agent": agent}
    spec["address_map"][0] |= {"coherence": "hdm-h", "home": "host"}
    return {**spec, "outputs": {"requests": True}}


def atomic_operations_before_the_window() -> Spec:
    """Two hosts that want the same lines; one of them operates on a line as the window opens."""
    cache = {"size": "64B", "ways": 0}
    work: Spec = {"requests": 20, "reads": 0.0, "footprint": "256B"}
    devices: Spec = {
        "h0": {"kind": "host", "process_time": "0.1ns", "queue": 2, "cache": cache},
        "h1": {
            "kind": "host",
            "cache": {
                **cache,
                "access_time": "0.1ns",
                "levels": [{"size": "256B", "ways": 0, "access_time": "0ns"}],
            },
        },
        "h2": {"kind": "host"},
        "mem": {"kind": "memory", "capacity": "1MiB", "dcoh": {"filter": {"entries": 4}}},
    }
    return {
        "devices": {"hub": {"kind": "bus"}, **devices},
        "links": [{"between": [name, "hub"], "port_delay": "0ns"} for name in devices],
        "address_map": [{"to": ["mem"], "coherence": "hdm-db"}],
        "workload": {
            "h0": {"pattern": "zipf", "size": "8B", "atomics": 0.3, **work},
            "h1": {"pattern": "random", **work},
            "h2": {"pattern": "zipf", **work},
        },
        "run": {"warmup": 5, "seed": 1},
        "outputs": {"requests": True},
    }


EXAMPLES = [
    # Clean lines that leave, to the last.
    one_host(
        {"pattern": "random"}, {"size": "256B", "ways": 0, "clean_evictions": "notified"}, {"entries": 256}
    ),
    # Writes of lines that are there, and have to be asked for.
    one_host({"pattern": "random", "reads": 0.5}, {"size": "4KiB", "read_state": "shared"}, {"entries": 256}),
    # Every eighth line: they share eight of the 64 sets.
    one_host(
        {"pattern": "strided", "stride": "512B", "requests": 50}, {"size": "4KiB"}, {"entries": 64, "ways": 1}
    ),
    # Lines that a host without access time is granted and loses in one instant.
    own_cache_at_once(),
    # A line that is snooped before the window, and lost in it.
    atomic_operations_before_the_window(),
]
"""Systems in which the laws say what drawn ones seldom let them say."""


def look_at(spec: Spec) -> LoggedLook:
    """A run with its log."""
    return LoggedLook(logged(spec))


def check(look: LoggedLook, decided: Counter[Path]) -> None:
    """Every statistic of coherence by its law, and those of requests."""
    laws = COHERENCE | {tuple(name.split(".")): LAWS[tuple(name.split("."))] for name in GENERAL}
    of_coherence = {path[-1] for path in COHERENCE}
    for path, value in flattened(look.summary):
        if path[0] not in ("per_home", "coherence") and path[-1] not in of_coherence:
            try:
                law_of(path, laws)
            except LookupError:
                continue
        pattern, statement, names = law_of(path, laws)
        look.path, look.decisive = path, False
        statement(look, value, *names)
        if not look.decisive or not value:
            continue
        decided[pattern] += 1
        if pattern in COHERENCE:
            with pytest.raises(AssertionError):  # it would notice one more, and one less
                statement(look, value + 1, *names)
            with pytest.raises(AssertionError):
                statement(look, value - 1, *names)


def test_what_coherence_measures_is_what_the_messages_say() -> None:
    decided: Counter[Path] = Counter()

    @settings(max_examples=examples(200))
    @given(coherent_systems() | mixed_systems())
    def play(spec: Spec) -> None:
        check(look_at(spec), decided)

    for each in EXAMPLES:
        check(look_at(each), decided)
    play()
    undecided = {".".join(pattern) for pattern in COHERENCE if not decided[pattern]}
    assert undecided <= BOUNDED, f"laws that never said what a value must be: {sorted(undecided - BOUNDED)}"
