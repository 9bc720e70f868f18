"""Whether each C++ file includes what it names, be it by way of others: compiled beside its neighbours it need not.

Continuous integration compiles the sources of a room together. `make alone-check` compiles each alone, which takes
twenty minutes; this reads the texts, in a second. It knows the types of the project that stand in a header, and
what of the standard library `STANDARD` has. Functions and constants of the project it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("core", "include", "bindings", "tests/core")
PLACES = ("include", "core", "tests", ".")
"""Where the build looks for what is included, after the folder of the file."""

STANDARD = {
    "algorithm": "all_of any_of binary_search clamp copy count count_if equal fill find find_if lower_bound max "
    "max_element min min_element none_of partition reverse shuffle sort stable_sort transform unique upper_bound",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero has_single_bit popcount",
    "bitset": "bitset",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "ceil exp floor isfinite isnan llround log log2 pow round sqrt",
    "cstring": "memcmp memcpy memset strerror strlen",
    "deque": "deque",
    "fstream": "ifstream ofstream",
    "functional": "function",
    "iostream": "cerr cout",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "lock_guard mutex",
    "numeric": "accumulate gcd iota lcm",
    "optional": "nullopt optional",
    "queue": "priority_queue",
    "random": "mt19937 mt19937_64",
    "set": "multiset set",
    "span": "span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "invalid_argument logic_error runtime_error",
    "string": "string to_string",
    "string_view": "string_view",
    "thread": "thread",
    "tuple": "make_tuple tie tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "exchange move pair swap",
    "variant": "variant",
    "vector": "vector",
}
HEADER = {name: header for header, names in STANDARD.items() for name in names.split()}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)
ASIDE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
    r"\b(?:INSTANTIATE_)?TEST(?:_SUITE)?(?:_[FP])?\(\w+",
    re.S,
)
"""Comments, words between quotes and the names of groups of tests."""
ATTRIBUTES = r"(?:\[\[\w+\]\]\s+|alignas\([^)]*\)\s+)*"
OF_HEADER = re.compile(
    rf"^(?:template <[^\n]*>\s*)?(?:class|struct|enum class|enum|union|using|concept)\s+{ATTRIBUTES}([A-Z]\w+)\b",
    re.M,
)
"""A type that stands by itself in a header."""
KNOWN = re.compile(
    rf"\b(?:class|struct|enum|union|using|concept|typename)\s+(?:class\s+)?{ATTRIBUTES}([A-Z]\w+)\b"
)
"""Any type that a file declares or takes: forward, inside another, or as a parameter of a template."""
TYPE = re.compile(r"(?<![\w.])(?<!->)(?<!::)([A-Z]\w+)\b")
OF_STANDARD = re.compile(r"std::(?:ranges::)?(\w+)")


class Sources:
    """C++ files by their paths, and what each reaches."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._included = {path: self._split(path, text, texts) for path, text in texts.items()}
        self._texts = {path: ASIDE.sub(" ", text) for path, text in texts.items()}
        self._known = {path: set(KNOWN.findall(text)) for path, text in self._texts.items()}
        self._types = {
            name
            for path, text in self._texts.items()
            if path.endswith(".hpp")
            for name in OF_HEADER.findall(text)
        }

    @staticmethod
    def _split(path: str, text: str, texts: Mapping[str, str]) -> tuple[set[str], set[str]]:
        """The files among these that one includes, and the other headers."""
        ours, others = set(), set()
        for name in INCLUDE.findall(text):
            places = (Path(path).parent, *map(Path, PLACES))
            here = [str(place / name) for place in places if str(place / name) in texts]
            (ours if here else others).add(here[0] if here else name)
        return ours, others

    def _reached(self, path: str) -> set[str]:
        reached, open_ends = {path}, [path]
        while open_ends:
            new = self._included[open_ends.pop()][0] - reached
            reached |= new
            open_ends += new
        return reached

    def missing(self) -> list[str]:
        """Each name that a file has from nowhere."""
        found = []
        for path, text in self._texts.items():
            reached = self._reached(path)
            standard = {header for each in reached for header in self._included[each][1]}
            names = {name for name in OF_STANDARD.findall(text) if name in HEADER}
            found += [
                f"{path}: std::{name} without <{HEADER[name]}>"
                for name in sorted(names)
                if HEADER[name] not in standard
            ]
            known = {name for each in reached for name in self._known[each]}
            found += [
                f"{path}: {name} without a header that has it"
                for name in sorted(set(TYPE.findall(text)) & self._types - known)
            ]
        return found


def test_each_file_includes_what_it_names() -> None:
    texts = {
        str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("*"))
        if file.suffix in (".hpp", ".cpp", ".h")
    }
    assert len(texts) > 1000
    missing = Sources(texts).missing()
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ('#include "base/part.hpp"\nPart part; std::vector<int> parts;', []),
        ("class Part;\nvoid see(Part&);", []),
        ("std::vector<int> parts;", ["std::vector without <vector>"]),
        ("void see(Part&);", ["Part without a header that has it"]),
        ('#include "base/list.hpp"\nPart part;', []),
        ('// A Part of std::vector\nconst char* const kPart = R"(Part)" "Part";', []),
        ("struct Whole { enum class Part { kOne }; Part part; };", []),
    ],
)
def test_what_is_missing_is_found(source: str, missing: list[str]) -> None:
    texts = {
        "core/base/part.hpp": "#include <vector>\nclass Part {};",
        "core/base/list.hpp": '#include "base/part.hpp"',
        "core/base/whole.cpp": source,
    }
    assert Sources(texts).missing() == [f"core/base/whole.cpp: {each}" for each in missing]
