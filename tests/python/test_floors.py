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


DEFINITION = re.compile(
    r"^(?:template <.*>\n)?(?:class|struct) (?:alignas\(\d+\) )?(\w+)(?: final)?(?:\s*:[^;{]*)?\s*\{", re.M
)
FORWARD = re.compile(r"^(?:class|struct) (\w+);", re.M)
# What a floor, or a folder of a room, hands on without a look into it, with a reason; nothing else is named from below.
KINDS_OF_PARTS = (
    "a plug-in adds its kinds to one registry, which has a list for each part that media are made of"
)
ONE_KIND_HAS_IT = (
    "what one kind has, and others lack: who knows the kind asks for it, and gets null of the others"
)
OPAQUE = {
    ("core/kernel/event_handler.hpp", "Message"): "the kernel hands it over",
    ("core/interconnect/wire/transmitter.hpp", "FlitMonitor"): ONE_KIND_HAS_IT,
    ("core/interconnect/wire/transmitter.hpp", "FlitRetries"): ONE_KIND_HAS_IT,
    ("core/interconnect/wire/transmitter.hpp", "VirtualChannels"): ONE_KIND_HAS_IT,
    ("core/memory/media/media.hpp", "DramMedia"): ONE_KIND_HAS_IT,
    ("core/memory/media/registry.hpp", "DramRefreshPolicy"): KINDS_OF_PARTS,
    ("core/memory/media/registry.hpp", "DramRefreshContext"): KINDS_OF_PARTS,
    ("core/memory/media/registry.hpp", "DramRowPolicy"): KINDS_OF_PARTS,
    ("core/memory/media/registry.hpp", "DramRowContext"): KINDS_OF_PARTS,
    ("core/memory/media/registry.hpp", "DramScheduler"): KINDS_OF_PARTS,
    ("core/memory/media/registry.hpp", "DramSchedulerContext"): KINDS_OF_PARTS,
    ("core/memory/media/registry.hpp", "GcPolicy"): KINDS_OF_PARTS,
    ("core/memory/media/registry.hpp", "GcContext"): KINDS_OF_PARTS,
}


