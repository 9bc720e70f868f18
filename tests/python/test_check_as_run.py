"""What a run refuses, `check` refuses in the same words: who has checked a spec is not told later what is wrong."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from validation.examples import WHOLE, some

import cxloom as cx
from cxloom.base.errors import InputError, SimulationError
from cxloom.system.simulation import build, describe, errors_placed

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))

PLAIN = """
devices:
  host: {kind: host, MORE}
  dram: {kind: memory, capacity: 1MiB}
  pm: {kind: memory, capacity: 1MiB, media: {kind: nvm, write_buffer: 0}}
  sw: {kind: switch}
links:
  - {between: [host, sw]}
  - {between: [sw, dram]}
  - {between: [sw, pm]}
address_map:
  - {to: dram}
  - {to: pm, persistence: media}
workload:
  host: WORK
"""


def refusal(action: Callable[[], object]) -> str | None:
    """What an InputError of it says; None: there is none."""
    try:
        action()
    except InputError as error:
        return str(error)
    except SimulationError:  # of a run that cannot finish: that is not the input's
        return None
    return None


def both(system: cx.System) -> tuple[str | None, str | None]:
    """What a run refuses, and what a check does."""

    def run() -> None:
        resolved = system.resolve([])
        simulation = build(resolved)
        with errors_placed(resolved):
            while not simulation.advance(1000, 1e6) and simulation.progress()["time_ns"] < 1e6:
                pass

    return refusal(run), refusal(lambda: describe(system.resolve([])))


WORKS = [
    "{pattern: log-append, base: 0x0, footprint: 4KiB, requests: 50}",
    "{pattern: random, base: 0x0, footprint: 4KiB, persists: 10%, reads: 50%, requests: 300}",
    "{pattern: random, base: 0x0, footprint: 2MiB, persists: 50%, reads: 0%, requests: 300}",
    "{pattern: random, footprint: 64KiB, persists: 50%, addresses: first-touch, requests: 300}",
    "{pattern: random, base: 1MiB, footprint: 4KiB, persists: 50%, requests: 300}",
]


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("more", ["queue: 4", "core: {}", "cache: {size: 4KiB}"])
def test_a_flush_of_a_volatile_line_is_refused_by_both(more: str, work: str) -> None:
    ran, checked = both(cx.System.from_yaml(PLAIN.replace("MORE", more).replace("WORK", work)))
    assert checked == ran
    assert (ran is None) == ("base: 1MiB" in work)
    assert ran is None or "flushes a line of volatile memory" in ran


@pytest.mark.parametrize("more", ["queue: 4", "core: {}", "cache: {size: 4KiB}"])
def test_a_non_temporal_store_of_a_core_is_refused_by_both(more: str, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("# cxloom-trace 2: address kind\n0x0 R\n0x40 N\n")
    spec = tmp_path / "spec.yaml"
    spec.write_text(PLAIN.replace("MORE", more).replace("WORK", "{trace: t.txt}"))
    ran, checked = both(cx.load(spec))
    assert checked == ran
    assert (ran is None) == ("core" not in more)
    assert ran is None or "a store past the caches, of a requester with cores" in ran


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all that is neither a map nor a list."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path


def changed(spec: Any, draw: random.Random) -> Any:
    """The spec with one of its values taken out, or replaced by another that may make sense or not."""
    spec = copy.deepcopy(spec)
    path = draw.choice(list(leaves(spec)))
    parent = spec
    for step in path[:-1]:
        parent = parent[step]
    value = parent[path[-1]]
    number = draw.choice(["0", "1", "3", "64", "1000", "0.5", "100000"])
    others = [value for other in leaves(spec) if isinstance(value := at(spec, other), str)]
    choices: list[Any] = [draw.choice(others), number, int(float(number)), None]
    if isinstance(value, str) and re.match(r"[0-9.]", value):
        choices += [re.sub(r"^[0-9.]+", number, value)] * 4
    chosen = draw.choice(choices)
    if chosen is None and isinstance(parent, dict):
        del parent[path[-1]]
    else:
        parent[path[-1]] = chosen
    return spec


def at(spec: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        spec = spec[step]
    return spec


def small(spec: Any) -> Any:
    """The same with little work."""
    for work in spec.get("workload", {}).values():
        if isinstance(work, dict) and "requests" in work:
            work["requests"] = 100
    spec.get("run", {}).pop("warmup", None)
    return spec


@pytest.mark.parametrize("example", some(EXAMPLES), ids=lambda path: path.stem)
def test_of_changed_examples_both_say_the_same(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(example.parent)
    spec = small(YAML(typ="safe").load(example))
    draw = random.Random(example.stem)
    for _ in range(10 if WHOLE else 4):
        text = json.dumps(changed(spec, draw))
        try:
            system = cx.System.from_yaml(text)
            system.resolve([])
        except InputError:
            continue  # not a question of the core
        ran, checked = both(system)
        assert ran is None or checked == ran, text
