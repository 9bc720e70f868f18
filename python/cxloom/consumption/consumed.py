"""``cx.energy``: a run, and the account of its energy."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cxloom.base.errors import InputError, SimulationError
from cxloom.base.filenames import file_name
from cxloom.consumption.account import account
from cxloom.consumption.energy import Energy, Interval
from cxloom.consumption.figures import figures_of, tree
from cxloom.display.numbers import duration
from cxloom.results.caveats import error_sentence, why_no_length
from cxloom.running.run import Watch, simulate
from cxloom.running.windows import windows
from cxloom.spec import paths
from cxloom.spec.override import Override
from cxloom.system.simulation import build, describe, errors_placed, refuse_without_work
from cxloom.system.system import System

_MOST_INTERVALS = 10_000
"""What a window is divided into at most: each part has an account of all that the system has."""


def energy(
    system: System | str | os.PathLike[str],
    figures: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    seed: int | None = None,
    every_ns: float | None = None,
    overrides: Sequence[Override] = (),
    watch: Watch = lambda _progress: None,
) -> Energy:
    """Runs a system, and says where its energy goes: ports of links, retimers, switches, memories.

    Args:
        system: a `System`, a spec file, or the name of a preset.
        figures: energy of what the core counts none for, by the keys of `docs/energy.md`: a YAML file or a map. Those
            that are not given are published ones or estimates, and each row says which.
        seed: of the random streams; overrides the spec's.
        every_ns: the account of each part of the measured window of this length, too (``over_time``): the system is
            run once more for it. None: of the whole window alone.
        overrides: values set in the system first.
        watch: is called now and then with the progress of the run.

    Raises InputError for a system or figures that are wrong, SimulationError if it does not finish, or if nothing is
    measured.
    """
    root = tree(figures)
    given = figures_of(root)
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    of_run = [] if seed is None else [Override.of("run.seed", seed)]
    resolved = system.resolve([*overrides, *of_run])
    refuse_without_work(resolved)
    described = describe(resolved)
    simulation = build(resolved)
    summary = simulate(resolved, simulation, watch=watch, keep=False).summary
    if not summary["requests"] and (said := error_sentence(summary)):
        raise SimulationError(f"no request was answered with data: {said}")
    if not summary["requests"]:
        raise InputError(
            "nothing is measured in this system", allowed="a workload with more requests than its warm-up"
        )
    if (why := why_no_length(summary)) is not None:
        raise SimulationError(f"there is no power, as {why}; measure more requests")
    plain = resolved.plain()
    try:
        whole = account(plain, described, summary, given)
    except InputError as error:
        raise paths.located(root, error) from None
    if every_ns is None:
        return whole
    opened, closed = simulation.window()
    assert opened is not None
    assert closed is not None
    _check_length(every_ns, closed - opened)
    alone = system.resolve(
        [*overrides, *of_run, Override.of("run.threads", 1)]
    )  # windows are those of one thread
    with errors_placed(alone):
        parts = list(windows(build(alone), (opened, closed), every_ns, watch))
    intervals = [
        Interval(
            start,
            each["simulated_time_ns"],
            each["requests"],
            account(plain, described, each, given).rows,
        )
        for start, each in parts
        if each["simulated_time_ns"] > 0
    ]
    return replace(whole, over_time=intervals)


def _check_length(every_ns: float, window_ns: float) -> None:
    if every_ns <= 0:
        raise InputError("intervals without a length", found=f"{every_ns:g} ns", path="--every")
    if window_ns / every_ns > _MOST_INTERVALS:
        raise InputError(
            f"more than {_MOST_INTERVALS:,} intervals of the measured window",
            found=duration(every_ns),
            allowed=f"from {duration(window_ns / _MOST_INTERVALS)} on",
            path="--every",
        )
