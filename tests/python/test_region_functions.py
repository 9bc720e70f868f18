"""A function is found however its program is linked, and by the names that people have for it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from exec_support import spec
from test_trace_emulator import needs_qemu
from validation.examples import some

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.execution import execute, replay
from cxloom.trace import capture
from cxloom.trace.functions import demangled, find_function

STEPS = 10_000
LIBRARY = """
void counted(long steps) { __asm__ volatile("1: dec %0\\n jnz 1b" : "+r"(steps)); }
void in_library(long steps) { counted(steps); }
"""
PROGRAM = """
#include <stdlib.h>
void in_library(long steps);
__attribute__((noinline)) void here(long steps) { __asm__ volatile("1: dec %0\\n jnz 1b" : "+r"(steps)); }
int main(int count, char** words) {
  here(7 * atol(words[1]));  /* not of interest where the library is */
  in_library(5 * atol(words[1]));
  return 0;
}
"""
CPP = """
namespace shop {
struct Till { __attribute__((noinline)) long add(long steps); __attribute__((noinline)) long add(int steps); };
long Till::add(long steps) { __asm__ volatile("1: dec %0\\n jnz 1b" : "+r"(steps)); return steps; }
long Till::add(int steps) { return add(long{steps} * 2); }
__attribute__((noinline)) long close(long steps) { return Till{}.add(steps); }
}
int main() { return int(shop::close(10000)); }
"""
LINKED = {
    "pie": [],
    "no-pie": ["-no-pie"],
    "static": ["-static"],
    "static-pie": ["-static-pie"],
    "lazy": ["-Wl,-z,lazy"],
    "now": ["-Wl,-z,now"],
}


def compiled(source: str, file: Path, *flags: Any, suffix: str = "c") -> Path:
    text = file.with_suffix(f".{suffix}")
    text.write_text(source)
    compiler = (shutil.which("cc") or "gcc") if suffix == "c" else (shutil.which("c++") or "g++")
    subprocess.run([compiler, "-O1", "-fno-inline", text, "-o", file, *flags], check=True)
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("linked")
    library = compiled(LIBRARY, folder / "libsteps.so", "-shared", "-fPIC", "-Wl,-z,now")
    compiled(LIBRARY, folder / "steps.o", "-c")
    for name, flags in LINKED.items():
        found = [folder / "steps.o"] if "static" in name else [library, f"-Wl,-rpath,{folder}"]
        compiled(PROGRAM, folder / name, *flags, *found)
    compiled(CPP, folder / "till", suffix="cpp")
    return folder


def instructions(program: Path, folder: Path, region: str, *words: object) -> int:
    """Instructions of the region; without caches, so that there are accesses."""
    command = [str(program), *map(str, words)]
    return capture(command, folder / f"{program.name}.parquet", region=region).instructions


@needs_qemu
@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize(("function", "times"), some([("here", 7), ("in_library", 5)]))
def test_a_function_counts_what_it_runs(
    folder: Path, tmp_path: Path, name: str, function: str, times: int
) -> None:
    """A step is two instructions; a dozen are before and behind them."""
    found = instructions(folder / name, tmp_path, function, STEPS)
    assert 2 * times * STEPS < found < 2 * times * STEPS + 30


@needs_qemu
def test_a_replay_has_the_instructions_of_its_recording(folder: Path, tmp_path: Path) -> None:
    """From the first instruction of the function to its last one."""
    trace = tmp_path / "region.parquet"
    system = [cx.load(str(spec(tmp_path)))]
    result = execute([str(folder / "pie"), str(STEPS)], system, region="main", record=trace)
    again = replay(trace, system)
    assert again.instructions == result.instructions > 24 * STEPS
    assert again.executions[0].time_ns == result.executions[0].time_ns


@needs_qemu
def test_a_region_has_no_time_of_what_was_before_it(folder: Path, tmp_path: Path) -> None:
    """A step of two instructions takes a cycle of 4 GHz, and so do some before and behind them."""
    result = execute([str(folder / "pie"), str(STEPS)], [cx.load(str(spec(tmp_path)))], region="here")
    assert result.executions[0].core["busy_ns"] == pytest.approx(7 * STEPS / 4, rel=0.01)


@needs_qemu
def test_a_library_is_named_where_the_program_has_the_function_too(folder: Path, tmp_path: Path) -> None:
    program = folder / "pie"
    for region in ("libsteps.so:in_library", f"{folder}/libsteps.so:in_library"):
        assert instructions(program, tmp_path, region, STEPS) > 10 * STEPS
    with pytest.raises(InputError, match=r"no library 'libother\.so'"):
        instructions(program, tmp_path, "libother.so:in_library", STEPS)


@needs_qemu
def test_functions_of_the_c_library(folder: Path, tmp_path: Path) -> None:
    assert 10 < instructions(folder / "pie", tmp_path, "atol", STEPS) < 5000
    with pytest.raises(InputError, match="only chooses a function for this processor"):
        instructions(folder / "pie", tmp_path, "memcpy", STEPS)


@needs_qemu
@pytest.mark.parametrize(
    ("name", "times"),
    [("shop::close", 1), ("shop::close(long)", 1), ("_ZN4shop4Till3addEl", 1), ("shop::Till::add(long)", 1)],
)
def test_functions_are_called_as_in_a_source_of_cpp(
    folder: Path, tmp_path: Path, name: str, times: int
) -> None:
    found = instructions(folder / "till", tmp_path, name)
    assert 2 * times * STEPS < found < 2 * times * STEPS + 1000


def test_names_that_are_not_there_say_what_is(folder: Path) -> None:
    def refused(program: Path, name: str, *libraries: Path) -> str:
        with pytest.raises(InputError) as raised:
            find_function(str(program), name, lambda: tuple(map(str, libraries)))
        return str(raised.value)

    said = refused(folder / "till", "shop::Till::add")
    assert "several functions are called 'shop::Till::add'" in said
    assert "'shop::Till::add(int)', 'shop::Till::add(long)'" in said
    assert "did you mean 'shop::close'" in refused(folder / "till", "close")
    assert "did you mean 'here'" in refused(folder / "pie", "heer")
    library = folder / "libsteps.so"
    assert "did you mean 'in_library'" in refused(folder / "pie", "in_librery", library)
    assert "in the program or its libraries" in refused(folder / "pie", "nowhere", library)
    for name in ("pie", "static"):
        stripped = folder / f"{name}-stripped"
        subprocess.run(["strip", folder / name, "-o", stripped], check=True)
        said = refused(stripped, "here")
        assert "the program is stripped: it names no functions" in said
        assert "a program that is not stripped, or marks" in said
    place = find_function(str(folder / "pie-stripped"), "in_library", lambda: (str(library),))
    assert (place.file, place.in_library) == (str(library), True)


def test_demangled_names() -> None:
    assert demangled("_ZN4shop4Till3addEl") == "shop::Till::add(long)"
    assert demangled("main") == demangled("_Z") == ""
