"""The log of the protocol: what it says to the picosecond, where it goes, what becomes of it when things go wrong."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cxloom as cx
from cxloom.running.protocol_log import TextSink

PAGE = (Path(__file__).parents[2] / "docs" / "model" / "protocol_log.md").read_text(encoding="utf-8")

# Times of its parts, in ns.
PROCESS, CACHE, WAY, LOOKUP, READ = 10, 12, 50, 7, 40 + 45
THERE = PROCESS + CACHE + WAY + LOOKUP
SPEC = """\
devices:
  h[0-1]: {{kind: host, process_time: 10ns, cache: {{size: 4KiB, access_time: 12ns}}}}
  bus:    {{kind: bus, bus_time: 0ns}}
  mem:
    kind: memory
    capacity: 1MiB
    controller_time: 40ns
    media: {{kind: fixed, latency: 45ns}}
    dcoh: {{lookup_time: 7ns}}
links:
  - {{between: ["h[*]", bus], port_delay: 25ns}}
  - {{between: [bus, mem], port_delay: 0ns}}
address_map: [{{to: mem, coherence: hdm-db}}]
workload:
  h0: {{trace: {folder}/h0.txt, replay: timestamps, tick: 1ps}}
  h1: {{trace: {folder}/h1.txt, replay: timestamps, tick: 1ps}}
"""
BUSY = """\
devices:
  h[0-2]: {kind: host, queue: 8, cache: {size: 2KiB}}
  plain:  {kind: host, queue: 4}
  io:     {kind: io-engine, target: mem, traffic: dma-read, rate: 1GB/s}
  sw:     {kind: switch}
  home:   {kind: dcoh, filter: {entries: 64, block: 2}}
  mem:    {kind: memory, capacity: 1MiB}
  other:  {kind: memory, capacity: 1MiB}
links:
  - {between: ["h[*]", sw]}
  - {between: [plain, sw]}
  - {between: [io, sw]}
  - {between: [sw, home]}
  - {between: [sw, mem]}
  - {between: [sw, other]}
address_map: [{to: mem, coherence: hdm-db, home: home}, {to: other}]
workload:
  "h[*]": {pattern: random, reads: 50%, requests: 700, footprint: 16KiB}
  plain:  {pattern: random, reads: 50%, requests: 700, footprint: 2MiB}
run: {warmup: 100}
"""

SOCKET = """\
devices:
  host: {kind: host, queue: 4, cache: {size: 2KiB}, memory: {capacity: 64KiB}, home_agent: {filter: {entries: 48}}}
  nic:  {kind: accelerator, queue: 8, cache: {size: 2KiB, clean_evictions: notified}}
  dma:  {kind: accelerator, queue: 4}
  mem:  {kind: memory, capacity: 64KiB}
  sw:   {kind: switch}
links: [{between: [host, sw]}, {between: [nic, sw]}, {between: [dma, sw]}, {between: [mem, sw]}]
address_map: [{to: host, coherence: hdm-h, size: 4KiB}, {to: mem, coherence: hdm-h, home: host}]
workload:
  host: {pattern: random, reads: 50%, requests: 700, footprint: 8KiB}
  nic:  {pattern: random, reads: 50%, requests: 700, footprint: 8KiB}
  dma:  {pattern: random, reads: 50%, requests: 700, footprint: 8KiB}
