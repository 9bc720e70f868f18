"""The time of programs in a booted machine, beside closed forms and `cxloom exec`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from boot_support import TOPOLOGIES
from program_support import built_programs
from test_boot import PATIENCE, boot, boots
from validation.examples import slow

import cxloom as cx

CORE = {"caches": [{"size": "32KiB", "ways": 8}, {"size": "256KiB", "ways": 8}], "tlb": {}}
IDLE = {"local": 130.0, "cxl": 284.0}
"""ns of a read of dmsim/asic (docs/studies of the preset)."""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """dmsim/asic with less memory, and caches that the programs do not fit."""
    system = cx.load("dmsim/asic")
    system.set("devices.cxl.capacity", "512MiB")
    system.set("devices.local.capacity", "1GiB")
    system.set("devices.host.core", CORE)
    path = tmp_path / "system.yaml"
    path.write_text(system.to_yaml())
    return path


def run(command: str, out: Path, *arguments: object) -> dict[str, Any]:
    """The results of a run that has to end well."""
    words = [sys.executable, "-m", "cxloom", command, *map(str, arguments)]
    position = words.index("--") if "--" in words else len(words)
    words[position:position] = ["--out", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(out.read_text())
    return found


@boots
def test_a_step_of_a_chase_takes_an_idle_read(spec: Path, tmp_path: Path) -> None:
    """On CXL as the kernel maps it, through its own driver; beside it the same with all pages near. What was recorded
    gives the same, replayed. Almost all accesses are those of its own memory."""
    chase, steps = built_programs() / "chase", 20000
    trace = tmp_path / "chase.parquet"
    options = ["--membind", "cxl", "--roi", "marks", "--record", trace]
    found = run("boot", tmp_path / "boot.json", spec, *options, "--", chase, 40000, steps)
    near, far = found["systems"]
    assert near["time_ns"] / steps == pytest.approx(IDLE["local"], rel=0.03)
    assert far["time_ns"] / steps == pytest.approx(IDLE["cxl"], rel=0.03)
    assert far["placement"] == "as-is"
    program = found["processes"][0]
    assert program["name"] == "chase"
    own = program["mappings"][0]
    assert own["name"] == "[anonymous]"
    assert own["memories"] == {"cxl": own["accesses"]}
    assert 0 <= own["accesses"] - steps <= 288 * 1024 / 64  # write-backs of what was in the caches
    sums = [
        found["kernel"][count] + sum(each[count] for each in found["processes"])
        for count in ("instructions", "accesses")
    ]
    assert sums == [found["instructions"], found["accesses"]]
    for number, system in enumerate(found["systems"]):
        times = [each["times_ns"][number] for each in (found["kernel"], *found["processes"])]
        assert sum(times) == pytest.approx(system["time_ns"], rel=1e-6)
        assert max(times) == times[1] > 0.95 * system["time_ns"]
    again = run("exec", tmp_path / "again.json", "--system", spec, "--pages", "as-is", "--replay", trace)
    assert again["systems"][-1]["time_ns"] == far["time_ns"]
    assert again["accesses"] == found["accesses"]


@boots
@slow
def test_a_step_in_memory_that_is_a_device_takes_an_idle_read(spec: Path, tmp_path: Path) -> None:
    """Lines that <cxloom/dax.h> allocates from /dev/dax0.0; the rest of the program is in local memory."""
    chase, steps = built_programs() / "chase", 20000
    options = ["--mode", "device", "--roi", "marks", "--", chase, 40000, steps, 1, "/dev/dax0.0"]
    far = run("boot", tmp_path / "boot.json", spec, *options)["systems"][-1]
    assert far["time_ns"] / steps == pytest.approx(IDLE["cxl"], rel=0.03)


@boots
@slow
@pytest.mark.parametrize("memory", ["local", "cxl"])
@pytest.mark.parametrize(
    ("program", "arguments"), [("chase", ["30000", "60000"]), ("stream", ["30000", "1", "16"])]
)
def test_a_program_takes_what_exec_says(
    program: str, arguments: list[str], memory: str, spec: Path, tmp_path: Path
) -> None:
    """Between its marks, without the time of the kernel, which exec does not have: a page that is touched first is
    cleared, of which STREAM has 120, and a tick of the timer comes, or does not.

    A chase touches nothing new, and is what it is under exec, to the record. Of STREAM's own lines the kernel has some
    in the caches, as it has cleared them: it takes less, and not more, but for what a tick drives out of the caches,
    which is no more than they hold: 4608 lines of 843 thousand."""
    path = built_programs() / program
    options = ["--membind", memory, "--roi", "marks"]
    booted = run("boot", tmp_path / "boot.json", spec, *options, "--", path, *arguments)
    alone = run("exec", tmp_path / "exec.json", "--system", spec, *options, "--", path, *arguments)
    one, other = booted["systems"][-1], alone["systems"][-1]
    kernels = booted["kernel"]["instructions"]
    assert booted["instructions"] - kernels == pytest.approx(alone["instructions"], rel=0.001)
    kernels_ns = booted["kernel"]["times_ns"][-1]
    own = (one["time_ns"] - kernels_ns) / other["time_ns"]
    if program == "stream":
        assert kernels_ns < 0.12 * one["time_ns"]  # 6 to 8 %, and with a tick 9 %
        assert 0.96 < own < 1.01  # 0.978 to 0.991
    else:
        assert kernels_ns < 0.03 * one["time_ns"]  # nothing, or a tick
        assert own == pytest.approx(1, rel=0.03)
        assert booted["tlb"]["misses"] == pytest.approx(alone["tlb"]["misses"], rel=0.001)


@boots
@slow
def test_stream_in_a_device_has_the_bandwidth_of_its_memory(spec: Path, tmp_path: Path) -> None:
    """Arrays that the program maps, beside exec with all that it has on CXL. The kernel clears no pages of a device."""
    words = [built_programs() / "stream", "30000", "1", "16"]
    mapped = ["--mode", "device", "--roi", "marks", "--", *words, "/dev/dax0.0"]
    booted = run("boot", tmp_path / "boot.json", spec, *mapped)
    near = ["--membind", "cxl", "--roi", "marks", "--", *words]
    alone = run("exec", tmp_path / "exec.json", "--system", spec, *near)
    time_ns, kernels_ns = booted["systems"][-1]["time_ns"], booted["kernel"]["times_ns"][-1]
    assert kernels_ns < 0.05 * time_ns  # 1.2 %, and with ticks more
    assert time_ns - kernels_ns == pytest.approx(alone["systems"][-1]["time_ns"], rel=0.03)  # 0.994


@boots
@slow
def test_the_kernel_is_counted_apart(spec: Path, tmp_path: Path) -> None:
    """All of a program: loading it, and its first touches, are the kernel's."""
    path = built_programs() / "chase"
    found = run("boot", tmp_path / "boot.json", spec, "--membind", "cxl", "--", path, 20000, 20000)
    kernel = found["kernel"]
    assert 0.3 < kernel["instructions"] / found["instructions"] < 0.95
    assert 0 < kernel["accesses"] < found["accesses"]
    assert kernel["counters"]["pgfault"] > 20000 * 64 / 4096
    assert 0 < found["register_accesses"] < 1000  # of the local interrupt controller, and of the ports


