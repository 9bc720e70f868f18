"""Every kind of bad trace gets an answer that names the file, and nothing is written."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Outcome
from foreign_traces import champsim

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.trace import READ, TraceBatch, convert, info, open_trace, write_trace


def good(count: int = 100_000) -> TraceBatch:
    """A trace that fills pages of Parquet."""
    return TraceBatch.of(np.random.default_rng(1).integers(0, 2**40, count), READ)


def parquet(columns: dict[str, Any], **options: Any) -> Callable[[Path], None]:
    """Writes the columns as they are."""
    return lambda path: pq.write_table(pa.table(columns), path, **options)


def text(content: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(content) and None


def raw(content: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content) and None


def cut(keep: float) -> Callable[[Path], None]:
    """A Parquet trace of which only the first part is there."""

    def make(path: Path) -> None:
        write_trace(path.with_suffix(".parquet"), [good()])
        content = path.with_suffix(".parquet").read_bytes()
        path.with_suffix(".parquet").unlink()
        path.write_bytes(content[: int(len(content) * keep)])

    return make


def damaged(path: Path) -> None:
    """A Parquet trace with one bit changed in the middle of its data."""
    cut(1)(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def parquet_twice(path: Path) -> None:
    arrays = [ADDRESSES, ADDRESSES, pa.array([0, 0], pa.uint8())]
    pq.write_table(pa.Table.from_arrays(arrays, names=["address", "address", "kind"]), path)


def versioned(path: Path) -> None:
    table = pa.table({"address": [1], "kind": [0]}).replace_schema_metadata({"cxloom.trace.version": "7"})
    pq.write_table(table, path)


def unsigned(values: list[int | None]) -> pa.Array:
    return pa.array(values, pa.uint64())


ADDRESSES = unsigned([1, 2])
CASES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing": (lambda path: None, "no such file"),
    "directory": (Path.mkdir, "a directory, not a file"),
    "empty": (raw(b""), "the file is empty"),
    "binary": (
        raw(bytes(range(256)) * 100),
        "neither Parquet nor text: binary data, nor records that are known, found b'",
    ),
    "elf": (raw(Path("/proc/self/exe").read_bytes()[:5000]), "neither Parquet nor text"),
    "magic only": (raw(b"PAR1"), "a damaged Parquet file"),
    "twice": (parquet_twice, "the column 'address' is there twice"),
    "first third": (cut(0.33), "the Parquet file is cut off"),
    "last byte missing": (cut(0.99999), "the Parquet file is cut off"),
    "changed bit": (damaged, "a damaged Parquet file"),
    "no rows": (parquet({"address": unsigned([]), "kind": unsigned([])}), "the trace has no accesses"),
    "no kind": (
        parquet({"address": ADDRESSES}),
        "the column 'kind' is missing, found address; allowed: address, kind",
    ),
    "misspelt": (parquet({"address": ADDRESSES, "kind": [0, 0], "threads": [0, 0]}), "did you mean 'thread'"),
    "real numbers": (
        parquet({"address": [1.5, 2.0], "kind": [0, 0]}),
        "'address' has the wrong type, found double",
    ),
    "null": (parquet({"address": unsigned([1, None]), "kind": [0, 0]}), "no address in access 1"),
    "negative": (parquet({"address": [1, -2], "kind": [0, 0]}), "'address' is out of range, found -2 to 1"),
    "ninth kind": (
        parquet({"address": ADDRESSES, "kind": [0, 8]}),
        "bad kind of access 1, found 8; allowed: 0 to 7",
    ),
    "atomic of three bytes": (
        parquet({"address": unsigned([0, 64]), "kind": [0, 2], "size": [64, 3]}),
        "bad size of access 1, found 3; allowed: 4 or 8 bytes for an atomic operation",
    ),
    "atomic across a boundary": (
        parquet({"address": unsigned([0, 68]), "kind": [0, 2]}),
        "bad address of access 1, found 68; allowed: a multiple of the size of the atomic operation",
    ),
    "atomic of three bytes in a text": (
        text("# cxloom-trace 1: address kind size\n0x40 R 64\n0x40 A 3\n"),
        ":3: bad size, found '3'; allowed: 4 or 8 bytes for an atomic operation",
    ),
    "atomic across a boundary in a text": (
        text("0x40 R 1\n0x44 A 2\n"),
        ":2: bad address, found '0x44'; allowed: a multiple of the size of the atomic operation, 8",
    ),
    "no bytes": (
        parquet({"address": ADDRESSES, "kind": [0, 0], "size": [0, 4]}),
        "bad size of access 0, found 0",
    ),
    "too large": (
        parquet({"address": ADDRESSES, "kind": [0, 0], "size": [4, 1 << 31]}),
        "bad size of access 1, found 2147483648; allowed: at most 1073741824",
    ),
    "needs itself": (
        parquet({"address": ADDRESSES, "kind": [0, 0], "dependence": [0, 2]}),
        "bad dependence of access 1",
    ),
    "back in time": (
        parquet({"address": ADDRESSES, "kind": [0, 0], "timestamp": [9, 8]}),
        "bad timestamp of access 1",
    ),
    "before time": (
        parquet({"address": ADDRESSES, "kind": [0, 0], "timestamp": [-7, 8]}),
        "bad timestamp of access 0",
    ),
    "other version": (versioned, "an unknown version, found 7; allowed: 1 to 2"),
    "twelfth role": (
        parquet({"address": ADDRESSES, "kind": [0, 0], "role": [0, 11]}),
        "bad role of access 1, found 11; allowed: 0 to 10",
    ),
    "call that writes": (
        parquet({"address": ADDRESSES, "kind": [0, 1], "role": [3, 3]}),
        "bad role of access 1, found 3; allowed: a role for this kind",
    ),
    "only calls": (
        parquet({"address": ADDRESSES, "kind": [0, 0], "role": [3, 3]}),
        "the trace has no accesses",
    ),
    "prose": (
        text("Dear reader,\nthis is no trace.\n"),
        ":1: not a line of a trace in any form that is known, found 'Dear reader,'; allowed: parquet, text, lackey",
    ),
    "deep metadata": (
        text("# cxloom-trace 1: address kind\n# metadata: " + "[" * 60_000 + "\n0x40 R\n"),
        ":2: the metadata are not JSON",
    ),
    "wrong column": (
        text("0x40 R 1\n0x40 1 R\n"),
        ":2: bad kind, found '1'; allowed: R, W, A, F, K, G, L or N",
    ),
    "missing column": (text("0x40 R 1\n0x40 R\n"), ":2: a line of 2 columns"),
    "comments only": (text("# nothing\n"), "the trace has no accesses"),
    "bad header": (text("# cxloom-trace 1: address kind thred\n0x40 R 1\n"), ":1: .*did you mean 'thread'"),
    "bad metadata": (
        text("# cxloom-trace 1: address kind\n# metadata: {\n0x40 R\n"),
        ":2: the metadata are not JSON",
    ),
    "late garbage": (text("0x40 R 1\n" * 300_000 + "0x40 R\n"), ":300001: a line of 2 columns"),
    "cut lackey": (
        text("I  0401,3\n L 1000,8\n L 10"),
        ":3: the trace is cut off within a line, found ' L 10'",
    ),
    "bad lackey": (text("I  0401,3\nhello\n"), ":2: not a line of a lackey trace, found 'hello'"),
    "dramsim3 cut within a line": (
        text("0x40 READ 1\n0x80 REA"),
        ":2: a line of 2 columns, found '0x80 REA'",
    ),
    "dramsim3 of one line that is cut": (text("0x40 READ"), ":1: a line of 2 columns, found '0x40 READ'"),
    "dramsim3 back in time": (
        text("0x40 READ 2\n0x40 WRITE 1\n"),
        ":2: bad cycle, found '1'; allowed: no less than the one before, 2",
    ),
    "dramsim3, then ours": (
        text("0x40 READ 2\n0x40 R 3\n"),
        ":2: bad kind, found 'R'; allowed: READ, WRITE",
    ),
    "nothing, compressed": (raw(lzma.compress(b"")), "the file is empty, found xz of nothing"),
    "cut xz": (
        raw(lzma.compress(b"0x40 R 1\n" * 100_000)[:-30]),
        "cannot be read: the compressed data are cut off",
    ),
    "damaged xz": (raw(lzma.compress(b"0x40 R 1\n")[:-9] + b"123456789"), "corrupt"),
    "records that are cut off": (
        raw(champsim([0x40], []) * 3 + b"123"),
        "the trace is cut off within record 3",
    ),
    "ours, then dramsim3": (
        text("0x40 R 2\n0x40 READ 3\n"),
        ":2: bad kind, found 'READ'; allowed: R, W, A, F, K, G, L or N",
    ),
    "dramsim3 beyond 64 bits": (text("0x12345678123456781 READ 2\n"), ":1: bad address"),
    "ramulator2 loads, then reads": (text("LD 0x40\nR 0x40\n"), ":2: bad kind, found 'R'; allowed: LD or ST"),
    "ramulator2 load without address": (text("LD 0x40\nST\n"), ":2: a line of 1 column"),
    "ramulator2 load of letters": (text("LD 4f\n"), ":1: bad address, found '4f'"),
    "ramulator2 loads of an O3 core in hexadecimal": (
        text("30 64\n3 0x40\n"),
        ":2: bad address, found '0x40'",
    ),
    "ramulator2 bubbles below zero": (text("30 64\n-3 64\n"), ":2: bad number of instructions, found '-3'"),
    "digits alone": (text("3 64\n2 128\n"), "format: the content fits several forms of traces, found '3 64'"),
    "ramulator2 coordinates of nobody knows what": (
        text("R 0,1,2,3,4,5\n"),
        "levels: the trace has coordinates in a DRAM",
    ),
    "cut gzip": (raw(gzip.compress(b"0x40 R 1\n" * 100_000)[:-30]), "cannot be read"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_traces_are_refused(case: str, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    make, message = CASES[case]
    path = tmp_path / "given"
    make(path)
    with pytest.raises(InputError, match=message) as caught:
        info(path)
    assert caught.value.file == str(path)
    # A conversion leaves its target alone, and nothing lies about.
    target = tmp_path / "target.parquet"
    target.write_bytes(b"precious")
    before = sorted(tmp_path.iterdir())
    outcome = cxloom("trace", "convert", path, target)
    assert outcome.code == 2
    assert str(path) in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.out == ""
    assert target.read_bytes() == b"precious"
    assert sorted(tmp_path.iterdir()) == before


def test_the_exit_code_is_that_of_bad_input(tmp_path: Path, subprocess_cxloom: Callable[..., Any]) -> None:
    (tmp_path / "bad.txt").write_text("0x40 R 1\n0x40 Q 1\n")
    outcome = subprocess_cxloom("trace", "info", "bad.txt", cwd=tmp_path)
    assert outcome.code == 2
    assert "bad.txt:2: bad kind" in outcome.err
    assert "found: 'Q'" in outcome.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.csv", "the file name has no known trace suffix, found '.csv'; allowed: .parquet, .txt, .trace"),
        ("out", "the file name has no known trace suffix"),
        ("folder.txt", "a directory, not a file to write"),
        ("file/out.txt", "not a directory"),
    ],
)
def test_targets_that_cannot_be_written(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=message):
        write_trace(tmp_path / name, [good(10)])
    with pytest.raises(InputError, match=message):
        convert(tmp_path / "not even looked at", tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.txt"]


def test_nothing_is_left_of_a_trace_that_turns_out_bad(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"

    def batches() -> Any:
        yield good()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_trace(path, batches())
    for bad in (
        [],
        [TraceBatch.of([], [])],
        [TraceBatch.of([1], 2)],
        [TraceBatch.of([1, 2], 0, timestamp=[2, 1])],
    ):
        with pytest.raises(InputError):
            write_trace(path, bad)
    assert list(tmp_path.iterdir()) == []


def test_metadata_that_cannot_be_written(tmp_path: Path) -> None:
    for name in ("out.txt", "out.parquet"):
        with pytest.raises(InputError, match="cannot be called 'version'"):
            write_trace(tmp_path / name, [good(10)], {"version": "2"})
    with pytest.raises(InputError, match="metadata are too long"):
        write_trace(tmp_path / "out.txt", [good(10)], {"note": "x" * 100_000})
    long = {"note": "x" * 60_000}
    write_trace(tmp_path / "out.txt", [good(10)], long)
    assert open_trace(tmp_path / "out.txt").metadata == long
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_order_is_checked_across_batches(tmp_path: Path) -> None:
    earlier, later = TraceBatch.of([1], 0, timestamp=5), TraceBatch.of([1], 0, timestamp=6, dependence=1)
    assert write_trace(tmp_path / "out.txt", [earlier, later]) == 2
    with pytest.raises(InputError, match="bad timestamp of access 2, found 5"):
        write_trace(tmp_path / "out.txt", [earlier, later, earlier])
    with pytest.raises(InputError, match="bad dependence of access 0, found 1"):
        write_trace(tmp_path / "out.txt", [later, later])


def test_a_file_that_cannot_be_opened_twice_is_still_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "gone.txt"
    path.write_text("0x40 R 1\n")
    reader = open_trace(path)
    path.unlink()
    with pytest.raises(InputError, match=r"gone\.txt: no such file") as caught:
        list(reader)
    assert caught.value.file == str(path)


@pytest.mark.parametrize(
    ("lines", "work", "problem"),
    [
        ("0x40 R 0\n0x8000000000 R 1\n", "", "access 1 goes to an address that no region holds"),
        ("0x40 R 0\n0x80 R 1\n", "replay: timestamps, ", "access 1 has no timestamp"),
        ("0x40 R 0\n", "", "the work ends during the warm-up"),
    ],
    ids=["outside", "untimed", "short"],
)
def test_check_reads_the_trace_and_refuses_what_run_refuses(
    lines: str, work: str, problem: str, tmp_path: Path, cxloom: Callable[..., Outcome]
) -> None:
    (tmp_path / "trace.txt").write_text(lines)
    if "timestamps" in work:
        batch = TraceBatch.of(np.array([64, 128], dtype=np.uint64), READ, timestamp=np.array([5, -1]))
        write_trace(tmp_path / "trace.parquet", [batch])
    name = "trace.parquet" if "timestamps" in work else "trace.txt"
    warmup = 5 if "warm-up" in problem else 0
    (tmp_path / "system.yaml").write_text(f"""\
