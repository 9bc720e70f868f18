"""FlexGen's search of the best policy, and what would fit where nothing does."""

from __future__ import annotations

from cxloom.base.errors import InputError
from cxloom.display.numbers import size
from cxloom.offload.inputs import Inference
from cxloom.offload.plan import Plan, least_capacity, solve, with_least_on_disk

MOST_BATCHES = 4096
"""So many batches are tried at most (own choice: FlexGen's search has no end where memory is without a limit)."""


def search(given: Inference, batch: int | None = None) -> Plan:
    """The policy of the most tokens per second that FlexGen's search finds.

    Batches of 1, 2, 3, 4, 8, 16, ... sequences on the GPU, until none fits. For each so many of these that the rate
    first falls, or that no more fit. So it is not the best of all policies: a rate may fall and rise again.

    Args:
        given: the model and the machine.
        batch: the only batch on the GPU to be tried; by default all.

    Raises InputError where no policy fits, with the memory that would.
    """
    best: Plan | None = None
    tried = batch or 1
    while most := _most_batches(given, tried):
        before = 0.0
        for batches in range(1, most + 1):
            plan = solve(given, tried, batches)
            if plan is None or plan.tokens_per_s < before:
                break
            before = plan.tokens_per_s
            if best is None or before > best.tokens_per_s:
                best = plan
        if batch is not None:
            break
        tried = tried + 1 if tried < 4 else 2 * tried
    if best is None:
        raise nothing_fits(given, batch)
    return with_least_on_disk(best)


def _most_batches(given: Inference, batch: int) -> int:
    """How many batches fit: by doubling, and bisection between."""
    too_many = 1
    while solve(given, batch, too_many) is not None:
        if too_many == MOST_BATCHES:
            return MOST_BATCHES
        too_many *= 2
    fits = too_many // 2
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if solve(given, batch, middle) is None:
            too_many = middle
        else:
            fits = middle
    return fits


def nothing_fits(given: Inference, batch: int | None) -> InputError:
    """Says with which capacities a sequence would fit."""
    memories, model = given.memories, given.model
    there = ", ".join(f"{size(getattr(memories, name))} of {name}" for name in ("gpu", "cpu", "disk"))
    if batch is not None and batch > 1 and solve(given, 1, 1) is not None:
        return InputError(
            f"a batch of {batch} does not fit", found=there, allowed="a smaller batch", path="batch"
        )
    would = []
    for name in ("gpu", "cpu", "disk"):
        needed = least_capacity(given, name)
        if needed is not None:
            would.append(f"{size(needed)} of {name}")
    weights = model.layers * given.layer_bytes
    more = f"with the others as they are {' or '.join(would)}" if would else "more of two memories or of all"
    return InputError(
        f"not even one sequence of {model.name} fits, whose layers have {size(weights)} of weights",
        found=there,
        allowed=f"{more}; or fewer tokens",
        path="memories",
    )
