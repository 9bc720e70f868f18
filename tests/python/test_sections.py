"""A section of a spec is one declaration of the core: the front end takes all that it knows of it from there."""

import inspect
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import cxloom as cx
from cxloom import _core
from cxloom.spec import declared
from cxloom.spec.jsonschema import schema
from cxloom.spec.override import Override
from cxloom.spec.reader import read_text
from cxloom.spec.resolve import resolve

REPOSITORY = Path(__file__).parents[2]

SYSTEM = """
devices: {host: {kind: host}, mem: {kind: memory}}
links: [{between: [host, mem]}]
"""
COATS = {
    **_core.declarations()["run"]["fields"][0],
    "name": "coats",
    "type": "integer",
    "minimum": "1",
    "maximum": "",
}
PAINT = {"doc": "Paint.", "fields": [COATS]}


def about(form: str) -> dict[str, Any]:
    run = _core.declarations()["sections"]["run"]
    return {**run, "doc": f"Paint as {form}.", "form": form, "entry": "paint"}


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the core declared two more sections, `paint` and the list `paints`."""
    known = dict(_core.declarations())
    known["sections"] = known["sections"] | {"paint": about("one"), "paints": about("each")}
    known["paint"] = PAINT
    monkeypatch.setattr(declared, "declarations", lambda: known)


@pytest.mark.usefixtures("painted")
def test_one_declaration_serves_the_whole_front_end() -> None:
    # A file, what is laid over it, and what is set.
    spec = read_text(SYSTEM + "paint: {coats: 2}\npaints: [{coats: 3}]\n")
    assert resolve(spec).plain()["paint"] == {"coats": 2}
    changed = resolve(spec, [Override.of("paint.coats", 5), Override.of("paints[0].coats", 4)]).plain()
    assert (changed["paint"], changed["paints"]) == ({"coats": 5}, [{"coats": 4}])
    # Keys that are completed, and found to be wrong.
    assert list(declared.fields_at(spec, ("paint",))) == ["coats"]
    assert list(declared.fields_at(spec, ("paints", 0))) == ["coats"]
    with pytest.raises(cx.InputError, match=r"did you mean 'paint\.coats'\?"):
        resolve(spec, [Override.of("paint.coat", 5)])
    with pytest.raises(cx.InputError, match=r"did you mean 'paint'\?"):
        resolve(read_text(SYSTEM + "pant: {coats: 2}\n"))
    # The schema for editors.
    validator = Draft202012Validator(schema())
    assert list(validator.iter_errors(spec.plain())) == []
    plain: Any = read_text(SYSTEM).plain()
    for wrong in ({"paint": {"coat": 1}}, {"paint": {"coats": 0}}, {"paints": [{"coats": "two"}]}):
        assert list(validator.iter_errors({**plain, **wrong})), wrong
    assert schema()["properties"]["paint"]["description"] == "Paint."
    # The reference.
    assert declared.entries()["paint"] == "What an entry of `paints` takes"
    # The builder, with its parameters as signature, and refused where they are wrong.
    system = cx.System.from_yaml(SYSTEM).paint(coats=7)
    assert system.resolve().plain()["paint"] == {"coats": 7}
    assert "coats" in system.paint.__signature__.parameters  # type: ignore[attr-defined]
    assert "paint" in dir(system)
    with pytest.raises(cx.InputError, match=r"paint\.coat"):
        system.paint(coat=7)


# The words of sections of parameters, where they are something else, or where what they ask for is done.
NAMED = {
    "outputs": {
        "python/cxloom/running/run.py": "the rows that it asks for are written there",
        "python/cxloom/measure/bench.py": "measurements record nothing",
        "python/cxloom/advising/advice.py": "runs that are compared record nothing",
        "python/cxloom/explaining/explanation.py": "explanations record nothing",
        "python/cxloom/planning/pod.py": "the reads of each server are told apart by their rows",
    },
    "tasks": {
        "core/results/summary.cpp": "what became of them",
        "core/results/task_results.hpp": "tasks that a lane has done",
        "core/system/epochs/studied_program.cpp": "epochs have none",
        "core/system/tasks/task_graph.cpp": "where mistakes in a graph are",
        "core/system/tasks/task_player.cpp": "where its mistakes are, and its random stream",
        "core/system/tasks/task_player.hpp": "its name in a diagnosis",
        "core/system/tasks/task_stream.hpp": "the same",
        "python/cxloom/explaining/explanation.py": "their time",
        "python/cxloom/explaining/what_ifs.py": "their speed, which is the rate of a graph",
        "python/cxloom/offload/task_graph.py": "a graph of its own form",
        "python/cxloom/offload/section.py": "a plan's tasks become those of a spec",
        "python/cxloom/offload/simulated.py": "what became of them, beside the plan",
        "python/cxloom/offload/target.py": "a plan replaces those of the system",
        "python/cxloom/report/run_page.py": "their section of the page",
        "python/cxloom/report/task_section.py": "the tile of their number",
        "python/cxloom/results/comparison.py": "the words of their time",
        "python/cxloom/results/comparison_rows.py": "the row of their time",
        "python/cxloom/results/terminal.py": "their table",
        "python/cxloom/spec/file_kind.py": "by which a file of another command is known",
        "python/cxloom/spec/task_file.py": "tasks in a file of their own become those of the spec",
        "python/cxloom/tasks/table.py": "the column of their number",
        "python/cxloom/system/simulation.py": "who makes requests in a system with them",
        "python/cxloom/spec/ineffective.py": "every line leaves the window as it is",
        "python/cxloom/measure/bench.py": "measurements refuse them",
        "python/cxloom/cli/app.py": "the command `cxloom tasks`",
        "python/cxloom/cli/tasks.py": "the section that it prints",
        "python/cxloom/cli/run.py": "--exact is for a graph of them",
        "python/cxloom/spec/jsonschema.py": "the fabric of KV caches has none",
    },
    "run": {
        "python/cxloom/planning/plan_file.py": "plans have a section of this name, with keys of their own",
        "python/cxloom/planning/point.py": "the same",
        "python/cxloom/planning/pod.py": "builds a spec: the warm-up of a pod",
        "python/cxloom/spec/file_kind.py": "by which a file of another command is known",
        "python/cxloom/execution/feed.py": "programs that go on while they are simulated have one thread",
        "python/cxloom/offload/target.py": "a plan keeps the seed of the system alone",
        "python/cxloom/measure/bench.py": "measurements have a warm-up and an end of their own",
        "python/cxloom/explaining/explanation.py": "the seed of the runs",
        "python/cxloom/bottleneck/shared_limits.py": "the routing, which spreads messages over parallel links",
        "python/cxloom/epochs/split.py": "the small copy has no warm-up",
        "python/cxloom/system/simulation.py": "until: what else ends a run",
        "python/cxloom/spec/resolved.py": "the threads, which make no other system",
        "python/cxloom/citing/cited.py": "the routing, a kind whose parameters have sources",
        "python/cxloom/curves/medium.py": "the routing, by which a memory is read",
        "python/cxloom/__init__.py": "the function `run`",
        "python/cxloom/cli/app.py": "the command `cxloom run`",
        "python/cxloom/cli/study.py": "the command `cxloom study run`",
        "python/cxloom/cli/study_runs.py": "how many runs there are, in words",
    },
}


def test_sections_of_parameters_are_named_in_no_list_of_their_own() -> None:
    # The others, which are laid over each other, generated or built entry by entry, are named where that is done.
    sections = _core.declarations()["sections"]
    assert set(NAMED) == {key for key, about in sections.items() if about["form"] == "one"}
    for section, uses in NAMED.items():
        named = {
            str(file.relative_to(REPOSITORY))
            for folder in ("core", "bindings", "python/cxloom")
            for file in (REPOSITORY / folder).rglob("*.?*")
            if file.suffix in (".cpp", ".hpp", ".py") and f'"{section}"' in file.read_text(encoding="utf-8")
        }
        assert named == {"core/system/spec/section.cpp", *uses}, section


def test_sections_of_parameters_are_methods_of_the_class() -> None:
    # So that editors and `help(cx.System)` show them: from the class alone, before there is a system.
    sections = _core.declarations()["sections"]
    for section, about in sections.items():
        if about["form"] != "one":
            continue
        assert section in vars(cx.System), section
        method = getattr(cx.System, section)
        fields = [field["name"] for field in _core.declarations()[about["entry"]]["fields"]]
        assert list(inspect.signature(method).parameters) == ["self", *fields]
        assert list(inspect.signature(getattr(cx.System(), section)).parameters) == fields
        assert method.__doc__.startswith(about["doc"])
    assert "Starting it is `cxloom.run(system)`." in cx.System.run.__doc__  # type: ignore[operator]
    system = cx.System.from_yaml(SYSTEM)
    assert cx.System.run(system, seed=3) is system
    assert system.resolve().plain()["run"] == {"seed": 3}


def test_all_sections_are_declared() -> None:
    sections = _core.declarations()["sections"]
    assert list(sections) == [
        *("name", "preset", "topology", "devices", "links"),
        *("address_map", "workload", "tasks", "events", "run", "outputs"),
    ]
    assert {key for key, about in sections.items() if about["replaced"]} == {"preset", "topology"}
    for about_one in sections.values():
        if about_one["entry"]:
            assert _core.declarations()[about_one["entry"]]["fields"]
