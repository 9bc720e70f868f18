"""Plays systems with the cxloom that this Python imports, by its public interface alone: any two versions compare.

    python tests/same_bytes/play.py SYSTEMS RESULTS

SYSTEMS is what systems.py wrote. RESULTS gets one JSON object: by name of the system its summary and a hash of each
column of its tables, or the first line of the error.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import cxloom as cx


def columns_of(frame: Any) -> dict[str, str]:
    """A hash of each column of a Polars frame, as text: the same on any version of its format."""
    return {
        name: hashlib.sha256(frame[name].cast(str).fill_null("").str.join("\n").item().encode()).hexdigest()
        for name in frame.columns
    }


def play(spec: dict[str, Any]) -> dict[str, Any]:
    """One system: its summary and tables."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "system.json")
        file.write_text(json.dumps(spec))
        try:
            result = cx.run(file)
        except cx.CxloomError as error:
            return {"error": str(error).partition("\n")[0].replace(str(file), "system.json")}
        outputs = spec.get("outputs", {})
        summary = json.loads(result.to_json())
        for name in ("requests", "series", "commands"):
            if outputs.get(name):
                summary[f"{name} table"] = columns_of(getattr(result, name)())
        return summary


def main() -> None:
    """Plays all on all cores."""
    systems = json.loads(Path(sys.argv[1]).read_text())
    with ProcessPoolExecutor() as pool:
        results = dict(zip(systems, pool.map(play, systems.values()), strict=True))
    Path(sys.argv[2]).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
