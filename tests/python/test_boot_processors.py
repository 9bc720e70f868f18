"""The time of programs in booted machines with several processors, beside closed forms and `cxloom exec`."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program_support import built_programs
from test_boot import PATIENCE, boot, boots, children_of, runs, waited_for
from test_boot_timed import CORE, IDLE, run
from validation.examples import slow

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.booting.arguments import machine_arguments
from cxloom.booting.system import machine_of_system

SOURCE = Path(__file__).parent / "programs" / "readers.c"
LINE = 64
MSHRS = 48
"""Lines that a core has under way (docs/model/core.md)."""
HEADER = 16
"""Bytes that go along with a line (docs/model/link.md)."""


def spec_with(tmp_path: Path, **link: str) -> Path:
    """dmsim/asic with less memory, caches that the programs do not fit, and this of its link to CXL."""
    system = cx.load("dmsim/asic")
    system.set("devices.cxl.capacity", "512MiB")
    system.set("devices.local.capacity", "1GiB")
    system.set("devices.host.core", CORE)
    for key, value in link.items():
        system.set(f"links[1].{key}", value)
    path = tmp_path / f"system{len(link)}.yaml"
    path.write_text(system.to_yaml())
    return path


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Threads that read side by side (programs/readers.c)."""
    program = tmp_path_factory.mktemp("readers") / "readers"
    include = Path(cx.include_dir())
    subprocess.run(["cc", "-O1", "-pthread", "-Wl,-z,now", "-I", include, "-o", program, SOURCE], check=True)
    return program


def last(found: dict[str, Any]) -> dict[str, Any]:
    """The run as it was."""
    system: dict[str, Any] = found["systems"][-1]
    return system


# --- the machine ----------------------------------------------------------------------------------------------------


def test_the_machine_has_the_processors_in_its_first_node() -> None:
    found = machine_of_system(
        cx.load("memory/local-remote-cxl").resolve(), processors=4, local=["local", "re*"]
    )
    options = machine_arguments(found)
    assert options[options.index("-smp") + 1] == "4"
    assert [each.endswith("cpus=0-3") for each in options if each.startswith("node,nodeid=")][:2] == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("processors", "said"), [(0, "no number of processors"), (5, "more processors than host has cores")]
)
def test_a_machine_has_no_more_processors_than_cores(processors: int, said: str) -> None:
    system = cx.load("dmsim/asic")
    system.set("devices.host.core", {"cores": 4})
    assert machine_of_system(system.resolve(), processors=4).processors == 4
    with pytest.raises(InputError, match=said) as error:
        machine_of_system(system.resolve(), processors=processors)
    assert (error.value.allowed, error.value.path) == ("1 to 4", "--processors")


# --- what is booted -------------------------------------------------------------------------------------------------


@boots
@slow
def test_two_threads_read_twice_as_much(readers: Path, tmp_path: Path) -> None:
    """As many lines each as a core has under way in the time of an idle read, until the link to CXL is full. It is the
    time under `exec`, and the time of what was recorded."""
    lines, passes, trace = 160000, 2, tmp_path / "readers.parquet"
    spec = spec_with(tmp_path)
    options = ["--membind", "cxl", "--roi", "marks"]
    words = ["--", readers, 2, lines, passes]
    found = run("boot", tmp_path / "boot.json", spec, "--processors", 2, *options, "--record", trace, *words)
    alone = run("exec", tmp_path / "exec.json", "--system", spec, *options, *words)
    taken = last(found)["time_ns"]
    assert lines * passes * LINE / taken == pytest.approx(2 * MSHRS * LINE / IDLE["cxl"], rel=0.05)
    assert taken == pytest.approx(last(alone)["time_ns"], rel=0.05)
    assert len(last(found)["threads"]) == 2

    def replayed(spec: Path) -> float:
        replay = ["--system", spec, "--pages", "as-is", "--replay", trace]
        return float(last(run("exec", tmp_path / "again.json", *replay))["time_ns"])

    assert replayed(spec) == taken
    limit = 15.0  # GB/s, of which headers have their part
    narrow = spec_with(tmp_path, bandwidth=f"{limit:g}GB/s")
    assert lines * passes * (LINE + HEADER) / replayed(narrow) == pytest.approx(limit, rel=0.05)


