"""Writes the pages of the documentation site, and builds it: ``make site``.

usage: build.py OUT

OUT/pages gets the Markdown, OUT/html the site, which opens from a disk as from a server. A link that leads nowhere, or
to no heading of its page, fails, and so does a block of code that became text.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

import reference  # noqa: E402 - beside this file
import tree  # noqa: E402

HOW_TO = (
    "install", "recipes", "measure", "compare", "traces", "explain", "sweep", "fit", "artifact", "advise",
    "epochs", "characterisation", "offload", "kv", "plan", "coming-from", "chakra", "embedding", "gem5", "champsim",
    "astra-sim",
)  # fmt: skip
LOOK_UP = ("validation", "spec", "cli", "trace-format", "glossary", "not-modelled")
UNDERSTAND = ("architecture", "speed", "speed-notes", "speed-history")
FIRST = ("docs/recipes.md", "docs/tutorials/your-first-device.md")
"""Pages that the search prefers: they say what to do."""


def navigation(pages: Path, references: list[str]) -> list[dict[str, Any]]:
    """The parts of the site, in the order in which somebody comes to need them. Every page is in one of them."""
    docs = pages / "docs"

    def there(names: Iterable[str]) -> list[str]:
        return [f"docs/{name}.md" for name in names if (docs / f"{name}.md").exists()]

    def within(folder: str) -> list[str]:
        return [str(file.relative_to(pages)) for file in sorted((pages / folder).rglob("*.md"))]

    listed = {*HOW_TO, *LOOK_UP, *UNDERSTAND}
    others = sorted(file.stem for file in docs.glob("*.md") if file.stem not in listed)
    contributors = ["integrations/README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"]
    return [
        {"Start": "index.md"},
        {"Tutorials": [*within("docs/tutorials"), *within("docs/notebooks")]},
        {"How to": [*there((*HOW_TO, *others)), *within("examples"), *contributors]},
        {"Reference": [*there(LOOK_UP), *(f"reference/{name}" for name in references)]},
        {"Explanation": [*there(UNDERSTAND), {"Models": within("docs/model")}]},
        {"Changes": "CHANGELOG.md"},
    ]


def main(out: Path) -> int:
    """Builds the site in a folder; gives the exit code."""
    pages = out / "pages"
    shutil.rmtree(out, ignore_errors=True)
    tree.copy_pages(ROOT, pages)
    for name in ("extra.css", "iframe-worker.js"):
        shutil.copyfile(Path(__file__).parent / name, pages / name)
    for name in FIRST:
        (pages / name).write_text(
            f"---\nsearch: {{boost: 4}}\n---\n\n{(pages / name).read_text(encoding='utf-8')}",
            encoding="utf-8",
        )
    (pages / "reference").mkdir()
    made = reference.pages()
    for name, text in made.items():
        (pages / "reference" / name).write_text(text, encoding="utf-8")
    settings = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(pages),
        "site_dir": str(out / "html"),
        "nav": navigation(pages, list(made)),
    }
    file = out / "mkdocs.yml"
    file.write_text(json.dumps(settings, indent=2), encoding="utf-8")  # JSON is YAML
    # The theme announces its successor on every build.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(file)]
    done = subprocess.run(command, env=environment, check=False)
    if done.returncode != 0:
        return done.returncode
    if wrong := pages_with_open_blocks(out / "html"):
        print(f"a block of code begins in a way that is not understood: {', '.join(wrong)}", file=sys.stderr)
        return 1
    print(f"The site is in {out / 'html'}")
    return 0


def pages_with_open_blocks(site: Path) -> list[str]:
    """Pages with the fence of a block of code in their text."""
    texts = ((page, page.read_text(encoding="utf-8")) for page in sorted(site.rglob("*.html")))
    return [str(page.relative_to(site)) for page, text in texts if "<p>```" in text]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve()))
