"""Where members of classes are defined: in the header that declares the class, or in the source of the same stem."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_floors import include_graph

ROOT = Path(__file__).parents[2]

# Headers with inline members of a class that another header declares. That one cannot have them: they need what
# includes it (an endpoint has agents), or what few of its readers should have to read (the kernel: test_rebuilds.py).
INLINE = {
    "core/component/component_time.hpp": "Component",
    "core/component/endpoint.hpp": "Agent",
    "core/interconnect/wire/link_path_delivery.hpp": "LinkPath",
}

# Names that a class has within another one although who reads both meets two, with a reason.
SAME_NAME = {"Link": "Spec::Link is what a spec writes of one"}

CLASS = re.compile(
    r"^(?:template\s*<.*>\s*)?(?:class|struct|union)\s+(?:(?:\[\[.*?\]\]|alignas\s*\([^()]*\))\s*)?"
    r"((?:\w+\s*::\s*)*)(\w+)\s*(<.*>)?(?:\s+final)?\s*(?::(?!:).*)?$",
    re.S,
)
MEMBER = r"(?:^|[\s*&])((?:\w+(?:<[^()]*>)?\s*::\s*)+)(?:~?\w+|operator\s*(?:\(\s*\)|[^\s\w(]+|[\w:&*\s]+))"


def code_of(text: str) -> str:
    """A source without comments, preprocessor lines and what is between quotes."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.S)
    text = re.sub(
        r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
        lambda found: '""' if found[0][0] in "\"'" else " ",
        text,
        flags=re.S,
    )
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)


@dataclass(frozen=True)
class Head:
    """What stands before a body or a semicolon, outside of classes and functions."""

    text: str
    has_body: bool


def pieces_of(code: str) -> list[str]:
    """Braces, round brackets and semicolons, each by itself, and what stands between them."""
    return re.findall(r"[{}();]|[^{}();]+", code)


def heads_in(code: str) -> Iterator[Head]:
    """The heads of a source, those in namespaces included."""
    within: list[str] = []  # what the open braces belong to
    bodies = 0  # of these, bodies
    head = ""
    round_brackets = 0
    for piece in pieces_of(code):
        if bodies > 0 or (piece in "{}" and round_brackets > 0):  # the latter: a lambda among arguments
            if piece == "{":
                within.append("body")
                bodies += 1
            elif piece == "}":
                bodies -= within.pop() == "body"
        elif piece == "{":
            yield Head(head.strip(), has_body=True)
            space = re.search(r"\bnamespace\b[\w\s:]*$|\bextern\s*\"\"\s*$", head)
            within.append("namespace" if space else "body")
            bodies += not space
            head = ""
        elif piece == "}":
            within.pop()
            head = ""
        elif piece == ";" and round_brackets == 0:
            yield Head(head.strip(), has_body=False)
            head = ""
        else:
            round_brackets += (piece == "(") - (piece == ")")
            head += piece


def class_of(head: Head) -> tuple[str, str] | None:
    """The outermost class that the name of a class leads through ("" for none) and its own, where it is defined."""
    found = CLASS.search(head.text) if head.has_body else None
    return (found[1].split("::")[0].strip(), found[2]) if found else None


def without_brackets(text: str) -> str:
    """Without what is between round brackets."""
    depth = 0
    flat = ""
    for sign in text:
        depth -= sign == ")"
        if depth == 0:
            flat += sign
        depth += sign == "("
    return flat


def owner_of(head: Head) -> str | None:
    """The outermost class whose member is defined here, be it a class itself, a function or a variable."""
    if found := class_of(head):
        return found[0] or None
    if re.match(r"(?:using|typedef|friend|template\s+class|extern|namespace|enum)\b", head.text):
        return None
    before_value = re.split(r"(?<!operator)(?<![=!<>])=(?!=)", without_brackets(head.text))[0]
    member = re.search(MEMBER + r"\s*\(", before_value) or re.search(MEMBER + r"\s*$", before_value)
    return re.split(r"<|::", member[1])[0].strip() if member else None


def halves(root: Path) -> Iterator[str]:
    """Definitions of members away from the header of their class and its source."""
    files = {
        file.relative_to(root): list(heads_in(code_of(file.read_text(encoding="utf-8"))))
        for file in sorted((root / "core").rglob("*.?pp"))
    }
    own = {file: {found[1] for head in heads if (found := class_of(head))} for file, heads in files.items()}
    for file, heads in files.items():
        for owner in sorted({owner for head in heads if (owner := owner_of(head))} - own[file]):
            headers = [other for other in own if other.suffix == ".hpp" and owner in own[other]]
            if file.with_suffix("") in [header.with_suffix("") for header in headers]:
                continue
            if headers and INLINE.get(str(file)) != owner:
                yield f"{file} defines members of {owner}, which {' and '.join(map(str, headers))} declares"


def test_a_class_has_one_source() -> None:
    assert list(halves(ROOT)) == []


def named_twice(root: Path) -> Iterator[str]:
    """Names of classes that two headers define: in one program these would be one class with two bodies."""
    where: dict[str, list[Path]] = {}
    for file in sorted((root / "core").rglob("*.hpp")):
        for head in heads_in(code_of(file.read_text(encoding="utf-8"))):
            found = CLASS.search(head.text) if head.has_body else None
            if found and not found[1] and not found[3]:  # no member, and no specialisation
                where.setdefault(found[2], []).append(file.relative_to(root))
    for name, files in where.items():
        if len(files) > 1:
            yield f"{' and '.join(map(str, files))} define {name}"


