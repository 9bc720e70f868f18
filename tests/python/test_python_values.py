"""What Python hands over and gets back: numbers of NumPy, words of ours, results that do not change."""

from __future__ import annotations

import copy
import io
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cxloom as cx
from cxloom.base.frozen import frozen


def system(**host: object) -> cx.System:
    built = cx.System().host("host", **host).memory("mem", capacity="1GiB")
    return built.connect("host", "mem").map(to="mem")


def test_numpys_numbers_are_numbers(tmp_path: Path) -> None:
    trace = tmp_path / "t.txt"
    trace.write_text("0x40 R 1\n0x80 R 2\n")
    built = system(queue=np.int64(8), cache={"size": "4KiB", "ways": np.uint8(4)})
    built.workload("host", trace=trace).run(seed=np.int32(7)).outputs(requests=np.bool_(False))
    built.set("devices.host.queue", np.int16(9)).set("run.warmup", np.uint64(0))
    plain = built.resolve().plain()
    assert plain["devices"]["host"]["queue"] == 9
    assert plain["workload"]["host"]["trace"] == str(trace)
    values = [
        plain["devices"]["host"]["queue"],
        plain["devices"]["host"]["cache"]["ways"],
        plain["run"]["seed"],
    ]
    assert {type(value) for value in values} == {int}
    assert cx.run(built).count == 2
    work = system().workload(
        "host", pattern="random", reads=np.float32(0.5), requests=np.int64(10), footprint="1MiB"
    )
    assert cx.run(work, seed=np.int64(3))["seed"] == 3
    assert system().set("devices.host.queue", np.array([1, 2])).resolve().plain()["devices"]["host"][
        "queue"
    ] == [1, 2]


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda s: s.host("h", queue="3"), "not a whole number, found '3'"),
        (lambda s: s.host("h", queue=1.5), "not a whole number, found 1.5"),
        (lambda s: s.host("h", queue=True), "not a whole number, found true"),
        (lambda s: s.host("h", queue=np.float64(2.5)), "not a whole number, found 2.5"),
        (lambda s: s.host("h", queue=10**30), "too large"),
        (lambda s: s.host("h", queue=-1), "a negative number, found -1"),
        (lambda s: s.host("h", queue=object()), "queue"),
        (lambda s: s.host("h", cache=3), "not a map of parameters, found 3"),
        (lambda s: s.host("h", cache={"size": 3}), "devices.h.cache.size: the unit is missing"),
        (lambda s: s.bus("b", duplex=3), "unknown choice, found 3; allowed: full or half"),
        (lambda s: s.outputs(requests="on"), "not true or false, found 'on'"),
        (lambda s: s.map(to="m", base=[]), "not an address"),
        (lambda s: s.map(to="m", base="x"), "not an address, found 'x'"),
        (lambda s: s.workload("h", pattern="random", reads="most"), "not a number, found 'most'"),
        (lambda s: s.workload("h", pattern="random", reads=float("nan")), "not a finite number"),
        (lambda s: s.workload("h", trace=3), "not a text, found 3"),
        (lambda s: s.workload("h", phases=3), "not a list, found 3"),
        (lambda s: s.workload("h", pattern=3), "workload.h.pattern: not a text, found 3"),
        (lambda s: s.workload("h", pattern=["random"]), "workload.h.pattern: not a text, found a list"),
        (lambda s: s.add(3, "h"), "devices.h.kind: not a text, found 3"),
        (lambda s: s.topology(None), "topology.kind: not a text, found nothing"),
        (lambda s: s.set("run.seed", {1, 2}).resolve(), "not a value for a spec"),
        (lambda s: s.memory("m", media={"kind": 3}), "the kind is missing"),
        (lambda s: s.map(to=3), "address_map[0].to: not a text or a list, found 3"),
        (lambda s: s.set("run.seed", 2**70).check(), "run.seed: the number is too large"),
        (lambda s: cx.run(s.host("h"), seed=2**70), "run.seed: the number is too large"),
        (
            lambda s: cx.run(s.host("h", cache={"size": "4KiB"}).set("devices.h.queue", [2**70])),
            "queue[0]: the",
        ),
        (lambda s: s.set(3, 4), "not a text, found 3; allowed: the path of a value"),
    ],
)
def test_every_message_is_in_our_words(build: Callable[[cx.System], object], says: str) -> None:
    with pytest.raises(cx.InputError) as caught:
        build(cx.System())
    text = str(caught.value)
    assert says in text
    assert not re.search(r"Input should|valid|pydantic|dictionary|instance|literal|type=", text)


@pytest.mark.parametrize("given", [None, 3, b"bytes", {}, object(), "a\0b"])
@pytest.mark.parametrize(
    ("use", "allowed"),
    [
        (cx.load, "a spec file, or the name of a preset"),
        (cx.run, "a System, a spec file, or the name of a preset"),
        (cx.Result.load, "a directory that `cxloom run --out` wrote"),
        (lambda name: system().save(name), "a file to write to"),
        (lambda name: cx.run(_work(), out=name if name is not None else 0), "a directory"),
        (lambda name: cx.run(_work()).save(name), "a directory"),
    ],
)
def test_what_names_no_file_is_refused(use: Callable[[object], object], allowed: str, given: object) -> None:
    with pytest.raises(cx.InputError) as caught:
        use(given)
    assert caught.value.problem in ("not a text or a path", "a name with a null character")
    assert caught.value.found
    assert caught.value.allowed == allowed


def _work() -> cx.System:
    return system().workload("host", pattern="random", requests=1, footprint="1MiB")


