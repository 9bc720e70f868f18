"""Run clang-tidy over core/ and bindings/, in parallel, skipping files that passed before and have not changed.

usage: tidy.py BUILD_DIR [--jobs N]

A file's verdict depends on the tool, its configuration, the compile command and the contents of the file and of every
project header it includes. The digest of all these names a stamp in BUILD_DIR/tidy; a file whose stamp exists is
skipped.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent
CHECKED = (ROOT / "core", ROOT / "bindings")


def tool(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TOOLS / name, *arguments], capture_output=True, text=True, check=False)


@cache
def content_digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def included_files(build: Path) -> dict[Path, list[Path]]:
    """For each object file, the project's files it was compiled from, as ninja recorded them."""
    files: dict[Path, list[Path]] = {}
    current: list[Path] = []
    for line in tool("ninja", "-C", build, "-t", "deps").stdout.splitlines():
        if line and not line.startswith(" "):
            current = files.setdefault(build / line.partition(":")[0], [])
        elif line:
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT) and path.is_file():
                current.append(path)
    return files


def check(build: Path, entry: dict[str, str], included: list[Path], common: bytes) -> str | None:
    """None if the file passes, otherwise what clang-tidy says about it."""
    digest = hashlib.sha256(common + entry["command"].encode())
    for path in sorted({Path(entry["file"]), *included}):
        digest.update(str(path).encode() + content_digest(path))
    stamp = build / "tidy" / digest.hexdigest()
    # Without the record of its headers a file is always checked.
    if included and stamp.exists():
        return None
    result = tool("clang-tidy", "--quiet", "--warnings-as-errors=*", "-p", build, entry["file"])
    if result.returncode != 0:
        return result.stdout or result.stderr
    stamp.touch()
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="clang-tidy over core/ and bindings/")
    parser.add_argument("build", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    build = arguments.build.resolve()

    entries = [
        entry
        for entry in json.loads((build / "compile_commands.json").read_text())
        if Path(entry["file"]).is_relative_to(CHECKED[0]) or Path(entry["file"]).is_relative_to(CHECKED[1])
    ]
    included = included_files(build)
    common = tool("clang-tidy", "--version").stdout.encode() + (ROOT / ".clang-tidy").read_bytes()
    (build / "tidy").mkdir(exist_ok=True)
    # Large files first, so that no core is left with one at the end.
    entries.sort(key=lambda entry: -Path(entry["file"]).stat().st_size)
    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = pool.map(
            lambda entry: check(build, entry, included.get(build / entry["output"], []), common), entries
        )
        for verdict in verdicts:
            if verdict is not None:
                failed += 1
                print(verdict.strip(), flush=True)
    print(f"clang-tidy: {len(entries) - failed} of {len(entries)} files pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