def named_graph(root: Path, folders: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Which classes each source declares that headers elsewhere define, with each of these headers."""
    texts = {
        str(file.relative_to(root)): file.read_text(encoding="utf-8")
        for folder in folders
        for file in sorted((root / folder).rglob("*"))
        if file.suffix in SOURCES
    }
    defined: dict[str, list[str]] = {}
    for file, text in texts.items():
        if file.endswith(".hpp"):
            for name in DEFINITION.findall(text):
                defined.setdefault(name, []).append(file)
    return {
        file: [
            (name, other)
            for name in FORWARD.findall(text)
            for other in defined.get(name, ())
            if file not in defined[name]
        ]
        for file, text in texts.items()
    }


def names_from_above(named: Mapping[str, Iterable[tuple[str, str]]], floors: Floors) -> Iterator[str]:
    """Forward declarations of classes that no floor below, and no file of the same folder, defines."""
    for file, declared in named.items():
        folder = folder_of(file, floors)
        places: dict[str, set[str]] = {}
        for name, other in declared:
            places.setdefault(name, set()).add(str(folder_of(other, floors)))
        for name, targets in places.items():
            if (file, name) in OPAQUE or folder is None or folder in targets:
                continue
            if all(floors.get(target, 0) >= floors[folder] for target in targets):
                yield f"{file} names {name}, which {' and '.join(sorted(targets))} defines"


def orders_of(page: str) -> dict[str, list[str]]:
    """The folders of each room from the ground up, by the table of the page."""
    rows = re.findall(r"^\| `(core/\w+)/` \| ((?:`[^`]+` ?)+)\|", page, re.M)
    return {room: re.findall(r"`([^`]+)`", folders) for room, folders in rows}


def arrows_against_the_order(graph: Graph, orders: Mapping[str, list[str]]) -> Iterator[str]:
    for file, included in graph.items():
        room = "/".join(file.split("/")[:2])
        if room not in orders:
            continue
        here = str(Path(file).parent.relative_to(room))
        if here not in orders[room]:
            yield f"{file} is in no folder of the table"
            continue
        for other in included:
            there = str(Path(other).parent.relative_to(room)) if other.startswith(room + "/") else here
            if there in orders[room] and orders[room].index(there) > orders[room].index(here):
                yield f"{file} includes {other}, of a folder behind its own"


def names_from_behind(
    named: Mapping[str, Iterable[tuple[str, str]]], orders: Mapping[str, list[str]]
) -> Iterator[str]:
    """Forward declarations, within a room, of classes that only folders behind the file's own define."""
    for file, declared in named.items():
        room = "/".join(file.split("/")[:2])
        if room not in orders:
            continue
        places: dict[str, set[str]] = {}
        for name, other in declared:
            if other.startswith(room + "/"):
                places.setdefault(name, set()).add(str(Path(other).parent.relative_to(room)))
        here = orders[room].index(str(Path(file).parent.relative_to(room)))
        for name, folders in places.items():
            if (file, name) not in OPAQUE and all(orders[room].index(folder) > here for folder in folders):
                yield f"{file} names {name}, which {' and '.join(sorted(folders))} behind it defines"


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


def unused_headers(graph: Graph) -> list[str]:
    """Headers that nothing includes but the source of the same stem."""
    users: dict[str, set[str]] = {}
    for file, included in graph.items():
        for name in included:
            users.setdefault(name, set()).add(file)
    return [
        file
        for file in graph
        if file.startswith("core/")
        and file.endswith(".hpp")
        and not users.get(file, set()) - {file.removesuffix(".hpp") + ".cpp"}
    ]


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


def test_no_name_comes_from_above(floors: Floors) -> None:
    named = named_graph(ROOT, ["core", "include", "bindings"])
    assert sum(map(len, named.values())) > 100, "the sources are elsewhere"
    assert list(names_from_above(named, floors)) == []
    assert list(names_from_behind(named, orders_of(PAGE.read_text(encoding="utf-8")))) == []
    for file, name in OPAQUE:
        assert name in [each for each, _ in named[file]], "an exception that is none any more"


def test_folders_of_a_room_have_an_order() -> None:
    orders = orders_of(PAGE.read_text(encoding="utf-8"))
    assert {room for room in (ROOT / "core").iterdir() if any(map(Path.is_dir, room.iterdir()))} == {
        ROOT / room for room in orders
    }
    graph = include_graph(ROOT, ["core"])
    for room, folders in orders.items():
        there = {str(Path(file).parent.relative_to(room)) for file in graph if file.startswith(room + "/")}
        assert set(folders) == there, room
    assert list(arrows_against_the_order(graph, orders)) == []


def test_no_circle_of_includes() -> None:
    assert circle_in(include_graph(ROOT, ["core", "include", "bindings"])) == []


def test_every_header_is_of_use() -> None:
    """A kind whose line where kinds are registered was forgotten is of none."""
    unused = unused_headers(include_graph(ROOT, ["core", "include", "bindings"]))
    unused.remove("core/protocol/flit/reader.hpp")  # by which tests read what is packed
    assert not unused, (
        f"nothing includes (is the kind registered? CONTRIBUTING.md, How to add things): {unused}"
    )


def test_a_header_of_no_use_is_found(tmp_path: Path) -> None:
    kind = {"core/memory/m.hpp": "", "core/memory/m.cpp": '#include "memory/m.hpp"\n'}
    assert unused_headers(planted(tmp_path, kind)) == ["core/memory/m.hpp"]
    registered = {"core/memory/registry.cpp": '#include "memory/m.hpp"\n'}
    assert unused_headers(planted(tmp_path, registered)) == []


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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("class Bank;\n", ["core/base/a.hpp names Bank, which core/memory defines"]),
        ("struct Row;\n", ["core/base/a.hpp names Row, which core/memory defines"]),
        ("class Twice;\n", []),  # one of them stands below
        ("class Unit;\n", []),
        ("class Stranger;\n", []),
        ("class Bank {};\n", []),
    ],
)
def test_a_name_from_above_is_found(tmp_path: Path, text: str, found: list[str]) -> None:
    files = {
        "core/memory/m.hpp": "class alignas(64) Bank final : public Unit {\n};\nstruct Row {};\nclass Twice {};\n",
        "core/base/u.hpp": "class Unit {\n};\n",
        "core/base/t.hpp": "class Twice {\n};\n",
        "core/base/a.hpp": text,
    }
    planted(tmp_path, files)
    assert list(names_from_above(named_graph(tmp_path, ["core"]), HOUSE)) == found


