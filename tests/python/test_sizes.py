"""How long files, functions and lines are: a file has one idea and at most 450 lines, a function 70. Tables may be
longer. A line of C++ has 110 columns, which its formatter keeps but for texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_class_files import Head, class_of, code_of, pieces_of

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *("core", "include", "bindings", "python", "integrations", "tests", "scripts", "benchmarks"),
    *("docs", "examples", "studies"),
)
CODE = (".cpp", ".hpp", ".h", ".hh", ".c", ".py")
OTHERS = (".js", ".css", ".sh", ".cmake")
"""Whose functions this does not know."""
MOST_LINES = 450
MOST_LINES_OF_A_FUNCTION = 70
MOST_COLUMNS = 110

LONG_FILES = {
    "python/cxloom/base/summary.py": "made by scripts/summary_types.py",
    "tests/validation/parameter_table.py": "a table: a row for each parameter",
}

# A row of a table is a statement of these, and nothing else happens in them.
TABLES = re.compile(r"::describe$|\bbind_\w+$|\b\w+_presets$|\b\w+_rows$")
LONG_FUNCTIONS = {
    "core/base/schema.hpp: CXLOOM_EACH_PARAMETER_TYPE": "a list of types",
}


def cxx_functions(text: str) -> Iterator[tuple[str, int]]:
    """The functions that a source defines outside of classes or in them, with the lines of each."""
    open_braces: list[
        tuple[str, int] | None
    ] = []  # of each the function that begins there, and its first line
    within = 0  # braces of bodies that are open
    head = ""
    first = line = 1
    round_brackets = 0
    for piece in pieces_of(code_of(text)):
        if not head.strip() and piece not in "{}":
            first = line + piece[: len(piece) - len(piece.lstrip())].count("\n")
        line += piece.count("\n")
        if within > 0 or (piece in "{}" and round_brackets > 0):  # the latter: a lambda among arguments
            if piece == "{":
                open_braces.append(None)
                within += 1
            elif piece == "}":
                function = open_braces.pop()
                within -= 1
                if function:
                    yield function[0], line - function[1] + 1
                    head = ""
        elif piece == "{":
            stripped = head.strip()
            named = re.search(r"([\w:~]+)\s*\(", stripped)
            inside = re.search(r"\bnamespace\b[\w\s:]*$|\bextern\s*\"\"\s*$", stripped)
            if inside or class_of(Head(stripped, has_body=True)):
                open_braces.append(None)
            else:
                open_braces.append((named[1], first) if named else None)
                within = 1
            head = ""
        elif piece == "}":
            open_braces.pop()
            head = ""
        elif piece == ";" and round_brackets == 0:
            head = ""
        else:
            round_brackets += (piece == "(") - (piece == ")")
            head += piece


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    """The functions of a module with the lines of each body: without its options, and what is said of them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            said = 1 if ast.get_docstring(node, clean=False) is not None and len(node.body) > 1 else 0
            yield node.name, (node.body[-1].end_lineno or 0) - node.body[said].lineno + 1


def sources(suffixes: tuple[str, ...] = CODE + OTHERS) -> list[Path]:
    """What people read and write: not what tools leave beside it."""
    return sorted(
        file
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.suffix in suffixes and "__pycache__" not in file.parts
    )


def too_long(file: Path) -> Iterator[str]:
    """The functions of a file that are no tables and have too many lines."""
    text = file.read_text(encoding="utf-8")
    functions = python_functions(text) if file.suffix == ".py" else cxx_functions(text)
    for name, lines in functions:
        if lines > MOST_LINES_OF_A_FUNCTION and not TABLES.search(name):
            yield f"{file.relative_to(ROOT)}: {name}"


def test_files_are_short() -> None:
    long = {str(file.relative_to(ROOT)) for file in sources() if lines_of(file) > MOST_LINES}
    assert long == set(LONG_FILES), "files of more lines, or ones that are shorter now and need no exception"


def lines_of(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def test_functions_are_short() -> None:
    long = {each for file in sources(CODE) for each in too_long(file)}
    assert long == set(LONG_FUNCTIONS), "functions of more lines, or ones that need no exception any more"


def test_lines_of_cxx_are_short() -> None:
    """A text is broken between words, into literals side by side."""
    long = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in sources(tuple(each for each in CODE if each != ".py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MOST_COLUMNS
    ]
    assert not long


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("namespace a {\nint f(int x) {\n  if (x) {\n  }\n  return 1;\n}\n}", [("f", 5)]),
        ("A::A(int x)\n    : x_(x) {\n}\nvoid A::b() const {}", [("A::A", 3), ("A::b", 1)]),
        ("class A {\n  void f() {\n  }\n};", [("f", 2)]),
        ("const int kTable[] = {\n1,\n};\nint x = f([] { return 1; });", []),
    ],
)
def test_functions_are_seen(text: str, found: list[tuple[str, int]]) -> None:
    assert list(cxx_functions(text)) == found
