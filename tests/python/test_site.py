"""The pages of the documentation site: where their links lead, and what the reference says. ``make site`` builds it."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cxloom.spec import declared

ROOT = Path(__file__).parents[2]
SITE = ROOT / "scripts" / "site"


def loaded(name: str) -> ModuleType:
    """A script of the site, which is no part of the package."""
    found = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


tree = loaded("tree")
reference = loaded("reference")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small repository with pages, a header and a folder."""
    texts = {
        "README.md": "[spec](docs/spec.md#keys) [models](docs/model/) [core](core) ![p](docs/p.png)\n",
        "CONTRIBUTING.md": "[home](README.md)\n",
        "docs/spec.md": "# Spec\n\n```\n[a](b.md)\n```\n[dram](model/dram.md) [out](../../x.md)\n",
        "docs/model/dram.md": "[home](../../README.md) [h](../../include/c.h) [none](nosuch.md) [web](https://x.y)\n",
        "docs/model/README.md": "[first](../notebooks/first.ipynb)\n",
        "docs/p.png": "picture",
        "docs/notebooks/first.ipynb": json.dumps(
            {
                "cells": [
                    {"cell_type": "markdown", "source": ["# First\n", "[spec](../spec.md)"]},
                    {"cell_type": "code", "source": ["x[0](1)"]},
                ]
            }
        ),
        "include/c.h": "int x;\n",
        "core/a.cpp": "",
    }
    for name, text in texts.items():
        (tmp_path / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / name).write_text(text)
    return tmp_path / "repo"


def test_links_lead_to_pages_and_files_or_are_text(repository: Path, tmp_path: Path) -> None:
    out = tmp_path / "pages"
    tree.copy_pages(repository, out)
    home = (out / "index.md").read_text()
    assert home == "[spec](docs/spec.md#keys) [models](docs/model/README.md) core ![p](docs/p.png)\n"
    assert (out / "CONTRIBUTING.md").read_text() == "[home](index.md)\n"
    assert "```\n[a](b.md)\n```\n[dram](model/dram.md) out\n" in (out / "docs/spec.md").read_text()
    dram = (out / "docs/model/dram.md").read_text()
    assert dram == "[home](../../index.md) [h](../../include/c.h) none [web](https://x.y)\n"
    assert (out / "include/c.h").read_text() == "int x;\n"
    assert (out / "docs/p.png").exists()
    assert not (out / "core").exists()


def test_a_block_of_code_has_the_name_of_its_file_as_title(tmp_path: Path) -> None:
    page = Path("docs/a.md")
    made = tree.relinked(
        "```yaml a-b.yaml\nx: y z\n```\ntext\n\n```sh\nls x.y\n```\n", page, tmp_path, set(), set()
    )
    assert made == '```yaml title="a-b.yaml"\nx: y z\n```\ntext\n\n```sh\nls x.y\n```\n'


def test_no_block_of_the_pages_begins_in_a_way_that_the_site_does_not_know(tmp_path: Path) -> None:
    """It knows a language, and a title behind it."""
    tree.copy_pages(ROOT, tmp_path)
    known = re.compile(r'(```|~~~)([\w+-]+( title="[^"]+")?)?')
    for page in sorted(tmp_path.rglob("*.md")):
        for block in tree._blocks(page.read_text(encoding="utf-8"))[1::2]:
            first = block.partition("\n")[0]
            assert known.fullmatch(first), (page.relative_to(tmp_path), first)


def test_a_page_whose_block_became_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>```yaml x y</p>")
    (tmp_path / "b.html").write_text("<pre>```</pre>")
    assert loaded("build").pages_with_open_blocks(tmp_path) == ["a.html"]


def test_a_notebook_is_a_page_and_a_file(repository: Path, tmp_path: Path) -> None:
    out = tmp_path / "pages"
    tree.copy_pages(repository, out)
    assert (out / "docs/model/README.md").read_text() == "[first](../notebooks/first.md)\n"
    page = (out / "docs/notebooks/first.md").read_text()
    assert page.startswith("# First\n[spec](../spec.md)\n\n```python\nx[0](1)\n```\n")
    assert "[The notebook](first.ipynb)" in page
    assert (out / "docs/notebooks/first.ipynb").exists()


def test_every_page_of_the_docs_is_on_the_site() -> None:
    pages = set(tree.page_files(ROOT))
    assert {path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")} <= pages


def test_the_reference_has_every_kind_and_parameter() -> None:
    pages = reference.pages()
    for category in declared.categories():
        text = pages[f"{category}.md"]
        for name, info in declared.kinds(category).items():
            section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
            for each in info["fields"]:
                assert f"| `{each['name']}` |" in section, (category, name, each["name"])


def test_tables_of_the_reference_have_as_many_cells_as_their_heads() -> None:
    for name, text in reference.pages().items():
        head = 0
        for line in text.splitlines():
            if not line.startswith("|"):
                head = 0
                continue
            cells = len(re.split(r"(?<!\\)\|", line)) - 2
            head = head or cells
            assert cells == head, (name, line)


def test_defaults_and_bounds_are_those_that_are_declared() -> None:
    def field(**given: Any) -> dict[str, Any]:
        empty = dict.fromkeys(("doc", "source", "default", "minimum", "maximum", "category", "item"), "")
        return {**empty, "type": "integer", "choices": [], "fields": [], "required": False, **given}

    fields = [
        field(name="a", doc="Of `x`|y.", default="3", minimum="1", maximum="9", source="a page"),
        field(name="b", required=True, choices=["p", "q"], type="choice", minimum="2"),
    ]
    rows = reference._parameters(fields)
    assert rows[2] == "| `a` | integer | `3` | Of `x`\\|y. From 1 to 9. *Source: a page.* |"
    assert rows[3] == "| `b` | `p`, `q` | required |  At least 2. |"


def test_the_navigation_has_every_page_once(tmp_path: Path) -> None:
    build = loaded("build")
    tree.copy_pages(ROOT, tmp_path)

    def listed(node: Any) -> Iterator[str]:
        if isinstance(node, str):
            yield node
        for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from listed(each)

    pages = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md"))
    assert sorted(listed(build.navigation(tmp_path, []))) == pages
