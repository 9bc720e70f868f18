"""Run clang-tidy over core/ and bindings/, in parallel, skipping files that passed before and have not changed.

usage: tidy.py BUILD_DIR [--jobs N]

Nine tenths of the time to check a file goes into reading what it includes. The files of a room (core/memory with its
folders) are therefore checked together, by a source that includes them all; what clang-tidy finds it reports where it
stands. Names in unnamed namespaces must be unique in a room for that, as the sanitized build asks, too.

A file's verdict depends on the tool, its configuration, the compile command and the contents of the file and of every
project header it includes. The digest of all these names a stamp in BUILD_DIR/tidy; a file whose stamp exists is
skipped.
"""

import argparse
import fcntl
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent
CHECKED = (ROOT / "core", ROOT / "bindings")
# Sources checked together: a room, as far as names are unique. Fewer read the same headers more often.
AT_ONCE = 60
# The target that compiles some sources of the library once more.
SANITIZED = "cxloom_sanitized.dir"


def tool(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TOOLS / name, *arguments], capture_output=True, text=True, check=False)


@cache
def content_digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def included_files(build: Path) -> dict[Path, list[Path]]:
    """For each object file, the project's files it was compiled from, as ninja recorded them."""
    files: dict[Path, list[Path]] = {}
    current: list[Path] = []
    with (ROOT / ".venv" / ".building").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # what is built meanwhile writes these records: the Makefile
        recorded = tool("ninja", "-C", build, "-t", "deps").stdout
    for line in recorded.splitlines():
        if line and not line.startswith(" "):
            current = files.setdefault(build / line.partition(":")[0], [])
        elif line:
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT) and path.is_file():
                current.append(path)
    return files


@dataclass(frozen=True)
class Source:
    """A source, the options with which it is compiled, and the file that exists once it has passed."""

    path: Path
    options: tuple[str, ...]
    stamp: Path
    passed: bool


def compiled_by(entry: dict[str, str]) -> list[Path]:
    """The files that an entry of compile_commands.json is for: those that CMake has put together, or one."""
    path = Path(entry["file"])
    if path.parent.name != "Unity":
        return [path]
    return [Path(name) for name in re.findall(r'^#include "(.+)"', path.read_text(), re.MULTILINE)]


def source(build: Path, path: Path, entry: dict[str, str], included: list[Path], common: bytes) -> Source:
    """One of the files of an entry of compile_commands.json."""
    digest = hashlib.sha256(common + entry["command"].encode())
    for file in sorted({path, *included}):
        digest.update(str(file).encode() + content_digest(file))
    stamp = build / "tidy" / digest.hexdigest()
    words = shlex.split(entry["command"])
    # The compiler, or ccache and the compiler, before them; "-o OBJECT -c SOURCE" behind.
    first = next(at for at, word in enumerate(words) if word.startswith("-"))
    options = tuple(words[first : words.index("-o")])
    # Without the record of its headers a file is always checked.
    return Source(path, options, stamp, bool(included) and stamp.exists())


def room_of(path: Path) -> Path:
    """core/memory for all of its folders; bindings."""
    parts = path.relative_to(ROOT).parts
    return Path(*parts[: 2 if parts[0] == "core" else 1])


def check(build: Path, sources: Sequence[Source]) -> str | None:
    """None if the files pass, otherwise what clang-tidy says about them."""
    names = "".join(
        f'#include "{source.path}" // NOLINT(bugprone-suspicious-include)\n' for source in sources
    )
    together = build / "tidy" / f"{hashlib.sha256(names.encode()).hexdigest()}.cpp"
    together.write_text(names)
    result = tool("clang-tidy", "--quiet", "--warnings-as-errors=*", together, "--", *sources[0].options)
    together.unlink()
    if result.returncode != 0:
        return result.stdout or result.stderr
    for source in sources:
        source.stamp.touch()
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="clang-tidy over core/ and bindings/")
    parser.add_argument("build", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    build = arguments.build.resolve()

    files = [
        (path, entry)
        for entry in json.loads((build / "compile_commands.json").read_text())
        if SANITIZED not in entry["output"]
        for path in compiled_by(entry)
        if any(path.is_relative_to(folder) for folder in CHECKED)
    ]
    included = included_files(build)
    common = tool("clang-tidy", "--version").stdout.encode() + (ROOT / ".clang-tidy").read_bytes()
    (build / "tidy").mkdir(exist_ok=True)
    alike: dict[tuple[Path, tuple[str, ...]], list[Source]] = {}
    for path, entry in sorted(files, key=lambda file: file[0]):
        one = source(build, path, entry, included.get(build / entry["output"], []), common)
        if not one.passed:
            alike.setdefault((room_of(one.path), one.options), []).append(one)
    together = [group[at : at + AT_ONCE] for group in alike.values() for at in range(0, len(group), AT_ONCE)]
    # Much text first, so that no core is left with it at the end.
    together.sort(key=lambda sources: -sum(source.path.stat().st_size for source in sources))
    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for sources, verdict in zip(together, pool.map(partial(check, build), together), strict=True):
            if verdict is not None:
                failed += len(sources)
                print(verdict.strip(), flush=True)
    if failed:
        print(f"clang-tidy: some of {failed} files do not pass, {len(files) - failed} do")
        return 1
    print(f"clang-tidy: {len(files)} files pass")
    return 0


if __name__ == "__main__":
    sys.exit(main())
