"""The end of a process: what waits for it is done, and the interpreter is not taken apart where nobody would notice."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROGRAM = """\
import atexit, sys, threading, time
from cxloom.cli.ending import Ending

class Noticed:
    def __del__(self):
        print("taken apart")

def thread():
    time.sleep(0.02)
    print("a thread")

{before}
ending = Ending()
atexit.register(print, "registered later")
noticed = Noticed()
threading.Thread(target=thread).start()
ending.code = {code}
{last}
"""
IN_ORDER = ["a thread", "registered later"]


def ended(
    code: int | None, last: str, before: str = "", out: int | None = None, preloaded: str = ""
) -> subprocess.CompletedProcess[str]:
    """A process that ends with `last`, in which `before` was done before anything of ours, and a library was loaded."""
    program = PROGRAM.format(before=before, code=code, last=last)
    return subprocess.run(
        [sys.executable, "-E", "-c", program],  # also where the environment lets output wait for nothing
        stdout=subprocess.PIPE if out is None else out,
        stderr=subprocess.PIPE,
        env=os.environ | {"LD_PRELOAD": preloaded},
        text=True,
        timeout=60,
        check=False,
    )


def test_what_waits_for_the_end_is_done_and_no_more() -> None:
    done = ended(3, "raise SystemExit(3)")
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (3, IN_ORDER, "")


def test_a_bug_ends_in_the_ordinary_way() -> None:
    done = ended(None, "1 / 0")
    assert (done.returncode, done.stdout.splitlines()) == (1, [*IN_ORDER, "taken apart"])
    assert "ZeroDivisionError" in done.stderr


def test_what_was_there_before_has_its_turn() -> None:
    done = ended(3, "raise SystemExit(3)", before='atexit.register(print, "registered before")')
    assert (done.returncode, done.stdout.splitlines()) == (3, [*IN_ORDER, "registered before", "taken apart"])


def test_what_is_preloaded_has_its_end() -> None:
    done = ended(3, "raise SystemExit(3)", preloaded="libm.so.6")
    assert (done.returncode, done.stdout.splitlines()) == (3, [*IN_ORDER, "taken apart"])


def test_a_plugin_has_its_end() -> None:
    # Objects of a library that live as long as the process, such as an open file, end with its ordinary end alone.
    loaded = "from cxloom.spec import plugins; plugins._loaded.append('any.so'); "
    done = ended(3, loaded + "raise SystemExit(3)")
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (3, [*IN_ORDER, "taken apart"], "")


@pytest.mark.parametrize("code", [3, None])
def test_output_that_cannot_be_written_at_the_end_is_told_as_ever(code: int | None) -> None:
    with Path("/dev/full").open("w") as full:
        done = ended(code, "raise SystemExit(3)", out=full.fileno())
    assert done.returncode == 120  # Python's own
    assert "No space left on device" in done.stderr


BEGUN = """\
import sys

class Noticed:
    def __del__(self):
        print("taken apart")

noticed = Noticed()
sys.argv = ["cxloom", "--version"]
{begun}
"""


def begun(program: str) -> tuple[int, list[str]]:
    """Code and output of a process that begins so, without the version that the command prints."""
    done = subprocess.run(
        [sys.executable, "-E", "-c", BEGUN.format(begun=program)],
        capture_output=True,
        env=os.environ | {"LD_PRELOAD": ""},
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    version, *rest = done.stdout.splitlines()
    assert version.startswith("cxloom ")
    return done.returncode, rest


def test_the_command_is_all_that_its_process_does() -> None:
    assert begun("from cxloom.__main__ import process; process()") == (0, [])
    scripts = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"cxloom": "cxloom.__main__:process"}


@pytest.mark.parametrize("name", ["main", "entry"])
def test_a_script_that_calls_the_command_goes_on(name: str) -> None:
    """With its own code at its end, and Ctrl-C as it was."""
    caught = f"""\
from cxloom.cli import {name} as command
try:
    command()
except SystemExit as end:
    print("the command ended with", end.code)
import signal
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
sys.exit(7)"""
    assert begun(caught) == (7, ["the command ended with 0", "True", "taken apart"])