run: {warmup: 100}
"""
ANSWERED = {  # in CXL.mem, CXL.io, CXL.cache
    ("MemRd", "MemRdData"): ("MemData",),
    ("MemWr",): ("Cmp",),
    ("MRd",): ("CplD",),
    ("BIConflict",): ("BI-ConflictAck",),
    ("BISnpCur", "BISnpData", "BISnpInv"): ("BIRspI", "BIRspS", "BIRspE"),
    ("BISnpInvBlk",): ("BIRspIBlk",),
    ("RdCurr", "RdAny", "RdOwn"): ("H2D-Data",),
    ("ItoMWr", "DirtyEvict", "CleanEvict"): ("GO_WritePull", "GO_WritePull_Drop"),
    ("GO_WritePull", "RspIFwdM", "RspSFwdM", "RspVFwdV"): ("D2H-Data",),
    ("SnpInv", "SnpData", "SnpCur"): (
        "RspIHitI",
        "RspIHitSE",
        "RspSHitSE",
        "RspVHitV",
        "RspIFwdM",
        "RspSFwdM",
        "RspVFwdV",
    ),
}


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    """A read miss at 0 ns, a read of the other host at 1000 ns, an upgrade at 2000 ns."""
    (tmp_path / "h0.txt").write_text("0x40 R 0\n0x40 W 2000000\n")
    (tmp_path / "h1.txt").write_text("0x48 R 1000000\n0x1000 R 4000000\n")
    path = tmp_path / "steps.yaml"
    path.write_text(SPEC.format(folder=tmp_path))
    return path


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    path = tmp_path / "busy.yaml"
    path.write_text(BUSY)
    return path


def test_a_miss_and_an_upgrade_are_logged_to_the_picosecond(steps: Path, cxloom: Callable[..., Any]) -> None:
    miss = THERE + READ + WAY
    shared = 1000 + THERE + 2 * WAY + CACHE  # the owner has answered
    upgrade = 2000 + THERE
    expected = [
        (THERE, "h0  -> mem  MemRdData", "I -> I+MemRdData"),
        (miss, "mem -> h0   Cmp-E", "I+Rd -> I+Rd granted E"),
        (miss, "mem -> h0   MemData", "I+Rd granted E -> E"),
        (1000 + THERE, "h1  -> mem  MemRdData", "E{h0} -> E{h0}+MemRdData"),
        (1000 + THERE + WAY + CACHE, "mem -> h0   BISnpData", "E -> S"),
        (shared, "h0  -> mem  BIRspS", "E{h0}+MemRdData -> S{h0}+MemRdData"),
        (shared + READ + WAY, "mem -> h1   Cmp-S", "I+Rd -> I+Rd granted S"),
        (shared + READ + WAY, "mem -> h1   MemData", "I+Rd granted S -> S"),
        (upgrade, "h0  -> mem  MemInv", "S{h0,h1} -> S{h0,h1}+MemInv"),
        (upgrade + WAY + CACHE, "mem -> h1   BISnpInv", "S -> I"),
        (upgrade + WAY + CACHE + WAY, "h1  -> mem  BIRspI", "S{h0,h1}+MemInv -> E{h0}"),
        (upgrade + WAY + CACHE + WAY + WAY, "mem -> h0   Cmp-E", "S+Upgrade -> M"),
    ]
    outcome = cxloom("run", steps, "--log", "address=0x40")
    assert outcome.code == 0
    assert outcome.err.splitlines() == [
        f"{at:8}.000 ns  {who:29}  0x0000000040  {states}" for at, who, states in expected
    ]
    assert "requests in" in outcome.out  # the table is on standard output, as ever


def test_the_conflict_in_the_docs_is_what_comes_out(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    (spec,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    trace, log = re.findall(
        r"```\n(.*?)```", re.sub(r"```yaml\n.*?```", "", PAGE, flags=re.DOTALL), re.DOTALL
    )
    (tmp_path / "read-then-write.txt").write_text(trace)
    path = tmp_path / "conflict.yaml"
    path.write_text(spec.replace("read-then-write.txt", str(tmp_path / "read-then-write.txt")))
    assert cxloom("run", path, "--log", "protocol").err == log


def test_text_and_tables_say_the_same(busy: Path, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    text, table, out = tmp_path / "log.txt", tmp_path / "LOG.Parquet", tmp_path / "out"
    options = ["--log", "protocol", "--log", f"protocol={text}", "--log", f"protocol={table}"]
    on_screen = cxloom("run", busy, *options).err
    assert on_screen == text.read_text()
    assert cxloom("run", busy, "--log", "protocol", "--out", out).err == ""  # instead of standard error
    frame = pl.read_parquet(table)
    assert frame.equals(pl.read_parquet(out / "protocol.parquet"))
    assert frame.equals(cx.Result.load(out).protocol())
    assert frame.equals(cx.run(busy, log="protocol").protocol())
    assert dict(frame.schema) == {
        "time_ps": pl.Int64,
        "sent_ps": pl.Int64,
        "source": pl.Categorical,
        "destination": pl.Categorical,
        "requester": pl.Categorical,
        "spid": pl.UInt16,
        "dpid": pl.UInt16,
        "opcode": pl.Categorical,
        "address": pl.UInt64,
        "lines": pl.UInt8,
        "payload": pl.UInt16,
        "ld": pl.UInt8,
        "snp": pl.Categorical,
        "meta": pl.Categorical,
        "failed": pl.Boolean,
        "part": pl.Categorical,
        "before": pl.Categorical,
        "after": pl.Categorical,
    }
    assert len(frame) > 10_000
    assert {tuple(row) for row in map(words, frame.iter_rows(named=True))} >= {("x2",), ("SnpInv",), ()}
    for line, row in zip(on_screen.splitlines(), frame.iter_rows(named=True), strict=True):
        time, ns, source, arrow, destination, opcode, *rest = line.split()
        assert (ns, arrow) == ("ns", "->")
        assert round(float(time) * 1000) == row["time_ps"]
        assert (source, destination, opcode) == (row["source"], row["destination"], row["opcode"])
        states = [row["before"], "->", row["after"]] if row["before"] is not None else []
        address = [] if row["address"] is None else [f"0x{row['address']:010x}"]
        assert " ".join(rest) == " ".join([*words(row), *address, *states])


def words(row: dict[str, Any]) -> list[str]:
    """What stands beside the opcode."""
    if row["lines"] is not None and row["lines"] > 1:
        return [f"x{row['lines']}"]
    asks = row["opcode"] in ("MemRd", "MemWr") and row["snp"] not in (None, "NoOp")
    return [row["snp"]] if asks else []


@pytest.mark.parametrize("spec", [BUSY, SOCKET], ids=["CXL.mem", "CXL.cache"])
def test_every_message_of_every_agent_is_logged_once(spec: str) -> None:
    frame = cx.run(cx.System.from_yaml(spec), log="protocol").protocol()
    frame = frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
    assert (frame["sent_ps"] <= frame["time_ps"]).all()
    assert frame["sent_ps"].null_count() == 0
    assert frame["time_ps"].is_sorted()
    number = dict(frame["opcode"].value_counts().iter_rows())
    for asked, answers in ANSWERED.items():
        assert sum(number.get(name, 0) for name in asked) == sum(number.get(name, 0) for name in answers)
    known = {name for names in (*ANSWERED, *ANSWERED.values()) for name in names}
    assert set(number) - known <= {"MemInv", "RdOwnNoData", "Cmp-S", "Cmp-E", "GO-S", "GO-E"}
    assert len(number) > 15


def test_the_log_has_what_the_statistics_count(busy: Path) -> None:
    result = cx.run(busy, log="protocol")
    frame = result.protocol().with_columns(pl.col(pl.Categorical).cast(pl.String))
    # The statistics count the same messages: those that were sent in the window.
    opened = frame.filter(part="window")["time_ps"].min()
    closed = frame.filter(part="window")["time_ps"].max()
    assert isinstance(opened, int)
    assert isinstance(closed, int)
    snoops = frame.filter(pl.col("opcode").str.starts_with("BISnp"))
    sent = len(snoops.filter(pl.col("sent_ps").is_between(opened, closed)))
    assert (
        abs(sent - result["coherence"]["bisnp_sent"]) <= 2
    )  # at the very ends, where no message tells the instant
    # Whoever keeps no states of lines has none.
    keeps = frame.group_by("destination").agg(pl.col("after").is_not_null().any())
    assert dict(keeps.iter_rows()) == {
        **dict.fromkeys(("h0", "h1", "h2", "home"), True),
        **dict.fromkeys(("plain", "io", "mem", "other"), False),
    }


def test_a_line_is_followed_through_the_system(busy: Path) -> None:
    everything = cx.run(busy, log="protocol").protocol()
    elsewhere = everything.filter(destination="other")["address"][0]
    for addresses in ([0x40], [0x7F, 4096], [elsewhere + 63]):
        log = [f"address={address:#x}" if address % 2 else f"address={address}" for address in addresses]
        lines = [address // 64 for address in addresses]
        first, count = pl.col("address") // 64, pl.col("lines").cast(pl.UInt64)
        about = pl.any_horizontal((first <= line) & (line < first + count) for line in lines)
        followed = cx.run(busy, log=log).protocol()
        assert 0 < len(followed) < len(everything) // 10
        assert followed.equals(everything.filter(about))


def test_logging_changes_nothing(busy: Path, tmp_path: Path) -> None:
    plain, logged = cx.run(busy), cx.run(busy, log=f"protocol={tmp_path / 'log.txt'}")
    assert plain == logged
    assert plain["spec_hash"] == logged["spec_hash"]
    with pytest.raises(cx.InputError, match="logged no protocol"):
        logged.protocol()


def test_a_terminal_shows_colours_and_the_same_text(steps: Path) -> None:
    command = [sys.executable, "-m", "cxloom", "run", str(steps), "--log", "protocol", "--quiet"]
    environment = os.environ | {"TERM": "xterm-256color"}
    main, terminal = os.openpty()
    with subprocess.Popen(command, stderr=terminal, env=environment | {"COLUMNS": "40"}) as process:
        os.close(terminal)
        shown = b""
        while True:
            try:
                some = os.read(main, 1 << 16)
            except OSError:  # the end of a terminal
                break
            shown += some
        assert process.wait() == 0
    os.close(main)
    assert b"\x1b[" in shown
    plain = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True).stderr
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).split() == plain.split()


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ("protocl", ["--log: there is no such log", "found: protocl", "did you mean 'protocol'?"]),
        ("address", ["--log: there is no such log", "address=0x1000"]),
        ("protocol=", ["--log protocol: ", "found: ''", "a file that ends in .txt, .log (text) or .parquet"]),
        ("protocol=log.csv", ["--log protocol: ", "found: 'log.csv'", ".parquet (a table)"]),
        ("protocol=nowhere/log.txt", ["nowhere/log.txt: --log protocol: ", "no such file or directory"]),
        ("protocol=out/protocol.parquet", ["--log protocol: the results have a file of this name"]),
        ("address=", ["--log address: not an address", "found: ''", "0x1000 or 4096"]),
        ("address=64B", ["--log address: not an address", "found: '64B'"]),
        ("address=-64", ["--log address: not an address", "found: '-64'"]),
        ("address=0x10000000000000000", ["--log address: not an address", "below 2^64"]),
        (
            "address=0x200000",
            ["--log address: an address that no region holds", "0x0-0xfffff, 0x100000-0x1fffff"],
        ),
    ],
)
def test_bad_input_is_refused(
    busy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cxloom: Callable[..., Any],
    log: str,
    says: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    outcome = cxloom("run", busy, "--log", "protocol=good.txt", "--log", log, "--out", "out")
    assert outcome.code == 2
    assert outcome.out == ""
    for part in says:
        assert part in outcome.err
    assert sorted(tmp_path.rglob("*")) == before


def test_bad_values_in_python_name_the_argument(busy: Path) -> None:
    for log, says in (({"protocol"}, "^log: not a text"), (["protocol", 64], "^log: there is no such log")):
        with pytest.raises(cx.InputError, match=says):
            cx.run(busy, log=log)  # type: ignore[arg-type]


# --- what does not go well ---


def test_a_stopped_run_has_its_log_up_to_then(busy: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    assert cx.run(busy, max_time="5us", log=f"protocol={log}").truncated
    whole, part = cx.run(busy, log="protocol").protocol(), pl.read_parquet(log)
    assert part.equals(whole.filter(pl.col("time_ps") <= 5_000_000))


def start(spec: Path, *arguments: object) -> subprocess.Popen[str]:
    options = ["--set", "workload.h[*].requests=100000000", "--quiet", *arguments]
    return subprocess.Popen(
        [sys.executable, "-m", "cxloom", "run", str(spec), *map(str, options)],
        cwd=spec.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(folder: Path, pattern: str, least: int, other_than: Path | None = None) -> Path:
    """The file of this pattern once it has so many bytes."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for path in folder.glob(pattern):
            if path != other_than and path.stat().st_size >= least:
                return path
        time.sleep(0.05)
    raise AssertionError(f"no {pattern} of {least} bytes")


