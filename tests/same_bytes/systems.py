"""Writes the systems that `make same-bytes` plays: every parameter turned, varied systems, examples, presets.

    python tests/same_bytes/systems.py FILE

FILE gets one JSON object: a spec by name. They come from the tests, so that a new parameter brings its systems along.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from validation.found_systems import FOUND  # noqa: E402
from validation.systems import changed  # noqa: E402
from validation.systems import run as plain_run  # noqa: E402
from validation.test_parameters import TABLE  # noqa: E402
from validation.varied import VARIED  # noqa: E402

import cxloom as cx  # noqa: E402

Spec = dict[str, Any]
EXAMPLES = ("system", "fabric", "dram")
PRESETS = (
    "esf/validation",
    "cxl/pins-x16-64",
    "memory/local-remote-cxl",
    "dmsim/asic",
    "dmsim/switch",
    "expander/asic-ddr5",
    "expander/fpga-ddr4",
    "expander/cxl-ssd",
    "expander/x16-ddr5",
)
REQUESTS = 3000  # of each requester of an example or a preset: enough to fill its queues


def turned() -> dict[str, Spec]:
    """The two systems of each row of the table of parameters, if it is played as it stands and without a trace."""
    systems: dict[str, Spec] = {}
    for turn in TABLE:
        if turn.play is not plain_run or turn.feeds():
            continue
        first, second = turn.values
        systems[f"{turn.parameter} = {first}"] = changed(turn.base, (turn.path, first))
        systems[f"{turn.parameter} = {second}"] = changed(turn.base, (turn.path, second), *turn.also)
    return systems


def as_in_a_file(spec: Spec) -> Spec:
    """A spec of the tests, which go past the reader: in a file a second link of two devices has a count."""
    seen: set[frozenset[str]] = set()
    links = []
    for link in spec.get("links", []):
        ends = frozenset(link["between"])
        links.append(link | ({"count": 1} if ends in seen and "count" not in link else {}))
        seen.add(ends)
    return spec | ({"links": links} if links else {})


def short(system: cx.System) -> Spec:
    """A shipped system, resolved, with fewer requests."""
    spec = system.resolve().plain()
    for work in spec["workload"].values():
        work["requests"] = REQUESTS
    spec.setdefault("run", {})["warmup"] = REQUESTS // 10
    return spec


def main() -> None:
    """Collects and writes; systems that are the same stand once."""
    named = {f"varied: {name}": spec for name, spec in VARIED.items()}
    named |= {f"found: {i}": spec for i, spec in enumerate(FOUND)}
    named |= {f"example: {name}": short(cx.load(ROOT / f"examples/{name}.yaml")) for name in EXAMPLES}
    named |= {f"preset: {name}": short(cx.System(preset=name)) for name in PRESETS}
    named |= turned()
    unique = {json.dumps(as_in_a_file(spec), sort_keys=True): name for name, spec in reversed(named.items())}
    systems = {name: json.loads(text) for text, name in reversed(unique.items())}
    Path(sys.argv[1]).write_text(json.dumps(systems))
    print(f"{len(systems)} systems")


if __name__ == "__main__":
    main()