def test_rooms_of_one_floor_do_not_name_each_other(tmp_path: Path) -> None:
    planted(tmp_path, {"core/memory/m.hpp": "class Bank {\n};\n", "core/workload/w.hpp": "class Bank;\n"})
    (found,) = names_from_above(named_graph(tmp_path, ["core"]), HOUSE)
    assert found == "core/workload/w.hpp names Bank, which core/memory defines"


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("core/memory/low/a.hpp", '#include "memory/high/h.hpp"', "of a folder behind its own"),
        ("core/memory/low/a.hpp", '#include "memory/r.hpp"', "of a folder behind its own"),
        ("core/memory/r.cpp", '#include "high/h.hpp"', "of a folder behind its own"),
        ("core/memory/new/a.hpp", "", "is in no folder of the table"),
    ],
)
def test_an_arrow_against_the_order_of_folders_is_found(
    tmp_path: Path, file: str, line: str, said: str
) -> None:
    orders = orders_of("| `core/memory/` | `low` `.` `high` |\n")
    assert orders == {"core/memory": ["low", ".", "high"]}
    others = {
        "core/memory/low/l.hpp": "",
        "core/memory/r.hpp": '#include "memory/low/l.hpp"\n',
        "core/memory/high/h.hpp": '#include "memory/r.hpp"\n#include "base/u.hpp"\n',
        "core/base/u.hpp": "",
    }
    assert list(arrows_against_the_order(planted(tmp_path, others), orders)) == []
    (found,) = arrows_against_the_order(planted(tmp_path, {file: line + "\n"}), orders)
    assert found.startswith(file)
    assert said in found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("class Bank;\n", ["core/memory/low/a.hpp names Bank, which high behind it defines"]),
        ("class Twice;\n", []),  # one of them stands before
        ("class Low;\n", []),
        ("class Elsewhere;\n", []),
    ],
)
def test_a_name_from_a_folder_behind_is_found(tmp_path: Path, text: str, found: list[str]) -> None:
    files = {
        "core/memory/low/l.hpp": "class Low {\n};\nclass Twice {\n};\n",
        "core/memory/high/h.hpp": "class Bank {\n};\nclass Twice {\n};\n",
        "core/workload/w.hpp": "class Elsewhere {\n};\n",
        "core/memory/low/a.hpp": text,
    }
    planted(tmp_path, files)
    orders = {"core/memory": ["low", "high"]}
    assert list(names_from_behind(named_graph(tmp_path, ["core"]), orders)) == found


def test_a_circle_of_includes_is_found(tmp_path: Path) -> None:
    files = {
        "core/base/a.hpp": '#include "base/b.hpp"\n',
        "core/base/b.hpp": '#include "c.hpp"\n',
        "core/base/c.hpp": "",
    }
    assert circle_in(planted(tmp_path, files)) == []
    graph = planted(tmp_path, {"core/base/c.hpp": '#include "base/b.hpp"\n'})
    assert circle_in(graph) == ["core/base/b.hpp", "core/base/c.hpp", "core/base/b.hpp"]
