"""The README's commands, in order and as they are printed, in a clean tree whose only set-up was `make demo`."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from forked import forked
from validation.examples import WHOLE

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CALLED_BY_CI = {"make demo", "make test"}
"""`.ci/run` begins with these."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def lines(block: str) -> list[str]:
    return [line for line in block.splitlines() if line.strip()]


def the_tree(folder: Path) -> Path:
    """What a user has after `make demo` and with the file that the README shows: no results of anything."""
    (folder / ".venv").symlink_to(ROOT / ".venv")
    for name in ("examples", "studies"):
        (folder / name).symlink_to(ROOT / name)
    (spec,) = blocks("yaml")
    (folder / "system.yaml").write_text(spec, encoding="utf-8")
    return folder


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("VIRTUAL_ENV", "PYTHONPATH", "COLUMNS")
    }
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=clean,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def copied(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of the command as copies of a process that has loaded it, at a tenth of what its processes take."""
    clean = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "COLUMNS")}
    for each in line.split("&&"):
        program, *words = shlex.split(each, comments=True)
        assert program == "cxloom"
        done = forked(*words, cwd=folder, env=clean)
        if done.returncode != 0:
            break
    return done


def missing_for_exec(command: str) -> str:
    """What this machine lacks for the line with `cxloom exec`, or nothing."""
    program = command.partition(" -- ")[2].split()[0]
    if shutil.which("qemu-x86_64") is None:
        return "QEMU's user emulation"
    if not any((ROOT / "build").rglob("*cxloom_qemu*.so")):
        return "the plug-in for QEMU in this build"
    return "" if shutil.which(program) else program


def test_the_commands_run_in_order_as_they_are_printed(tmp_path: Path) -> None:
    making, using = blocks("sh")
    assert {line.partition("#")[0].strip() for line in lines(making)} == CALLED_BY_CI
    activation, *commands = lines(using)
    assert activation.startswith("source ")
    assert len(commands) > 10
    tree = the_tree(tmp_path)
    left_out = ""
    for at, command in enumerate(commands):
        if not WHOLE and any(long in command for long in ("cxloom exec", "study run memory/curves")):
            continue
        if "cxloom exec" in command and (left_out := missing_for_exec(command)):
            continue
        # The first one by a shell shows that the activation makes it a command.
        done = run(f"{activation}\n{command}", tree) if WHOLE or at == 0 else copied(command, tree)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert done.stdout or done.stderr, f"{command} says nothing"
    for python in blocks("python"):
        (tree / "printed.py").write_text(python, encoding="utf-8")
        done = run(f"{activation}\npython printed.py", tree)
        assert done.returncode == 0, f"{python}\n{done.stdout}{done.stderr}"
    if left_out:
        pytest.skip(f"all but the line with `cxloom exec` ran: {left_out} is missing")


def test_the_system_shows_contention(tmp_path: Path) -> None:
    """What the README says one sees in its system, from first principles.

    A read brings 64 B and a header of 16 B upstream, a write an answer of 16 B: at 67 % reads a request costs
    0.67 x 80 + 0.33 x 16 = 58.9 B of 64 GB/s, so that 1.087 requests per ns fill the bus. Alone a request takes
    198.5 ns, so that 64 in flight make 0.322 per ns, 30 % of that, and 256 in flight wait: 256 / 1.087 = 235.5 ns,
    37 ns more than alone.
    """
    tree = the_tree(tmp_path)

    def measured(*settings: str) -> dict[str, object]:
        sets = "".join(f" --set {each}" for each in settings)
        done = run(f".venv/bin/cxloom run system.yaml --json{sets}", tree)
        return json.loads(done.stdout)  # type: ignore[no-any-return]

    def busy(result: dict[str, object]) -> float:
        return float(result["per_switch"]["bus"]["upstream_utilization"])  # type: ignore[index]

    full, light = measured(), measured("devices.host.queue=64")
    assert busy(full) > 0.99
    assert full["breakdown_ns"]["bus_queue"] == pytest.approx(37, abs=2)  # type: ignore[index]
    assert busy(light) == pytest.approx(0.30, abs=0.01)
    assert light["breakdown_ns"].get("bus_queue", 0) < 0.1  # type: ignore[attr-defined]
    for said in ("wait\n36 ns for it", "With 64 nothing waits, and the bus carries 30 %"):
        assert said in README
