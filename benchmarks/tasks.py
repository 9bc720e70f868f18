"""What a task costs beyond its transfers: a graph of many compute tasks, from its file to its result.

``python benchmarks/tasks.py [--tasks N]``: CPU seconds of each part, and microseconds a task. Eight processors,
each task behind two others. The goal is 50 microseconds a task.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from cxloom.running.run import simulate
from cxloom.system.simulation import build
from cxloom.system.system import System
from cxloom.tasks.graph import TaskGraph

_SPEC = {
    "devices": {"host": {"kind": "host"}, "mem": {"kind": "memory", "capacity": "1GiB"}},
    "links": [{"between": ["host", "mem"]}],
    "address_map": [{"to": "mem"}],
}


def graph_of(tasks: int) -> TaskGraph:
    """So many tasks, each behind two others."""
    graph = TaskGraph()
    for number in range(8):
        graph.processor(f"p{number}", 1e12)
    for number in range(tasks):
        after = [f"t{before}" for before in {number // 2, number - 8} if 0 <= before < number]
        graph.compute(f"t{number}", f"p{number % 8}", flops=1e6 * (1 + number % 7), after=after)
    return graph


def main() -> None:
    """Prints what each part takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=100_000)
    tasks = parser.parse_args().tasks
    with tempfile.TemporaryDirectory() as folder:
        graph = graph_of(tasks)
        graph.write(Path(folder) / "graph.jsonl")
        section = {"processors": graph.section()["processors"], "file": "graph.jsonl"}
        (Path(folder) / "spec.yaml").write_text(json.dumps({**_SPEC, "tasks": section}))
        begun = time.process_time()
        resolved = System.load(Path(folder) / "spec.yaml").resolve()
        read = time.process_time()
        simulation = build(resolved)
        built = time.process_time()
        result = simulate(resolved, simulation)
        ended = time.process_time()
    assert len(result.plain()["tasks"]["per_task"]) == tasks
    for name, seconds in (("read", read - begun), ("build", built - read), ("play", ended - built)):
        print(f"{name:6} {seconds:7.2f} s")
    print(f"{1e6 * (ended - begun) / tasks:.1f} us a task")


if __name__ == "__main__":
    main()