@boots
@slow
def test_one_thread_reads_as_if_it_were_alone(readers: Path, tmp_path: Path) -> None:
    spec = spec_with(tmp_path)
    options = ["--processors", 2, "--membind", "cxl", "--roi", "marks", "--", readers, 1, 80000, 2]
    taken = last(run("boot", tmp_path / "boot.json", spec, *options))["time_ns"]
    assert 80000 * 2 * LINE / taken == pytest.approx(MSHRS * LINE / IDLE["cxl"], rel=0.03)


@boots
@slow
@pytest.mark.parametrize("memory", ["local", "cxl"])
def test_a_step_of_a_chase_takes_an_idle_read(memory: str, tmp_path: Path) -> None:
    spec, steps = spec_with(tmp_path), 20000
    options = ["--processors", 2, "--membind", memory, "--roi", "marks"]
    words = ["--", built_programs() / "chase", 40000, steps]
    found = run("boot", tmp_path / "boot.json", spec, *options, *words)
    assert last(found)["time_ns"] / steps == pytest.approx(IDLE[memory], rel=0.03)


@boots
@slow
def test_threads_behind_a_barrier_take_what_exec_says(tmp_path: Path) -> None:
    """STREAM, whose threads meet 64 times. Its new pages are cleared by the kernel, which wakes the threads, too: its
    instructions take about what others take."""
    spec = spec_with(tmp_path)
    options = ["--membind", "cxl", "--roi", "marks"]
    words = ["--", built_programs() / "stream", 60000, 2, 16]
    booted = run("boot", tmp_path / "boot.json", spec, "--processors", 2, *options, *words)
    alone = run("exec", tmp_path / "exec.json", "--system", spec, *options, *words)
    more = booted["kernel"]["instructions"] / alone["instructions"]
    assert more < 0.15
    assert last(booted)["time_ns"] == pytest.approx((1 + more) * last(alone)["time_ns"], rel=0.05)


@boots
@slow
def test_a_guest_that_sleeps_goes_on(tmp_path: Path) -> None:
    """Its clock passes where nobody has something to do, and takes none of the time."""
    command, out = "a=$(date +%s); sleep 60; echo $(($(date +%s) - a))", tmp_path / "out.json"
    options = ["--processors", 2, "--out", out]
    done = boot(spec_with(tmp_path), *options, "--", shutil.which("sh"), "-c", command)
    assert done.returncode == 0, done.stderr
    assert 59 <= int(done.stdout) <= 62
    assert last(json.loads(out.read_text()))["time_ns"] < 1e9


@boots
@slow
def test_a_guest_that_panics_says_so(tmp_path: Path) -> None:
    command = "echo c >/proc/sysrq-trigger"
    done = boot(spec_with(tmp_path), "--processors", 2, "--", shutil.which("sh"), "-c", command)
    assert done.returncode == 1
    assert "Kernel panic - not syncing: sysrq triggered crash" in done.stderr


@boots
@slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_running(number: signal.Signals, readers: Path, tmp_path: Path) -> None:
    """Both processors are busy, and one of them may wait for the reader."""
    script = f"echo begins; exec {readers} 2 400000 1000"
    options = ["--processors", 2, "--file", readers, "--", shutil.which("sh"), "-c", script]
    command = [sys.executable, "-m", "cxloom", "boot", spec_with(tmp_path), *options]
    with subprocess.Popen(
        [*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        started = children_of(process.pid)
        process.send_signal(number)
        process.wait(PATIENCE)
    assert started
    assert waited_for(lambda: not any(map(runs, started)))
