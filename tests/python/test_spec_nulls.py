"""A null in a file or of `--set` takes back what the preset says; nobody is left with what he thought was gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.spec.override import Override

BASE = """
name: base
devices:
  host: {kind: host, queue: 8}
  other: {kind: host}
  sw: {kind: switch}
  mem: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 50ns}}
links: [{between: [host, sw]}, {between: [other, sw]}, {between: [mem, sw], delay: 10ns}]
address_map: [{to: mem}]
workload:
  host: {pattern: random, requests: 2000, footprint: 1MiB}
  other: {pattern: random, requests: 100, footprint: 1MiB}
events: [{at: 1us, fail: {link: [sw, mem]}}, {at: 2us, repair: {link: [sw, mem]}}]
run: {warmup: 500, seed: 4}
outputs: {series: 1us}
"""
OTHER = "{pattern: sequential, requests: 9, footprint: 1MiB}"


def resolved(folder: Path, over: str, *sets: str) -> dict[str, Any]:
    (folder / "base.yaml").write_text(BASE)
    (folder / "top.yaml").write_text(f"preset: base.yaml\n{over}\n")
    found: dict[str, Any] = (
        cx.load(folder / "top.yaml").resolve([Override.parse(each) for each in sets]).plain()
    )
    return found


@pytest.mark.parametrize("section", ["name", "workload", "events", "run", "outputs"])
@pytest.mark.parametrize("how", ["file", "set"])
def test_a_section_is_as_if_the_preset_had_not_said_it(tmp_path: Path, section: str, how: str) -> None:
    before = resolved(tmp_path, "")
    after = (
        resolved(tmp_path, f"{section}: null") if how == "file" else resolved(tmp_path, "", f"{section}=null")
    )
    assert before[section]
    assert not after.get(section)
    assert {key: value for key, value in after.items() if key != section} == {
        key: value for key, value in before.items() if key != section
    }


def test_a_graph_of_tasks_is_taken_back(tmp_path: Path) -> None:
    tasks = (
        "tasks: {processors: [{name: p, flops: 1e9}], graph: [{name: x, kind: compute, on: p, flops: 1e6}]}"
    )
    (tmp_path / "tasks.yaml").write_text(BASE.replace("run: {warmup: 500, seed: 4}", tasks))
    (tmp_path / "top.yaml").write_text("preset: tasks.yaml\ntasks: null\n")
    assert not cx.load(tmp_path / "top.yaml").resolve([]).plain().get("tasks")


@pytest.mark.parametrize(
    ("over", "sets"),
    [
        ("workload: {other: null}", ()),
        ("", ("workload.other=null",)),
        ("", ("workload.o*=null",)),
        ('workload: {"*": null, host: {pattern: random, requests: 2000, footprint: 1MiB}}', ()),
        ('workload: {"*o*": {reads: 50%}, other: null}', ()),
    ],
)
def test_a_requester_has_no_work(tmp_path: Path, over: str, sets: tuple[str, ...]) -> None:
    assert list(resolved(tmp_path, over, *sets)["workload"]) == ["host"]


def test_who_lays_work_over_none_says_all_of_it(tmp_path: Path) -> None:
    """A null in a file between takes back the pattern, its base and its number of requests."""
    (tmp_path / "between.yaml").write_text("preset: base.yaml\nworkload: null\nlinks: null\n")
    (tmp_path / "base.yaml").write_text(BASE)
    links = "links: [{between: [host, sw]}, {between: [other, sw]}, {between: [mem, sw]}]"
    (tmp_path / "last.yaml").write_text(f"preset: between.yaml\nworkload: {{host: {OTHER}}}\n{links}\n")
    found = cx.load(tmp_path / "last.yaml").resolve([]).plain()
    assert found["workload"] == {"host": {"pattern": "sequential", "requests": 9, "footprint": "1MiB"}}
    assert [link.get("delay") for link in found["links"]] == [None, None, None]


@pytest.mark.parametrize(
    ("over", "sets"),
    [
        (
            "devices: {mem: {media: null}, host: {queue: null}}\nlinks: [{between: [mem, sw], delay: null}]",
            (),
        ),
        ("", ("devices.mem.media=null", "devices.host.queue=null", "links[2].delay=null")),
    ],
)
def test_a_parameter_has_its_default_again(tmp_path: Path, over: str, sets: tuple[str, ...]) -> None:
    """As if the preset had not said it, in the spec that is stored, in its hash and in what is played."""
    spec = resolved(tmp_path, over, *sets)
    alone = BASE.replace(", queue: 8", "").replace(", media: {kind: fixed, latency: 50ns}", "")
    bare = cx.System.from_yaml(alone.replace(", delay: 10ns", ""))
    assert spec == bare.resolve().plain()
    assert cx.run(bare).latency.mean == cx.run(cx.System.from_yaml(json.dumps(spec))).latency.mean


def test_a_parameter_without_a_default_is_missing_at_its_line(tmp_path: Path) -> None:
    resolved(tmp_path, "devices: {host: {throttle: {rate: null}}}")
    said = r"devices\.host\.throttle\.rate: 'rate' is missing"
    with pytest.raises(InputError, match=rf"top\.yaml:2: {said}, found null"):
        cx.load(tmp_path / "top.yaml").check()
    with pytest.raises(InputError, match=rf"test_spec_nulls\.py:\d+: {said}, found null"):
        cx.System.from_yaml(BASE).set("devices.host.throttle.rate", None).check()


def test_a_null_below_phases_and_lists_is_none(tmp_path: Path) -> None:
    work = "{phases: [{pattern: random, requests: 9, footprint: 1MiB, reads: null}]}"
    found = resolved(tmp_path, f"workload: {{host: {work}}}")["workload"]["host"]
    assert found == {"phases": [{"pattern": "random", "requests": 9, "footprint": "1MiB"}], "requests": 2000}
    core = "{core: {caches: [{size: 4KiB, ways: null}], width: null}}"
    assert resolved(tmp_path, f"devices: {{host: {core}}}")["devices"]["host"] == {
        "kind": "host",
        "queue": 8,
        "core": {"caches": [{"size": "4KiB"}]},
    }


@pytest.mark.parametrize(
    ("over", "sets"),
    [
        ("devices: null", ()),
        ("devices: {mem: null}", ()),
        ('devices: {"m*": null}', ()),
        ("", ("devices.mem=null",)),
        ("", ("devices=null",)),
    ],
)
def test_a_device_that_others_name_is_not_taken_back(
    tmp_path: Path, over: str, sets: tuple[str, ...]
) -> None:
    with pytest.raises(InputError, match="no device can be taken back"):
        resolved(tmp_path, over, *sets)


def test_a_null_over_nothing_is_no_workload(tmp_path: Path) -> None:
    """A name by itself stays a mistake where there is nothing to take back."""
    (tmp_path / "alone.yaml").write_text(
        BASE.replace("{pattern: random, requests: 100, footprint: 1MiB}", "null")
    )
    with pytest.raises(InputError, match="not a workload"):
        cx.load(tmp_path / "alone.yaml").check()
