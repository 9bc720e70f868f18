"""The pages of the repository as pages of the site.

Files keep their places, so that their links among each other go on leading where they lead in the repository. A link
to a file that is no page takes the file along; one to a folder leads to its README, or becomes its text. A notebook is
a page with its text and its code.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path, PurePosixPath

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
_NAMED = re.compile(r"^(```|~~~)(\w+) ([\w.-]+)$", re.MULTILINE)
"""The beginning of a block of code with the name of a file."""
_LARGEST = 200_000
"""Bytes of the largest file that a page takes along."""


def page_files(root: Path) -> list[Path]:
    """The pages of the site, relative to the repository: what users read, and no README of a source folder."""
    names = ("README", "CONTRIBUTING", "CODE_OF_CONDUCT", "SECURITY", "CHANGELOG", "integrations/README")
    found = [root / f"{name}.md" for name in names]
    found += sorted([*(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.md")])
    return [file.relative_to(root) for file in found if file.is_file()]


def copy_pages(root: Path, target: Path) -> None:
    """Copies the pages of the repository at `root` into the folder `target`, with the files that they show or name."""
    notebooks = {
        file.relative_to(root).with_suffix(".md"): file for file in sorted((root / "docs").rglob("*.ipynb"))
    }
    pages = {*page_files(root), *notebooks}
    for page in pages:
        notebook = notebooks.get(page)
        text = (root / page if notebook is None else notebook).read_text(encoding="utf-8")
        taken: set[Path] = set()
        text = relinked(text if notebook is None else text_of_notebook(text), page, root, pages, taken)
        if notebook is not None:
            taken.add(notebook.relative_to(root))
            text += f"\n[The notebook]({notebook.name}), to run it yourself.\n"
        # The first page of the site; its links lead from the same folder.
        place = target / ("index.md" if page == Path("README.md") else page)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        for file in taken:
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / file, target / file)


def text_of_notebook(text: str) -> str:
    """The cells of a notebook's JSON as a page, code in blocks."""
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    parts = [source if kind == "markdown" else f"```python\n{source}\n```" for kind, source in cells]
    return "\n\n".join(parts) + "\n"


def relinked(text: str, page: Path, root: Path, pages: set[Path], taken: set[Path]) -> str:
    """A page whose links lead to pages of the site, to files in `taken`, or out of it. Blocks of code have the names of
    their files as titles.

    Args:
        text: the page as it stands in the repository.
        page: its place, relative to `root`.
        pages: all pages of the site.
        taken: gets the files that are to be copied.
    """

    def lead(match: re.Match[str]) -> str:
        words, target = match.group(1), match.group(2)
        if "://" in target or target.startswith(("#", "mailto:")):
            return match.group(0)
        path, hash_, anchor = target.partition("#")
        place = _normal(page.parent / path)
        if place is None:
            return words
        if (root / place).is_dir():
            place, hash_, anchor = place / "README.md", "", ""
        if place == Path("README.md"):
            return f"[{words}]({_relative(Path('index.md'), page)}{hash_}{anchor})"
        if place.suffix == ".ipynb":
            place = place.with_suffix(".md")
        if place in pages:
            return f"[{words}]({_relative(place, page)}{hash_}{anchor})"
        file = root / place
        if not file.is_file() or file.stat().st_size > _LARGEST or file.suffix == ".md":
            return words
        taken.add(place)
        return f"[{words}]({_relative(place, page)})"

    for image in _IMAGE.findall(text):
        place = _normal(page.parent / image)
        if place is not None and (root / place).is_file():
            taken.add(place)
    return "".join(
        _NAMED.sub(r'\1\2 title="\3"', part, count=1) if at % 2 else LINK.sub(lead, part)
        for at, part in enumerate(_blocks(text))
    )


def _blocks(text: str) -> list[str]:
    """A page cut into text, blocks of code, text, and so on."""
    parts, start, within = [], 0, False
    for fence in _FENCE.finditer(text):
        if within:
            end = text.find("\n", fence.start())
            end = len(text) if end < 0 else end
        else:
            end = fence.start()
        parts.append(text[start:end])
        start, within = end, not within
    return [*parts, text[start:]]


def _normal(path: Path) -> Path | None:
    """A path within the repository, without ``..``; None if it leads out of it."""
    steps: list[str] = []
    for step in path.parts:
        if step == ".." and not steps:
            return None
        if step == "..":
            steps.pop()
        elif step != ".":
            steps.append(step)
    return Path(*steps)


def _relative(place: Path, page: Path) -> str:
    """The way from a page to a place, both relative to the repository."""
    here = page.parent.parts
    there = place.parts
    common = 0
    while common < min(len(here), len(there)) and here[common] == there[common]:
        common += 1
    return str(PurePosixPath(*[".."] * (len(here) - common), *there[common:]))
