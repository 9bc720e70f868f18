"""Whose every file is, and on what terms: REUSE.toml says it of all, and headers that others copy say it themselves.

`reuse lint` (https://reuse.software), which a release runs, reads the same.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOLDER = "2026 The cxloom authors"
LICENCE = "BSD-3-Clause"
SPDX = "SPDX"  # apart, so that the tool does not take the examples below for this file's own lines
LINE = re.compile(r"SPDX-(License-Identifier|FileCopyrightText):\s*(.*?)\s*(?:\*/)?$")
NOTICE = re.compile(r"(?:Copyright\s+(?:\(c\)|©)|©\s*\d{4}|\(c\)\s*\d{4})", re.IGNORECASE)
SAY_SO = {
    "THIRD_PARTY.txt",
    "LICENSE",
    "LICENSES/BSD-3-Clause.txt",
    "REUSE.toml",
    "tests/python/test_licences.py",
}
"""Files whose notice is that of the project."""


def of_another(name: str, text: str) -> Iterator[str]:
    """The lines of a file by which it is of somebody else, or on other terms than REUSE.toml says."""
    for number, line in enumerate(text.splitlines(), 1):
        said = LINE.search(line)
        if (said and said[2] not in (HOLDER, LICENCE)) or (not said and NOTICE.search(line)):
            yield f"{name}:{number}: {line.strip()}"


def headed(text: str) -> bool:
    """Whether a file says in its first comment whose it is and on what terms."""
    said = {found[1]: found[2] for line in text.splitlines()[:40] if (found := LINE.search(line))}
    return said == {"FileCopyrightText": HOLDER, "License-Identifier": LICENCE}


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode > 1:
        pytest.skip("no git, or not its tree")
    return done.stdout.splitlines()


def test_one_annotation_covers_every_file() -> None:
    declared = tomllib.loads((ROOT / "REUSE.toml").read_text())
    first = declared["annotations"][0]
    assert declared["version"] == 1
    assert first == {"path": "**", "SPDX-FileCopyrightText": HOLDER, "SPDX-License-Identifier": LICENCE}
    used = {each["SPDX-License-Identifier"] for each in declared["annotations"]}
    assert {path.stem for path in (ROOT / "LICENSES").iterdir()} == used
    assert (ROOT / f"LICENSES/{LICENCE}.txt").read_text() == (ROOT / "LICENSE").read_text()
    assert HOLDER.removeprefix("2026 ") in (ROOT / "LICENSE").read_text()


def test_no_file_is_of_another() -> None:
    names = git("grep", "-lIiE", r"SPDX-|copyright +(\(c\)|©)|© *[0-9]{4}|\(c\) *[0-9]{4}")
    assert {"LICENSE", "include/cxloom/cxloom.h"} <= {*names}
    found = [
        said for name in names if name not in SAY_SO for said in of_another(name, (ROOT / name).read_text())
    ]
    assert not found, "annotate these in REUSE.toml, and put their licence into LICENSES/"


def test_headers_that_others_copy_say_it_themselves() -> None:
    headers = sorted((ROOT / "include").rglob("*.h*"))
    assert len(headers) > 20
    assert [path.name for path in headers if not headed(path.read_text())] == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"// {SPDX}-License-Identifier: BSD-3-Clause\nint a;\n", 0),
        (f"/* {SPDX}-License-Identifier: GPL-2.0-only */\n", 1),
        (f"# {SPDX}-FileCopyrightText: 2026 The cxloom authors\n", 0),
        (f"# {SPDX}-FileCopyrightText: 2019 Somebody\n# {SPDX}-License-Identifier: MIT\n", 2),
        (" * Copyright (c) 2011 The Regents\n", 1),
        ("# copies rights\n", 0),
    ],
)
def test_finds_notices(text: str, lines: int) -> None:
    assert len(list(of_another("a", text))) == lines


def test_a_header_without_both_lines_is_found() -> None:
    holder = f"// About it.\n// {SPDX}-FileCopyrightText: 2026 The cxloom authors\n"
    both = holder + f"// {SPDX}-License-Identifier: BSD-3-Clause\n"
    assert headed(both)
    assert not headed(both.replace("2026 The cxloom", "2026 Some"))
    assert not headed(holder + "#pragma once\n")
