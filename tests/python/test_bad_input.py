"""Bad input through the command: exit code 2, the place, the key, the nearest name, and nothing written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Call = Callable[..., object]

WORKLOAD = "pattern: random, reads: 67%, requests: 2000, footprint: 1GiB"

# What is written instead of what in the example; the line of the error, and what it says.
CASES = [
    # misspelt keys
    ("queue: 64", "queu: 64", 3, ["devices.host.queu", "unknown key 'queu'", "did you mean 'queue'?"]),
    ("latency: 45ns", "latncy: 45ns", 5, ["devices.mem[0-3].media.latncy", "did you mean 'latency'?"]),
    ("port_delay: 25ns", "port_dealy: 25ns", 7, ["links[0].port_dealy", "did you mean 'port_delay'?"]),
    ("interleave: 256B", "interlave: 256B", 10, ["address_map[0].interlave", "did you mean 'interleave'?"]),
    ("reads: 67%", "raeds: 67%", 12, ["workload.host.raeds", "did you mean 'reads'?"]),
    ("warmup: 200", "warmpu: 200", 13, ["run.warmpu", "did you mean 'warmup'?"]),
    ("workload:", "wrokload:", 11, ["unknown key 'wrokload'", "did you mean 'workload'?"]),
    # misspelt kinds and choices
    ("kind: host", "kind: hots", 3, ["devices.host.kind", "did you mean 'host'?"]),
    ("kind: fixed", "kind: fixd", 5, ["devices.mem[0-3].media.kind", "did you mean 'fixed'?"]),
    ("pattern: random", "pattern: randm", 12, ["workload.host.pattern", "did you mean 'random'?"]),
    (
        "kind: bus,",
        "kind: bus, duplex: hlaf,",
        4,
        ["devices.bus.duplex", "full or half", "did you mean 'half'?"],
    ),
    ("seed: 1", "seed: 1, routing: rndom", 13, ["run.routing", "did you mean 'random'?"]),
    # units
    (
        "process_time: 10ns",
        "process_time: 10",
        3,
        ["devices.host.process_time", "the unit is missing", "10ns"],
    ),
    (
        "process_time: 10ns",
        "process_time: 10 nanos",
        3,
        ["devices.host.process_time", "unknown unit 'nanos'"],
    ),
    ("process_time: 10ns", "process_time: 10GiB", 3, ["devices.host.process_time", "unknown unit 'GiB'"]),
    ("bandwidth: 64GB/s", "bandwidth: 64", 4, ["devices.bus.bandwidth", "the unit is missing"]),
    ("bandwidth: 64GB/s", "bandwidth: fast", 4, ["devices.bus.bandwidth", "not a quantity"]),
    ("capacity: 16GiB", "capacity: 16", 5, ["devices.mem[0-3].capacity", "the unit is missing"]),
    ("port_delay: 25ns", "port_delay: 25", 7, ["links[0].port_delay", "the unit is missing"]),
    ("footprint: 1GiB", "footprint: 1073741824", 12, ["workload.host.footprint", "the unit is missing"]),
    # negative, zero, beyond bounds, of the wrong type
    ("capacity: 16GiB", "capacity: -16GiB", 5, ["devices.mem[0-3].capacity", "a negative quantity"]),
    ("capacity: 16GiB", "capacity: 0B", 5, ["devices.mem[0-3].capacity", "at least 4KiB"]),
    ("bandwidth: 64GB/s", "bandwidth: 0GB/s", 4, ["devices.bus.bandwidth", "above zero"]),
    ("queue: 64", "queue: 0", 3, ["devices.host.queue", "at least 1"]),
    ("queue: 64", "queue: -1", 3, ["devices.host.queue", "a negative number"]),
    ("queue: 64", "queue: 6.4", 3, ["devices.host.queue", "not a whole number"]),
    ("queue: 64", "queue: [64]", 3, ["devices.host.queue", "not a whole number", "a list"]),
    ("requests: 2000", "requests: 0", 12, ["workload.host.requests", "at least 1"]),
    ("reads: 67%", "reads: 167%", 12, ["workload.host.reads", "at most 1"]),
    ("reads: 67%", "reads: -1%", 12, ["workload.host.reads", "at least 0"]),
    ("interleave: 256B", "interleave: 100B", 10, ["address_map[0].interleave", "power of two"]),
    ("seed: 1", "seed: yes", 13, ["run.seed", "'yes'"]),
    (
        "requests: 2000",
        "requests: 99999999999999999999",
        12,
        ["workload.host.requests", "the number is too large"],
    ),
    # what is missing
    ("kind: host, ", "", 3, ["devices.host", "the kind is missing"]),
    ("requests: 2000, ", "", 12, ["workload.host", "a pattern needs `requests`"]),
    ('to: "mem[*]", ', "", 10, ["address_map[0]", "'to' is missing"]),
    ("between: [host, bus], ", "", 7, ["links[0]", "a link joins two ends"]),
    # names: duplicate, unknown, of the wrong sort
    ("  bus: ", "  host: ", 4, ["devices.host", "duplicate key 'host'", "lines 3 and 4"]),
    (
        "  bus: ",
        "  mem2: {kind: memory}\n  bus: ",
        6,
        ["devices.mem[0-3]", "'mem2' is declared twice", "line 4"],
    ),
    ("warmup: 200", "seed: 2", 13, ["run.seed", "duplicate key 'seed'"]),
    (
        "[host, bus]",
        "[host, buss]",
        7,
        ["links[0].between[1]", "unknown device 'buss'", "did you mean 'bus'?"],
    ),
    ('[bus, "mem[*]"]', '[bus, "men[*]"]', 8, ["links[1].between[1]", "'men[*]' matches no device"]),
    ('to: "mem[*]"', 'to: "mem[0-4]"', 10, ["address_map[0].to", "unknown device 'mem4'"]),
    ('to: "mem[*]"', "to: bus", 10, ["address_map[0].to", "'bus'", "memories"]),
    ('to: "mem[*]"', "to: [mem0, mem1, mem0]", 10, ["address_map[0].to", "'mem0'", "each device once"]),
    (
        "  host: {pattern",
        "  hots: {pattern",
        12,
        ["workload.hots", "unknown device 'hots'", "did you mean 'host'?"],
    ),
    ("  host: {pattern", "  mem0: {pattern", 12, ["workload.mem0", "makes no requests"]),
    ("  bus: ", "  my bus: ", 4, ["devices.my bus", "not a device name"]),
    ("mem[0-3]: ", "mem[3-0]: ", 5, ["devices.mem[3-0]", "the range runs backwards"]),
    ("mem[0-3]: ", "mem[0-x]: ", 5, ["devices.mem[0-x]", "not a range"]),
    # YAML
    ('[bus, "mem[*]"]', "[bus, mem[*]]", 8, ["mem[*] is not quoted", '"mem[*]"']),
    ('to: "mem[*]"', "to: mem[0-3]", 10, ["mem[0-3] is not quoted", '"mem[0-3]"']),
    ('to: "mem[*]"', "to: *", 10, ["* is not quoted"]),
    ("  host:     {", "\thost:     {", 3, ["a tab"]),
    ("queue: 64}", "queue: 64", 4, ["not YAML"]),
    ("queue: 64", "queue:64", 3, ["no space after the ':'"]),
    # graphs and addresses
    (
        '[bus, "mem[*]"]',
        '[bus, "mem[0-2]"]',
        5,
        ["devices.mem[0-3]", "('mem3')", "no links lead from 'host'"],
    ),
    ("[host, bus], port", "[mem0, bus], port", None, ["links", "mem0", "more links than ports"]),
    ("footprint: 1GiB", "footprint: 1TiB", 12, ["workload.host.footprint", "runs out of the address map"]),
    (
        "footprint: 1GiB",
        "footprint: 1GiB, base: 0x1000000000",
        12,
        ["workload.host", "runs out of the address map"],
    ),
    (
        'address_map:\n  - {to: "mem[*]", interleave: 256B}\n',
        "",
        10,
        ["workload.host", "no memory to access"],
    ),
    # traces that cannot be opened
    (WORKLOAD, "trace: nowhere.parquet", 12, ["workload.host.trace", "nowhere.parquet", "no such file"]),
    (WORKLOAD, "trace: .", 12, ["workload.host.trace", "a directory"]),
    (WORKLOAD, "trace: empty.trace", 12, ["workload.host.trace", "empty.trace: the file is empty"]),
    (WORKLOAD, "trace: noise.bin", 12, ["workload.host.trace", "noise.bin", "binary"]),
    (WORKLOAD, "trace: table.parquet", 12, ["workload.host.trace", "table.parquet"]),
    (WORKLOAD, "trace: 7", 12, ["workload.host.trace", "not a text"]),
]


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(
    ("old", "new", "line", "words"), CASES, ids=[f"{case[1]}"[:40].strip() for case in CASES]
)
def test_a_bad_spec_is_refused_at_its_line(
    spec_text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cxloom: Call,
    command: str,
    old: str,
    new: str,
    line: int | None,
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.trace").write_bytes(b"")
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 9)
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "table.parquet")
    assert old in spec_text
    (tmp_path / "bad.yaml").write_text(spec_text.replace(old, new, 1))
    before = sorted(os.listdir(tmp_path))
    outcome = cxloom(command, "bad.yaml", *(["--out", "results"] if command == "run" else []))
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    place = "bad.yaml" if line is None else f"bad.yaml:{line}:"
    assert outcome.err.startswith(f"error: {place}"), outcome.err
    for each in words:
        assert each in outcome.err
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no such file"),
        (b"", "the file is empty"),
        (b"\x7fELF\0\0\0", "a binary file"),
        (b"name: caf\xe9\n", "not UTF-8"),
        (b"- a\n", "not a spec"),
        (b"name: x\n", "no devices"),
        (b"devices: {}\n", "no devices"),
        (b"devices: [host]\n", "not a map"),
    ],
)
def test_what_is_no_spec_is_refused(tmp_path: Path, cxloom: Call, content: bytes | None, words: str) -> None:
    path = tmp_path / "bad.yaml"
    if content is not None:
        path.write_bytes(content)
    outcome = cxloom("run", path, "--out", tmp_path / "results")
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: {path}")
    assert words in outcome.err
    assert not (tmp_path / "results").exists()


def test_a_directory_and_a_near_name_are_named(tmp_path: Path, spec_file: Path, cxloom: Call) -> None:
    assert "a directory, not a file" in cxloom("run", tmp_path).err
    outcome = cxloom("run", tmp_path / "sytem.yaml")
    assert outcome.code == 2
    assert "did you mean 'system.yaml'?" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "devices.hsot.queue=1"], ["matches nothing", "did you mean 'devices.host.queue'?"]),
        (
            ["--set", "devices.host.queue=0"],
            ["devices.host.queue", "at least 1", "from --set devices.host.queue=0"],
        ),
        (["--set", "devices.host.queue"], ["not an override", "PATH=VALUE"]),
        (["--seed", "-1"], ["run.seed", "a negative number", "from --seed -1"]),
        (["--max-time", "5"], ["--max-time", "the unit is missing"]),
        (["--max-time", "soon"], ["--max-time", "not a quantity"]),
        (["--plugin", "nowhere.so"], ["nowhere.so", "cannot be loaded"]),
    ],
)
def test_bad_options_are_refused(
    spec_file: Path, cxloom: Call, arguments: list[str], words: list[str]
) -> None:
    outcome = cxloom("run", spec_file, *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    for each in words:
        assert each in outcome.err


def test_an_unknown_option_or_command_is_refused(spec_file: Path, cxloom: Call) -> None:
    assert cxloom("run", spec_file, "--threds", "2").code == 2
    assert cxloom("rnu", spec_file).code == 2
    assert cxloom("run").code == 2


GOOD = b"0x40 R 0\n" * 300_000  # more than is read at a time


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"0x0 R 0\nhello\n", ["app.trace:2: "]),
        (b"0x0 R 0\n0x40 Q 0\n", ["app.trace:2: ", "'Q'"]),
        (GOOD + b"0x40 Q 0\n", ["app.trace:300001: ", "'Q'"]),
        (b"0xffffffffffff0000 R 0\n", ["s.yaml:12:", "workload.host", "access 0 ", "0xffffffffffff0000"]),
        (GOOD + b"0xffffffffffff0000 R 0\n", ["s.yaml:12:", "access 300000 ", "0xffffffffffff0000"]),
    ],
)
def test_a_trace_that_turns_bad_on_the_way_leaves_nothing(
    spec_text: str, tmp_path: Path, cxloom: Call, content: bytes, words: list[str]
) -> None:
    (tmp_path / "app.trace").write_bytes(content)
    spec = tmp_path / "s.yaml"
    spec.write_text(spec_text.replace(WORKLOAD, "trace: app.trace").replace("warmup: 200", "warmup: 0"))
    outcome = cxloom("run", spec, "--out", tmp_path / "results")
    assert outcome.code == 2, outcome.err
    for each in words:
        assert each in outcome.err
    assert not (tmp_path / "results").exists()


def test_a_truncated_trace_is_refused(spec_text: str, tmp_path: Path, cxloom: Call) -> None:
    whole = Path(__file__).parents[2] / "examples" / "redis.parquet"
    (tmp_path / "cut.parquet").write_bytes(whole.read_bytes()[:100_000])
    spec = tmp_path / "s.yaml"
    spec.write_text(spec_text.replace(WORKLOAD, "trace: cut.parquet"))
    outcome = cxloom("run", spec, "--out", tmp_path / "results")
    assert outcome.code == 2
    assert f"error: {spec}:12:" in outcome.err
    assert "cut.parquet" in outcome.err
    assert not (tmp_path / "results").exists()


def test_an_output_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, spec_file: Path, cxloom: Call
) -> None:
    (tmp_path / "file").write_text("x")
    for out, words in (
        (tmp_path / "file", "not a directory"),
        (tmp_path / "file" / "below", "cannot be written"),
    ):
        outcome = cxloom("run", spec_file, "--out", out)
        assert outcome.code == 2
        assert outcome.out == ""
        assert words in outcome.err
        assert str(out) in outcome.err
    outcome = cxloom("run", spec_file, "--out", "/proc/cxloom")
    assert outcome.code == 2
    assert (tmp_path / "file").read_text() == "x"


def test_a_directory_with_other_peoples_files_of_our_names_is_refused(
    tmp_path: Path, spec_text: str, cxloom: Call
) -> None:
    spec = tmp_path / "spec.yaml"  # a name that a result has too
    spec.write_text(spec_text)
    outcome = cxloom("run", spec, "--out", tmp_path)
    assert outcome.code == 2
    assert "holds a file 'spec.yaml'" in outcome.err
    assert spec.read_text() == spec_text
    assert sorted(os.listdir(tmp_path)) == ["spec.yaml"]
