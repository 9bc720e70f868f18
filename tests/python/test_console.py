"""What is printed for people: texts as they are, on consoles that are all made in one place."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

import cxloom as cx
from cxloom.results.terminal import show, to_text

PACKAGE = Path(cx.__file__).parent


@pytest.mark.parametrize("name", [":smile:", "[red]", "[/]", ":heart-emoji:x"])
def test_names_are_printed_as_they_are(
    name: str, spec_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = copy.deepcopy(dict(cx.run(spec_file).summary))
    summary["per_memory"] = {name: summary["per_memory"]["mem0"]}
    show(summary)
    for text in (to_text(summary), capsys.readouterr().out):
        assert re.search(rf"^{re.escape(name)} +[0-9]", text, re.MULTILINE), text


def test_consoles_are_made_in_one_place() -> None:
    makers = [path for path in PACKAGE.rglob("*.py") if re.search(r"\bConsole\(", path.read_text("utf-8"))]
    assert [str(path.relative_to(PACKAGE)) for path in makers] == ["display/console.py"]
