"""Traces from strangers: whatever is in them, they are read or refused, and move no cursor."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exec_support import spec
from foreign_traces import FORMS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.display.console import plain
from cxloom.display.printable import OBEYED, escaped
from cxloom.trace import FORMATS, READ, TraceBatch, info, write_trace

# Up, erase, red, a new title of the window, and text from right to left.
HOSTILE = "\x1b[A\x1b[2J\x1b[31m\x1b]0;pwned\x07\u202e\x9b1m"


def obeyed(text: str) -> set[str]:
    """What a terminal would obey."""
    return {c for c in text if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f" or c == "\u202e"}


def test_what_a_terminal_obeys_is_written_out() -> None:
    assert escaped("a\x1b[2Jb\u202ec\x9bd\x7f\r") == "a\\x1b[2Jb\\u202ec\\x9bd\\x7f\\r"
    assert escaped("two\nlines\tof \u00e9\u2192\U0001f40d") == "two\nlines\tof \u00e9\u2192\U0001f40d"
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    assert re.search(OBEYED, printable) is None  # which goes through without a look at the expression


def test_consoles_print_nothing_that_a_terminal_obeys() -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)
    for each in (HOSTILE, Text(HOSTILE, style="red"), table):
        file = io.StringIO()
        plain(file).print(each)
        assert not obeyed(file.getvalue())
        assert "pwned" in file.getvalue()


def test_info_shows_metadata_escaped(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    for name in ("trace.parquet", "trace.txt"):
        path = tmp_path / name
        write_trace(path, [TraceBatch.of([64], READ)], {"source": HOSTILE, HOSTILE: "a\nfalse row  1"})
        outcome = cxloom("trace", "info", path)
        assert outcome.code == 0
        assert not obeyed(outcome.out)
        assert "\\x1b[2J" in outcome.out
        assert "\nfalse row" not in outcome.out


def test_the_name_of_a_spec_and_of_a_file_is_shown_escaped(
    tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    path = tmp_path / "evil\x1b[2J.yaml"
    path.write_text(
        'name: "a\\e[31m\\e]0;pwned\\a"\n'
        "devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}\n"
        "links: [{between: [host, mem], bandwidth: 32GB/s}]\n"
        "address_map: [{to: mem}]\n"
        "workload: {host: {pattern: random, requests: 50, footprint: 1MiB}}\n"
    )
    for command in ("check", "run", "explain"):
        outcome = cxloom(command, path)
        assert outcome.code == 0
        assert not obeyed(outcome.out + outcome.err)
    path.write_text('devices: {"h\\e[2J": {kind: host}}\n')
    refused = cxloom("run", path)
    assert refused.code == 2
    assert not obeyed(refused.out + refused.err)


DEEP = '{"width":' * 20_000

METADATA: dict[str, tuple[dict[str, str], str]] = {
    "a quote that is not closed": ({"command": "prog 'it"}, ""),
    "a deep core": ({"core": DEEP}, "not a core"),
    "a core that is a list": ({"core": "[1]"}, "not a core"),
    "deep objects": ({"objects": DEEP}, "not the objects of a program"),
    "objects that are a number": ({"objects": "7"}, "not the objects of a program"),
    "objects of huge numbers": ({"objects": '{"names": ["a"], "runs": [[0, 1e400]]}'}, "not the objects"),
    "a deep translation": ({"translation": DEEP}, ""),
    "infinite counts": (
        {
            "translation": '{"misses": 1e400, "walks": 1, "loads": 1, "cycles": 1}',
            "threads": "[[1e400, 0, 0]]",
        },
        "",
    ),
    "deep threads": ({"threads": DEEP}, ""),
    "hostile names": (
        {"command": HOSTILE, "objects": json.dumps({"names": [HOSTILE], "runs": [[0, 1]]})},
        "",
    ),
}


@pytest.mark.parametrize("case", METADATA)
def test_metadata_are_read_or_refused(case: str, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    metadata, problem = METADATA[case]
    path = tmp_path / "trace.parquet"
    write_trace(path, [TraceBatch.of([64 * i for i in range(64)], READ, instruction_gap=10)], metadata)
    assert cxloom("trace", "info", path).code == 0
    outcome = cxloom("exec", "--system", spec(tmp_path), "--replay", path)
    assert "Traceback" not in outcome.err
    assert not obeyed(outcome.out + outcome.err)
    assert outcome.code == (2 if problem else 0), outcome.err
    assert problem in outcome.err


# --- anything at all -------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    b"0 1 2 7 R W 0x40 0x 1f4 READ P_MEM_RD LD 0,1 31: read (8) ( 8,0 0.000000001 D + Read # : 0x1: (nil) r - I , "
    b"18446744073709551615 99999999999999999999 1,a,0,Read,0,64,1 # cxloom-trace 2: address kind size".split()
)
LINES = st.lists(st.lists(WORDS, max_size=8).map(b" ".join), max_size=6).map(b"\n".join)


def read_or_refused(path: Path, **options: Any) -> None:
    try:
        found = info(path, **options)
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017 - some are refused, some are not
    else:
        assert found.accesses > 0


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(LINES, st.binary(max_size=400)), form=st.sampled_from([None, *FORMATS]))
def test_anything_is_read_or_refused(content: bytes, form: str | None, tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_bytes(content)
    read_or_refused(path, format=form, levels=[2, 2] if form == "ramulator2-read-write" else ())


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(form=st.sampled_from(sorted(FORMS)), at=st.floats(0, 1), byte=st.binary(min_size=1, max_size=3))
def test_a_damaged_trace_is_read_or_refused(form: str, at: float, byte: bytes, tmp_path: Path) -> None:
    content = FORMS[form].content
    place = int(at * len(content))
    path = tmp_path / "given"
    path.write_bytes(content[:place] + byte + content[place + len(byte) :])
    read_or_refused(path, format=form, **FORMS[form].options)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    magic=st.sampled_from([b"PAR1", b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"BZh9", b"\x28\xb5\x2f\xfd"]),
    rest=st.binary(max_size=200),
)
def test_what_only_begins_as_a_file_is_refused(magic: bytes, rest: bytes, tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_bytes(magic + rest)
    with pytest.raises(InputError):
        info(path)


def test_a_run_ends_where_its_trace_is_garbage(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("0x40 R\n" * 1000 + "\x1b[2J R\n")
    (tmp_path / "spec.yaml").write_text(
        "devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}\n"
        "links: [{between: [host, mem], bandwidth: 32GB/s}]\n"
        "address_map: [{to: mem}]\n"
        "workload: {host: {trace: given}}\n"
    )
    with pytest.raises(InputError) as caught:
        cx.run(cx.load(tmp_path / "spec.yaml"))
    assert caught.value.line == 1001
    assert not obeyed(str(caught.value))
