"""Comments begin with what they are about: none with "Of ", and outside of tests none with "The same" or another word
that stands for something elsewhere, so that nobody must read a sentence twice."""

import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = (
    "benchmarks",
    "bindings",
    "core",
    "examples",
    "include",
    "integrations",
    "python",
    "scripts",
    "tests",
)
ENDINGS = (".c", ".cpp", ".h", ".hpp", ".py")
HANGING = re.compile(r"\W*Of ")
ELSEWHERE = re.compile(r"\W*(The same|Those|Who|Whoever)\b", re.IGNORECASE)
"""Words for what a reader has to look up, as a comment begins."""

_CPP = re.compile(
    r"""//[^\n]* | /\*.*?\*/                           # a comment
    | R"(?P<end>[^()\s\\]*)\(.*?\)(?P=end)" | "(?:\\.|[^"\\\n])*"  # a text, in which // begins nothing
    | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'              # a character, no separator of digits""",
    re.DOTALL | re.VERBOSE,
)


def of_cpp(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a source in C++, each line of a run of them with its number."""
    for found in _CPP.finditer(text):
        if found[0].startswith(("//", "/*")):
            first = text.count("\n", 0, found.start()) + 1
            yield from enumerate(found[0].split("\n"), first)


def of_python(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a source in Python, and the texts that are statements: docstrings."""
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (
            token.type == tokenize.STRING
            and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            and token.string.startswith('"""')
        ):
            yield token.start[0], token.string
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type


def hanging(name: str, text: str) -> list[str]:
    """The comments that begin with one of these words where a sentence begins, as file and line."""
    comments = list((of_python if name.endswith(".py") else of_cpp)(text))
    at = dict(comments)
    lines = ["", *text.split("\n")]
    return [
        f"{name}:{line}: {comment.strip()}"
        for line, comment in comments
        if (HANGING.match(comment) or (_is_reference(name) and ELSEWHERE.match(comment)))
        and not (_is_below(lines, line, comment, at.get(line - 1, "")) and _goes_on(at[line - 1]))
    ]


def _is_reference(name: str) -> bool:
    """Whether the docstrings of a file are read alone, as help: those of the package are."""
    return name.startswith(("bindings/", "core/", "include/", "integrations/", "python/"))


def _is_below(lines: list[str], line: int, comment: str, before: str) -> bool:
    """Whether a comment and the one of the line before may be one text: no code stands before it, and the other, if it
    is behind code, is in its column."""
    if not before or lines[line].strip() != comment.strip():
        return False
    begins = comment.strip().startswith(("//", "/*", "#"))  # else it is within a longer one
    is_alone = lines[line - 1].strip() == before.strip()
    return not begins or is_alone or lines[line].find(comment) == lines[line - 1].find(before)


def _goes_on(line: str) -> bool:
    """Whether a sentence goes on behind this line of a comment."""
    return bool(line.strip(" /*#<")) and not line.rstrip().endswith((".", ":", "*/", '"""'))


def test_comments_begin_with_their_subject() -> None:
    listed = subprocess.run(
        ["git", "ls-files", *PLACES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.splitlines() if name.endswith(ENDINGS)]
    assert len(names) > 1000
    found = [line for name in names for line in hanging(name, (ROOT / name).read_text())]
    assert not found, "comments that do not begin with their subject:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.hpp", "int a;  ///< Of the planes in turn the first.\n"),
        ("a.cpp", "  // Of equals the shortest.\nint a = 1'000;\n"),
        ("a.h", "/* Of a link. */\n"),
        ("a.hpp", "/// The first.\n/// Of the others, the last.\n"),
        ("a.hpp", "int a;  // of it\n// Of the others\nint b;\n"),
        ("a.hpp", "int a;  // of it\nint b;  // Of the others\n"),
        ("a.py", 'A = 1\n"""Of a system."""\n'),
        ("a.py", 'def a() -> None:\n    """Of a system."""\n'),
        ("a.py", "a = 1  # Of a number\n"),
        ("python/a.py", 'A = 1\n"""The same for programs."""\n'),
        ("python/a.py", 'def a() -> None:\n    """Those that have none."""\n'),
        ("core/a.hpp", "/// The same, for others.\nint a;\n"),
        ("core/a.hpp", "int a;  // who has it\n"),
    ],
)
def test_a_comment_without_its_subject_is_found(name: str, text: str) -> None:
    assert len(hanging(name, text)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.hpp", "int a;  ///< of a write: its data\n"),
        ("core/a.hpp", "int a;  // of a write for\n        // those who wait\n"),
        ("core/a.h", "/* Data for\n   those who wait. */\n"),
        ("a.cpp", 'const char* a = "// Of a text";\nauto b = R"(\n// Of a text\n)";\n'),
        ("a.py", 'a = """Of a text"""\nb = "# Of a text"\n'),
    ],
)
def test_a_text_is_no_comment(name: str, text: str) -> None:
    assert not hanging(name, text)
