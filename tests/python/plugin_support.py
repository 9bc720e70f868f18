"""What tests of plug-ins share: plug-ins built outside the tree, and the command with them."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from compiled import once, version_of
from forked import forked

import cxloom

PLUGINS = Path(__file__).parent / "plugins"


def compiler() -> list[str]:
    """The compiler of plug-ins and its options."""
    program = shutil.which("g++") or shutil.which("c++")
    assert program, "the build needs a C++ compiler, so it is here"
    return [program, "-std=c++20", "-O1", "-fPIC", f"-I{cxloom.include_dir()}"]


@cache
def built(source: Path) -> Path:
    """A plug-in from its one source file, built once for all tests."""
    name = f"lib{source.stem}.so"

    def make(folder: Path) -> None:
        subprocess.run([*compiler(), "-shared", str(source), "-o", str(folder / name)], check=True)

    # It has a digest of all public headers.
    headers = cxloom.include_dir() / "cxloom_version.hpp"
    return once([version_of(compiler()[0]), *compiler(), source, headers], make) / name


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, as a process of its own."""
    return forked(*arguments)


def results_of(spec: Path, library: Path, *settings: str) -> dict[str, Any]:
    """The results of a spec that is played with a plug-in, after these settings."""
    chosen = [word for setting in settings for word in ("--set", setting)]
    done = run("run", str(spec), "--plugin", str(library), "--json", *chosen)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


@dataclass(frozen=True)
class Played:
    """A spec, and the plug-in that it is played with."""

    library: Path
    spec: Path

    def command(self, name: str, *settings: str) -> subprocess.CompletedProcess[str]:
        """A command on the spec, after these settings."""
        chosen = [word for setting in settings for word in ("--set", setting)]
        return run(name, str(self.spec), "--plugin", str(self.library), *chosen)

    def results(self, *settings: str) -> dict[str, Any]:
        """The results of the spec, after these settings."""
        return results_of(self.spec, self.library, *settings)

    def refusal(self, *settings: str) -> str:
        """What is said of these settings, which are wrong."""
        refused = self.command("check", *settings)
        assert refused.returncode == 2
        return refused.stderr

    def assert_kind(self, setting: str, noun: str, about: str) -> None:
        """The kind that `setting` chooses for the spec is described with its plug-in, and without it unknown.

        `noun` is what messages call kinds of its sort, `about` is in its description.
        """
        kind = setting.rpartition("=")[2]
        shown = run("components", kind, "--plugin", str(self.library))
        assert shown.returncode == 0, shown.stderr
        assert about in shown.stdout
        refused = run("check", str(self.spec), "--set", setting)
        assert refused.returncode == 2
        assert f"unknown {noun} kind '{kind}'" in refused.stderr


def with_plugin(folder: Path, source: str, spec: str) -> Played:
    """A spec, which is written into the folder, with a plug-in of these tests."""
    file = folder / "spec.yaml"
    file.write_text(spec)
    return Played(built(PLUGINS / source), file)
