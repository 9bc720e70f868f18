"""`cxloom boot` from the command line: what is refused, and machines that are booted where a set-up is there.

Each boot takes ten seconds or more on an idle core. Two are in every run of the tests; `make boot-check` has all.
"""

from __future__ import annotations

import csv
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from boot_support import TOPOLOGIES, machine
from conftest import Outcome
from validation.examples import slow

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.booting.folder import cache_folder, find_set_up, set_up_folder
from cxloom.booting.memory import available_memory
from cxloom.booting.performance import measured
from cxloom.booting.system import machine_of_system

CHECK = Path(__file__).parent / "programs" / "memory_check.c"
PATIENCE = 1800.0
"""Seconds for one boot, and for what it starts to end (own choice: it takes 10 alone, and minutes on a busy computer;
a guest that does not answer any more is found by the command itself)."""


def missing() -> str:
    """Why nothing can be booted here; empty if it can."""
    try:
        find_set_up()
    except InputError as error:
        return f"{error.problem}: {error.allowed}"
    return "" if available_memory() > 3 << 30 else "less than 3 GiB of memory are free"


boots = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "system.yaml"
    path.write_text(TOPOLOGIES["direct"])
    return path


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that writes and reads all of a device or so much of a node (programs/memory_check.c)."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    program = tmp_path_factory.mktemp("check") / "memory_check"
    subprocess.run([compiler, "-O1", "-o", program, CHECK], check=True)
    return program


