"""Validation of the whole simulator against theory: shared setup."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The helpers beside these tests are imported as `validation.<module>`.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from validation.examples import examples  # once its folder is known

# `quick` fits continuous integration and draws the same examples each time; `long` searches: it is chosen with
# CXLOOM_HYPOTHESIS=long.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("quick", max_examples=examples(60), derandomize=True, **_COMMON)
settings.register_profile("long", max_examples=5000, **_COMMON)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker of long tests, and the Hypothesis profile."""
    config.addinivalue_line("markers", "slow: takes long; runs only with CXLOOM_SLOW=1")
    settings.load_profile(os.environ.get("CXLOOM_HYPOTHESIS", "quick"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves out what is marked `slow` unless asked for."""
    if os.environ.get("CXLOOM_SLOW"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: set CXLOOM_SLOW=1"))
