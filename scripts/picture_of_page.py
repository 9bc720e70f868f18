#!/usr/bin/env python3
"""Take the picture of a page for the documentation: docs/images/report.png, of the page that `make demo` writes.

Needs chromium-headless-shell, or chromium, of Debian. The picture has 192 colours, which is enough for text and plots
and keeps it small.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

_COLOURS = 192
_MILLISECONDS = 20_000
"""The browser's own time, in which scripts end."""


def main() -> int:
    """Takes the picture; 2 if there is no browser or no page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("page", type=Path, nargs="?", default=Path("build/demo/report.html"))
    parser.add_argument(
        "--out", type=Path, default=Path("docs/images/report.png"), help="default: %(default)s"
    )
    parser.add_argument(
        "--width", type=int, default=1180, help="of the window, in pixels; default: %(default)s"
    )
    parser.add_argument("--height", type=int, default=1340, help="default: %(default)s")
    given = parser.parse_args()
    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if browser is None or not given.page.is_file():
        print("no browser" if browser is None else f"no page {given.page}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        taken = Path(folder) / "page.png"
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        options += [
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
        ]
        options += [f"--user-data-dir={folder}/profile", f"--window-size={given.width},{given.height}"]
        options += [f"--virtual-time-budget={_MILLISECONDS}", f"--screenshot={taken}"]
        subprocess.run(
            [browser, *options, given.page.resolve().as_uri()],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with Image.open(taken) as picture:
            picture.convert("RGB").quantize(_COLOURS).save(given.out, optimize=True)
    print(f"{given.out}: {given.out.stat().st_size // 1000} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
