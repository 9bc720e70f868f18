"""The command as a process that is a copy of this one: it has loaded what the tests have, and begins at once.

A new Python takes a third of a second to load the package. What it loads, and how it begins, is what test_startup.py,
test_pressure.py and test_closed_streams.py are about, which start one. The process is a whole one otherwise: what it
loads of plug-ins stays in it, it can crash, and it has its own files and environment.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any


def forked(
    *arguments: object,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: int = 120,
    first: Callable[[], None] = lambda: None,
) -> subprocess.CompletedProcess[str]:
    """The command, ended and with what it printed; it begins with `first`, and is killed after so many seconds."""
    words = [str(each) for each in arguments]
    _load(words)
    with _file() as out, _file() as err, _file() as modules:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(seconds)
            _be_command(words, (out, err, modules), cwd, env, first)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code != -signal.SIGALRM, f"{words} takes longer than {seconds} s"
        for stream in (out, err, modules):
            stream.seek(0)
        for name in modules.read().split():
            with suppress(Exception):
                import_module(name)
        return subprocess.CompletedProcess(words, code, out.read(), err.read())


def _file() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8")


def _load(words: list[str]) -> None:
    """Loads what the command will want, for all copies to come."""
    from cxloom.cli.app import COMMANDS

    import_module("cxloom.cli.process")
    if words[0] in COMMANDS:
        import_module(COMMANDS[words[0]][0])


def _be_command(
    words: list[str],
    files: tuple[IO[str], IO[str], IO[str]],
    cwd: Path | None,
    env: Mapping[str, str] | None,
    first: Callable[[], None],
) -> None:
    """Makes this process the command; nothing of the tests runs in it any more.

    `files` take its output, its messages, and the names of the modules that it had to load: the next copy has them.
    """
    code: Any = 1
    out, err, modules = files
    before = set(sys.modules)
    try:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", closefd=False)  # type: ignore[misc]
        if env is not None:
            os.environ.clear()
            os.environ.update(env)
        if cwd is not None:
            os.chdir(cwd)
        first()
        sys.argv = ["cxloom", *words]
        from cxloom.cli import entry

        entry()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        modules.write("\n".join(set(sys.modules) - before))
        modules.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)