@pytest.mark.parametrize("given", [None, 3, b"{}"])
def test_what_is_no_yaml_text_is_refused(given: object) -> None:
    with pytest.raises(cx.InputError, match=r"x\.yaml: not a text, found"):
        cx.System.from_yaml(given, "x.yaml")  # type: ignore[arg-type]


def test_a_spec_that_cannot_be_saved_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(cx.InputError, match="cannot be written: not a directory"):
        system().save(tmp_path / "file" / "spec.yaml")


def test_the_folders_of_a_spec_are_made(tmp_path: Path) -> None:
    system().save(tmp_path / "new" / "er" / "spec.yaml")
    assert cx.load(tmp_path / "new" / "er" / "spec.yaml").resolve().plain()["devices"]


def test_all_that_is_wrong_with_a_call_is_said() -> None:
    with pytest.raises(cx.InputError) as caught:
        cx.System().host("h", queu=3, process_time=3, cache={"sizze": "1MiB", "ways": "x"})
    assert len(str(caught.value).splitlines()) == 4
    for path in ("devices.h.queu", "devices.h.process_time", "devices.h.cache.sizze", "devices.h.cache.ways"):
        assert f": {path}: " in str(caught.value)


# --- results ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spec() -> cx.System:
    return system(queue=4).workload("host", pattern="random", requests=200, footprint="1MiB")


def test_equal_runs_give_equal_results(spec: cx.System) -> None:
    first, again, other = cx.run(spec), cx.run(spec), cx.run(spec, seed=2)
    assert first == again
    assert hash(first) == hash(again)
    assert first["cost"] is not again["cost"]
    assert first != other
    assert first.read == again.read
    assert first.read != first.write
    assert len({first, again, other}) == 2
    assert first != "a result"
    assert pickle.loads(pickle.dumps(first.per_memory["mem"])) == again.per_memory["mem"]


def parts_of(result: cx.Result) -> list[Any]:
    """All that a result tells by name."""
    parts = [result.per_requester, result.per_memory, result.per_io, result.per_link, result.per_switch]
    return [*parts, result.tables]


def test_results_do_not_change(spec: cx.System) -> None:
    result = cx.run(spec)
    before = result.to_json()
    for change in (
        lambda: result.summary.update(requests=0),
        lambda: result["latency_ns"].pop("mean"),
        lambda: result["notes"].append("x"),
        lambda: result["per_memory"]["mem"].__setitem__("requests", 0),
        lambda: result.read.values.clear(),
        lambda: result.breakdown.__setitem__("media", 0.0),
        lambda: result.read.breakdown.clear(),
        *(lambda part=part: part.update(mem=None) for part in parts_of(result)),
    ):
        with pytest.raises(TypeError, match="results do not change"):
            change()
    for name in ("summary", "values", "spec", "bandwidth", "anything"):
        with pytest.raises(AttributeError):
            setattr(result, name, None)
    with pytest.raises(AttributeError):
        del result.spec
    assert result.to_json() == before
    assert json.loads(json.dumps(result.summary)) == json.loads(before)
    mine = dict(copy.deepcopy(result.summary))
    mine["requests"] = 0
    assert result["requests"] == 200


def test_a_notebook_shows_a_table(spec: cx.System) -> None:
    html = cx.run(spec)._repr_html_()
    assert "<table>" in html
    for words in ("200 requests in", "<td>read</td>", "<th>p99 ns</th>", "<td>media</td>"):
        assert words in html
    assert "<b>" not in cx.run(cx.System.from_yaml(spec.to_yaml()).set("run.warmup", 0))._repr_html_()
    truncated = cx.run(spec, max_time="100ns")._repr_html_()
    assert "TRUNCATED" in truncated


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{}", "not the summary of a run: no 'requests'"),
        ("[1]", "not a summary, found a list"),
        ("{", "not a summary: it is no JSON"),
        (None, "no results here"),
    ],
)
def test_a_wrong_summary_is_blamed_itself(tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / "summary.json").write_text(content)
    with pytest.raises(cx.InputError) as caught:
        cx.Result.load(tmp_path)
    assert says in str(caught.value)
    assert str(caught.value.file).endswith("summary.json" if content is not None else tmp_path.name)


def test_what_is_stored_is_equal_to_what_was_run(spec: cx.System, tmp_path: Path) -> None:
    result = cx.run(spec, out=tmp_path / "out")
    assert cx.Result.load(tmp_path / "out") == result


def test_frozen_data_share_what_they_shared_before() -> None:
    row = {"utilization": 0.0, "levels": [1, 2]}
    summary = frozen({"a": row, "b": [row, dict(row)]})
    assert summary == {"a": row, "b": [row, row]}
    assert summary["a"] is summary["b"][0]
    assert summary["a"] is not summary["b"][1]
    assert summary["b"][1]["levels"] is summary["a"]["levels"]


def test_json_is_the_same_whole_and_piece_by_piece() -> None:
    result = cx.run(system().workload("host", pattern="random", requests=100, footprint="1MiB"))
    text = io.StringIO()
    result.write_json(text)
    assert text.getvalue() == result.to_json() + "\n"


def test_a_result_can_be_looked_through() -> None:
    result = cx.run(system().workload("host", pattern="random", requests=10, footprint="1MiB"))
    assert "requests" in result
    assert "nothing" not in result
    assert list(result) == list(result.summary)


@pytest.mark.parametrize("until", [1, 0.01, {"ci": "1%"}])
def test_an_end_that_is_no_text_is_an_error(until: object) -> None:
    work = system().workload("host", pattern="random", requests=10, footprint="1MiB")
    with pytest.raises(cx.InputError, match="not a condition"):
        cx.run(work, until=until)  # type: ignore[arg-type]