devices: {{host: {{kind: host}}, mem: {{kind: memory, capacity: 1GiB}}}}
links: [{{between: [host, mem]}}]
address_map: [{{to: mem}}]
workload:
  host: {{{work}trace: {name}}}
run: {{warmup: {warmup}}}
""")
    run, check = (cxloom(command, tmp_path / "system.yaml") for command in ("run", "check"))
    assert run.code == check.code == 2
    assert problem in run.err
    assert "system.yaml:5" in run.err
    assert "workload.host" in run.err
    assert check.err == run.err


@pytest.mark.parametrize(
    ("feed", "found"),
    [
        ((lambda: None, None), "(function, NoneType)"),
        ((lambda: None, "all", lambda: None), "(function, str, function)"),
        ((lambda: None, -1, lambda: None), "(function, int, function)"),
        ((), "()"),
    ],
)
def test_a_feed_has_three_parts_or_is_one(feed: Any, found: str) -> None:
    spec = {
        "devices": {"host": {"kind": "host"}, "mem": {"kind": "memory"}},
        "links": [{"between": ["host", "mem"]}],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"trace": "memory.trc"}},
    }
    for act in (_core.Simulation, _core.check):
        with pytest.raises(InputError) as caught:
            act(spec, {"host": feed})
        assert caught.value.path == "workload.host.trace"
        assert "no feed for the trace of 'host'" in str(caught.value)
        assert caught.value.found == found
        assert "the length of the trace or None, what makes another feed" in str(caught.value.allowed)
