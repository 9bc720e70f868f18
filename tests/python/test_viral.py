"""A memory that contains an error by viral: all that reaches it ends with an error until it is reset."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cxloom as cx
from cxloom.base.errors import InputError

Spec = dict[str, Any]
DOWN = 50.0  # ns of the media: a request is answered so long after it was made
VIRAL = {"viral": {"device": "mem"}}


def system(
    *events: tuple[str, Spec], memory: Spec | None = None, region: Spec | None = None, **work: Any
) -> cx.System:
    """A host that makes an access each microsecond, to a memory of 50 ns, and to another one."""
    media = {"kind": "fixed", "latency": "50ns", "bandwidth": "unlimited"}
    mem: Spec = {"kind": "memory", "controller_time": "0ns", "capacity": "1MiB", "media": media}
    spec = {
        "devices": {
            "host": {"kind": "host", "process_time": "0ns", "queue": 64},
            "mem": {**mem, **(memory or {})},
        },
        "links": [{"between": ["host", "mem"]}],
        "address_map": [{"to": "mem", **(region or {})}],
        "workload": {
            "host": {"pattern": "sequential", "requests": 100, "footprint": "64KiB", "rate": "1M/s", **work}
        },
        "events": [{"at": at, **event} for at, event in events],
        "run": {"warmup": 0},
    }
    return cx.System.from_yaml(json.dumps(spec))


def reset(**more: Any) -> Spec:
    return {"reset": {"device": "mem", **more}}


def errors(result: cx.Result) -> int:
    return int(result.summary["errors"]["requests"])


@pytest.mark.parametrize("at", [1, 20, 49, 99])
@pytest.mark.parametrize("reads", ["100%", "0%"])
def test_what_is_answered_from_then_on_ends_with_an_error(at: int, reads: str) -> None:
    # Accesses are made at 0, 1, 2, ... us and answered 50 ns later: that of `at` us is in the memory 20 ns behind it.
    result = cx.run(system((f"{at * 1000 + 20}ns", VIRAL), reads=reads))
    assert errors(result) == 100 - at
    memory = result.summary["per_memory"]["mem"]
    assert memory["viral_errors"] == 100 - at
    assert memory["poison_delivered"] == 0
    host = result.summary["per_requester"]["host"]
    assert host.get("poison_consumed", 0) == (100 - at if reads == "100%" else 0)
    (event,) = result.summary["events"].values()
    assert (event["failed"], event["lost"]) == (0, 0)
    assert event["requesters"]["host"]["errors"] == 100 - at


def test_an_error_takes_the_time_of_the_answer() -> None:
    result = cx.run(system(("20500ns", VIRAL)), requests=True)
    frame = result.requests()
    assert set(frame["completed_ps"] - frame["created_ps"]) == {DOWN * 1000}


def test_a_reset_that_clears_ends_it() -> None:
    result = cx.run(system(("20500ns", VIRAL), ("40500ns", reset(cleared=True))))
    assert errors(result) == 20
    names = list(result.summary["events"])
    assert names == ["20500ns viral mem", "40500ns reset mem"]


def test_volatile_contents_are_gone_after_a_reset_that_clears_nothing() -> None:
    # 16 lines, over and over: after the reset each read of one is poison.
    result = cx.run(system(("20500ns", VIRAL), ("40500ns", reset()), footprint="1KiB"))
    assert errors(result) == 79
    memory = result.summary["per_memory"]["mem"]
    assert (memory["viral_errors"], memory["poison_delivered"]) == (20, 59)
    written = cx.run(
        system(("20500ns", VIRAL), ("40500ns", reset()), footprint="1KiB", reads="0%", size="64B")
    )
    assert errors(written) == 20


def test_persistent_contents_of_before_stay() -> None:
    region = {"persistence": "media"}
    result = cx.run(system(("20500ns", VIRAL), ("40500ns", reset()), region=region))
    assert errors(result) == 20
    assert result.summary["per_memory"]["mem"]["poison_delivered"] == 0


def test_no_write_is_kept_meanwhile() -> None:
    """A flush that is answered with an error has made nothing durable."""
    spec = (
        system(("20500ns", VIRAL), region={"persistence": "media"}, reads="0%", persists=1.0)
        .resolve()
        .plain()
    )
    spec["devices"]["host"]["cache"] = {"size": "4KiB"}
    spec["outputs"] = {"versions": True}
    result = cx.run(cx.System.from_yaml(json.dumps(spec)))
    assert errors(result) > 0
    assert not any(result.summary["versions"].values())


@settings(max_examples=20, deadline=None)
@given(
    at=st.integers(1, 3000),
    length=st.integers(1, 3000),
    cleared=st.booleans(),
    memory=st.sampled_from(
        [{}, {"queue": 4}, {"read_buffer": 4, "write_buffer": 2, "posted_writes": True}, {"heads": 2}]
    ),
    cache=st.booleans(),
    reads=st.sampled_from(["0%", "60%", "100%"]),
    seed=st.integers(0, 1000),
)
def test_every_access_is_answered_once(
    at: int, length: int, cleared: bool, memory: Spec, cache: bool, reads: str, seed: int
) -> None:
    events = ((f"{at}ns", VIRAL), (f"{at + length}ns", reset(cleared=cleared)))
    work: Spec = {"pattern": "random", "requests": 800, "reads": reads, "rate": "unlimited"}
    spec = system(*events, memory=memory, **work).resolve().plain()
    if cache:
        spec["devices"]["host"]["cache"] = {"size": "2KiB"}
    spec["run"]["seed"] = seed
    result = cx.run(cx.System.from_yaml(json.dumps(spec)), requests=True)
    assert result.summary["completed"] is True
    assert result.requests()["id"].sort().to_list() == list(range(800))
    found = result.summary["per_memory"]["mem"]
    if not cache:
        assert errors(result) == found["viral_errors"] + found["poison_delivered"]


@pytest.mark.parametrize(
    ("events", "message", "path"),
    [
        ((("1us", {"viral": {"device": "host"}}),), "contains no errors by viral", "events[0].viral.device"),
        ((("1us", VIRAL), ("2us", VIRAL)), "it is viral already", "events[1].viral.device"),
        ((("1us", reset()),), "it is not viral", "events[0].reset.device"),
    ],
)
def test_mistakes_are_refused(events: Any, message: str, path: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        cx.run(system(*events))
    assert raised.value.path == path


@pytest.mark.parametrize("reads", ["100%", "0%"])
def test_the_agent_before_a_memory_hands_on_what_that_answers(reads: str) -> None:
    agent = {"dcoh": {"lookup_time": "0ns"}}
    events = ("20020ns", VIRAL), ("40020ns", reset(cleared=True))
    result = cx.run(system(*events, memory=agent, region={"coherence": "hdm-db"}, reads=reads))
    assert errors(result) == 20
    assert result.summary["per_memory"]["mem"]["viral_errors"] == 20
