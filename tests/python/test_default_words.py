"""What `cxloom components` shows as the default of a parameter may be written: a quantity, a choice, or words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from validation.examples import WHOLE, some

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.spec import declared, models
from cxloom.spec.names import RESERVED

Spec = dict[str, Any]
DEEPEST = 3 if WHOLE else 2
"""Kinds within kinds: media before media before media are of the same kinds again."""


def defaults(fields: declared.Fields, depth: int = 0) -> Iterator[Spec]:
    """Parameters of which one has the default that is shown, those within others and of each kind among them."""
    for name, field in fields.items():
        if field["default"]:
            yield {name: field["default"]}
            yield {name: str(field["default"]).partition(": ")[0]}
        if depth == DEEPEST:
            continue
        if field["type"] == "map":
            yield from ({name: each} for each in defaults(declared.fields(field), depth + 1))
        elif field["type"] == "kind":
            for kind in declared.kinds(field["category"]):
                inside = defaults(declared.kind_fields(field["category"], kind), depth + 1)
                yield from ({name: {"kind": kind, **each}} for each in inside)


def innermost(given: Spec, *above: object) -> tuple[object, ...]:
    """The parameter and its default, and the two kinds around it: a medium behind any other is the same."""
    [(name, value)] = [(name, value) for name, value in given.items() if name != "kind"]
    if isinstance(value, dict):
        return innermost(value, *above, (name, value.get("kind")))
    return (*above[-2:], name, value)


def distinct(given: Iterator[Spec]) -> Iterable[Spec]:
    """Each parameter once for the two kinds around it."""
    return {innermost(each): each for each in given}.values()


MALFORMED = ("not a", "neither a", "unknown", "out of bounds", "no unit")
"""Problems of a value that cannot be read; that it has no effect beside others is another thing."""


def refused(check: Callable[[], object]) -> str:
    """Why a value cannot be read; empty if it can."""
    try:
        check()
    except InputError as error:
        return str(error) if any(word in error.problem for word in MALFORMED) else ""
    return ""


SYSTEM: Spec = {
    "devices": {
        "host": {"kind": "host"},
        "accelerator": {"kind": "accelerator"},
        "bus": {"kind": "bus"},
        "switch": {"kind": "switch"},
        "memory": {"kind": "memory"},
        "io-engine": {"kind": "io-engine", "target": "memory", "traffic": "dma-read"},
    },
    "links": [
        {"between": ["host", "bus"]},
        {"between": ["bus", "switch"]},
        *({"between": [end, "switch"]} for end in ("accelerator", "memory", "io-engine")),
    ],
    "address_map": [{"to": "memory"}],
    "workload": {"host": {"pattern": "random", "requests": 10}},
    "run": {},
    "outputs": {},
}


@pytest.mark.parametrize("kind", some(SYSTEM["devices"]))
def test_defaults_of_devices_may_be_written(kind: str) -> None:
    wrong = []
    for given in distinct(defaults(declared.kind_fields("devices", kind))):
        spec = {**SYSTEM, "devices": {**SYSTEM["devices"], kind: {**SYSTEM["devices"][kind], **given}}}
        if why := refused(lambda spec=spec: cx.System.from_yaml(json.dumps(spec)).check()):  # type: ignore[misc]
            wrong.append((given, why))
    assert not wrong, wrong[:3]


@pytest.mark.parametrize("section", some(["link", "region", "workload", "run", "outputs"]))
def test_defaults_of_sections_may_be_written(section: str) -> None:
    places = {
        "link": lambda given: {"links": [*SYSTEM["links"][:-1], {**SYSTEM["links"][-1], **given}]},
        "region": lambda given: {"address_map": [{"to": "memory", **given}]},
        "workload": lambda given: {"workload": {"host": {**SYSTEM["workload"]["host"], **given}}},
        "run": lambda given: {"run": given},
        "outputs": lambda given: {"outputs": given},
    }
    wrong = []
    for given in defaults(declared.fields(declared.declarations()[section])):
        spec = {**SYSTEM, **places[section](given)}
        if why := refused(lambda spec=spec: cx.System.from_yaml(json.dumps(spec)).check()):  # type: ignore[misc]
            wrong.append((given, why))
    assert not wrong, wrong[:3]


@pytest.mark.parametrize("category", sorted(declared.categories()))
def test_defaults_may_be_given_in_python(category: str) -> None:
    for kind in declared.kinds(category):
        for given in defaults(declared.kind_fields(category, kind), depth=DEEPEST):
            model = models.model(category, kind)
            assert not refused(lambda model=model, given=given: models.check(model, given)), given  # type: ignore[misc]


def test_a_word_takes_back_what_a_preset_says() -> None:
    spec = {"preset": "dmsim/asic", "devices": {"cxl": {"queue": "unlimited"}}}
    system = cx.System.from_yaml(json.dumps(spec))
    slots = cx.run(system.set("workload.host.pattern", "random")).summary["per_memory"]["cxl"]["queue_max"]
    assert slots > 48  # which the preset has


def test_tools_find_no_part_where_a_word_says_that_there_is_none(
    cxloom: Callable[..., Any], tmp_path: Any
) -> None:
    spec = json.loads(json.dumps(SYSTEM))
    spec["devices"]["host"] |= {"cache": "none", "core": "none", "memory": "none", "home_agent": "none"}
    spec["devices"]["accelerator"] |= {"memory": "none", "throttle": "none"}
    spec["devices"]["memory"] |= {
        "dcoh": "none",
        "dynamic_capacity": "none",
        "qos": "none",
        "queue": "unlimited",
    }
    spec["devices"]["switch"] |= {"vcs": "none", "persist_buffer": "none"}
    spec["workload"]["host"] |= {"rate": "closed loop"}
    file = tmp_path / "system.yaml"
    file.write_text(json.dumps(spec))
    for command in (
        ["check", file],
        ["run", file],
        ["draw", file, "--out", tmp_path / "drawn.svg"],
        ["explain", file, "--set", "workload.host.rate=unlimited"],
        ["explain", file],
        ["measure", file, "sizes", "--largest", "4KiB"],
    ):
        done = cxloom(*command)
        assert done.code == 0, done.err


def named(fields: declared.Fields, depth: int = 0) -> Iterator[str]:
    """The defaults of texts: where a device is named, they stand for none."""
    for field in fields.values():
        if field["type"] == "text" and field["default"]:
            yield str(field["default"]).partition(": ")[0]
        if field["type"] in ("map", "list") and depth < DEEPEST:
            yield from named(declared.fields(field), depth + 1)


def test_no_device_is_called_as_a_word_for_another_thing() -> None:
    """`host: any` of a logical device means everybody, whatever there is of that name."""
    declarations = declared.declarations()
    every = [declarations[entry] for entry in declared.entries()]
    every += [kind for category in declared.categories() for kind in declared.kinds(category).values()]
    words = {word for info in every for word in named(declared.fields(info)) if word.isalpha()}
    assert words == set(RESERVED)
    for word in RESERVED:
        with pytest.raises(InputError, match=f"a device cannot have this name.*found '{word}'"):
            cx.System.from_yaml(f"devices: {{{word}: {{kind: host}}}}\n").resolve()
    assert cx.System.from_yaml("devices: {anyone: {kind: host}, none1: {kind: host}}\n").resolve()
