"""Systems built in Python: the words of the files, and errors that name the line of Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import cxloom as cx
from cxloom import _core


def example() -> cx.System:
    system = cx.System()
    system.host("host", process_time="10ns", queue=64)
    system.bus("bus", bandwidth="64GB/s")
    system.memory(
        "mem[0-3]", capacity="16GiB", controller_time="40ns", media={"kind": "fixed", "latency": "45ns"}
    )
    system.connect("host", "bus", port_delay="25ns")
    system.connect("bus", "mem[*]")
    system.map(to="mem[*]", interleave="256B")
    system.workload("host", pattern="random", reads="67%", requests=2000, footprint="1GiB")
    return system.run(warmup=200, seed=1)


def test_it_is_the_same_as_the_file(spec_text: str) -> None:
    built, read = example().resolve(), cx.System.from_yaml(spec_text).resolve()
    assert built.plain() == read.plain()
    assert built.hash() == read.hash()


def test_it_converts_to_yaml_and_back(tmp_path: Path) -> None:
    system = example().set("devices.mem2.media.latency", "60ns")
    again = cx.System.from_yaml(system.to_yaml())
    assert again.resolve().plain() == system.resolve().plain()
    system.save(tmp_path / "s.yaml")
    assert cx.load(tmp_path / "s.yaml").resolve().hash() == system.resolve().hash()


def test_every_kind_of_device_is_a_method() -> None:
    system = cx.System()
    for kind, info in _core.declarations()["devices"].items():
        method = getattr(system, kind)
        assert kind.replace("-", "_") in dir(system)
        assert info["doc"] in method.__doc__
        method(f"a_{kind}", **{field["name"]: "a_host" for field in info["fields"] if field["required"]})
    assert len(system.resolve().plain()["devices"]) == len(_core.declarations()["devices"])
    with pytest.raises(AttributeError, match="did you mean 'host'"):
        system.hots("h")


def test_a_preset_and_a_topology_can_be_built_on() -> None:
    system = cx.System(preset="esf/validation").workload("host", reads="50%", requests=10)
    host = {"name": "host", "kind": "host", "roles": ["requester"], "links": 1}
    assert system.check()["devices"][0] == host
    ring = cx.System("ring").topology("ring", switches=4, link={"bandwidth": "8GB/s"})
    ring.workload("host[*]", pattern="random", requests=10, footprint="1MiB")
    assert len(ring.check()["links"]) == 8


def test_a_parameter_may_have_a_name_that_models_have() -> None:
    """`copy` is a method of all of Pydantic's models: no warning, its value kept, and its name among those allowed."""
    moved = {"requester": "h", "from": "a", "to": "b", "copy": False}
    system = cx.System().event("10us", move_pages=moved)
    assert system.resolve().plain()["events"][0]["move_pages"] == moved
    with pytest.raises(cx.InputError, match=r"unknown key 'copi'; .*\bcopy\b"):
        cx.System().event("10us", move_pages={**moved, "copi": True})


def line_of(needle: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if needle in line)


def test_what_is_short_for_a_map_stays_as_it_is_written() -> None:
    bound = ["mem", {"to": "mld", "ld": 2}]
    system = cx.System().switch("sw", vcs=[{"upstream": "host", "bind": bound}])
    assert system.resolve().plain()["devices"]["sw"]["vcs"][0]["bind"] == bound


def test_a_wrong_keyword_is_refused_in_its_line() -> None:
    system = cx.System()
    with pytest.raises(cx.InputError) as error:
        system.host("host", queu=3)  # the line of the error
    assert error.value.problem == "unknown key 'queu'"
    assert error.value.suggestion == "queue"
    assert error.value.path == "devices.host.queu"
    assert error.value.file == __file__
    assert error.value.line == line_of("# the line of the" + " error")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda s: s.host("h", process_time=3), "devices.h.process_time: the unit is missing"),
        (lambda s: s.host("h", process_time="3"), "devices.h.process_time: the unit is missing"),
        (lambda s: s.host("h", queue="3"), "devices.h.queue"),
        (lambda s: s.host("h", cache={"sizze": "1MiB"}), "devices.h.cache.sizze: unknown key 'sizze'"),
        (lambda s: s.memory("m", media={"kind": "fixd"}), "did you mean 'fixed'?"),
        (lambda s: s.memory("m", media={"kind": "fixed", "latncy": "1ns"}), "devices.m.media.latncy"),
        (lambda s: s.memory("m", media={"latency": "1ns"}), "devices.m.media: the kind is missing"),
        (lambda s: s.bus("b", duplex="hlaf"), "did you mean 'half'?"),
        (lambda s: s.switch("s", vcs=[{"upstream": "h", "bind": ["m", 3]}]), "devices.s.vcs[0].bind[1]"),
        (lambda s: s.switch("s", vcs=[{"upstream": "h", "bind": [{"ld": 3}]}]), "'to' is missing"),
        (lambda s: s.add("hots", "h"), "unknown kind 'hots'"),
        (lambda s: s.connect("a", "b", bandwidht="1GB/s"), "links[0].bandwidht"),
        (lambda s: s.connect("a", "b", reverse={"dealy": "1ns"}), "links[0].reverse.dealy"),
        (lambda s: s.map(to="m", interlave="256B"), "address_map[0].interlave"),
        (lambda s: s.workload("h", pattern="randm"), "workload.h.pattern: unknown pattern 'randm'"),
        (lambda s: s.workload("h", pattern="random", raeds="1%"), "workload.h.raeds"),
        (lambda s: s.run(sede=1), "run.sede"),
        (lambda s: s.outputs(request=True), "outputs.request: unknown key"),
        (lambda s: s.topology("rng"), "did you mean 'ring'?"),
        (lambda s: s.topology("ring"), "'switches' is missing"),
        (lambda s: s.host("h").host("h"), "device 'h' is declared twice"),
    ],
)
def test_mistakes_are_refused_at_once(build: object, words: str) -> None:
    assert callable(build)
    with pytest.raises(cx.InputError) as error:
        build(cx.System())
    assert words in str(error.value)
    assert error.value.file == __file__
    assert error.value.line is not None


def test_what_only_the_core_sees_is_placed_too() -> None:
    system = example()
    system.connect("host", "buss")  # no such bus
    with pytest.raises(cx.InputError) as error:
        system.check()
    assert "unknown device 'buss'" in str(error.value)
    assert (error.value.file, error.value.line) == (__file__, line_of("# no such" + " bus"))
    system = example()
    system.workload("mem0", pattern="random", requests=5)  # makes none
    with pytest.raises(cx.InputError, match="makes no requests") as error:
        cx.run(system)
    assert error.value.line == line_of("# makes" + " none")


def test_a_setting_that_matches_nothing_is_refused_in_its_line() -> None:
    system = example()
    before = system.resolve().plain()
    with pytest.raises(cx.InputError) as error:
        system.set("devices.hsot.queue", 3)  # misspelt
    assert system.resolve().plain() == before
    assert error.value.suggestion == "devices.host.queue"
    assert error.value.line == line_of("# miss" + "pelt")


def test_a_copy_is_independent() -> None:
    system = example()
    other = system.copy().set("devices.host.queue", 3)
    assert system.resolve().plain()["devices"]["host"]["queue"] == 64
    assert other.resolve().plain()["devices"]["host"]["queue"] == 3
