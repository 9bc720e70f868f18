"""What the memory of a program is for: names of objects, how much each is used, and pages placed by them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from exec_support import ROOT, SMALL
from test_trace_emulator import needs_qemu

import cxloom as cx
from cxloom.advising.profile import read_profile
from cxloom.base.errors import InputError
from cxloom.execution import execute, replay
from cxloom.execution.objects import ByRule, RecordedObjects, Rule, UseOfPages, most_used, placement_by
from cxloom.execution.result import ExecutionResult
from cxloom.trace import DEMAND, READ, WRITE, TraceBatch, capture, info
from cxloom.trace.format import CALL
from cxloom.trace.objects import METADATA, plain_name, recorded

MEBIBYTE = 1 << 20
BOTH = """
name: both
devices:
  host: {kind: host, process_time: 5ns, queue: 256, core: {}}
  near: {kind: memory, capacity: 1GiB, controller_time: 5ns, media: {kind: fixed, latency: 80ns}}
  far: {kind: memory, capacity: 1GiB, controller_time: 5ns, media: {kind: fixed, latency: 280ns}}
links: [{between: [host, near]}, {between: [host, far], port_delay: 1ns}]
address_map: [{to: near}, {to: far}]
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host with a near and a far memory."""
    file = tmp_path_factory.mktemp("systems") / "both.yaml"
    file.write_text(BOTH)
    return file


@pytest.fixture(scope="module", params=["dynamic", "static"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program, with the C library in it or in a file of its own."""
    folder = tmp_path_factory.mktemp("programs")
    source = Path(__file__).parent / "programs" / "objects.c"
    flags = ["-O2", f"-I{ROOT / 'include'}", *(["-static"] if request.param == "static" else [])]
    subprocess.run([shutil.which("cc") or "gcc", *flags, source, "-o", folder / "objects"], check=True)
    return str(folder / "objects")


def uses(result: ExecutionResult) -> dict[str, tuple[int, int]]:
    """Bytes and accesses by name."""
    return {each.name: (each.bytes, each.accesses) for each in result.objects}


@needs_qemu
def test_objects_have_their_names_and_their_accesses(program: str, both: Path, tmp_path: Path) -> None:
    """A MiB with a cache of 4 KiB: a written line is fetched and written back; 3 sweeps fetch each line 3 times."""
    trace = tmp_path / "trace.parquet"
    system = [cx.load(str(both))]
    result = execute([program], system, caches=SMALL, region="marks", record=trace)
    found = uses(result)
    lines = MEBIBYTE // 64
    assert found["data:table"] == (MEBIBYTE, pytest.approx(2 * lines, rel=0.01))
    built, count = found["map:build"]
    assert built == pytest.approx(MEBIBYTE, abs=8192)
    assert count == pytest.approx(3 * lines, rel=0.01)
    words, count = found["heap:make_words"]
    assert words == pytest.approx(1_000_000, rel=0.15)  # what the heap had before is not of these
    assert count == pytest.approx(1000 * 16, rel=0.15)
    total = sum(accesses for _, accesses in found.values())
    assert total == result.accesses
    named = sum(found[name][1] for name in ("data:table", "map:build", "heap:make_words"))
    assert named > 0.9 * total
    # A written line has a read that fetches it and a write-back; nobody writes what is only summed up.
    reads = {each.name: each.reads for each in result.objects}
    assert reads["data:table"] == pytest.approx(0.5, abs=0.01)
    assert reads["map:build"] > 0.6
    said = tmp_path / "said.json"
    said.write_text(json.dumps(result.to_dict()))
    again = read_profile(said)
    assert [(each.name, each.bytes, each.accesses, each.reads) for each in again.objects] == [
        (each.name, each.bytes, each.accesses, each.reads) for each in result.objects
    ]
    assert (again.page, again.threads) == (4096, 1)
    captured = tmp_path / "captured.parquet"
    capture([program], captured, caches=SMALL, region="marks")
    assert uses(replay(captured, system))["data:table"] == found["data:table"]
    # The trace knows, too.
    assert METADATA in info(trace).metadata
    assert uses(replay(trace, system)) == found


