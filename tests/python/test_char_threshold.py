"""The threshold of Tiering-0.8 over minutes, as docs/characterisation.md has it."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "characterisation.md"
COLD = 80 * 512
"""Cold pages of 2 MiB."""


def thresholds(cxloom: Any, folder: Path, *settings: str) -> list[float]:
    """Seconds, by minute from the second on: 1 - exp(-threshold / interval) of the faults became moves."""
    [text] = re.findall(
        r"^```yaml\n(# threshold.yaml.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.M
    )
    spec = folder / "threshold.yaml"
    spec.write_text(text, encoding="utf-8")
    chosen = [word for setting in settings for word in ("--set", f"workload.cpu1.tiering.{setting}")]
    minutes = ("--duration", "300s", "--epoch", "60s", "--check", "0")
    outcome = cxloom("epochs", spec, *minutes, "--json", *chosen)
    assert outcome.code == 0, outcome.err
    study = json.loads(outcome.out)
    interval = COLD / (1e-6 * study["accesses_per_s"])
    assert interval == pytest.approx(9.5, rel=0.05)
    return [
        -interval * math.log(1 - epoch["promoted_bytes"] / 2**21 / epoch["faults"])
        for epoch in study["epochs"][1:]
    ]


def test_at_the_default_limit_it_only_rises(cxloom: Any, tmp_path: Path) -> None:
    """By an eighth of a second each minute.

    Scans are of 256 MiB in a tenth of a second, 2.5 GiB a second. To let it fall that had to be 1.1 times the limit of
    64 GiB a second; it is with limits below 2.27 GiB a second.
    """
    found = thresholds(cxloom, tmp_path)
    assert found == [pytest.approx(1 + 0.125 * minute, rel=0.1) for minute in range(1, 5)]
    assert all(later > before for before, later in itertools.pairwise(found))


def test_a_threshold_that_cannot_rise_stays(cxloom: Any, tmp_path: Path) -> None:
    assert thresholds(cxloom, tmp_path, "threshold_max=1s") == [pytest.approx(1, rel=0.1)] * 4


def test_a_limit_that_scans_reach_holds_the_moves(cxloom: Any, tmp_path: Path) -> None:
    assert max(thresholds(cxloom, tmp_path, "rate_limit=100MB/s")) < 0.6
