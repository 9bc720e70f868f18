"""What plug-ins can include: the public headers, what they reach of the core, and nothing else."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from plugin_support import compiler
from validation.examples import DRAWN, some

import cxloom

ROOT = Path(__file__).parents[2]
REACHED = Path(__file__).with_name("public_headers.txt")
PUBLIC = sorted(path.stem for path in (ROOT / "include" / "cxloom").glob("*.hpp"))

# Headers of the core that a plug-in of a kind reaches at most. A policy reaches its interface and what parameters
# take; a device has ports, agents and time besides. One made of an agent or a switch reaches its parameters, and
# nothing of what it holds. They are what compiling a plug-in takes its time for.
MOST = {
    **dict.fromkeys(["flash", "kv", "plugin", "prefetcher", "tiering", "topology"], 18),
    "placement": 19,  # the address map, and the parameters of its regions
    **dict.fromkeys(["dram", "pattern"], 24),
    "victim": 25,
    **dict.fromkeys(["arbitration", "media", "routing"], 30),
    **dict.fromkeys(["address_map", "device", "io", "memory", "switch"], 48),
    "requester": 52,  # the parameters of cores, caches and their prefetchers
    "embedding": 60,  # a program may have caches and media outside
}


def reached_by(header: Path, include: Path) -> set[str]:
    """The headers below `include` that this one reaches, itself aside."""
    found: set[str] = set()
    pending = [header]
    while pending:
        text = pending.pop().read_text(encoding="utf-8")
        for name in re.findall(r'^\s*#\s*include\s*[<"]([^">]+)[">]', text, re.M):
            if name not in found and (include / name).is_file():
                found.add(name)
                pending.append(include / name)
    return found


def test_what_is_there_is_what_the_list_says() -> None:
    """A header that becomes public, or is so no more, is a line of public_headers.txt."""
    include = cxloom.include_dir()
    there = {str(path.relative_to(include)) for path in include.rglob("*") if path.is_file()}
    assert sorted(there) == REACHED.read_text(encoding="utf-8").split()


def test_what_is_there_is_what_the_public_headers_reach() -> None:
    include = cxloom.include_dir()
    public = list((include / "cxloom").iterdir())
    reached = {name for header in public for name in reached_by(header, include)}
    there = {str(path.relative_to(include)) for path in include.rglob("*") if path.is_file()}
    assert there - reached - {f"cxloom/{path.name}" for path in public} == set()


@pytest.mark.parametrize("name", sorted(MOST))
def test_a_plugin_of_a_kind_reaches_little(name: str) -> None:
    include = cxloom.include_dir()
    reached = {
        other
        for other in reached_by(include / "cxloom" / f"{name}.hpp", include)
        if not other.startswith("cxloom")
    }
    assert len(reached) <= MOST[name], sorted(reached)


@pytest.mark.parametrize(
    "name",
    ["coherence/home/directory_agent.hpp", "system/run/simulation.hpp", "system/model/system.hpp"],
)
def test_what_is_inside_cannot_be_included(tmp_path: Path, name: str) -> None:
    assert (ROOT / "core" / name).is_file()
    source = tmp_path / "inside.cpp"
    source.write_text(f'#include <cxloom/cxloom.hpp>\n#include "{name}"\n')
    done = subprocess.run(
        [*compiler(), "-fsyntax-only", str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert f"{name}: No such file" in done.stderr


@pytest.mark.parametrize("name", some(PUBLIC, DRAWN))
def test_each_public_header_stands_alone(tmp_path: Path, name: str) -> None:
    source = tmp_path / "alone.cpp"
    source.write_text(f"#include <cxloom/{name}.hpp>\n")
    subprocess.run([*compiler(), "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(source)], check=True)
