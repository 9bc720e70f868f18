"""What can fill up is declared by the core, whatever the system: its limit, its measures, what gives more of it."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from test_explain import KNOWN

import cxloom as cx
from cxloom import _core
from cxloom.bottleneck import occupancy
from cxloom.bottleneck.shared_limits import all_resources
from cxloom.display import palette
from cxloom.spec import declared
from cxloom.spec.override import Override

PACKAGE = Path(cx.__file__).parent
MEMORIES: dict[str, Any] = {
    "flash": {"kind": "flash"},
    "nvm": {"kind": "nvm"},
    "cached": {"kind": "cached", "size": "1MiB", "backing": {"kind": "nvm"}},
    "inline ECC": {"kind": "inline-ecc", "backing": {"kind": "nvm"}},
    "compression": {"kind": "compressed", "backing": {"kind": "nvm"}},
    "DRAM before flash": {
        "kind": "cached",
        "size": "1MiB",
        "cache": {"kind": "dram", "preset": "DDR5-4800"},
        "backing": {"kind": "flash"},
    },
}


def before(media: dict[str, Any]) -> cx.System:
    """A host before these media."""
    spec = {
        "devices": {
            "host": {"kind": "host"},
            "mem": {"kind": "memory", "capacity": "64MiB", "media": media},
        },
        "links": [{"between": ["host", "mem"], "bandwidth": "32GB/s"}],
        "address_map": [{"to": "mem"}],
        "workload": {
            "host": {"pattern": "random", "reads": 0.6, "requests": 800, "footprint": "16MiB"},
        },
        "run": {"warmup": 200},
    }
    return cx.System.from_yaml(json.dumps(spec))


SYSTEMS: dict[str, cx.System] = {name: system for name, (system, _) in KNOWN.items()}
SYSTEMS |= {name: before(media) for name, media in MEMORIES.items()}
SYSTEMS |= {name: cx.load(name) for name in ("esf/validation", "dmsim/asic", "dmsim/local")}


@pytest.fixture(scope="module", params=SYSTEMS)
def played(request: pytest.FixtureRequest) -> tuple[cx.System, dict[str, Any], dict[str, Any]]:
    """A system, its resolved spec, and the summary of its run."""
    system = SYSTEMS[request.param]
    return system, system.resolve().plain(), dict(cx.run(system).summary)


def resources(inventory: _core.Inventory) -> Iterator[_core.InventoryResource]:
    for each in [*inventory["devices"], *inventory["links"]]:
        yield from each["resources"]


def test_no_bound_is_below_the_throughput_seen(
    played: tuple[cx.System, dict[str, Any], dict[str, Any]],
) -> None:
    """Nor is more in use than there is, but for what was under way when the window opened or closed."""
    _, spec, summary = played
    throughput = summary["bandwidth_gb_per_s"]
    for each in all_resources(spec, summary):
        if (bound := each.bound(throughput)) is not None:
            assert bound >= throughput * (1 - 1e-9), each.name
            assert each.busy <= 1.02, each.name


IF_USED = ("the combining buffers of",)
"""Measured only where some store goes past the caches, which is known when it does."""


def test_each_measure_is_in_the_summary_and_each_setting_is_one(
    played: tuple[cx.System, dict[str, Any], dict[str, Any]],
) -> None:
    system, spec, summary = played
    segments = declared.segments()
    busy = {
        name for group in ("per_requester", "per_memory", "per_switch", "per_home") for name in summary[group]
    }
    for each in resources(_core.inventory(spec)):
        assert each["wait"] in segments
        assert segments[each["wait"]]["waits"]
        if each["capacity"] is None:
            assert not each["twice"], each["kind"]
            continue
        assert each["twice"] or each["occupancy"] == "waiting", each["kind"]
        changed = system.resolve([Override.of(path, value) for path, value in each["twice"].items()])
        assert (changed.plain() != spec) == bool(each["twice"])
        several = len(each["measures"][0]) == 1 and len(summary["per_requester"]) > 1
        if each["owner"].partition(",")[0] in busy and not several:
            used = occupancy.of(each, summary)
            assert used is not None or each["occupancy"] == "ratio" or each["kind"] in IF_USED, each["kind"]


def test_twice_of_a_resource_is_twice_its_capacity() -> None:
    """Whatever the unit in which a person wrote it."""
    system, _ = KNOWN["the data path of media"]
    once = {
        each["kind"] + each["owner"]: each for each in resources(_core.inventory(system.resolve().plain()))
    }
    for name, each in once.items():
        if each["occupancy"] not in ("level", "bandwidth", "rate", "held") or each["capacity"] is None:
            continue
        changed = system.resolve([Override.of(path, value) for path, value in each["twice"].items()])
        after = {e["kind"] + e["owner"]: e for e in resources(_core.inventory(changed.plain()))}
        assert after[name]["capacity"] == pytest.approx(2 * each["capacity"]), name


@pytest.mark.parametrize("kind", declared.kinds("routing"))
def test_the_core_says_whether_messages_make_detours(kind: str) -> None:
    spec = before({"kind": "fixed"}).set("run.routing", kind).resolve().plain()
    assert _core.inventory(spec)["detours"] == (kind in ("valiant", "ugal"))


def test_every_segment_looks_like_its_place() -> None:
    for name, segment in declared.segments().items():
        assert segment["place"] in palette._PLACES
        assert palette.segment(name) != palette.segment("no segment") or name == "retry"
    assert set(palette.SEGMENTS) <= set(declared.segments())
    assert palette._by_place("home_queue") == (palette._PLACES["coherence"], "//")


# --- kinds by name ---------------------------------------------------------------------------------------------------

ALLOWED = {
    "booting/reach.py": "tells root ports from switches, which have the same roles, and an emulator another device",
    "curves/medium.py": "builds a spec: a medium without waiting, to see what the way takes",
    "importing/esf_system.py": "builds a spec of a system of another simulator",
    "importing/simcxl_system.py": "the same",
    "offload/target.py": "the host, the streams and the calls of a GPU are parameters of that kind, and of no part",
    "planning/pod.py": "builds a spec: the hosts, devices and switches of a pod, of a spec with one of each",
    "measure/probe.py": "builds a spec: a bus that joins a core beside a host's",
}


WORDS = ("accelerator", "dcoh", "io-engine", "flow-hash", "valiant", "ugal")
"""Names of kinds that are words for nothing else."""
CATEGORIES = ("devices", "media", "routing")


def constants(node: ast.AST) -> list[object]:
    return [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]


def says_kind(node: ast.AST) -> bool:
    """It has the word for a kind: `kind`, `device["kind"]`, `spec.kind`, `kinds[name]`, `run["routing"]`."""
    words = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    words |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    words |= {str(each).rpartition(".")[2] for each in constants(node)}
    return bool(words & {"kind", "kinds", "_kind", "routing"})


def listed_kinds(node: ast.AST) -> list[object]:
    """What a tuple, a list or a set has, or a dictionary as its keys; nothing where that is more than words."""
    values: list[ast.expr | None] = []
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        values = [*node.elts]
    elif isinstance(node, ast.Dict):
        values = [*node.keys]
    known = all(isinstance(each, ast.Constant) for each in values)
    return [each.value for each in values if isinstance(each, ast.Constant)] if known else []


def kinds_by_name(source: str, categories: Sequence[Collection[str]]) -> Iterator[int]:
    """Lines that compare a kind with a name, look one up by it, list kinds of a category, or make a device of one."""
    kinds = {kind for category in categories for kind in category}

    def names(node: ast.AST) -> bool:
        return any(each in kinds for each in constants(node))

    for node in ast.walk(ast.parse(source)):
        listed = listed_kinds(node)
        if len(listed) > 1 and any(set(listed) <= set(category) for category in categories):
            yield node.lineno
        if isinstance(node, ast.Compare | ast.Call) and names(node) and says_kind(node):
            yield node.lineno
        if isinstance(node, ast.match_case) and names(node.pattern):
            yield node.pattern.lineno
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and says_kind(key) and names(value):
                    yield node.lineno
        if isinstance(node, ast.Constant) and node.value in WORDS:
            yield node.lineno


def test_no_tool_knows_a_kind_of_device_or_media_by_its_name() -> None:
    kinds = [set(declared.kinds(category)) for category in CATEGORIES]
    found = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if list(kinds_by_name(file.read_text(encoding="utf-8"), kinds))
    }
    assert found == set(ALLOWED), "tools that know a kind, or rows that allow what is not there any more"


@pytest.mark.parametrize(
    "line",
    [
        'device["kind"] == "host"',
        'kind in ("dram", "fixed")',
        'network.kinds[station] == "host"',
        '_kind(device) == "bus"',
        'spec = {"kind": "bus"}',
        'LOOKS = {"dcoh": 1}',
        'WITHOUT = ("fixed", "dram")',
        'WITHOUT = {"fixed", "dram"}',
        'SHAPES = {"host": 1, "bus": 2}',
        'match kind:\n    case "host" | "bus":\n        pass',
        'run.get("routing", "random")',
        'run["routing"] != "random"',
        '{"run.routing": "random"}',
        'strategies = "valiant"',
    ],
)
def test_a_kind_by_its_name_is_found(line: str) -> None:
    assert list(kinds_by_name(line, [{"host", "bus", "dcoh"}, {"fixed", "dram"}, {"random", "valiant"}]))


@pytest.mark.parametrize(
    "line", ['draw("random")', '("host", "name")', '{"host": 1, "ends": 2}', "match.kind"]
)
def test_a_word_that_is_no_kind_is_left_alone(line: str) -> None:
    assert not list(kinds_by_name(line, [{"host", "bus"}, {"random"}]))
