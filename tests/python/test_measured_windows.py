"""How counters of the measured window are kept: by core/kernel/ alone, as docs/architecture.md lists it.

A component that sets counters to zero when the window opens, takes note of them then, or asks at each event
whether it is open, has its own way of what `Windowed` and its neighbours do: it is easily wrong in the second
window of a program that has embedded a system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from test_class_files import code_of

ROOT = Path(__file__).parents[2]
FOLDERS = ("core", "integrations", "examples", "bindings")
KEEPERS = "core/kernel/"

# Who has the window itself, and not counters in it.
HOLDERS = {
    "core/component/request_throttle.hpp": "opens what it keeps for a memory that comes within the window",
    "core/system/run/part_observer.hpp": "lets no request through that is not of the window",
    "core/system/run/simulation.hpp": "the window of the run",
}
# Who does more than to open and close what it keeps.
DOING_MORE = {
    "core/component/request_throttle.cpp": "a memory that was there for the last instant alone had its level then",
    "core/coherence/home/directory_agent.hpp": "the level of the filter at the close, which nothing counts over time",
    "core/device/requester/cores_meter.cpp": "what counts as before it: whether the window is the whole run",
    "core/device/requester/sequencer.cpp": "whether its work had ended before",
    "core/device/requester/transfer_work.cpp": "whether its work had ended before",
    "core/device/switch/persist_measures.cpp": "the entries in use at both ends, which balance what is counted between",
    "core/memory/dram/controller/media.cpp": "the longest queues, which its channels keep by cycles of their clock",
    "core/system/record/command_recorder.cpp": "the part of the run that a row is in",
    "core/system/record/sampler.cpp": "the time that its rows count from",
    "core/system/run/simulation.cpp": "what one of them throws, when the others are closed",
}

HELD = re.compile(r"\bMeasuredWindow\s*(?:&\s*)?\w+_\s*(?:;|\{|=)")
OPENER = re.compile(r"\b(open|close|open_window|close_window)\s*\(\s*Time\b[^()]*\)\s*(?:override\s*)?\{")
ASSIGNS = re.compile(r"(?<![=!<>])=(?!=)|\+\+|--|\.clear\s*\(|\.assign\s*\(")
DECLARES = re.compile(r"\b(?:const\s+)?(?:auto|\w+)[&*]?(?:\s+(?:const\s+)?|\s*[&*]\s*)\w+\s*(?:=(?!=)|:)")


def bodies(text: str) -> Iterator[str]:
    """What the functions do that open or close a window, as both `open` and `close` do where one file has them."""
    code = code_of(text)
    openers = list(OPENER.finditer(code))
    if len({found[1] for found in openers} & {"open", "close"}) == 1:
        openers = [found for found in openers if found[1] not in ("open", "close")]
    for found in openers:
        depth, end = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        yield code[found.end() : end - 1]


def texts() -> dict[str, str]:
    return {
        str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("*"))
        if file.suffix in (".cpp", ".hpp") and not str(file.relative_to(ROOT)).startswith(KEEPERS)
    }


def holders(sources: Mapping[str, str]) -> set[str]:
    return {path for path, text in sources.items() if HELD.search(code_of(text))}


def doing_more(sources: Mapping[str, str]) -> set[str]:
    """Files whose functions change something when a window opens or closes, besides opening and closing."""
    return {
        path
        for path, text in sources.items()
        if any(ASSIGNS.search(DECLARES.sub(" ", body)) for body in bodies(text))
    }


def test_counters_are_kept_by_the_kernel() -> None:
    sources = texts()
    assert sum(1 for text in sources.values() for _ in bodies(text)) > 20, "they are named otherwise"
    assert holders(sources) == set(HOLDERS), "counters of the window: see docs/architecture.md#windows"
    assert doing_more(sources) == set(DOING_MORE), "counters of the window: see docs/architecture.md#windows"


@pytest.mark.parametrize(
    ("text", "held", "more"),
    [
        ("void open_window(Time at) { counts_.open(at); }", False, False),
        ("void open_window(Time at) {\n  for (Part& each : parts_) each.open(at);\n}", False, False),
        ("void close_window(Time at) {\n  const Time now = at;\n  counts_.close(now);\n}", False, False),
        ("void open_window(Time /*at*/) { counts_ = {}; }", False, True),
        ("void A::close_window(Time now) override {\n  if (open_) after_ = counts_;\n}", False, True),
        ("void open_window(Time at) {\n  for (Part& each : parts_) each.answers = 0;\n}", False, True),
        ("void open(Time at) { times_[0] = at; }", False, False),  # what never closes is no window
        ("void open(Time at) { before_ = all_; }\nvoid close(Time at) {}", False, True),
        ("MeasuredWindow measured_;", True, False),
        ("const MeasuredWindow& window_;", True, False),
        ("const MeasuredWindow& measured() const;", False, False),
    ],
)
def test_another_way_is_found(text: str, held: bool, more: bool) -> None:
    assert holders({"a.hpp": text}) == ({"a.hpp"} if held else set())
    assert doing_more({"a.hpp": text}) == ({"a.hpp"} if more else set())


COUNTED = re.compile(r"\+\+[\w.()*>-]*(?:->|\.)(\w+);|(?:->|\.)(\w+) \+= ")


def unread(sources: Mapping[str, str]) -> list[str]:
    """Counters of structs in a `Windowed` that these sources count, and neither report in a row nor use otherwise."""
    text = "\n".join(map(code_of, sources.values()))
    used = set(re.findall(r"(?:->|\.|::)(\w+)\b", COUNTED.sub(";", text)))
    found = []
    for name in sorted(set(re.findall(r"\bWindowed<(\w+)>", text))):
        struct = re.search(rf"struct {name}\b[^;{{]*{{(.*?)^}};", text, re.DOTALL | re.MULTILINE)
        members = (
            re.findall(r"^  (?:std::uint64_t|Time) (\w+)\b[^(\n]*;", struct[1], re.MULTILINE)
            if struct
            else []
        )
        found += [f"{name}::{member}" for member in members if member not in used]
    return found


def test_every_counter_has_a_row() -> None:
    sources = {str(file): file.read_text(encoding="utf-8") for file in (ROOT / "core").rglob("*.?pp")}
    missing = unread(sources)
    assert not missing, (
        f"counters without a row in their table of measures (CONTRIBUTING.md, A statistic): {missing}"
    )


def test_a_counter_without_a_row_is_found() -> None:
    header = "struct Counts {\n  std::uint64_t hits = 0;\n  std::uint64_t lost = 0;\n};\nWindowed<Counts> counts_;\n"
    source = "++counts_->hits;\ncounts_->lost += 2;\n"
    row = 'measure<&Counts::hits>("hits", "", "what was found"),\n'
    assert unread({"a.hpp": header, "a.cpp": source}) == ["Counts::hits", "Counts::lost"]
    assert unread({"a.hpp": header, "a.cpp": source + row}) == ["Counts::lost"]
