"""The command as a process: what it prints where, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.examples import slow

import cxloom as cx
from cxloom import _core

Call = Callable[..., Any]


def test_run_prints_a_table_of_one_screen(spec_file: Path, tmp_path: Path, subprocess_cxloom: Call) -> None:
    outcome = subprocess_cxloom("run", spec_file)
    assert outcome.code == 0
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert len(lines) <= 45
    assert max(len(line) for line in lines) <= 80
    assert "\x1b" not in outcome.out
    for words in ("GB/s", "p99", "read", "write", "controller", "port_delay", "mem3", "bus upstream", "█"):
        assert words in outcome.out
    assert os.listdir(tmp_path) == ["system.yaml"]


@pytest.mark.parametrize("switches", [4, 8, 64])
def test_the_table_of_any_system_fits_a_screen(tmp_path: Path, cxloom: Call, switches: int) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text(
        f"topology: {{kind: ring, switches: {switches}, requester: {{kind: host, cache: {{size: 4KiB}}}}}}\n"
        "links: []\n"
        'workload: {"host[*]": {pattern: hot-cold, reads: 50%, requests: 2000, footprint: 1MiB}}\n'
    )
    outcome = cxloom("run", spec, "--set", "links[*].bandwidth=4GB/s", "--set", "links[*].delay=1ns")
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert len(lines) <= 45
    assert max(len(line) for line in lines) <= 80
    for words in ("requester  ", "memory  ", "busiest", "in flight mean", "cache"):
        assert words in outcome.out
    assert any(re.fullmatch(r"and \d+ more *", line) for line in lines) == (switches > 16)


def test_run_is_plain_ascii_where_nothing_else_can_be_shown(spec_file: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    named = spec_file.with_name("named.yaml")
    named.write_text(
        f"devices: {{host: {{kind: host}}, a_memory_{'x' * 50}: {{kind: memory}}}}\n"
        f"links: [{{between: [host, a_memory_{'x' * 50}]}}]\n"
        f"address_map: [{{to: a_memory_{'x' * 50}}}]\n"
        "workload: {host: {pattern: random, requests: 100, footprint: 1MiB}}\n",
        encoding="utf-8",
    )
    for spec in (spec_file, named):
        command = [sys.executable, "-m", "cxloom", "run", str(spec)]
        done = subprocess.run(command, capture_output=True, env=environment, timeout=120, check=True)
        assert done.stdout.isascii()
        assert b"###" in done.stdout


def test_run_prints_json_and_nothing_else(spec_file: Path, subprocess_cxloom: Call) -> None:
    outcome = subprocess_cxloom("run", spec_file, "--json", "--seed", "5")
    assert (outcome.code, outcome.err) == (0, "")
    summary = json.loads(outcome.out)
    declared = {measure["name"] for measure in _core.declarations()["measures"]}
    absent = {"per_device", "atomics", "atomic", "prefetches", "events", "removals", "mix_windows"}
    absent |= {"flushes", "flush", "versions", "sharing", "tasks", "replication"}
    assert declared - absent | {"spec_hash", "version", "cost"} == set(summary)
    assert summary["seed"] == 5
    assert summary["version"] == cx.__version__
    assert sum(summary["breakdown_ns"].values()) == pytest.approx(summary["latency_ns"]["mean"])
    assert set(summary["cost"]) == {"wall_seconds", "cpu_seconds", "peak_memory_bytes", "requests", "events"}
    # Commands that are copies of one process have one hash seed: a new Python has another.
    command = [sys.executable, "-m", "cxloom", "run", str(spec_file), "--json", "--seed", "5"]
    again = json.loads(subprocess.run(command, capture_output=True, timeout=120, check=True).stdout)
    assert {**again, "cost": None} == {**summary, "cost": None}


def test_run_is_quiet_when_asked(spec_file: Path, tmp_path: Path, cxloom: Call) -> None:
    outcome = cxloom("run", spec_file, "--quiet", "--out", tmp_path / "out")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert cx.Result.load(tmp_path / "out").count == 2000


def test_run_takes_overrides_and_presets(cxloom: Call) -> None:
    sets = (
        "--set",
        "devices.mem[*].media.latency=100ns",
        "--set",
        "workload.host.requests=500",
        "--set",
        "run.warmup=0",
    )
    summary = json.loads(cxloom("run", "esf/validation", "--json", *sets).out)
    assert summary["requests"] == 500
    assert summary["breakdown_ns"]["media"] == pytest.approx(100.0)


def test_run_ends_at_a_time_limit_with_code_1(spec_file: Path, cxloom: Call) -> None:
    outcome = cxloom("run", spec_file, "--max-time", "3us")
    assert outcome.code == 1
    assert outcome.out.startswith("TRUNCATED (stopped: the simulated time reached its limit of 3.00 us)")
    assert "unfinished: " in outcome.err
    outcome = cxloom("run", spec_file, "--max-time", "3us", "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["truncated"]
    assert cxloom("run", spec_file, "--max-time", "1s").code == 0


def test_run_that_cannot_finish_ends_with_code_1_and_a_diagnosis(
    spec_file: Path, tmp_path: Path, cxloom: Call
) -> None:
    values = ("devices.bus.bus_time=15us", "run.livelock_deliveries=1", "workload.host.requests=40000")
    sets = [word for value in values for word in ("--set", value)]
    outcome = cxloom("run", spec_file, *sets, "--out", tmp_path / "out")
    assert outcome.code == 1
    assert outcome.out.startswith("TRUNCATED (stopped: livelock")
    assert "unfinished: livelock" in outcome.err
    assert "host waits for a queue slot" in outcome.err
    assert cx.Result.load(tmp_path / "out").truncated


def test_check_describes_a_system(spec_file: Path, cxloom: Call) -> None:
    outcome = cxloom("check", spec_file)
    assert outcome.code == 0
    for words in (
        "is valid",
        "6 devices (1 host, 1 bus, 4 memories)",
        "5 links",
        "host-bus",
        "0x0-0xfffffffff",
    ):
        assert words in outcome.out
    description = json.loads(cxloom("check", spec_file, "--json").out)
    assert [device["name"] for device in description["devices"]] == [
        "host",
        "bus",
        "mem0",
        "mem1",
        "mem2",
        "mem3",
    ]
    (route,) = description["routes"]
    idle = route.pop("idle_read_ns")
    assert route == {"requester": "host", "nearest": 2, "mean": 2.0, "farthest": 2}
    assert idle["least"] == idle["mean"] == idle["most"]


def test_check_of_a_large_system_fits_a_screen(tmp_path: Path, cxloom: Call) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text("topology: {kind: ring, switches: 64}\n")
    outcome = cxloom("check", spec)
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) <= 45
    assert "128 devices" in outcome.out


def test_components_tells_of_parameters_where_they_are_some(cxloom: Call) -> None:
    shown = cxloom("components", "trace")
    assert shown.code == 0
    assert "workload.trace" in shown.out
    assert "A trace file to replay" in " ".join(shown.out.split())
    assert "host.cache.size" in cxloom("components", "size").out
    assert "did you mean 'trace'?" in cxloom("components", "traec").err
    assert "did you mean 'host'?" in cxloom("components", "hosst").err
    # As near as the parameter `hot`; kinds come first.
    assert "did you mean 'host'?" in cxloom("components", "hots").err


def test_components_as_json_are_what_is_declared(cxloom: Call) -> None:
    everything = json.loads(cxloom("components", "--json").out)
    assert everything == _core.declarations()
    for category in everything["categories"]:
        for kind, info in everything[category].items():
            assert json.loads(cxloom("components", kind, "--json").out)[category] == {kind: info}
    assert json.loads(cxloom("components", "link", "--json").out) == {"link": everything["link"]}
    (trace,) = json.loads(cxloom("components", "trace", "--json").out)["parameters"]
    assert (trace["name"], trace["type"]) == ("workload.trace", "text")


def test_components_lists_all_kinds_and_parameters(cxloom: Call) -> None:
    everything = cxloom("components").out
    for category in _core.declarations()["categories"]:
        for kind, info in _core.declarations()[category].items():
            assert kind in everything
            shown = cxloom("components", kind)
            assert shown.code == 0
            for field in info["fields"]:
                assert field["name"] in shown.out
    for section in ("link", "region", "workload", "run", "outputs"):
        shown = cxloom("components", section).out
        assert all(field["name"] in shown for field in _core.declarations()[section]["fields"])
    outcome = cxloom("components", "memroy")
    assert outcome.code == 2
    assert "did you mean 'memory'?" in outcome.err


def test_help_and_version(subprocess_cxloom: Call) -> None:
    outcome = subprocess_cxloom("--help")
    assert outcome.code == 0
    for command in ("run", "check", "components", "schema", "resolve", "trace", "study", "demo"):
        assert command in outcome.out
    assert subprocess_cxloom("--version").out.split() == ["cxloom", cx.__version__]
    assert "info" in subprocess_cxloom("trace", "--help").out


def test_a_closed_pipe_is_no_bug(spec_file: Path) -> None:
    command = f"{sys.executable} -m cxloom run {spec_file} --json | head -c 10"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=True)
    assert "Traceback" not in done.stderr


@slow
def test_the_demonstration_draws_a_picture_and_writes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cxloom: Call
) -> None:
    """It ends with what to type where there is no emulator for programs; their plug-in may be there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = cxloom("demo", "--out", tmp_path / "demo")
    assert outcome.code == 0, outcome.err
    assert "where a request's time went" in outcome.out
    picture = tmp_path / "demo" / "demo.png"
    assert str(picture) in outcome.out
    assert picture.read_bytes().startswith(b"\x89PNG\r\n")
    assert (
        600_000 < cx.Result.load(tmp_path / "demo").count <= 640_000
    )  # the first of the servers ends the window
    page = tmp_path / "demo" / "report.html"
    assert f"open {page} in a browser" in outcome.out
    assert "Redis servers on four CXL memories" in page.read_text(encoding="utf-8")
    built = Path(str(_core.__file__)).with_name("cxloom_qemu.so").exists()
    packages = "qemu-user" if built else "qemu-user libzydis-dev && make build"
    last = outcome.out.splitlines()[-1]
    assert last == f"To run programs on simulated systems (`cxloom exec`): sudo apt-get install {packages}"