@boots
@slow
def test_pages_without_room_are_swapped_to_memory_on_cxl(spec: Path, tmp_path: Path) -> None:
    """Pairs of 80 MB beside room of 8 MiB, and what the kernel takes back from others: pages go to the disk and come
    back, and the program finds all of its values."""
    pairs = [built_programs() / "pairs", 80000, 500, 3, 100, 900]
    options = ["--mode", "swap", "--room", "8MiB", "--roi", "marks"]
    found = run("boot", tmp_path / "swapped.json", spec, *options, "--", *pairs)
    counters = found["kernel"]["counters"]
    assert counters["pswpout"] > 1000
    assert counters["pswpin"] > 50
    assert found["kernel"]["instructions"] > 0.5 * found["instructions"]
    near, swapped = (each["time_ns"] for each in found["systems"])
    assert swapped > 1.03 * near, "what was swapped is on CXL"


@boots
@slow
def test_disks_of_several_devices_are_used_in_turn(tmp_path: Path) -> None:
    """Two devices on links of their own: as much is swapped to the one as to the other."""
    path = tmp_path / "system.yaml"
    path.write_text(TOPOLOGIES["two devices on one bridge"])
    pairs = f"{built_programs() / 'pairs'} 80000 1 3 100 900; cat /proc/swaps"
    options = ["--mode", "swap", "--room", "8MiB", "--untimed", "--file", built_programs() / "pairs"]
    done = boot(path, *options, "--", shutil.which("sh"), "-c", pairs)
    assert done.returncode == 0, done.stderr
    swapped = [int(line.split()[3]) for line in done.stdout.splitlines() if "/dev/pmem" in line]
    assert len(swapped) == 2
    assert min(swapped) > 1000  # KiB
    assert max(swapped) < 1.5 * min(swapped)


@boots
@slow
def test_hot_pages_are_promoted_by_the_kernel(spec: Path, tmp_path: Path) -> None:
    """Page by page, as its counters say; the program is faster for it, and without its balancing nothing moves."""
    program = tmp_path / "hot_set"
    source = Path(__file__).parent / "programs" / "hot_set.c"
    subprocess.run(["cc", "-O1", "-o", program, source], check=True)
    hot, passes = 128, 60000

    def played(*options: str) -> tuple[str, dict[str, Any]]:
        out = tmp_path / "out.json"
        arguments = [spec, *options, "--out", out, "--", program, 1, 1024, hot, passes]
        done = boot(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout, json.loads(out.read_text())

    said, still = played("--tiering", "off")
    assert said.split() == f"before: node 1 {hot} after: node 1 {hot}".split()
    assert still["kernel"]["counters"]["pgpromote_success"] == 0
    said, moved = played("--tiering", "tiering", "--scan-periods", "0.01")
    assert said.splitlines() == [f"before: node 1 {hot}", f"after: node 0 {hot}"]
    counters = moved["kernel"]["counters"]
    assert 0.9 * hot <= counters["pgpromote_success"] <= counters["pgmigrate_success"] <= hot + 32
    assert counters["numa_hint_faults"] >= hot
    times = [each["systems"][-1]["time_ns"] for each in (still, moved)]
    assert times[1] < 0.8 * times[0]
