"""Processes and mappings of a guest: where its kernel has them, and how their accesses are counted and shown."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from boot_support import TOPOLOGIES, machine
from exec_support import spec
from rich.console import Console
from test_sampling import records

import cxloom as cx
from cxloom import _core
from cxloom.base.errors import SimulationError
from cxloom.booting.btf import Btf
from cxloom.booting.guest import Guest
from cxloom.booting.kernel_layout import kernel_layout, write_layout
from cxloom.booting.policy import Policy
from cxloom.booting.timed import MachineResult, all_near
from cxloom.booting.uses import MappingUse, ProcessUse, owners_of, uses_of
from cxloom.execution import replay
from cxloom.report.machine_page import machine_page
from cxloom.report.machine_table import rows_of, show_processes
from cxloom.trace import write_trace

GIB = 1 << 30
INT, STRUCT, UNION, TYPEDEF, CONST = 1, 4, 5, 8, 10


def btf(*types: tuple[str, int, int, list[tuple[str, int, int]] | None]) -> bytes:
    """The types of a kernel: name, kind, the type that it names, and fields with name, type and first bit."""
    strings, body = bytearray(b"\0"), bytearray()

    def place(text: str) -> int:
        if not text:
            return 0
        strings.extend(text.encode() + b"\0")
        return len(strings) - len(text) - 1

    for name, kind, other, fields in types:
        body += struct.pack("<III", place(name), kind << 24 | len(fields or ()), other)
        body += bytes(4) if kind == INT else b""
        for field, of, bit in fields or ():
            body += struct.pack("<III", place(field), of, bit)
    head = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(body), len(body), len(strings))
    return head + bytes(body) + bytes(strings)


SMALL = btf(
    ("long", INT, 8, None),
    ("path", STRUCT, 16, [("mnt", 1, 0), ("dentry", 1, 64)]),
    ("path_t", TYPEDEF, 2, None),
    ("", CONST, 3, None),
    ("", UNION, 16, [("f_path", 4, 0), ("other", 1, 0)]),
    ("file", STRUCT, 64, [("f_mode", 1, 0), ("", 5, 256)]),
)


def test_a_field_is_found_in_what_is_around_it() -> None:
    """In a union without a name, and on through a type that stands for another."""
    types = Btf(SMALL, ["file"])
    assert types.offset("file", "f_mode") == 0
    assert types.offset("file", "f_path") == 32
    assert types.offset("file", "f_path.dentry") == 40


@pytest.mark.parametrize(
    ("structure", "path"), [("file", "f_inode"), ("dentry", "d_name"), ("file", "f_mode.x")]
)
def test_a_field_that_is_not_there_is_named(structure: str, path: str) -> None:
    with pytest.raises(SimulationError, match=rf"no {structure}\.{path}"):
        Btf(SMALL, ["file", "dentry"]).offset(structure, path)


def test_a_kernel_without_types_is_said() -> None:
    with pytest.raises(SimulationError, match="does not describe its types"):
        Btf(b"", ["file"])


def fields(*names: str, first: int = 0) -> list[tuple[str, int, int]]:
    """Fields of eight bytes, one behind the other."""
    return [(name, 1, 64 * number) for number, name in enumerate(names, first)]


KERNEL = btf(
    ("long", INT, 8, None),
    ("task_struct", STRUCT, 64, fields("mm", "tgid", "group_leader", "real_parent", "comm", first=1)),
    ("mm_struct", STRUCT, 64, fields("start_brk", "brk", first=1)),
    ("vm_area_struct", STRUCT, 64, fields("vm_start", "vm_end", "vm_mm", "vm_flags", "vm_file")),
    ("path", STRUCT, 16, fields("mnt", "dentry")),
    ("file", STRUCT, 64, [("f_path", 5, 128)]),
    ("qstr", STRUCT, 16, fields("hash", "name")),
    ("dentry", STRUCT, 64, [("d_name", 7, 64)]),
)
SYMBOLS = "ffff1000 T perf_event_mmap\nffff2000 T exit_mmap\nffff3000 D __per_cpu_offset\n351c0 A pcpu_hot\n"


def guest_of(symbols: str, types: bytes, asked: list[str]) -> Guest:
    def run(command: str, _doing: str) -> str:
        asked.append(command)
        return "6.12 #1\n" if command.startswith("uname") else symbols

    return cast(Guest, SimpleNamespace(run=run, read=lambda _file, _doing: types))


def test_the_layout_of_a_kernel_is_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked: list[str] = []
    found = kernel_layout(guest_of(SYMBOLS, KERNEL, asked))
    assert found == [
        0xFFFF1000,
        0xFFFF2000,
        0xFFFF3000,
        0x351C0,
        8,
        16,
        24,
        32,
        40,
        8,
        16,
        0,
        8,
        16,
        24,
        32,
        24,
        16,
    ]
    write_layout(found, tmp_path / "kernel")
    assert (tmp_path / "kernel").read_text().split() == [f"{each:x}" for each in found]
    assert len(asked) == 2
    assert kernel_layout(guest_of("", b"", asked)) == found
    assert len(asked) == 3


def test_a_kernel_without_a_symbol_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(SimulationError, match="has no exit_mmap"):
        kernel_layout(guest_of(SYMBOLS.replace("exit_mmap", "other"), KERNEL, []))
    assert not list(tmp_path.rglob("*.json"))


def sieve() -> _core.ProgramCapture:
    """What two processes did: one with two mappings, of which one is in both memories of the machine."""

    def columns(*counts: tuple[int, int]) -> tuple[Any, Any]:
        pages, times = zip(*counts, strict=True)
        return np.array(pages, dtype=np.uint64), np.array(times, dtype=np.uint64)

    far = GIB // 4096
    mappings = [
        (0, b"[heap]", *columns((2, 10), (far + 1, 30))),
        (0, b"app", *columns((3, 5))),
        (1, b"libc.so.6", *columns((4, 7), (5, 1))),
    ]
    processes = [(11, b"app", 1000, 46), (7, b"sh", 200, 8), (6, b"idle", 0, 0)]
    return cast(_core.ProgramCapture, SimpleNamespace(guest_processes=processes, guest_mappings=mappings))


def test_uses_are_by_process_mapping_and_memory() -> None:
    made = machine(TOPOLOGIES["direct"])
    app, shell = uses_of(sieve(), made)
    assert (str(app), app.instructions, app.accesses) == ("app (11)", 1000, 46)
    heap, code = app.mappings
    assert (heap.name, heap.bytes, heap.accesses) == ("[heap]", 8192, 40)
    assert heap.memories == {"local": 10, "m0": 30}
    assert (code.name, code.memories) == ("app", {"local": 5})
    assert [each.name for each in shell.mappings] == ["libc.so.6"]
    assert app.to_dict()["mappings"][0]["memories"] == {"local": 10, "m0": 30}


def test_the_owner_of_a_region_is_who_accesses_it_most() -> None:
    assert owners_of(sieve(), 65536) == {0: "app (11) [heap]", GIB // 65536: "app (11) [heap]"}
    assert owners_of(sieve(), 8192)[2] == "sh (7) libc.so.6"


@pytest.fixture
def found(tmp_path: Path) -> MachineResult:
    """Those uses beside a kernel, in a result."""
    write_trace(tmp_path / "trace.parquet", [records(2_000)], {"address space": "physical", "command": "app"})
    result = replay(tmp_path / "trace.parquet", [cx.load(str(spec(tmp_path)))], pages=["as-is"])
    uses = uses_of(sieve(), machine(TOPOLOGIES["direct"]))
    return MachineResult(result, 500, 20, {}, {"pgfault": 3}, 4, uses, owners_of(sieve(), 65536))


def test_the_terminal_has_the_hottest_first(found: MachineResult) -> None:
    assert [(each.process, each.mapping) for each in rows_of(found)] == [
        ("app (11)", "[heap]"),
        ("the kernel", ""),
        ("sh (7)", "libc.so.6"),
        ("app (11)", "app"),
    ]
    file = io.StringIO()
    show_processes(found, Console(file=file, width=80))
    lines = file.getvalue().splitlines()
    assert lines[1].split() == ["process", "mapping", "touched", "accesses", "share", "in"]
    assert lines[2].split()[-4:] == ["m0", "75%,", "local", "25%"]
    assert all(len(line) <= 80 for line in lines)


def test_what_does_not_fit_is_summed(found: MachineResult) -> None:
    heap = found.processes[0].mappings[0]
    many = [type(heap)(f"m{number}", 4096, 10, {"local": 10}) for number in range(20)]
    process = type(found.processes[0])(1, "app", 1, 200, tuple(many))
    file = io.StringIO()
    whole = MachineResult(found.result, 0, 0, {}, {}, 0, (process,))
    show_processes(whole, Console(file=file, width=80))
    lines = file.getvalue().splitlines()
    assert len(lines) == 12
    assert lines[-1].split()[:3] == ["11", "others", "110"]


def test_processes_that_are_not_told_apart_have_no_table(found: MachineResult) -> None:
    file = io.StringIO()
    unknown = MachineResult(found.result, 500, 20, {}, {})
    show_processes(unknown, Console(file=file))
    assert file.getvalue() == ""
    assert 'id="processes"' not in machine_page(unknown)


def test_the_page_and_the_file_have_them(found: MachineResult) -> None:
    page = machine_page(found)
    assert 'id="processes"' in page
    assert "sh" in page
    assert "libc.so.6" in page
    assert "most by" in page
    assert found.to_dict()["register_accesses"] == 4
    assert [each["name"] for each in found.to_dict()["processes"]] == ["app", "sh"]
    assert found.sentence().endswith("pgfault 3. 4 accesses to registers of devices took no time.")


@pytest.mark.parametrize(
    ("memories", "asked", "told"),
    [
        ({"local": 5}, None, True),
        ({"local": 5, "m0": 1}, None, False),
        ({"m0+m1": 1}, None, False),
        ({"local": 5}, Policy("membind", ("local",)), False),
    ],
)
def test_a_program_without_anything_on_cxl_is_told_how_to_have_it_there(
    memories: dict[str, int], asked: Policy | None, told: bool
) -> None:
    made = machine(TOPOLOGIES["two devices on one bridge"])
    uses = [ProcessUse(1, "chase", 9, 5, (MappingUse("[anonymous]", 4096, 5, memories),))]
    notes = all_near(uses, made, asked)
    assert notes == (
        ("nothing of the program was on CXL; --membind m0,m1 puts its pages there",) if told else ()
    )
    assert all_near([], made, None) == ()