def boot(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cxloom", "boot", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=PATIENCE, check=False)


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "what is to be booted?"),
        (("SPEC", "--setup"), "what is to be booted?"),
        (("SPEC", "--mirror", "http://a"), "a mirror is for the set-up"),
        (("SPEC", "--mode", "disk"), "no mode"),
        (("SPEC", "--mode", "swap", "--membind", "m0", "--", "cat"), "a placement of pages is for a program"),
        (("SPEC", "--room", "much", "--", "cat"), "--room"),
        (("SPEC", "--room", "1MiB", "--", "cat"), "too little room for a program"),
        (("SPEC", "--room", "1GiB", "--", "cat"), "allowed: less than 1024MiB"),
        (("SPEC", "--membind", "m0"), "a placement of pages is for a program on nodes"),
        (
            ("SPEC", "--mode", "device", "--membind", "m0", "--", "cat"),
            "a placement of pages is for a program on nodes",
        ),
        (("SPEC", "--membind", "far", "--", "cat"), "no memory of the machine"),
        (("SPEC", "--file", "/"), "files are for a program"),
        (("SPEC", "--log", "protocol"), "no log"),
        (("SPEC", "--log", "enumeration="), "no log"),
        (("SPEC", "--local", "far"), "no memory of the address map"),
        (("SPEC", "--host", "m0"), "no host of this system"),
        (("SPEC", "--roi", "main", "--", "cat"), "a region of interest in a guest is between marks"),
        (("SPEC", "--core", "z80", "--", "cat"), "there is no such processor"),
        (("SPEC", "--record", "a.csv", "--", "cat"), "the file name has no known trace suffix"),
        (("SPEC", "--out", "a.txt", "--", "cat"), "unsupported result format"),
        (("SPEC", "--html", "a.json", "--", "cat"), "unsupported page format"),
        (("SPEC", "--untimed", "--exact", "--", "cat"), "these options are about the time of a program"),
        (("dmsim/local", "--mode", "swap", "--", "cat"), "no memory of this machine is on CXL"),
        (("dmsim/local", "--mode", "device", "--", "cat"), "no memory of this machine is on CXL"),
        (("expander/asic-ddr5", "--", "cat"), "has no memory of its own in this system"),
        (("SPEC", "--tiering", "hot"), "no mode"),
        (("SPEC", "--tiering", "tiering", "--scan-periods", "0"), "no factor"),
        (("SPEC", "--tiering", "demotion", "--scan-periods", "0.1"), "nothing scans pages"),
        (("SPEC", "--tiering", "tiering", "--mode", "device"), "pages are balanced between nodes"),
        (("SPEC", "--out", "a.json"), "these options are about the time of a program"),
        (("SPEC", "--", "a-program-of-nowhere"), "there is no program"),
        (("SPEC", "--", "cat"), "nothing is set up yet"),
        (("SPEC", "--set", "devices.m0.capacity=300MiB"), "decoders cannot have"),
        (
            ("SPEC", "--set", "devices.m0.capacity=0MiB", "--", "cat"),
            "out of bounds (from --set devices.m0.capacity=0MiB)\n",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_is_started(
    arguments: tuple[str, ...],
    said: str,
    cxloom: Callable[..., Outcome],
    spec: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = cxloom("boot", *(spec if each == "SPEC" else each for each in arguments))
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "cache").exists()


# --- machines that are booted ---------------------------------------------------------------------------------------


@slow
@boots
def test_a_program_runs_on_a_booted_machine(spec: Path) -> None:
    """The kernel's map is compared by the command; streams and exit code are the program's, and so are its pages."""
    script = "cat; echo err >&2; grep -c bind:1 /proc/self/numa_maps; exit 42"
    done = boot(spec, "--untimed", "--membind", "m0", "--", shutil.which("sh"), "-c", script, stdin="in\nput")
    assert done.returncode == 42, done.stderr
    text, _, count = done.stdout.rstrip("\n").rpartition("put")
    assert text == "in\n"
    assert int(count) > 5
    assert "err\n" in done.stderr
    assert "m0 is node 1; its decoders are those of the address map" in done.stderr


@boots
@slow
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_all_memory_of_each_topology_keeps_what_is_written(name: str, tmp_path: Path, check: Path) -> None:
    """Every line of every region is written with what tells it apart from all others, and then read."""
    path = tmp_path / "system.yaml"
    path.write_text(TOPOLOGIES[name])
    regions = TOPOLOGIES[name].count("{to: ") - 1
    devices = [f"/dev/dax{number}.0" for number in range(regions)]
    done = boot(path, "--untimed", "--mode", "device", "--", check, *devices)
    assert done.returncode == 0, done.stdout + done.stderr
    memories = len(list(machine(TOPOLOGIES[name]).endpoints()))
    lines = [int(line.split()[1]) for line in done.stdout.splitlines() if line.endswith(" 0 wrong")]
    assert len(lines) == regions
    assert sum(lines) == memories * (256 << 20) // 64


@boots
@slow
def test_a_run_that_begins_with_a_checkpoint_has_its_memory(
    tmp_path: Path, check: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU loses the state of CXL devices: the kernel of a resumed guest has found them twice, and memory is right.
    A checkpoint that cannot be used is one that is taken anew."""
    whole = cache_folder()
    (tmp_path / "cxloom/boot").mkdir(parents=True)
    (tmp_path / "cxloom/boot" / set_up_folder().name).symlink_to(whole / set_up_folder().name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    spec = tmp_path / "system.yaml"
    spec.write_text(TOPOLOGIES["a switch with two devices"])
    (tmp_path / "both").write_text(
        f"#!/bin/sh\ndmesg | grep -c ' 0000:0c:00.0: .* type 01'\n{check} /dev/dax0.0\n"
    )
    (tmp_path / "both").chmod(0o755)

    def times_found(*options: str) -> int:
        taken = ["--file", check, "--file", "/lib64"]
        done = boot(spec, *options, "--untimed", "--mode", "device", *taken, "--", tmp_path / "both")
        assert " 0 wrong" in done.stdout, done.stdout + done.stderr
        return int(done.stdout.split()[0])

    checkpoints = tmp_path / "cxloom/boot/checkpoints"
    assert times_found("--cold") == 1
    assert not checkpoints.exists()
    assert times_found() == 1
    (state,) = checkpoints.iterdir()
    assert times_found() == 2
    state.write_bytes(b"no state")
    assert times_found() == 1
    assert state.stat().st_size > 1 << 20
    assert times_found() == 2


@boots
@slow
def test_pages_are_interleaved_by_weight(spec: Path, check: Path) -> None:
    """To the page, of a mapping that would get pages of 2 MiB."""
    options = ["--untimed", "--large-pages", "never", "--weighted-interleave", "local=3,m0=1"]
    done = boot(spec, *options, "--", check, "pages", "3600")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "node 0: 2700, node 1: 900"


@boots
@slow
@pytest.mark.parametrize("preset", ["dmsim/asic", "dmsim/switch"])
def test_the_kernel_has_the_figures_of_the_system(preset: str, tmp_path: Path) -> None:
    """Latency and bandwidth of each node, and the tier that the kernel works out from them: the distance of RAM is 576,
    that of others is more by the ratios of latency and bandwidth; 128 of it are a tier."""
    sets = ["--set", "devices.cxl.capacity=1GiB", "--set", "devices.local.capacity=1GiB"]
    resolved = cx.load(preset).resolve()
    told = measured(resolved, machine_of_system(resolved))
    show = "for node in 0 1; do cat /sys/devices/system/node/node$node/access0/initiators/read_*; done\n"
    done = boot(preset, *sets, stdin=f"{show}cd /sys/devices/virtual/memory_tiering; grep -H . */nodelist\n")
    assert done.returncode == 0, done.stderr
    near, far = told["local",], told["cxl",]
    *figures, one, other = done.stdout.splitlines()
    assert [int(each) for each in figures] == [near.mb_per_s, near.idle_ns, far.mb_per_s, far.idle_ns]
    distance = 576 * far.idle_ns / near.idle_ns * near.mb_per_s / far.mb_per_s
    assert {one, other} == {"memory_tier4/nodelist:0", f"memory_tier{int(distance) // 128}/nodelist:1"}


@boots
@slow
@pytest.mark.parametrize("cold", [["--cold"], []])
def test_the_decoders_are_seen_being_programmed(cold: list[str], tmp_path: Path) -> None:
    """The registers of a decoder: base and size, each in halves, and its control with granularity, ways and commit
    (CXL 3.x, 8.2.4.20); once it is read as committed it has what the address map says."""
    spec, log = tmp_path / "system.yaml", tmp_path / "log.csv"
    spec.write_text(TOPOLOGIES["two ways over bridges"])
    done = boot(spec, *cold, "--log", f"enumeration={log}", stdin="grep 'CXL Window' /proc/iomem\n")
    assert done.returncode == 0, done.stderr
    first, last = (int(each, 16) for each in done.stdout.split()[0].split("-"))
    rows = list(csv.DictReader(log.read_text().splitlines()))
    assert list(dict.fromkeys(row["step"] for row in rows)) == ["buses", "drivers", "regions"]
    names = {"m0", "m1", "p0 root port 0", "p1 root port 0"}
    assert names <= {row["device"] for row in rows if row["step"] == "buses" and row["register"] == "0x0"}
    for device in ("m0", "m1"):
        assert any(row["device"] == device and row["space"] == "device" for row in rows), "its mailbox"
    for device, ways in (("m0", 2), ("m1", 2), ("p0 host bridge", 1), ("p1 host bridge", 1)):
        registers: dict[int, int] = {}
        mine = [row for row in rows if row["step"] == "regions" and row["device"] == device]
        for row in mine:
            if row["space"] == "component" and row["way"] == "write":
                registers[int(row["register"], 16)] = int(row["value"], 16)
        start = min(registers)
        base_low, base_high, size_low, size_high, control = (registers[start + 4 * each] for each in range(5))
        assert base_high << 32 | base_low == first
        assert size_high << 32 | size_low == last - first + 1 == 512 << 20
        assert 1 << (control >> 4 & 0xF) == ways
        assert ways == 1 or 256 << (control & 0xF) == 4096
        assert control >> 9 & 1, "it asks for commit"
        answers = [
            int(row["value"], 16)
            for row in mine
            if int(row["register"], 16) == start + 16 and row["way"] == "read"
        ]
        assert answers[-1] >> 10 & 1, "it is committed"


@boots
@slow
def test_a_table_has_steps_and_devices(spec: Path) -> None:
    done = boot(spec, "--untimed", "--log", "enumeration", "--", shutil.which("true"))
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stderr.splitlines()]
    assert [line[0] for line in lines if line and line[0] in ("buses", "drivers", "regions")] == [
        "buses",
        "drivers",
        "regions",
    ]
    assert sum("m0" in line for line in lines) >= 3


@boots
@slow
def test_a_shell_has_this_terminal(spec: Path) -> None:
    number, terminal = pty.fork()
    if number == 0:
        os.execv(sys.executable, [sys.executable, "-m", "cxloom", "boot", "--quiet", str(spec)])
    heard = bytearray()

    def wait_for(text: bytes) -> None:
        until = time.monotonic() + PATIENCE
        while text not in heard and time.monotonic() < until:
            if select.select([terminal], [], [], 1.0)[0]:
                heard.extend(os.read(terminal, 4096))
        assert text in heard
        del heard[: heard.index(text) + len(text)]

    wait_for(b"# ")
    os.write(terminal, b"tty; echo $((6 * 7))a\r")
    wait_for(b"/dev/ttyS0")
    wait_for(b"42a")
    os.write(terminal, b"sleep 1000; echo x$((1 + 1))\r")
    wait_for(b"sleep 1000")
    time.sleep(1)
    os.write(terminal, b"\x03")  # Ctrl-C is the guest's
    wait_for(b"# ")
    os.write(terminal, b"exit 5\r")
    assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 5
    os.close(terminal)


@boots
@slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    ("stage", "options"), [("booting", []), ("the program", []), ("the program", ["--untimed"])]
)
def test_nothing_is_left_running(
    spec: Path, number: signal.Signals, stage: str, options: list[str], tmp_path: Path
) -> None:
    mark = tmp_path.name
    program = [shutil.which("sh"), "-c", f"echo {mark}; sleep 600"]
    command = [sys.executable, "-m", "cxloom", "boot", spec, *options, "--", *program]
    process = subprocess.Popen(
        [*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    if stage == "the program":
        assert process.stdout.readline() == f"{mark}\n"
    emulators = waited_for(lambda: children_of(process.pid))
    process.send_signal(number)
    process.wait(PATIENCE)
    process.stdout.close()
    assert process.returncode == (-number if number == signal.SIGKILL else 1)
    assert waited_for(lambda: not any(map(runs, emulators)))


@boots
@slow
def test_a_guest_that_panics_says_so(spec: Path) -> None:
    """Whoever writes c into that file asks for it."""
    done = boot(spec, "--untimed", "--", shutil.which("sh"), "-c", "echo c >/proc/sysrq-trigger")
    assert done.returncode == 1
    assert "Kernel panic - not syncing: sysrq triggered crash" in done.stderr


@boots
@slow
def test_a_shell_reads_its_commands(spec: Path) -> None:
    done = boot(spec, stdin="cxl list -M | grep -c serial\nnumactl -H | grep -c 'node . size'\nexit 7\n")
    assert (done.returncode, done.stdout) == (7, "1\n2\n"), done.stderr


Found = TypeVar("Found")


def waited_for(look: Callable[[], Found]) -> Found:
    """What is found once it is something; asserts that it is in time."""
    until = time.monotonic() + PATIENCE
    while not (found := look()) and time.monotonic() < until:
        time.sleep(0.05)
    assert found
    return found


def children_of(number: int) -> list[int]:
    """The processes that one has started."""
    try:
        return [int(each) for each in Path(f"/proc/{number}/task/{number}/children").read_text().split()]
    except OSError:
        return []


def runs(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
