"""The parameters of tasks, turned."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from validation.systems import Run, Spec, changed, run
from validation.turns import FALLS, RISES, Turn

from cxloom.spec.node import Origin, from_plain
from cxloom.spec.resolve import resolve


def time(outcome: Run) -> float:
    """The time of the graph."""
    return float(outcome.summary["tasks"]["time_ns"])


def skipped(outcome: Run) -> float:
    """The part of it that was not simulated."""
    return float(outcome.summary["tasks"]["skipped_ns"])


def far_bytes(outcome: Run) -> float:
    """Bytes that tasks moved to and from the far memory."""
    ways = outcome.summary["tasks"]["per_link"]
    return float(sum(sum(objects.values()) for way, objects in ways.items() if "far" in way))


def longest(outcome: Run) -> float:
    """The most characters of a name of a task."""
    return float(max(map(len, outcome.summary["tasks"]["per_task"])))


def two_hosts(**tasks: Any) -> Spec:
    """Two hosts, one with cores, and a memory near the first beside one that is far and slow."""
    fixed = {"kind": "fixed", "latency": "50ns", "bandwidth": "16GB/s"}
    return {
        "devices": {
            "host": {"kind": "host", "queue": 64},
            "cores": {"kind": "host", "queue": 64, "core": {"mshrs": 4}},
            "near": {"kind": "memory", "capacity": "4MiB", "media": fixed},
            "far": {"kind": "memory", "capacity": "4MiB", "media": {**fixed, "bandwidth": "4GB/s"}},
            "sw": {"kind": "switch"},
            "sw2": {"kind": "switch"},
        },
        "links": [
            {"between": ["host", "sw"]},
            {"between": ["near", "sw"]},
            {"between": ["sw2", "sw"], "delay": "100ns"},
            {"between": ["far", "sw2"]},
            {"between": ["cores", "sw2"]},
        ],
        "address_map": [{"to": ["near"]}, {"to": ["far"]}],
        "tasks": {
            "objects": [
                {"name": "a", "size": "64KiB", "addresses": {"kind": "bind", "nodes": ["near"]}},
                {"name": "b", "size": "64KiB", "addresses": {"kind": "bind", "nodes": ["far"]}},
            ],
            "processors": [{"name": "p", "flops": 1e12}, {"name": "q", "flops": 2e12}],
            "graph": [{"name": "first", "kind": "kernel", "on": "host", "reads": [{"object": "a"}]}],
            **tasks,
        },
    }


def graph(*entries: Mapping[str, Any]) -> Spec:
    """The same with these tasks."""
    return two_hosts(graph=[{"name": f"t{i}", **each} for i, each in enumerate(entries)])


def from_file(spec: Spec, feeds: Mapping[str, Any]) -> Run:
    """Plays a spec whose tasks are in a file: so many tasks of 1 us each as its name says."""
    count = int(spec["tasks"]["file"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.jsonl"
        tasks = [{"name": f"t{i}", "kind": "compute", "on": "p", "time": "1us"} for i in range(count)]
        path.write_text("".join(f"{json.dumps(each)}\n" for each in tasks))
        read = changed(spec, ("tasks.file", str(path)))
        resolved = resolve(from_plain(read, Origin(file=str(path))))
        return run(resolved.plain(), feeds)


def object_rows() -> Iterator[Turn]:
    """Objects and processors."""
    kernel = graph({"kind": "kernel", "on": "host", "reads": [{"object": "a"}]})
    at = "tasks.objects"
    yield Turn(at, kernel, f"{at}.0.size", ("64KiB", "128KiB"), RISES, time)
    yield Turn(f"{at}.size", kernel, f"{at}.0.size", ("64KiB", "128KiB"), RISES, time)
    yield Turn(f"{at}.addresses", kernel, f"{at}.0.addresses.nodes", (["near"], ["far"]), RISES, time)
    renamed = (("tasks.objects.1.name", "a"),)
    yield Turn(f"{at}.name", kernel, f"{at}.0.name", ("a", "c"), RISES, time, also=renamed)
    default = changed(kernel, (f"{at}.0.addresses", {"kind": "preferred"}))
    yield Turn(f"{at}.host", default, f"{at}.0.host", ("host", "cores"), RISES, far_bytes)
    flops = graph({"kind": "compute", "on": "p", "flops": 1e6})
    at = "tasks.processors"
    yield Turn(at, flops, f"{at}.0.flops", (1e12, 2e12), FALLS, time)
    yield Turn(f"{at}.flops", flops, f"{at}.0.flops", (1e12, 2e12), FALLS, time)
    swapped = (("tasks.processors.1.name", "p"),)
    yield Turn(f"{at}.name", flops, f"{at}.0.name", ("p", "q"), FALLS, time, also=swapped)


def work_rows() -> Iterator[Turn]:
    """What tasks take."""
    at = "tasks.graph"
    flops = graph({"kind": "compute", "on": "p", "flops": 1e6})
    timed = graph({"kind": "compute", "on": "p", "time": "1us"})
    copy = graph({"kind": "copy", "from": "a", "to": "b", "on": "host", "bytes": "16KiB"})
    yield Turn(f"{at}.flops", flops, f"{at}.0.flops", (1e6, 2e6), RISES, time)
    yield Turn(f"{at}.time", timed, f"{at}.0.time", ("1us", "2us"), RISES, time)
    yield Turn(f"{at}.on", flops, f"{at}.0.on", ("p", "q"), FALLS, time)
    yield Turn(f"{at}.bytes", copy, f"{at}.0.bytes", ("16KiB", "64KiB"), RISES, time)
    yield Turn(
        f"{at}.offset", copy, f"{at}.0.bytes", (..., ...), FALLS, time, also=((f"{at}.0.offset", "32KiB"),)
    )
    whole = changed(copy, (f"{at}.0.bytes", ...))
    for key in ("from_offset", "to_offset"):
        yield Turn(f"{at}.{key}", whole, f"{at}.0.{key}", ("0B", "32KiB"), FALLS, time)
    within = changed(copy, (f"{at}.0.to", "a"), (f"{at}.0.bytes", "4KiB"))
    yield Turn(f"{at}.from", within, f"{at}.0.from", ("a", "b"), RISES, far_bytes)
    yield Turn(f"{at}.to", within, f"{at}.0.to", ("a", "b"), RISES, far_bytes)
    yield Turn(f"{at}.kind", changed(copy, (f"{at}.0.bytes", ...)), f"{at}.0.kind", ("copy", "kernel"), FALLS, time,
               also=((f"{at}.0.from", ...), (f"{at}.0.to", ...), (f"{at}.0.reads", [{"object": "a"}])))  # fmt: skip
    for key in ("reads", "writes"):
        kernel = graph({"kind": "kernel", "on": "host", key: [{"object": "a"}]})
        part = f"{at}.{key}"
        yield Turn(part, kernel, f"{at}.0.{key}", ([{"object": "a"}], [{"object": "b"}]), RISES, time)
        yield Turn(f"{part}.object", kernel, f"{at}.0.{key}.0.object", ("a", "b"), RISES, time)
        yield Turn(f"{part}.bytes", kernel, f"{at}.0.{key}.0.bytes", ("16KiB", "64KiB"), RISES, time)
        yield Turn(f"{part}.offset", kernel, f"{at}.0.{key}.0.offset", ("0B", "32KiB"), FALLS, time)
    reads = [{"object": "a", "bytes": "16KiB"}]
    # A cache holds the part, which is read twice: drawn lines come more than once, and some not at all.
    cached = graph(*({"kind": "kernel", "on": "host", "reads": reads} for _ in range(2)))
    cached["devices"]["host"]["cache"] = {"size": "32KiB", "ways": 8}
    both = (
        "sequential",
        "random",
    )  # two passes over a part that the cache holds: drawn lines come more than once
    yield Turn(f"{at}.pattern", cached, f"{at}.0.pattern", both, RISES, time)
    threads = graph({"kind": "kernel", "on": "cores", "reads": [{"object": "b"}]})
    threads["devices"]["far"]["media"] = {"kind": "fixed", "latency": "50ns"}
    yield Turn(f"{at}.threads", threads, f"{at}.0.threads", (1, 4), FALLS, time)


def task_rows() -> Iterator[Turn]:
    """Objects, tasks, and how they are played."""
    yield from object_rows()
    yield from work_rows()
    at = "tasks.graph"
    two = graph(*({"kind": "compute", "on": on, "time": "1us"} for on in ("p", "q")))
    yield Turn("tasks.graph", two, at, (two["tasks"]["graph"][:1], [*two["tasks"]["graph"], {
        "name": "more", "kind": "compute", "on": "p", "time": "1us"}]), RISES, time)  # fmt: skip
    yield Turn(f"{at}.after", two, f"{at}.1.after", ([], ["t0"]), RISES, time)
    yield Turn(f"{at}.name", two, f"{at}.1.name", ("t1", "longer"), RISES, longest)
    one = graph(*({"kind": "compute", "on": "p", "time": "1us"} for _ in range(2)))
    yield Turn(f"{at}.stream", one, f"{at}.1.stream", (0, 1), FALLS, time)
    none = changed(two, (at, ...))
    yield Turn("tasks.file", none, "tasks.file", ("2", "3"), RISES, time, play=from_file)
    turns = graph({"kind": "kernel", "on": "host", "reads": [{"object": "a", "bytes": "4KiB"}]})
    mixed = {"kind": "interleave", "nodes": ["near", "far"]}
    paged = changed(turns, ("tasks.objects.0.addresses", mixed))
    wide = changed(paged, (f"{at}.0.reads.0.bytes", "8KiB"))
    yield Turn("tasks.page", wide, "tasks.page", ("4KiB", "8KiB"), FALLS, far_bytes)
    long = changed(turns, (f"{at}.0.reads.0.bytes", "16MiB"), ("tasks.window", "20us"))
    yield Turn(
        "tasks.exact", changed(long, ("tasks.window", ...)), "tasks.exact", (False, True), FALLS, skipped
    )
    yield Turn("tasks.window", long, "tasks.window", ("20us", "40us"), FALLS, skipped)
