"""Parts of memories that are replaced by spare ones: how long it takes, who waits for it, and who does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cxloom as cx
from cxloom.base.errors import InputError

Spec = dict[str, Any]
READ, WRITE = 45.0, 80.0  # ns of a line in the media
ROW = 8192


def system(*spares: Spec, media: Spec | None = None, memory: Spec | None = None, **work: Any) -> cx.System:
    """A host that reads a line each microsecond, in order, from a memory without a queue or a bandwidth."""
    fixed = {"kind": "fixed", "latency": "45ns", "write_latency": "80ns", "bandwidth": "unlimited"}
    spec = {
        "devices": {
            "host": {"kind": "host", "process_time": "0ns", "queue": 64},
            "mem": {
                "kind": "memory",
                "controller_time": "0ns",
                "capacity": "1MiB",
                "spares": 4,
                "media": fixed | (media or {}),
                **(memory or {}),
            },
        },
        "links": [{"between": ["host", "mem"]}],
        "address_map": [{"to": "mem"}],
        "workload": {
            "host": {"pattern": "sequential", "requests": 100, "footprint": "64KiB", "rate": "1M/s", **work}
        },
        "events": list(spares),
        "run": {"warmup": 0},
    }
    return cx.System.from_yaml(json.dumps(spec))


def spare(at: str = "10500ns", base: str = "0KiB", **more: Any) -> Spec:
    return {"at": at, "spare": {"device": "mem", "base": base, **more}}


def of_memory(result: cx.Result) -> Spec:
    found: Spec = result.summary["per_memory"]["mem"]
    return found


@pytest.mark.parametrize("lines", [1, 3, 64, 128])
@pytest.mark.parametrize("together", [1, 2, 64, 1000])
def test_it_takes_what_its_lines_take(lines: int, together: int) -> None:
    # So many lines are read at once, and written at once, until all are.
    result = cx.run(system(spare(base="512KiB", size=f"{64 * lines}B", buffer=f"{64 * together}B")))
    found = of_memory(result)
    assert found["spared"] == 1
    assert found["spare_copy_ns"] == pytest.approx(-(-lines // together) * (READ + WRITE))
    assert (found["spare_waits"], found["spare_wait_ns"]) == (0, 0)


def latencies(result: cx.Result) -> list[float]:
    frame = result.requests().sort("id")
    return [round(ps / 1000, 3) for ps in frame["completed_ps"] - frame["created_ps"]]


def test_accesses_to_it_wait_for_its_end_and_others_do_not() -> None:
    # A copy of 128 lines one by one takes 16 us from 10.5 us on. Its lines are read at 0, 1, 2, ... us: those
    # of 11 to 26 us wait until 26.5 us, and take a read from then on.
    result = cx.run(system(spare()), requests=True)
    end = 10_500 + 128 * (READ + WRITE)
    assert end == 26_500
    expected = [READ if not 10.5 <= at < 26.5 else end - 1000 * at + READ for at in range(100)]
    assert latencies(result) == expected
    found = of_memory(result)
    assert found["spare_waits"] == 16
    assert found["spare_wait_ns"] == pytest.approx(sum(end - 1000 * at for at in range(11, 27)))
    assert result.summary["breakdown_ns"]["media_queue"] * 100 == pytest.approx(found["spare_wait_ns"])
    elsewhere = cx.run(system(spare(base="8KiB")), requests=True)
    assert set(latencies(elsewhere)) == {READ}
    assert result.summary["errors"]["requests"] == 0


def test_the_copy_takes_the_media_from_others() -> None:
    """One bank: a read that comes during the copy of another row waits for a line of it."""
    quiet = cx.run(system(media={"banks": 1}))
    copying = cx.run(system(spare(base="512KiB"), media={"banks": 1}))
    assert quiet.latency.mean == pytest.approx(READ)
    assert copying.latency.max <= READ + max(READ, WRITE)
    assert copying.latency.mean > quiet.latency.mean
    assert of_memory(copying)["spare_waits"] == 0


def test_parts_are_copied_one_after_the_other() -> None:
    result = cx.run(system(spare(size="64B"), spare(base="64KiB", size="64B"), spare(at="20us", size="64B")))
    found = of_memory(result)
    assert found["spared"] == 3
    assert found["spare_copy_ns"] == pytest.approx(3 * (READ + WRITE))


@settings(max_examples=25, deadline=None)
@given(
    size=st.sampled_from(["64B", "1KiB", "8KiB"]),
    buffer=st.sampled_from(["64B", "512B", "8KiB"]),
    base=st.sampled_from(["0KiB", "4KiB", "32KiB"]),
    at=st.integers(1, 3000),
    memory=st.sampled_from(
        [{}, {"queue": 4}, {"read_buffer": 4, "write_buffer": 2, "posted_writes": True}, {"heads": 2}]
    ),
    media=st.sampled_from([{}, {"banks": 2}, {"bandwidth": "4GB/s"}, {"kind": "dram"}]),
    work=st.sampled_from([{}, {"atomics": 0.3}, {"size": "256B"}]),
    seed=st.integers(0, 1000),
)
def test_every_access_is_answered_once(
    size: str, buffer: str, base: str, at: int, memory: Spec, media: Spec, work: Spec, seed: int
) -> None:
    events = [
        spare(at=f"{at}ns", base=base, size=size, buffer=buffer),
        spare(at=f"{at + 700}ns", base="1KiB", size="1KiB"),
    ]
    drawn = {"pattern": "random", "requests": 800, "reads": "60%", "rate": "unlimited", **work}
    spec = system(*events, memory=memory, **drawn).resolve().plain()
    if media.get("kind") == "dram":
        spec["devices"]["mem"]["media"] = {"kind": "dram", "preset": "DDR4-3200", "channels": 1}
        spec["devices"]["mem"].pop("capacity")
    else:
        spec["devices"]["mem"]["media"] |= media
    spec["run"]["seed"] = seed
    result = cx.run(cx.System.from_yaml(json.dumps(spec)), requests=True)
    assert result.summary["completed"] is True
    assert result.summary["errors"]["requests"] == 0
    assert result.requests()["id"].sort().to_list() == list(range(800))
    found = of_memory(result)
    assert found["spare_wait_ns"] <= found["spare_waits"] * found["spare_copy_ns"] * 2


def test_a_memory_without_spares_measures_none() -> None:
    assert "spared" not in of_memory(cx.run(system(memory={"spares": 0})))


@pytest.mark.parametrize(
    ("change", "message", "key"),
    [
        ({"device": "host"}, "a device without spare parts", "device"),
        ({"base": "1MiB"}, "beyond the memory", "base"),
        ({"base": "0x20"}, "whole lines", "base"),
        ({"size": "100B"}, "whole lines", "size"),
        ({"buffer": "100B"}, "whole lines", "buffer"),
    ],
)
def test_mistakes_are_refused(change: Spec, message: str, key: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        cx.run(system(spare(**change)))
    assert (raised.value.path or "").endswith(key)


def test_no_more_are_spared_than_there_are() -> None:
    both = (spare(size="64B"), spare(size="64B"))
    with pytest.raises(InputError, match="no spare part of 'mem' is left") as raised:
        cx.run(system(*both, memory={"spares": 1}))
    assert raised.value.path == "events[1].spare.device"
