"""`cxloom advise --objects`: objects of a program by a file of their sizes, accesses and shares of reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_advise import near_and_far
from validation.examples import slow

import cxloom as cx
from cxloom.advising.profile import read_profile
from cxloom.base.errors import InputError

HOT = {"name": "data:hot", "bytes": 8 << 20, "accesses": 900, "reads": 1.0}
COLD = {"name": "map:cold", "bytes": 8 << 20, "accesses": 100, "reads": 1.0}


def profile(folder: Path, *objects: dict[str, Any], **said: Any) -> Path:
    file = folder / "objects.json"
    file.write_text(json.dumps({"objects": list(objects), **said}))
    return file


def advised(folder: Path, *objects: dict[str, Any], host: dict[str, Any] | None = None, **said: Any) -> Any:
    spec = near_and_far(objects=[{"name": "other", "size": "1MiB"}])
    spec["devices"]["host"] |= host or {}
    system = cx.System.from_yaml(json.dumps(spec))
    return cx.advise(system, profile=profile(folder, *objects, **said), jobs=1)


def test_the_objects_of_a_file_are_advised_as_those_of_a_workload(tmp_path: Path) -> None:
    # Bound by bandwidth, 30 GB/s near and 10 GB/s far: three quarters of the accesses near is the best.
    found = advised(tmp_path, HOT, COLD)
    assert [(each.name, each.bytes, each.reads) for each in found.objects] == [
        ("data:hot", 8 << 20, 1.0),
        ("map:cold", 8 << 20, 1.0),
    ]
    best = next(each for each in found.outcomes if each.policy == "optimum")
    near = sum(
        share["near"] * each.total for share, each in zip(best.proposal.shares, found.objects, strict=True)
    )
    assert near / sum(each.total for each in found.objects) == pytest.approx(0.75, rel=0.02)
    assert best.throughput == pytest.approx(40, rel=0.05)
    assert list(found.spec["workload"]) == ["host"]
    assert [each["name"] for each in found.spec["workload"]["host"]["objects"]] == ["data:hot", "map:cold"]


def test_what_the_objects_are_not_beside_is_said(tmp_path: Path) -> None:
    # They take the place of all workloads; that of a host which has none is not missed.
    spec = near_and_far(objects=[{"name": "other", "size": "1MiB"}])
    spec["devices"] |= {name: {"kind": "host"} for name in ("busy", "idle")}
    for memory in ("near", "far"):
        spec["devices"][memory]["heads"] = 3
    spec["links"] += [{"between": [name, memory]} for name in ("busy", "idle") for memory in ("near", "far")]
    spec["workload"]["busy"] = {"pattern": "random", "requests": 1000, "footprint": "1MiB"}
    system = cx.System.from_yaml(json.dumps(spec))
    found = cx.advise(system, profile=profile(tmp_path, HOT, COLD), host="host", jobs=1)
    assert found.notes == ["the objects are alone: the workload of busy is not played"]
    assert list(found.spec["workload"]) == ["host"]


def test_accesses_of_an_object_decide_where_it_is(tmp_path: Path) -> None:
    other = [HOT | {"accesses": 100}, COLD | {"accesses": 900}]
    shares = [
        next(each for each in found.outcomes if each.policy == "oli").proposal.shares
        for found in (advised(tmp_path, HOT, COLD), advised(tmp_path, *other))
    ]
    assert [len(each) for each in shares[0]] == [2, 1]  # the hot one is interleaved
    assert [len(each) for each in shares[1]] == [1, 2]


def test_reads_of_the_objects_are_the_mix_that_nodes_are_measured_with(tmp_path: Path) -> None:
    # Both ways of a link have their bandwidth: half writes give twice that of reads alone, where enough are in flight.
    reads = advised(tmp_path, HOT, COLD)
    mixed = advised(tmp_path, HOT | {"reads": 0.5}, COLD | {"reads": 0.5})
    assert [node.bandwidth for node in reads.nodes] == pytest.approx([30, 10], rel=0.05)
    assert mixed.nodes[1].bandwidth == pytest.approx(20, rel=0.1)


@slow
def test_threads_are_those_of_the_program_and_no_more_than_cores(tmp_path: Path) -> None:
    work = [
        advised(tmp_path, HOT, host={"core": {"cores": 2}}, threads=threads).spec["workload"]["host"]
        for threads in (1, 2, 8)
    ]
    assert [each.get("threads", 1) for each in work] == [1, 2, 2]


def test_pages_are_those_of_the_program(tmp_path: Path) -> None:
    work = advised(tmp_path, HOT | {"bytes": (8 << 20) - 5}, page_bytes=1 << 16).spec["workload"]["host"]
    assert work["page"] == work["align"] == "65536B"
    assert work["objects"][0]["size"] == f"{8 << 20}B"


CACHES = [{"size": "32KiB", "ways": 8}, {"size": "1MiB", "ways": 16, "prefetch": "next-line"}]


@pytest.mark.parametrize(
    ("host", "with_caches"),
    [
        ({}, {"cache": {"size": "32MiB", "ways": 16}}),
        ({}, {"cache": {"size": "32MiB", "ways": 16}, "atomics": "cache"}),
        ({"core": {"cores": 2}}, {"core": {"cores": 2, "caches": CACHES}}),
    ],
)
def test_caches_of_the_host_are_not_gone_through_again(
    tmp_path: Path, host: dict[str, Any], with_caches: dict[str, Any]
) -> None:
    # The accesses of a profile are those beyond the caches.
    found = [advised(tmp_path, HOT, COLD, host=each).to_json() for each in (host, with_caches)]
    assert found[0] == found[1]


def test_a_full_near_node_has_room_for_the_hot_object_wherever_it_is_in_the_file(tmp_path: Path) -> None:
    # Together they are larger than the near node, by less than a page of a round: the cold one makes room.
    hot, cold = HOT | {"bytes": 256 << 10}, COLD | {"bytes": 64 << 20}
    runs = []
    for objects in ([cold, hot], [hot, cold]):
        found = advised(tmp_path, *objects)
        best = next(each for each in found.outcomes if each.policy == "optimum")
        weights = best.proposal.weights(objects.index(cold))
        assert 0.98 < weights["near"] / sum(weights.values()) < 1
        runs.append(best.throughput)
    assert runs[0] == pytest.approx(40, rel=0.05)
    assert runs[0] == pytest.approx(runs[1], rel=0.01)


def test_first_touch_is_in_the_order_of_the_file(tmp_path: Path) -> None:
    hot, cold = HOT | {"bytes": 1 << 20}, COLD | {"bytes": 64 << 20}
    first, last = (advised(tmp_path, *each).outcomes[0] for each in ([hot, cold], [cold, hot]))
    assert first.throughput > 2 * last.throughput  # near, and spilt over


@pytest.mark.parametrize(
    ("objects", "said", "words"),
    [
        ([HOT], {"page_bytes": 1}, ["page_bytes", "at least 64B"]),
        ([HOT, COLD | {"bytes": 200 << 20}], {}, ["objects[1].bytes", "larger", "209715200", "134217728"]),
        ([HOT | {"bytes": 100 << 20}, COLD | {"bytes": 100 << 20}], {}, ["objects", "together", "134217728"]),
    ],
)
def test_what_does_not_fit_the_system_is_refused_at_its_place(
    tmp_path: Path, objects: list[dict[str, Any]], said: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(InputError) as refused:
        advised(tmp_path, *objects, **said)
    for word in [f"{tmp_path / 'objects.json'}:1", *words]:
        assert word in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", ["no objects", "exec --out"]),
        ('{"objects": 3}', ["objects", "not a list"]),
        ('{"objects": []}', ["no object is accessed"]),
        ('{"objects": [{"name": "a", "bytes": 4096}]}', ["objects[0]", "without accesses"]),
        ('{"objects": [{"name": "a", "bytes": 0, "accesses": 1}]}', ["objects[0].bytes", "not a count"]),
        ('{"objects": [{"name": "a", "bytes": 64, "accesses": -1}]}', ["objects[0].accesses", "0 or more"]),
        (
            '{"objects": [{"name": "a", "bytes": 64, "accesses": 1, "reads": 2}]}',
            ["objects[0].reads", "from 0 to 1"],
        ),
        (
            '{"objects": [{"name": "a", "bytes": 64, "accesses": 1, "share": 2}]}',
            ["objects[0].share", "unknown key"],
        ),
        (
            '{"objects": [{"name": "a", "bytes": 64, "accesses": 1}, {"name": "a", "bytes": 64, "accesses": 1}]}',
            ["two objects of one name", "'a'"],
        ),
        (
            '{"page_bytes": 5000, "objects": [{"name": "a", "bytes": 64, "accesses": 1}]}',
            ["page_bytes", "a power of two"],
        ),
        (
            '{"threads": 0, "objects": [{"name": "a", "bytes": 64, "accesses": 1}]}',
            ["threads", "from 1 on"],
        ),
        ('{"objects": [', ["objects.json:1"]),
        (
            '{"objects": [{"name": "", "bytes": 64, "accesses": 1}]}',
            [":1", "objects[0].name", "without a name"],
        ),
        (
            '{"objects": [{"name": "a", "bytes": 64, "accesses": .inf}]}',
            [":1", "objects[0].accesses", "not infinite"],
        ),
        (
            '{"objects": [{"name": "a", "bytes": 64, "accesses": 1e308}, '
            '{"name": "b", "bytes": 64, "accesses": 1e308}]}',
            [":1", "objects", "a finite sum"],
        ),
    ],
)
def test_what_is_no_profile_is_refused(tmp_path: Path, text: str, words: list[str]) -> None:
    file = tmp_path / "objects.json"
    file.write_text(text)
    with pytest.raises(InputError) as refused:
        read_profile(file)
    for word in [str(file), *words]:
        assert word in str(refused.value)


def test_the_command_takes_objects_or_a_trace(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    spec = tmp_path / "system.yaml"
    spec.write_text(json.dumps(near_and_far(objects=[{"name": "other", "size": "1MiB"}])))
    file = profile(tmp_path, HOT, COLD)
    both = cxloom("advise", spec, "--objects", file, "--replay", tmp_path / "a.parquet")
    assert both.code == 2
    assert "one of --replay and --objects" in both.err
    absent = cxloom("advise", spec, "--objects", tmp_path / "absent.json")
    assert (absent.code, "no such file" in absent.err) == (2, True)
    unknown = cxloom("advise", spec, "--objects", file, "--host", "far")
    assert unknown.code == 2
    assert unknown.err.startswith("error: --host: no requester of this name")
    said = cxloom(
        "advise", spec, "--objects", file, "--host", "host", "--json", "--out", tmp_path / "placed.yaml"
    )
    assert said.code == 0, said.err
    assert [each["name"] for each in json.loads(said.out)["objects"]] == ["data:hot", "map:cold"]
    again = cxloom("advise", tmp_path / "placed.yaml", "--json")
    assert again.code == 0, again.err