def test_a_misspelt_preset_is_told_its_name(cxloom: Call) -> None:
    outcome = cxloom("run", "esf/validatoin")
    assert outcome.code == 2
    assert "did you mean 'esf/validation'" in outcome.err


def test_tables_without_a_directory_are_noted(spec_file: Path, tmp_path: Path, cxloom: Call) -> None:
    sets = ("--set", "outputs.requests=true", "--set", "outputs.series=1us")
    note = "outputs.requests and outputs.series would go into a file: give --out DIR"
    assert note in cxloom("run", spec_file, *sets).err
    assert note not in cxloom("run", spec_file, *sets, "--out", tmp_path / "out").err
    assert note not in cxloom("run", spec_file).err
    sets = (
        *sets,
        "--set",
        "outputs.commands=true",
        "--set",
        "devices.mem0.media={kind: dram, preset: DDR5-4800}",
    )
    note = "outputs.requests, outputs.series and outputs.commands would go into a file: give --out DIR"
    assert note in cxloom("run", spec_file, *sets).err


def test_a_rule_broken_from_the_command_line_names_what_was_set(spec_file: Path, cxloom: Call) -> None:
    outcome = cxloom(
        "run", spec_file, "--set", "devices.bus.turnaround=1ns", "--set", "devices.bus.bandwidth=1GB/s"
    )
    assert outcome.code == 2
    assert "from --set devices.bus.turnaround=1ns" in outcome.err
    assert "from --set devices.bus.bandwidth=1GB/s" in outcome.err