@needs_qemu
def test_an_object_is_placed_by_its_name(
    program: str, both: Path, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    """So many pages are in the far memory, and accesses to them go there; a replay places as well."""
    out, trace = tmp_path / "out.json", tmp_path / "trace.parquet"
    levels = ("--levels", "L1:4KiB:4", "--roi", "marks", "--out", out)

    def placed(*options: Any) -> tuple[dict[str, int], dict[str, Any], str]:
        outcome = cxloom("exec", "--system", both, *options)
        assert outcome.code == 0, outcome.err
        found = json.loads(out.read_text())["systems"]
        assert len(found) == 2  # beside all in the nearest memory
        assert found[0]["per_requester"]["host"]["pages"]["far"] == 0
        return found[1]["per_requester"]["host"]["pages"], found[1], outcome.err

    pages, table, _ = placed("--place", "data:tab*=far", *levels, "--", program)
    assert pages["far"] == MEBIBYTE // 4096
    assert table["slowdown"] > 1.05
    assert table["placement"] == "data:tab*=far, preferred"
    pages, several, _ = placed(
        "--place", "map:build=far", "--place", "data:table=far", "--record", trace, *levels, "--", program
    )
    assert pages["far"] == pytest.approx(2 * MEBIBYTE // 4096, abs=2)
    assert several["slowdown"] > table["slowdown"]
    again, same, _ = placed(
        "--place", "map:build=far", "--place", "data:table=far", "--out", out, "--replay", trace
    )
    assert again == pages
    assert same["time_ns"] == several["time_ns"]
    # The first rule that fits counts, and the rest goes where it is said.
    weighted = "{kind: interleave, nodes: [near, far], weights: [3, 1]}"
    pages, _, said = placed(
        "--place",
        "data:table=near",
        "--place",
        f"*:*={weighted}",
        "--place",
        "none=far",
        *levels,
        "--",
        program,
    )
    assert pages["far"] == pytest.approx(pages["near"] / 3 - MEBIBYTE / 4096 / 3, rel=0.15)
    assert "no object of the program fits --place none=far" in said
    for wrong, problem in (("table", "not a place for objects"), ("data:table=fra", "fra")):
        outcome = cxloom("exec", "--system", both, "--place", wrong, "--", program)
        assert outcome.code == 2
        assert problem in outcome.err


def test_a_trace_without_objects_cannot_be_placed_by_them(
    both: Path, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("# cxloom-trace 1: address kind instruction_gap\n" + "0x0 R 10\n" * 10)
    outcome = cxloom("exec", "--system", both, "--place", "stack=far", "--replay", trace)
    assert outcome.code == 2
    assert "does not say which objects" in outcome.err
    trace.write_text(f'# cxloom-trace 2: address kind\n# metadata: {{"{METADATA}": "[]"}}\n0x0 R\n')
    assert "not the objects of a program" in cxloom("exec", "--system", both, "--replay", trace).err


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("make", "make"),
        ("make.constprop.0", "make"),
        ("make.part.0.isra.0", "make"),
        ("_Z9init_treev", "init_tree"),
        ("_ZN4tree5Index3addEi", "tree::Index::add"),
        ("_ZNK4tree5Index3addEi", "tree::Index::add"),
        ("_ZNSt6vectorIiE9push_backEOi", "_ZNSt6vectorIiE9push_backEOi"),  # what is no plain name stays
        ("_Znwm", "_Znwm"),
        ("", ""),
    ],
)
def test_functions_are_called_as_in_their_sources(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


class Few:
    """Objects of six frames."""

    names: ClassVar = ["a", "b", "c"]

    def of_frames(self) -> Any:
        """By frame."""
        return np.array([0, 0, 1, 0, 2, 2])


def test_what_a_trace_says_of_objects_is_what_they_are() -> None:
    again = RecordedObjects(recorded(Few(), "a.parquet")[METADATA])
    assert recorded(Few(), "a.trace") == {}
    assert again.names == Few.names
    assert again.of_frames().tolist() == Few().of_frames().tolist()
    for text in ("{}", "[1", '{"names": ["a"], "runs": [[1, 2]]}', '{"names": ["a"], "runs": [[0]]}'):
        with pytest.raises(InputError, match="not the objects"):
            RecordedObjects(text)


def test_uses_are_counted_by_object() -> None:
    use = UseOfPages(4096)
    pages = np.array([0, 2, 2, 3, 5, 9])
    use.add(TraceBatch.of(pages * 4096 + 64, READ), 6)
    use.add(TraceBatch.of(np.array([2, 2]) * 4096, WRITE), 6)
    found = [(each.name, each.bytes, each.accesses, each.reads) for each in use.by_object(Few())]
    assert found == [("a", 12288, 2, 1.0), ("b", 4096, 4, 0.5), ("c", 8192, 1, 1.0)]  # as first touched
    assert [each.name for each in most_used(use.by_object(Few()))] == ["b", "a", "c"]


def test_addresses_say_which_rule_they_go_by() -> None:
    fits: set[str] = set()
    rules = [Rule.parse("b=x"), Rule.parse("[ab]=y,z"), Rule.parse("d*={kind: preferred, nodes: [x]}")]
    batch = TraceBatch.of(np.arange(7) * 4096 + 5, READ, role=[DEMAND] * 6 + [CALL])
    changed = ByRule(rules, Few(), fits, 4096)(batch).address
    assert (changed & np.uint64((1 << 40) - 1)).tolist() == batch.address.tolist()
    assert (changed >> np.uint64(40)).tolist() == [2, 2, 1, 2, 0, 0, 0]
    assert fits == {"b", "[ab]"}
    placement = placement_by(rules, "first-touch")
    assert [each["place"] for each in placement["ranges"]] == [
        {"kind": "bind", "nodes": ["x"]},
        {"kind": "bind", "nodes": ["y", "z"]},
        {"kind": "preferred", "nodes": ["x"]},
    ]
    assert placement["ranges"][1]["base"] == hex(2 << 40)
    assert placement_by((), "first-touch") == "first-touch"
