"""The include graph of the C++ sources, against docs/architecture.md."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from graphs import Graph, circle_in

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
SOURCES = (".cpp", ".hpp", ".in")

Floors = Mapping[str, int]


def floors_of(page: str) -> dict[str, int]:
    """The floor of each folder, by the table of the page."""
    return {folder: int(floor) for floor, folder in re.findall(r"^\| (\d+) \| `([^`]+)/` \|", page, re.M)}


def includes_of(file: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s*[<"]([^">]+)[">]', file.read_text(encoding="utf-8"), re.M)


def include_graph(root: Path, folders: Iterable[str]) -> dict[str, list[str]]:
    """What each source of these folders includes of the project, by the paths of the files from the root.

    A path that is between quotes and leads nowhere stays as it is written.
    """
    graph: dict[str, list[str]] = {}
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            graph[str(file.relative_to(root))] = found = []
            quoted = re.findall(r'^\s*#\s*include\s*"([^"]+)"', file.read_text(encoding="utf-8"), re.M)
            for name in includes_of(file):
                places = [root / folder / name for folder in ("core", "include", "tests", ".")]
                if name in quoted:
                    places.insert(0, file.parent / name)
                if name == "cxloom_version.hpp":  # made from the template when the build is configured
                    places = [root / "core" / "base" / "version.hpp.in"]
                here = [place for place in places if place.is_file()]
                if here:
                    found.append(str(here[0].resolve().relative_to(root)))
                elif name in quoted:
                    found.append(name)
    return graph


def folder_of(file: str, floors: Floors) -> str | None:
    return next((folder for folder in floors if file.startswith(folder + "/")), None)


def arrows_that_do_not_point_down(graph: Graph, floors: Floors) -> Iterator[str]:
    for file, included in graph.items():
        folder = folder_of(file, floors)
        if folder is None:
            yield f"{file} is on no floor"
            continue
        for other in included:
            target = folder_of(other, floors)
            if target is None:
                yield f"{file} includes {other}, which is on no floor"
            elif target != folder and floors[target] >= floors[folder]:
                yield f"{file} (floor {floors[folder]}) includes {other} (floor {floors[target]})"


# --- the tree as it is -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def floors() -> dict[str, int]:
    return floors_of(PAGE.read_text(encoding="utf-8"))


def test_the_page_has_every_folder(floors: Floors) -> None:
    there = {f"core/{folder.name}" for folder in (ROOT / "core").iterdir() if folder.is_dir()}
    assert {folder for folder in floors if folder.startswith("core/")} == there
    assert set(floors) - there == {"include/cxloom", "bindings", "python/cxloom"}


def test_includes_point_down(floors: Floors) -> None:
    graph = include_graph(ROOT, ["core", "include", "bindings"])
    assert len(graph) > 200, "the sources are elsewhere"
    assert list(arrows_that_do_not_point_down(graph, floors)) == []


def test_no_circle_of_includes() -> None:
    assert circle_in(include_graph(ROOT, ["core", "include", "bindings"])) == []


@pytest.mark.parametrize("folder", ["system", "results"])
def test_the_builder_asks_for_roles_not_for_classes(folder: str) -> None:
    sources = list((ROOT / "core" / folder).rglob("*.?pp"))
    assert len(sources) > 5, "the sources are elsewhere"
    casting = [source.name for source in sources if "dynamic_cast" in source.read_text(encoding="utf-8")]
    assert casting == []


@pytest.mark.parametrize("folder", ["integrations", "examples"])
def test_what_stands_beside_the_house_uses_the_public_header_alone(folder: str) -> None:
    for file, included in include_graph(ROOT, [folder]).items():
        for other in included:
            assert other.startswith((f"{folder}/", "include/cxloom/")), f"{file} includes {other}"


def test_the_picture_shows_the_table() -> None:
    script = ROOT / "docs" / "images" / "architecture.py"
    spec = importlib.util.spec_from_file_location("architecture", script)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = module.draw(PAGE.read_text(encoding="utf-8"))
    assert script.with_suffix(".svg").read_text(encoding="utf-8") == drawn, f"run python {script}"


# --- trees with mistakes ---------------------------------------------------------------------------------------------

HOUSE: Floors = {"core/base": 1, "core/memory": 5, "core/workload": 5, "core/device": 6, "include/cxloom": 7}


def planted(root: Path, files: Mapping[str, str]) -> dict[str, list[str]]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return include_graph(root, ["core"])


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("core/base/a.hpp", '#include "memory/m.hpp"', "(floor 1) includes core/memory/m.hpp (floor 5)"),
        ("core/base/a.hpp", "#include <memory/m.hpp>", "(floor 1) includes core/memory/m.hpp (floor 5)"),
        ("core/base/a.cpp", '#  include "../memory/m.hpp"', "includes core/memory/m.hpp (floor 5)"),
        ("core/workload/a.cpp", '#include "memory/m.hpp"', "(floor 5) includes core/memory/m.hpp (floor 5)"),
        ("core/device/a.hpp", '#include "cxloom/all.hpp"', "includes include/cxloom/all.hpp (floor 7)"),
        ("core/cellar/a.hpp", "", "core/cellar/a.hpp is on no floor"),
        ("core/device/a.hpp", '#include "gone/b.hpp"', "includes gone/b.hpp, which is on no floor"),
    ],
)
def test_an_arrow_that_does_not_point_down_is_found(tmp_path: Path, file: str, line: str, said: str) -> None:
    others = {
        "core/memory/m.hpp": '#include "base/u.hpp"\n',
        "core/base/u.hpp": "",
        "include/cxloom/all.hpp": "",
    }
    assert list(arrows_that_do_not_point_down(planted(tmp_path, others), HOUSE)) == []
    (found,) = arrows_that_do_not_point_down(planted(tmp_path, {file: line + "\n"}), HOUSE)
    assert said in found


def test_a_circle_of_includes_is_found(tmp_path: Path) -> None:
    files = {
        "core/base/a.hpp": '#include "base/b.hpp"\n',
        "core/base/b.hpp": '#include "c.hpp"\n',
        "core/base/c.hpp": "",
    }
    assert circle_in(planted(tmp_path, files)) == []
    graph = planted(tmp_path, {"core/base/c.hpp": '#include "base/b.hpp"\n'})
    assert circle_in(graph) == ["core/base/b.hpp", "core/base/c.hpp", "core/base/b.hpp"]