OF_CLASS = re.compile(
    r"^([ ]*)(?:template <.*>\s*)?(?:class|struct|enum class|union) (?:alignas\(\w+\) )?(\w+)(?: final)?"
    r"(?:\s*:[^;{]*)?\s*\{",
    re.M,
)


def met_twice(root: Path) -> dict[str, str]:
    """Names of classes by themselves that a class within another one has, too, where some file reaches both."""
    graph = include_graph(root, ["core"])
    alone: dict[str, set[str]] = {}
    within: dict[str, set[str]] = {}
    for file in graph:
        for indent, name in OF_CLASS.findall((root / file).read_text(encoding="utf-8")):
            (within if indent else alone).setdefault(name, set()).add(file)
    shared = {name: (alone[name], within[name]) for name in alone.keys() & within.keys()}
    found: dict[str, str] = {}
    for file in graph:
        reached, open_ends = {file}, [file]
        while open_ends:
            new = {other for other in graph[open_ends.pop()] if other in graph} - reached
            reached |= new
            open_ends += new
        for name, (first, second) in shared.items():
            for one in sorted(reached & first):
                for other in sorted(reached & second - {one}):
                    found[name] = f"{one} and {other}"
    return found


def test_who_reads_a_file_meets_a_name_once() -> None:
    found = met_twice(ROOT)
    assert set(found) == set(SAME_NAME), f"names that do not say which: {found}"


def test_a_name_that_is_met_twice_is_found(tmp_path: Path) -> None:
    core = tmp_path / "core"
    core.mkdir()
    (core / "a.hpp").write_text("namespace cxloom {\nclass Bank {\n};\n}\n")
    (core / "b.hpp").write_text("class Memory {\n  struct Bank {\n  };\n};\n")
    assert met_twice(tmp_path) == {}
    (core / "c.cpp").write_text('#include "a.hpp"\n#include "b.hpp"\n')
    assert met_twice(tmp_path) == {"Bank": "core/a.hpp and core/b.hpp"}


def test_two_classes_have_two_names() -> None:
    assert list(named_twice(ROOT)) == []


def test_a_name_that_two_headers_define_is_found(tmp_path: Path) -> None:
    core = tmp_path / "core"
    core.mkdir()
    (core / "a.hpp").write_text(DECLARED)
    (core / "b.hpp").write_text("namespace cxloom {\nstruct A {};\n}\n")
    assert list(named_twice(tmp_path)) == ["core/a.hpp and core/b.hpp define A"]


def test_members_are_seen() -> None:
    heads = [
        head
        for file in (ROOT / "core").rglob("*.cpp")
        for head in heads_in(code_of(file.read_text(encoding="utf-8")))
    ]
    assert len([head for head in heads if owner_of(head)]) > 1000, (
        "the sources are elsewhere, or read wrongly"
    )


DECLARED = """
namespace cxloom {
struct Elsewhere;
class alignas(64) A final : public B<C> {
 public:
  explicit A(int x);
  struct Inner;
  Inner f(const char* text = "; {") const;  // not '{'
  bool operator==(const A& other) const;
  static const int kSome;
};
}  // namespace cxloom
"""


@pytest.mark.parametrize(
    "definition",
    [
        "A::A(int x) : x_(x), y_{x} {}",
        "A::~A() = default;",
        "inline std::vector<B::C> A::f(const char* text) const { return {}; }",
        "bool A::operator==(const A& other) const { return true; }",
        "const int A::kSome = 3;",
        "struct A::Inner { int x; };",
        "A::Inner::Inner() {}",
        "template <class T>\nvoid A::g(T t) {\n}",
        "[[noreturn]] void A::h() { throw 1; }",
    ],
)
def test_a_member_away_from_its_class_is_found(tmp_path: Path, definition: str) -> None:
    core = tmp_path / "core"
    core.mkdir()
    (core / "a.hpp").write_text(DECLARED)
    (core / "a.cpp").write_text(f"namespace cxloom {{\n{definition}\n}}\n")
    assert list(halves(tmp_path)) == []
    (core / "b.cpp").write_text((core / "a.cpp").read_text())
    assert list(halves(tmp_path)) == ["core/b.cpp defines members of A, which core/a.hpp declares"]


@pytest.mark.parametrize(
    "text",
    [
        "int use(A& a) { return a.f(A::kSome); }",
        "const int kOther = A::kSome + A::make(3);",
        "A::Inner made(int x) { return A::Inner{x}; }",
        "A::Inner made(int x);",
        "// void A::f() {}",
        'const char* const kText = "void A::f() {}";',
        "#define F void A::f() {}",
        "struct A { void f(); };\nvoid A::f() {}",
        "void Elsewhere::f() {}",
    ],
)
def test_other_uses_of_a_class_are_not(tmp_path: Path, text: str) -> None:
    core = tmp_path / "core"
    core.mkdir()
    (core / "a.hpp").write_text(DECLARED)
    (core / "b.cpp").write_text(f"namespace cxloom {{\nnamespace {{\n{text}\n}}\n}}\n")
    assert list(halves(tmp_path)) == []
