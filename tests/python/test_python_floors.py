"""The imports of the Python package: no circle of modules, and packages in the order of docs/architecture.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from graphs import Graph, circle_in

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "cxloom"
PAGE = ROOT / "docs" / "architecture.md"


def modules_of(package: Path) -> dict[str, Path]:
    """The modules of a package, by their names; a stub stands for one that is compiled."""
    modules = {}
    for file in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = file.relative_to(package.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return modules


def for_types_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports_in(nodes: Iterable[ast.AST], with_types: bool) -> Iterator[tuple[str, str]]:
    """Modules that are imported, with the name that is taken from each; in functions, too."""
    for node in nodes:
        if isinstance(node, ast.If) and for_types_alone(node) and not with_types:
            yield from imports_in(node.orelse, with_types)
            continue
        if isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, name.name) for name in node.names)
        yield from imports_in(ast.iter_child_nodes(node), with_types)


def named_in(tree: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """Modules that are named in a text, as `import_module` takes them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and str(node.value).startswith(f"{package}."):
            yield str(node.value), ""


@cache
def parsed(file: Path, _changed: int) -> ast.Module:
    """A file that several tests look at."""
    return ast.parse(file.read_text(encoding="utf-8"))


def import_graph(package: Path, *, with_types: bool = False) -> dict[str, list[str]]:
    """What each module imports of the package.

    Args:
        with_types: what is imported for types alone counts, and so does what is named in a text.
    """
    modules = modules_of(package)
    graph: dict[str, list[str]] = {}
    for module, file in modules.items():
        graph[module] = []
        tree = parsed(file, file.stat().st_mtime_ns)
        named = named_in(tree, package.name) if with_types else ()
        for source, name in [*imports_in(tree.body, with_types), *named]:
            target = f"{source}.{name}" if f"{source}.{name}" in modules else source
            if target in modules:
                graph[module].append(target)
    return graph


def room_of(module: str, package: Path) -> str:
    """The folder or the file that a module is in, as a row of the page names it."""
    below = module.split(".")[1:]
    if not below:
        return "__init__.py"
    if (package / below[0]).is_dir():
        return f"{below[0]}/"
    return below[0] + (".py" if (package / f"{below[0]}.py").exists() else ".pyi")


def graph_of_packages(package: Path) -> dict[str, dict[str, str]]:
    """What each package imports of others, each with the first arrow from module to module that says so."""
    found: dict[str, dict[str, str]] = {}
    for module, imported in import_graph(package, with_types=True).items():
        room = room_of(module, package)
        others = found.setdefault(room, {})
        for other in imported:
            if room_of(other, package) != room:
                others.setdefault(room_of(other, package), f"{module} imports {other}")
    return found


def order_of(page: str) -> list[str]:
    """The packages from the ground up, by the table of the page."""
    table = page.partition("### Packages of Python")[2].partition("\n\nA test and a page")[0]
    return re.findall(r"^\| `([^`]+)` \|", table, re.M)


def arrows_up(graph: Mapping[str, Mapping[str, str]], order: Sequence[str]) -> Iterator[str]:
    for room, imported in graph.items():
        for other, arrow in imported.items():
            if order.index(other) >= order.index(room):
                yield f"{arrow}: {other} does not stand above {room} in the table"


# --- the tree as it is -----------------------------------------------------------------------------------------------


def test_no_circle_of_python_modules() -> None:
    """Neither of what runs, nor of what is imported for types alone: that would be one idea in two files."""
    graph = import_graph(PACKAGE, with_types=True)
    assert len(graph) > 40, "the package is elsewhere"
    assert circle_in(graph) == []


def test_no_packages_import_each_other() -> None:
    graph = graph_of_packages(PACKAGE)
    assert len(graph) > 15, "the package is elsewhere"
    assert circle_in(graph) == []


def test_packages_import_what_stands_above_them_in_the_table() -> None:
    graph, order = graph_of_packages(PACKAGE), order_of(PAGE.read_text(encoding="utf-8"))
    assert sorted(order) == sorted(graph)
    assert list(arrows_up(graph, order)) == []


def test_each_package_says_what_lives_there() -> None:
    for folder in PACKAGE.iterdir():
        if any(folder.glob("*.py")):
            said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
            assert len(said.splitlines()) >= 3, f"{folder.name}/__init__.py"


# --- trees with mistakes ---------------------------------------------------------------------------------------------


def planted(root: Path, files: Mapping[str, str]) -> Path:
    """A package with these files."""
    package = root / "house"
    for name, text in {"__init__.py": "", **files}.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return package


@pytest.mark.parametrize(
    ("imported", "circle"),
    [
        ("import house.cellar\n", ["house.cellar", "house.roof", "house.cellar"]),
        ("def up():\n    from house import cellar\n", ["house.cellar", "house.roof", "house.cellar"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import house.cellar\n", []),
    ],
)
def test_a_circle_of_imports_is_found(tmp_path: Path, imported: str, circle: list[str]) -> None:
    package = planted(tmp_path, {"cellar.py": "from house.roof import tile\n", "roof.py": imported})
    assert circle_in(import_graph(package)) == circle


UPWARDS = [
    "import house.roof.tile\n",
    "from house.roof import tile\n",
    "from house.roof.tile import clay\n",
    "def up():\n    from house.roof import tile\n",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.roof.tile import clay\n",
    'from importlib import import_module\nimport_module("house.roof.tile")\n',
]


@pytest.mark.parametrize("imported", UPWARDS)
def test_packages_that_import_each_other_are_found(tmp_path: Path, imported: str) -> None:
    """No circle of modules: only the folders point at each other."""
    files = {
        "cellar/stone.py": "",
        "cellar/stairs.py": "",
        "roof/tile.py": "",
        "roof/beam.py": "from house.cellar import stone\n",
    }
    assert circle_in(graph_of_packages(planted(tmp_path, files))) == []
    package = planted(tmp_path, files | {"cellar/stairs.py": imported})
    assert circle_in(import_graph(package)) == []
    graph = graph_of_packages(package)
    assert circle_in(graph) == ["cellar/", "roof/", "cellar/"]
    (found,) = arrows_up(graph, ["cellar/", "roof/"])
    assert (
        found
        == "house.cellar.stairs imports house.roof.tile: roof/ does not stand above cellar/ in the table"
    )


def test_a_circle_of_three_packages_is_found(tmp_path: Path) -> None:
    package = planted(
        tmp_path,
        {
            "cellar/stone.py": "from house.roof import tile\n",
            "hall/door.py": "from house.cellar import stairs\n",
            "roof/beam.py": "def down():\n    import house.hall.window\n",
            "hall/window.py": "",
            "cellar/stairs.py": "",
            "roof/tile.py": "",
        },
    )
    assert circle_in(graph_of_packages(package)) == ["cellar/", "roof/", "hall/", "cellar/"]


def test_files_at_the_top_are_packages_of_their_own(tmp_path: Path) -> None:
    package = planted(
        tmp_path,
        {
            "__init__.py": "from house.roof import tile\n",
            "compiled.pyi": "from house.cellar import stone\n",
            "cellar/stone.py": "from house import compiled\n",
            "roof/tile.py": "from house import key\n",
        },
    )
    graph: Graph = graph_of_packages(package)
    facade = {room: graph[room] for room in ("__init__.py", "roof/")}
    stub = {room: graph[room] for room in ("compiled.pyi", "cellar/")}
    assert circle_in(facade) == ["__init__.py", "roof/", "__init__.py"]
    assert circle_in(stub) == ["compiled.pyi", "cellar/", "compiled.pyi"]
