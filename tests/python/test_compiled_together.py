"""Whether the sources of one room can be compiled as one: no two of them give one name to two things.

Continuous integration compiles several sources of a room as one unit, and which ones changes with each file that comes.
Two helpers of one name, each in the unnamed namespace of its file, then clash in the first unit that holds both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("core", "tests/core")

ASIDE = re.compile(r'//(?! namespace$)[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S | re.M)
"""Comments and words between quotes, but not the comment at the end of an unnamed namespace."""
UNNAMED = re.compile(r"^namespace \{$(.*?)^\} *// namespace$", re.M | re.S)
"""What stands in the unnamed namespace of a file: clang-format writes the comment behind it."""
TYPE = re.compile(r"^(?:class|struct|union|enum(?: class)?)\s+(\w+)", re.M)
ALIAS = re.compile(r"^using (\w+) = ([^;]*);", re.M)
CONSTANT = re.compile(
    r"^(?:static |inline )*(?:constexpr|const)\s[\w:<>,&* ]*?[ &*](\w+)(?:\[\w*\])?(?:\s*[={]|;)", re.M
)
FUNCTION = re.compile(
    r"^(?!namespace|using|struct|class|enum|TEST|INSTANTIATE)"
    r"(?:\[\[\w+\]\] )?[\w:][\w:<>,&* ]*?[ &*](\w+\([^;{]*?\)) *(?:const )?\{",
    re.M | re.S,
)
"""A function with its parameters: functions of one name and different parameters do not clash."""
LOCAL = re.compile(r"^\s+(?:class|struct|enum(?: class)?)\s+(\w+)\s*\{", re.M)
"""A type within a function or a class. One within a function shadows what another file has of its name."""


def clashes(texts: Mapping[str, str]) -> list[str]:
    """Each name that two of these sources have for themselves, and each of one that a type of another shadows."""
    things: defaultdict[str, dict[str, str]] = defaultdict(
        dict
    )  # by name: what tells one from another, and its file
    inner: defaultdict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        plain = ASIDE.sub(" ", text)
        for part in UNNAMED.findall(plain):
            functions = (re.sub(r"\b\w+(?=[,)])|\s+", "", name) for name in FUNCTION.findall(part))
            for name in (*TYPE.findall(part), *CONSTANT.findall(part), *functions):
                things[name][path] = path
            for name, meaning in ALIAS.findall(part):
                things[name][meaning] = path  # the same alias twice is no clash
            for name in LOCAL.findall(part):
                inner[name].add(path)
    found = {name: set(where.values()) for name, where in things.items() if len(where) > 1}
    found |= {
        name: inner[name] | set(things[name].values())
        for name in inner.keys() & things.keys()
        if inner[name] - set(things[name].values())
    }
    return sorted(f"{name} in {', '.join(sorted(paths))}" for name, paths in found.items())


def rooms() -> dict[str, dict[str, str]]:
    """The sources of each room by their paths. The rooms within one are compiled with it."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for base in ROOMS:
        for file in sorted((ROOT / base).rglob("*.cpp")):
            path = file.relative_to(ROOT)
            room = "/".join(path.parts[: len(Path(base).parts) + 1])
            found[room][str(path)] = file.read_text(encoding="utf-8")
    return found


def test_no_room_has_two_things_of_one_name() -> None:
    found = [f"{room}: {clash}" for room, texts in rooms().items() for clash in clashes(texts)]
    assert not found, "\n".join(found)


def in_namespace(text: str) -> str:
    return f"namespace cxloom {{\nnamespace {{\n{text}\n}}  // namespace\n}}\n"


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        ("struct Item {\n};", "struct Item {\n};", "Item in a.cpp, b.cpp"),
        ("constexpr int kSize = 3;", "const double kSize{4};", "kSize in a.cpp, b.cpp"),
        ("int two(int a) { return a; }", "int two(int b) {\n  return b;\n}", "two(int) in a.cpp, b.cpp"),
        ("int two(int a) { return a; }", "int two(Time b) { return b; }", None),
        ("struct Item {\n};", "TEST(Ring, Inserts) {\n  struct Item {\n  };\n}", "Item in a.cpp, b.cpp"),
        ("using Items = int;", "using Items = int;", None),
        ("using Items = int;", "using Items = char;", "Items in a.cpp, b.cpp"),
        ("void one() {\n}\nstruct Item {\n};", "struct Item {\n};", "Item in a.cpp, b.cpp"),
        ("struct Item {\n};", "// struct Item {\nstruct Other {\n};", None),
    ],
)
def test_a_clash_is_found(first: str, second: str, clash: str | None) -> None:
    found = clashes({"a.cpp": in_namespace(first), "b.cpp": in_namespace(second)})
    assert found == ([clash] if clash else [])
