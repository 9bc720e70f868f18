"""Studies of programs on booted machines: their files, and what is said where something is missing. None boots."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_boot import PATIENCE, boots, children_of, waited_for
from test_boot import runs as is_running
from validation.examples import slow, some

from cxloom.base.errors import AbsentError, InputError
from cxloom.booting import point
from cxloom.booting.folder import SetUp
from cxloom.booting.point import BootRun
from cxloom.booting.qemu import Qemu
from cxloom.spec.override import Override
from cxloom.study import read
from cxloom.study.carried import points_at_once
from cxloom.study.compare import check
from cxloom.study.shipped import find, names

Call = Callable[..., Any]

SMALL = "{preset: dmsim/asic, devices: {cxl: {capacity: 512MiB}, local: {capacity: 1GiB}}}"
STUDY = f"""\
title: A program
source: nobody
boot:
  system: {SMALL}
  program: own.c
  arguments: [1, 2]
  roi: marks
cases:
  - {{at: {{memory: near}}, set: {{membind: local}}}}
  - {{at: {{memory: far}}, set: {{membind: cxl, devices.cxl.controller_time: 40ns, arguments: [3]}}}}
derive:
  step_ns: {{ratio: [time_ns, 2]}}
table: {{memory: memory, step: step_ns, faults: kernel.counters.pgfault, misses: core.mshr_ns}}
expect:
  - {{measure: step_ns, least: 1, source: nobody}}
"""


@pytest.fixture
def study_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study beside its program, in a place where nothing is set up."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "own.c").write_text(
        "#include <cxloom/roi.h>\nint main(void) { cxloom_roi_begin(); return 0; }\n"
    )
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What says that there is a set-up; nothing can be booted from it."""
    fake = SetUp(Qemu(("qemu",), (10, 0, 2)), tmp_path, "6.12", tmp_path)
    monkeypatch.setattr(point, "find_set_up", lambda: fake)


def runs(path: Path, *sets: str) -> list[BootRun]:
    """The runs of a study."""
    found = []
    for spec in read(path, [Override.parse(each) for each in sets]).specs:
        assert isinstance(spec, BootRun)
        found.append(spec)
    return found


def test_values_are_those_of_the_run_or_of_its_system(study_file: Path) -> None:
    near, far = (each.plain() for each in runs(study_file))
    assert (near["membind"], near["arguments"]) == ("local", [1, 2])
    assert (far["membind"], far["arguments"], far["roi"]) == ("cxl", [3], "marks")
    times = [each["system"]["devices"]["cxl"]["controller_time"] for each in (near, far)]
    assert times == ["30ns", "40ns"]
    near, far = (each.plain() for each in runs(study_file, "mode=device", "devices.local.capacity=2GiB"))
    assert (near["mode"], far["system"]["devices"]["local"]["capacity"]) == ("device", "2GiB")


def test_a_machine_takes_a_processor_for_each_of_its_threads(study_file: Path) -> None:
    """The simulation has one, and each of the guest's processors has one."""
    assert [points_at_once(read(study_file), processors) for processors in (1, 2, 3, 8)] == [1, 1, 1, 4]
    several = read(study_file, [Override.parse("processors=3")])
    assert [points_at_once(several, processors) for processors in (1, 8, 12)] == [1, 2, 3]


@pytest.mark.usefixtures("set_up")
def test_every_measure_is_looked_for_before_a_boot(study_file: Path) -> None:
    check(read(study_file))
    study_file.write_text(STUDY.replace("[time_ns, 2]", "[time, 2]"))
    with pytest.raises(InputError, match="no measure 'time'"):
        check(read(study_file))


@pytest.mark.usefixtures("set_up")
@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("membind: local", "membind: locl", "study.yaml:9: .*: no memory of the machine"),
        ("membind: local", "mode: fast", "no mode"),
        ("membind: local", "membind: local, preferred: local", "said twice"),
        ("membind: local", "tiering: warm", "no mode"),
        ("membind: local", "mode: swap, membind: local", "a placement of pages is for a program on nodes"),
        ("membind: local", "mode: device, tiering: off", "pages are balanced between nodes"),
        ("membind: local", "room: 1MiB", "too little room for a program"),
        ("program: own.c", "program: other.c", "study.yaml:5: boot.program: no such file, found .*other.c"),
        (
            "program: own.c",
            "program: no-such-program",
            "study.yaml:5: .*there is no program 'no-such-program' here",
        ),
        ("program: own.c", "files: [own.c]", "'program' is missing"),
        ("roi: marks", "roi: main", "a region of interest in a guest is between marks"),
        ("roi: marks", "core: z80", "there is no such processor"),
        ("local: {capacity: 1GiB}", "local: {capacity: 256MiB}", "too little memory of its own"),
        ("roi: marks", "processors: many", "study.yaml:7: boot.processors: not a whole number, found 'many'"),
        ("roi: marks", "processors: 2.5", "boot.processors: not a whole number, found 2.5"),
        ("membind: local", "tiering: numa, scan-periods: often", "scan-periods: not a number"),
        ("roi: marks", "exact: often", "boot.exact: not true or false"),
        ("arguments: [1, 2]", "arguments: one", "boot.arguments: not a list"),
    ],
)
def test_what_is_wrong_is_said_before_a_boot(wrong: str, right: str, said: str, study_file: Path) -> None:
    study_file.write_text(STUDY.replace(wrong, right))
    with pytest.raises(InputError, match=said):
        check(read(study_file))


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("roi: marks", "rio: marks", "unknown key 'rio'.*did you mean 'roi'"),
        (f"system: {SMALL}", "exact: true", "'system' is missing"),
        (f"system: {SMALL}", "system: {preset: dmsim/asic, devcies: {}}", "unknown .*devcies"),
    ],
)
def test_a_file_that_is_none_is_refused(wrong: str, right: str, said: str, study_file: Path) -> None:
    study_file.write_text(STUDY.replace(wrong, right))
    with pytest.raises(InputError, match=said):
        read(study_file)


