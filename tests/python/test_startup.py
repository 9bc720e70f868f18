"""What a command loads: libraries that take longer to load than a run takes are loaded only where they are used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from validation.examples import slow

from cxloom.cli.app import COMMANDS, loaded

OF_OTHERS = ["cxloom.spec.syntax", "cxloom.tasks.table", "resource", "shlex"]
"""What is for messages, or for other systems than that of the test: 1 % of a short run, all of it together."""
SLOW = ["numpy", "pyarrow", "polars", "matplotlib", "cxloom.spec.models"]
"""What a run does not need: half a second together."""
TRACE = "".join(f"{64 * i:#x} {'RW'[i % 2]} {10 * i}\n" for i in range(100))
REPLAY = """\
devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}
links: [{between: [host, mem], bandwidth: 32GB/s}]
address_map: [{to: mem}]
workload: {host: {trace: accesses.txt}}
"""

BLAS = """\
import os
from cxloom.__main__ import spare_idle_threads
spare_idle_threads()
import numpy
print(len(os.listdir("/proc/self/task")), os.environ.get("OPENBLAS_NUM_THREADS"))
"""
PROGRAM = """\
import json, sys
from cxloom.cli import main
try:
    main()
except SystemExit as end:
    code = end.code
ours = [module for name, module in sys.modules.items() if name.startswith("cxloom")]
found = [each for module in ours for each in vars(module).values() if isinstance(each, type)]
classes = [each for each in found if each.__module__.startswith("cxloom")]
dataclasses = {each.__name__ for each in classes if "__dataclass_fields__" in vars(each)}
print(json.dumps([code or 0, sorted(sys.modules), sorted(dataclasses)]))
"""


def loaded_by(*arguments: object) -> tuple[set[str], list[str]]:
    """The modules that a process has once it has run a command well, and the dataclasses in those of ours."""
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, modules, dataclasses = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    return set(modules), dataclasses


def modules_after(*arguments: object) -> set[str]:
    """What a process has loaded once it has run a command well."""
    return loaded_by(*arguments)[0]


def test_a_run_loads_only_what_it_needs(spec_file: Path) -> None:
    modules, dataclasses = loaded_by("run", spec_file)
    others = [*SLOW, *OF_OTHERS, "pydantic", "rich.progress"]
    assert [name for name in others if name in modules] == []
    assert "rich.table" in modules  # of the table: the test sees what is loaded
    assert dataclasses == ["Node"]  # each takes 0.2 to 0.4 ms to define, a named tuple a sixth of that
    assert "rich" not in modules_after("run", spec_file, "--json")


def test_a_text_trace_is_replayed_without_numpy(tmp_path: Path) -> None:
    (tmp_path / "accesses.txt").write_text(TRACE)
    (tmp_path / "replay.yaml").write_text(REPLAY)
    modules = modules_after("run", tmp_path / "replay.yaml")
    assert [name for name in [*SLOW, "ctypes", "cxloom.trace.emulator"] if name in modules] == []
    assert "cxloom.trace.reader" in modules


def test_a_sweep_loads_only_what_it_needs(spec_file: Path, tmp_path: Path) -> None:
    """Arrow for its table; nothing of a cluster."""
    modules = modules_after("sweep", spec_file, "--set=run.seed=1,2", "--out", tmp_path / "out", "--quiet")
    slow = [*SLOW, "pydantic", "dask", "distributed", "scipy"]
    assert [name for name in slow if name in modules] == ["numpy", "pyarrow"]  # Arrow loads NumPy


def test_a_worker_of_a_sweep_loads_what_a_run_needs() -> None:
    program = "import json, sys; import cxloom.sweeping.worker; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = json.loads(done.stdout)
    assert "cxloom.running.run" in modules
    assert [name for name in [*SLOW, "typer", "pydantic", "rich", "dask"] if name in modules] == []


def test_plans_load_a_solver_only_where_they_solve() -> None:
    """A step of training and a given policy are closed forms."""
    training = ("zero", "8B", "--memory", "dram:100GB/s", "--json")
    policy = ("flexgen", "gpt2-xl", "--batch", "1x1", "--percent", "0 100 0 100 0 100", "--json")
    for words in (("models", "--json"), training, policy):
        modules = modules_after("offload", *words)
        assert [name for name in [*SLOW, "scipy", "rich.table"] if name in modules] == []


def test_help_loads_next_to_nothing() -> None:
    modules = modules_after("--help")
    assert [name for name in [*SLOW, "pydantic", "rich", "ruamel.yaml"] if name in modules] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_commands_say(name: str) -> None:
    module, about = COMMANDS[name]
    assert loaded(module, name).get_short_help_str(limit=80) == about


@slow
def test_memory_grows_with_the_links_and_little_each(tmp_path: Path) -> None:
    """A link took 11 KB of this command: nodes with places, summaries with nothing in them, and copies of both.

    Then 2.6: an object of Python each, and a copy of all results for asking whether they are truncated.
    """
    program = (
        "from cxloom.cli import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])\n"
    )

    def peak_bytes(switches: int) -> int:
        spec = tmp_path / "switches.yaml"
        spec.write_text(
            f"topology: {{kind: fully-connected, switches: {switches}}}\n"
            "workload: {'host*': {pattern: random, requests: 2}}\n"
        )
        command = [sys.executable, "-c", program, "run", str(spec)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return 1024 * int(done.stdout.splitlines()[-1])

    links = (256 * 255 - 64 * 63) // 2 + 256 - 64
    # 2,280 at most; the peak of one process is another by half a megabyte at times, which is 20 bytes a link.
    assert (peak_bytes(256) - peak_bytes(64)) / links < 2400


def without_blas_threads() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}


@pytest.mark.parametrize("own", [None, "2"])
def test_numpy_makes_the_threads_that_the_user_wants_or_none(own: str | None) -> None:
    own_variables = {} if own is None else {"OPENBLAS_NUM_THREADS": own}
    done = subprocess.run(
        [sys.executable, "-c", BLAS],
        env=without_blas_threads() | own_variables,
        capture_output=True,
        text=True,
        check=True,
    )
    threads, variable = done.stdout.split()
    assert variable == str(own)
    assert int(threads) == (1 if own is None else min(2, os.cpu_count() or 1))


@pytest.mark.parametrize("recorder", ["valgrind", "qemu"])
def test_a_program_of_the_user_has_the_variables_of_the_user(tmp_path: Path, recorder: str) -> None:
    tool = {"valgrind": "valgrind", "qemu": "qemu-x86_64"}[recorder]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    command = [sys.executable, "-m", "cxloom", "trace", "capture", "--with", recorder]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "env.parquet"), "--", "/usr/bin/env"],
        env=without_blas_threads() | {"OF_THE_USER": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "OF_THE_USER=1" in done.stdout
    assert "OPENBLAS_NUM_THREADS" not in done.stdout
