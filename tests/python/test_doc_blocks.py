"""Every block of code in the pages is tried: specs are checked, commands parsed, Python compiled, outputs compared.

A spec that stands alone is checked as it is. A part of one is checked within a spec that is written here: a reader sees
from its first line that it is a part, a name of a device or of a parameter, or a comment that says of what.
"""

from __future__ import annotations

import ast
import itertools
import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from command_lines import wrong_in

import cxloom as cx
from cxloom.advising.profile import read_profile
from cxloom.spec import presets
from cxloom.spec.override import Override
from cxloom.study.shipped import find
from cxloom.sweeping.space import Axis

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    file
    for where in (".", "docs", "integrations", "examples", "studies", "benchmarks", "core", "tests")
    for file in ((ROOT / where).glob("*.md") if where == "." else (ROOT / where).rglob("*.md"))
)


@dataclass(frozen=True)
class Block:
    """A fenced block: where it is, its language, the name of the file that it is, what stands in it."""

    page: str
    line: int
    language: str
    file: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    name = str(page.relative_to(ROOT))
    for found in re.finditer(r"^```(\w*) ?(\S*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield Block(name, text.count("\n", 0, found.start()) + 1, found[1], found[2], found[3])


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
TRIED_ELSEWHERE = {"docs/tutorials/your-first-device.md": "test_tutorials.py"}
"""Pages that another test follows word by word."""


def of(*languages: str) -> list[Block]:
    return [each for each in BLOCKS if each.language in languages and each.page not in TRIED_ELSEWHERE]


def test_every_block_has_a_language_that_is_tried() -> None:
    assert len(BLOCKS) > 80
    known = {"yaml", "json", "sh", "console", "python", "text", "", "cpp", "c"}
    assert {each.language for each in BLOCKS} <= known
    fences = sum(page.read_text(encoding="utf-8").count("```") for page in PAGES)
    assert fences == 2 * len(BLOCKS), "a block whose fence is no line of its own"


@pytest.mark.parametrize("block", of("json"), ids=str)
def test_profiles_of_objects_can_be_read(block: Block, tmp_path: Path) -> None:
    (tmp_path / "app.json").write_text(block.text)
    assert [each.name for each in read_profile(tmp_path / "app.json").objects] == ["data:table", "map:build"]


# --- specs ---

DEVICE = """\
devices:
  host: {kind: host}
  <>
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 100, footprint: 1MiB}}
"""
MEDIA = DEVICE.replace("  <>", "  mem:\n    kind: memory\n    <>")
TWO_MEMORIES = """\
devices:
  host: {kind: host}
  bus: {kind: bus}
  local: {kind: memory}
  cxl: {kind: memory}
links: [{between: [host, bus]}, {between: [bus, local]}, {between: [bus, cxl], delay: 50ns}]
<>
"""
WORKLOAD = """\
workload:
  host: {pattern: random, requests: 100, footprint: 1MiB, addresses: {kind: bind, nodes: [local]}}
"""
COPY = "workload:\n  host:\n    pattern: copy\n    requests: 10\n    footprint: 1MiB\n    <>"
COPIES = TWO_MEMORIES.replace("<>", "address_map: [{to: local}, {to: cxl}]\n" + COPY)
WITH_MOVES = TWO_MEMORIES.replace("<>", "address_map: [{to: local}, {to: cxl}]\n" + WORKLOAD + "<>")
FABRIC = """\
devices: {host: {kind: host}, "sw[0-2]": {kind: switch}, "mem[0-1]": {kind: memory, heads: 2}}
links: [{between: [host, "sw[*]"]}, {between: [sw0, mem1]}, {between: [sw1, "mem[*]"]}, {between: [sw2, mem0]}]
address_map: [{to: "mem[*]"}]
workload: {host: {pattern: random, requests: 100, footprint: 1MiB}}
<>
"""
HUB = """\
devices:
  host[0-3]: {kind: host}
  mem: {kind: memory}
  <>
links: [{between: ["host[*]", hub]}, {between: [hub, mem]}]
address_map: [{to: mem}]
workload: {"host*": {pattern: random, requests: 100, footprint: 1MiB}}
"""
THROTTLED = """\
devices:
  <>
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 100, footprint: 1MiB}}
"""
TRACES = """\
devices: {"host[0-2]": {kind: host}, bus: {kind: bus}, mem: {kind: memory, capacity: 1TiB}}
links: [{between: ["host*", bus]}, {between: [bus, mem]}]
address_map: [{to: mem}]
<>
"""
PARTS = {
    "docs/model/adapters.md": [DEVICE, MEDIA],
    "docs/model/cached.md": [DEVICE],
    "docs/model/inline_ecc.md": [DEVICE],
    "docs/model/compressed.md": [DEVICE, DEVICE],
    "docs/model/curve.md": [DEVICE],
    "docs/model/dram.md": [MEDIA, MEDIA, MEDIA],
    "docs/model/failures.md": [FABRIC, FABRIC, FABRIC, FABRIC],
    "docs/model/flash.md": [DEVICE],
    "docs/model/copy.md": [COPIES],
    "docs/model/placement.md": [TWO_MEMORIES, WITH_MOVES],
    "docs/model/qos.md": [HUB, THROTTLED],
    "docs/model/tiering.md": [TWO_MEMORIES],
    "docs/model/workload.md": [
        "devices: {host: {kind: host}, local: {kind: memory, capacity: 1GiB}, cxl: {kind: memory, capacity: 1GiB}}\n"
        "links: [{between: [host, local]}, {between: [host, cxl]}]\naddress_map: [{to: local}, {to: cxl}]\n<>\n",
        TRACES,
    ],
}
"""The specs that parts of specs are written into, in the order in which the parts stand in a page."""
NEEDS_A_LIBRARY = {"dramsim3", "ramulator2", "simplessd"}
"""Kinds of plug-ins around simulators that somebody has to have: `tests/integrations` tries them."""
FILES = {
    "memory.trc": "0x1f40 READ 12\n",
    "bursts.trc": "R 0,1,2,3,40,5\n",
    "disk.csv": "128166372003061629,hm,1,Read,4096,512,413\n",
}
"""Files that specs name, as the page on traces has their lines."""


def stands_alone(text: str) -> bool:
    """A spec with devices, or a preset, or a study."""
    return re.search(r"^(devices|preset|topology|title):", text, re.MULTILINE) is not None


def is_spec(text: str) -> bool:
    """Not a file of `cxloom kv`, `plan` or `energy`: test_kv_serving, test_plan_command and test_energy read those."""
    return re.search(r"^(tiers|designs|port_pj_per_bit):", text, re.MULTILINE) is None


def within(base: str, text: str) -> str:
    """A part of a spec where the base has `<>`."""
    (indent,) = re.findall(r"^( *)<>$", base, re.MULTILINE)
    return base.replace(f"{indent}<>", textwrap.indent(text, indent))


@pytest.mark.parametrize("page", sorted({each.page for each in of("yaml")}))
def test_specs_are_valid(page: str, tmp_path: Path) -> None:
    of_page = [each for each in BLOCKS if each.page == page]
    specs = [each for each in of_page if each.language == "yaml" and is_spec(each.text)]
    parts = [each for each in specs if not stands_alone(each.text)]
    assert len(parts) == len(PARTS.get(page, ())), (
        f"a part of a spec is checked within one: {[*map(str, parts)]}"
    )
    bases = iter(PARTS.get(page, ()))
    for name, text in {**FILES, **files_in(of_page)}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for each in specs:
        if each.text.startswith("title:"):
            continue  # a study, which test_docs.py reads
        if each.file:  # others of the page may start from it
            (tmp_path / each.file).write_text(each.text)
        text = each.text if stands_alone(each.text) else within(next(bases), each.text)
        for kind in NEEDS_A_LIBRARY:
            text = re.sub(rf"\{{kind: {kind}, config: [^}}]*\}}", "{kind: fixed}", text)
        (tmp_path / "spec.yaml").write_text(text)
        cx.load(tmp_path / "spec.yaml").check()


def files_in(blocks: list[Block]) -> dict[str, str]:
    """Files that the specs of a page name and that a block without a language of that page shows."""
    named = re.findall(
        r"(?:trace|file): ([\w.-]+)", "".join(each.text for each in blocks if each.language == "yaml")
    )
    shown = [each.text for each in blocks if each.language == "" and not re.match(r"\$|cxloom| ", each.text)]
    return dict(zip([name for name in named if name not in FILES], shown, strict=False))


# --- commands ---


def command_lines(block: Block) -> Iterator[list[str]]:
    """The command lines of a block that call cxloom, in words."""
    text = block.text.replace("\\\n", " ")
    for line in text.splitlines():
        line = line.removeprefix("$ ")
        for each in re.split(r" && | \|\| ", line):
            if each.startswith("cxloom "):
                words = shlex.split(each, comments=True)[1:]
                yield list(itertools.takewhile(lambda word: not word.startswith(("<", ">", "2>")), words))


def systems_of(words: list[str]) -> Iterator[str]:
    """The specs that a command is about."""
    if words[0] in ("run", "check", "measure", "explain", "sweep", "crash", "draw", "find"):
        yield words[1]
    if words[0] == "compare":
        specs = itertools.takewhile(lambda word: not word.startswith("-"), words[1:])
        yield from (spec for spec in specs if not spec.startswith("results"))  # directories
    if words[0] == "exec":
        yield from (words[place + 1] for place, word in enumerate(words) if word in ("--system", "--against"))


README_SYSTEM = next(each.text for each in BLOCKS if each.page == "README.md" and each.language == "yaml")


@pytest.mark.parametrize(
    "block", [each for each in of("sh", "console", "") if "cxloom " in each.text], ids=str
)
def test_commands_exist_and_what_they_set_does(block: Block) -> None:
    for words in command_lines(block):
        assert list(wrong_in(words)) == [], words
        if words[:2] == ["study", "run"]:
            assert find(words[2]).exists(), words
        for name in systems_of(words):
            if name.isupper():
                continue  # stands for any
            if name.endswith(".yaml") and name != "system.yaml" and not (ROOT / name).exists():
                continue  # a file of the reader's
            known = name in presets.names() or name == "system.yaml" or (ROOT / name).exists()
            assert known, f"{name}: no preset, no file of the tree"
            system = cx.System.from_yaml(README_SYSTEM) if name == "system.yaml" else cx.load(named(name))
            sets = [words[place + 1] for place, word in enumerate(words) if word == "--set"]
            overrides = [Override.parse(first_value(text) if words[0] == "sweep" else text) for text in sets]
            assert system.resolve(overrides).errors() == []


def named(name: str) -> str | Path:
    return name if name in presets.names() else ROOT / name


def first_value(text: str) -> str:
    """The first of the values of a sweep, if they are numbers and quantities."""
    return text.partition(",")[0]


@pytest.mark.parametrize("preset", presets.names())
def test_what_a_preset_advises_to_set_can_be_set(preset: str) -> None:
    path = presets.path_of(preset)
    assert path is not None
    comment = " ".join(line.strip("# ") for line in path.read_text().splitlines() if line.startswith("#"))
    advised = re.findall(r'--set ([\w.\[\]*]+=(?:"[^"]*"|[^\s,]+))', comment)
    overrides = [Override.parse(text.replace('"', "").rstrip(".;)")) for text in advised]
    assert cx.load(preset).resolve(overrides).errors() == []


# --- Python ---


@pytest.mark.parametrize("block", of("python"), ids=str)
def test_python_compiles_and_names_what_is_there(block: Block) -> None:
    tree = ast.parse(block.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            path: list[str] = []
            at: Any = node
            while isinstance(at, ast.Attribute):
                path.insert(0, at.attr)
                at = at.value
            if isinstance(at, ast.Name) and at.id == "cx":
                found: Any = cx
                for word in path:
                    found = getattr(found, word)


# --- outputs ---


def shown(page: str, beginning: str) -> str:
    """The block of a page that begins so, or the only one with these words."""
    (text,) = [each.text for each in BLOCKS if each.page == page and beginning in each.text]
    return text


def test_the_protocol_log_is_what_is_shown(cxloom: Any, tmp_path: Path) -> None:
    of_page = [each for each in BLOCKS if each.page == "docs/model/protocol_log.md"]
    spec = next(each.text for each in of_page if each.language == "yaml")
    (tmp_path / "conflict.yaml").write_text(spec)
    (tmp_path / "read-then-write.txt").write_text(shown("docs/model/protocol_log.md", "0x40 R 0\n"))
    said = cxloom("run", tmp_path / "conflict.yaml", "--log", "protocol").err
    lines = shown("docs/model/protocol_log.md", "MemRdData").splitlines()
    assert len(lines) > 10
    for line in lines:
        assert line in said


def test_the_sentence_of_explain_is_what_is_shown() -> None:
    sentence = shown("docs/explain.md", "Throughput").strip()
    found = (
        cx.explain("dmsim/asic", overrides=[Override.parse("workload.host.pattern=random")])
        if False
        else None
    )
    system = cx.load("dmsim/asic").set("workload.host.pattern", "random")
    found = cx.explain(system)
    assert " ".join(found.sentence.split()) == " ".join(sentence.split())


# --- numbers ---


@pytest.mark.parametrize(
    ("words", "preset", "memory", "expected"),
    [
        ("take 280 and 371 ns", "expander/asic-ddr5", "cxl", 280),
        ("take 280 and 371 ns", "expander/fpga-ddr4", "cxl", 371),
        ("(about 114, 191 and 214 ns)", "memory/local-remote-cxl", "local", 114),
        ("(about 114, 191 and 214 ns)", "memory/local-remote-cxl", "remote", 191),
        ("(about 114, 191 and 214 ns)", "memory/local-remote-cxl", "cxl", 214),
        ("65 host + 65 memory = 130", "dmsim/local", "local", 130),
        ("130 + 2 x 35 = 200", "dmsim/remote", "remote", 200),
        ("15 device protocol) = 284", "dmsim/asic", "cxl", 284),
        ("(50 + 12 + 60) = 374", "dmsim/fpga", "cxl", 374),
        ("284 + 2 x 100 = 484", "dmsim/switch", "cxl", 484),
    ],
)
def test_unloaded_latencies_are_those_of_the_page(
    words: str, preset: str, memory: str, expected: float
) -> None:
    assert words in (ROOT / "docs" / "model" / "memory.md").read_text(encoding="utf-8")
    (row,) = cx.measure.latency(cx.load(preset), memories=[memory]).rows
    assert row["latency_ns"] == pytest.approx(expected, rel=0.02)


PAIR = """\
devices:
  host: {kind: host, process_time: 0ns, queue: 512}
  mem: {kind: memory, capacity: 1GiB, controller_time: 0ns, media: {kind: fixed, latency: 100ns}}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, reads: 0%, requests: 8000, footprint: 256MiB}}
run: {warmup: 1000}
"""


@pytest.mark.parametrize(("stores", "mshrs"), [(8, 48), (48, 48), (112, 48), (112, 16)])
def test_stores_of_a_core_take_what_its_page_says(stores: int, mshrs: int) -> None:
    """L for each min(s, m) stores; of L = 100 ns, no time elsewhere."""
    assert "s places in the store buffer, m `mshrs` | L for each min(s, m) |" in page("docs/model/core.md")
    system = cx.System.from_yaml(PAIR).set("devices.host.core", {"store_buffer": stores, "mshrs": mshrs})
    result = cx.run(system)
    assert result["simulated_time_ns"] / result.count == pytest.approx(100 / min(stores, mshrs), rel=0.005)


@pytest.mark.parametrize(
    ("pattern", "preset", "expected"),
    [
        ("sequential", "nvm-100-200", 5.12),  # 16 x 64 B / 200 ns
        ("random", "nvm-100-200", 4.54),
        ("sequential", "optane-dcpmm", 2.3),
        ("random", "optane-dcpmm", 2.3 / 4),  # the data path binds: a line of a block of 256 B
    ],
)
def test_saturated_writes_of_nvm_are_those_of_its_page(pattern: str, preset: str, expected: float) -> None:
    """Random ones lie between banks that are never idle and N / (N + M - 1) of that, by mean-value analysis."""
    assert "writes in order reach 5.12 GB/s, random ones 4.54" in page("docs/model/nvm.md")
    system = cx.System.from_yaml(PAIR).set("devices.mem.media", {"kind": "nvm", "preset": preset})
    found = cx.run(system.set("workload.host.pattern", pattern)).bandwidth
    assert found == pytest.approx(expected, rel=0.02)
    if preset == "nvm-100-200":
        assert 5.12 * 64 / (64 + 16 - 1) < found <= 5.12 * 1.001


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_short_forms_of_placements_are_short_for_what_is_said() -> None:
    short, whole = re.findall(
        r"`addresses: ([\w-]+)` is short for `addresses: \{kind: ([\w-]+)\}`", page(PLACEMENT)
    )[0]
    assert short == whole
    for written in (short, {"kind": whole}):
        cx.System.from_yaml(PAIR).set("workload.host.addresses", written).check()


PLACEMENT = "docs/model/placement.md"


def test_values_of_a_sweep_are_read_as_its_page_says() -> None:
    rows = re.findall(r"^\| `([\w.]+=[^`]*)` \| (.*) \|$", page("docs/sweep.md"), re.MULTILINE)
    counts = {"1, 2 and 4": 3, "two lists": 2, "one list": 1, "two maps": 2, "the texts `a,b` and `c`": 2}
    assert [said for _, said in rows] == list(counts)
    for written, said in rows:
        axis = Axis.parse(written)
        assert len(axis.values) == counts[said]
        if axis.path.startswith("topology"):
            for value in axis.values:
                system = cx.System().topology("torus", size=[2, 2])
                system.workload("host*", pattern="random", requests=10)
                system.set(axis.path, value.plain()).check()


def test_what_a_study_of_the_page_derives_is_more_than_nothing() -> None:
    (listed,) = re.findall(r"busiest: \{greatest: (\[.*\])\}", page("docs/cli.md"))
    summary = cx.run(cx.load("esf/validation").set("workload.host.requests", 1000)).summary
    found = [
        value
        for name, switch in summary["per_switch"].items()
        for key, value in switch.items()
        if any(fnmatchcase(f"per_switch.{name}.{key}", path) for path in ast.literal_eval(listed))
    ]
    assert found
    assert max(found) > 0.1