def test_an_interrupt_leaves_whole_logs_and_a_kill_none(busy: Path, tmp_path: Path) -> None:
    log = ["--log", "protocol=log.txt", "--log", "protocol=log.parquet"]
    process = start(busy, *log)
    left = wait_for(tmp_path, ".log.txt.*.tmp", 100_000)
    assert not (tmp_path / "log.txt").exists()
    process.kill()
    process.communicate(timeout=60)
    assert not (tmp_path / "log.txt").exists()
    assert not (tmp_path / "log.parquet").exists()
    process = start(busy, *log)
    wait_for(tmp_path, ".log.txt.*.tmp", 100_000, left)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 1
    text = (tmp_path / "log.txt").read_text()
    assert text.endswith("\n")
    assert text.count("\n") == len(pl.read_parquet(tmp_path / "log.parquet"))
    assert not left.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["busy.yaml", "log.parquet", "log.txt"]


def test_a_run_that_fails_for_its_input_leaves_no_log(steps: Path, tmp_path: Path) -> None:
    (tmp_path / "h1.txt").write_text("0x48 R 1000000\n0x48 R 5\n")  # back in time
    with pytest.raises(cx.InputError):
        cx.run(steps, log=f"protocol={tmp_path / 'log.txt'}")
    assert not list(tmp_path.glob("*log.*"))


def test_a_full_disk_leaves_no_log_and_the_results(busy: Path, tmp_path: Path) -> None:
    command = f"ulimit -f 64; {sys.executable} -m cxloom run {busy} --log protocol=log.txt --json"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert '"requests": ' in done.stdout
    assert "log.txt: --log protocol: the log cannot be written: file too large" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["busy.yaml"]


def test_a_log_leaves_memory_as_it_comes(busy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    add = TextSink.add
    monkeypatch.setattr(
        TextSink, "add", lambda sink, rows: (sizes.append(len(rows["time_ps"])), add(sink, rows))
    )
    monkeypatch.setattr("cxloom.running.run.SLICE_SECONDS", 0.0)  # the shortest that there are
    cx.run(busy, log=f"protocol={tmp_path / 'log.txt'}")
    assert len(sizes) > 20
    assert max(sizes) < sum(sizes) / 4
