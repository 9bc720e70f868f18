"""The figures of a plan for papers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from cxloom.display.charts import lines
from cxloom.report.plan_page import capacity_curves


def plan_figures(found: Mapping[str, Any]) -> dict[str, Figure]:
    """Memory of devices against the share that it serves, by name; none without devices."""
    curves = capacity_curves(found)
    return {"enough": lines(curves, "all devices (GiB)", "served (%)")} if curves else {}
