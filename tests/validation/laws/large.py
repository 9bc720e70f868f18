"""Laws of accesses that are made as their lines, and of descriptors of copy engines."""

from __future__ import annotations

from typing import Any

import numpy as np
from validation.laws import law
from validation.laws.look import Look
from validation.systems import LINE
from validation.unloaded import bytes_of


@law("per_requester.*.large_accesses", "per_requester.*.large_access_ns")
def large_accesses(look: Look, value: Any, name: str) -> None:
    """Each ends with its last line, and begins with its first, or with the submission of a descriptor.

    Accesses follow each other; of descriptors that do not lie side by side, as one at a time, neither do lines.
    """
    work = look.spec["workload"][name]
    engine = work["pattern"] in ("copy", "fill")
    lines = -(-bytes_of(work["size"]) // LINE) * (2 if work["pattern"] == "copy" else 1)
    own = look.all_of("requester", name)
    count = look.summary["per_requester"][name]["large_accesses"]
    if not look.whole or look.wrong.any() or (engine and work.get("descriptors", 1) > 1):
        look.within(count, 0, len(own) / lines)
        return
    order = np.argsort(look.all_rows["id"][own])
    begun, done = (
        look.all_rows[column][own][order].reshape(-1, lines) for column in ("created_ps", "completed_ps")
    )
    since = begun.min(axis=1)
    if engine:  # the next is submitted when the one before is complete
        since = np.concatenate(([0], done.max(axis=1)[:-1]))
    taken = float((done.max(axis=1) - since).mean()) / 1000
    look.equal(value, len(since) if look.path[-1] == "large_accesses" else taken)
