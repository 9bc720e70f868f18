"""The end of a process: what waits for it is done, and the interpreter is not taken apart where nobody would notice."""

from __future__ import annotations

import os
import subprocess
import sys
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