def test_the_cost_of_a_point_is_its_own(study_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process carries out several, each with an emulator that takes its time."""

    def emulated(_run: BootRun) -> None:
        subprocess.run(
            [sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"], check=True
        )

    monkeypatch.setattr(BootRun, "_run", emulated)
    monkeypatch.setattr(point, "_summary_of", lambda _found: {})
    costs = [each.carried_out()["cost"]["cpu_seconds"] for each in runs(study_file)]
    assert costs == pytest.approx([0.4, 0.4], abs=0.15)


def test_what_decides_the_result_names_it(study_file: Path, tmp_path: Path) -> None:
    near, far = (each.digest() for each in runs(study_file))
    assert near != far
    assert [each.digest() for each in runs(study_file)] == [near, far]
    source = tmp_path / "own.c"
    source.write_text(source.read_text() + "// another\n")
    assert runs(study_file)[0].digest() != near


@pytest.mark.usefixtures("set_up")
def test_a_program_that_does_not_compile_is_said_with_its_line(study_file: Path, tmp_path: Path) -> None:
    (tmp_path / "own.c").write_text("int main(void) { return x; }\n")
    with pytest.raises(InputError, match=r"does not compile, found .*own.c:1:25: error: "):
        check(read(study_file))


def test_without_a_compiler_there_is_one_to_be_had(study_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(AbsentError, match="there is no C compiler"):
        point.compiled(study_file.with_name("own.c"), study_file.parent)


def test_without_a_set_up_it_is_one_sentence(study_file: Path, cxloom: Call) -> None:
    outcome = cxloom("study", "run", study_file)
    assert outcome.code == 2
    assert outcome.err.startswith("error: nothing is set up yet that a machine could be booted from\n")
    assert "cxloom boot --setup" in outcome.err


def test_a_collection_leaves_out_what_cannot_be_run(study_file: Path, tmp_path: Path, cxloom: Call) -> None:
    study_file.with_name("idle.yaml").write_text(
        "title: Idle\nsystem: {preset: dmsim/local, workload: {host: {requests: 200}}}\ntable: {ns: latency_ns.mean}\n"
    )
    several = tmp_path / "all.yaml"
    several.write_text("title: Both\nstudies: [study, idle]\n")
    outcome = cxloom("study", "run", several)
    assert outcome.code == 0, outcome.err
    assert "study is left out: nothing is set up yet" in outcome.err
    assert (tmp_path / "build/studies/all/report.html").exists() or "The page of all is" in outcome.out
    several.write_text("title: None\nstudies: [study]\n")
    assert cxloom("study", "run", several).code == 2


def test_an_artifact_has_no_machine(study_file: Path, tmp_path: Path, cxloom: Call) -> None:
    outcome = cxloom("study", "package", study_file, tmp_path / "package")
    assert outcome.code == 2
    assert "programs on booted machines are not packaged" in outcome.err


@pytest.mark.usefixtures("set_up")
@pytest.mark.parametrize(
    "name", some(name for name in names() if name.startswith("dmsim/full_") and "redis" not in name)
)
def test_a_shipped_study_has_what_it_needs(name: str) -> None:
    """Its program compiles, its machine can be booted, and there is every measure."""
    study = read(find(name))
    assert all(isinstance(spec, BootRun) for spec in study.specs)
    check(study)


@boots
@slow
def test_a_shipped_study_meets_its_expectations(tmp_path: Path) -> None:
    """The quick form of the shortest one, as the command runs it."""
    command = [
        sys.executable,
        "-m",
        "cxloom",
        "study",
        "run",
        "dmsim/full_latency",
        "--quick",
        "--out",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 met" in done.stdout


def descendants(number: int) -> list[int]:
    """The processes that one has started, and those that they have."""
    return [each for child in children_of(number) for each in (child, *descendants(child))]


def is_emulator(number: int) -> bool:
    try:
        return b"qemu-system" in Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return False


@boots
@slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_study_leaves_nothing_running(number: signal.Signals, tmp_path: Path) -> None:
    """Neither the processes that carry out its points nor their emulators, and no point that is half done."""
    (tmp_path / "own.c").write_text("int main(void) { for (;;) {} }\n")
    file, out = tmp_path / "study.yaml", tmp_path / "out"
    file.write_text(STUDY.replace("  roi: marks\n", ""))
    command = [sys.executable, "-m", "cxloom", "study", "run", file, "--jobs", "1", "--out", out]
    with subprocess.Popen(
        [*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ)
    ) as process:
        waited_for(lambda: any(map(is_emulator, descendants(process.pid))))
        started = descendants(process.pid)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    assert started
    assert process.returncode == 1, said
    assert b"Traceback" not in said
    assert waited_for(lambda: not any(map(is_running, started)))
    assert list(out.rglob("points/*")) == []