def test_huge_numbers_leave_names_whole(tmp_path: Path, cxloom: Call) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "devices: {host: {kind: host, process_time: 999s}, a_memory_of_twenty: {kind: memory}}\n"
        "links: [{between: [host, a_memory_of_twenty]}]\n"
        "address_map: [{to: a_memory_of_twenty}]\n"
        "workload: {host: {pattern: random, requests: 100, footprint: 1MiB}}\n"
    )
    outcome = cxloom("run", spec)
    assert outcome.code == 0, outcome.err
    assert "a_memory_of_twenty" in outcome.out
    assert "9.990e11" in outcome.out
    assert max(len(line) for line in outcome.out.splitlines()) <= 80


def test_check_says_what_links_carry_and_what_memory_is_left_out(tmp_path: Path, cxloom: Call) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "devices: {host: {kind: host}, m0: {kind: memory, capacity: 1GiB}, m1: {kind: memory, capacity: 4GiB}}\n"
        "links: [{between: [host, m0], bandwidth: 10GB/s}, {between: [host, m1]}]\n"
        "address_map: [{to: [m0, m1]}]\n"
    )
    description = json.loads(cxloom("check", spec, "--json").out)
    assert [end.get("lines_gb_per_s") for link in description["links"] for end in link["ends"]] == [
        8.0, 8.0, None, None,
    ]  # fmt: skip
    half = json.loads(cxloom("check", spec, "--set", "links[0].duplex=half", "--json").out)["links"][0]
    assert [end["lines_gb_per_s"] for end in half["ends"]] == pytest.approx([10 * 64 / (80 + 16)] * 2)
    assert [memory["memory"] for memory in description["unmapped"]] == ["m1"]
    out = cxloom("check", spec).out
    assert "of m1 1GiB of 4GiB are in the address map; policy: capacity" in out
    assert "8.00" in out
    assert "note: of m1" in out
    assert "note: of m1" not in cxloom("check", spec, "--set", "address_map[0].policy=capacity").out


def test_check_says_that_what_a_link_carries_is_of_lines(cxloom: Call) -> None:
    """Lines of 64 B leave 20.7 GB/s of the link of a GPU, whose packets of 256 B get 26."""
    shown = cxloom("check", "gpu/a10-pcie4").out
    assert "64 B lines GB/s" in shown
    assert "20.67" in shown


@pytest.mark.parametrize(("bypass", "rate"), [("false", 64e9 * 128 / 130), ("true", 64e9)])
def test_check_says_the_rate_of_a_physical_link(
    tmp_path: Path, cxloom: Call, bypass: str, rate: float
) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}\n"
        f"links: [{{between: [host, mem], phy: pcie5-x16, sync_header_bypass: {bypass}}}]\n"
        "address_map: [{to: mem}]\n"
    )
    (link,) = json.loads(cxloom("check", spec, "--json").out)["links"]
    for end in link["ends"]:
        assert float(end["bandwidth"].removesuffix("GB/s")) == pytest.approx(rate / 1e9, rel=1e-3)
