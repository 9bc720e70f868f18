"""Laws of media with inline ECC before them."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look
from validation.laws.memory import at


def looked_up(look: Look, name: str) -> int:
    """Groups of lines that accesses touched: each was a hit, a join or a miss."""
    measures = at(look, name)
    return int(measures["ecc_hits"] + measures["ecc_joins"] + measures["ecc_misses"])


@law("per_memory.*.ecc_hits", "per_memory.*.ecc_joins", "per_memory.*.ecc_misses")
def outcomes(look: Look, value: int, name: str) -> None:
    """Accesses here lie within a group."""
    look.within(value, 0, looked_up(look, name))
    if look.exact:
        look.equal(looked_up(look, name), at(look, name)["requests"])


@law("per_memory.*.ecc_hit_rate")
def hit_rate(look: Look, value: float | None, name: str) -> None:
    total = looked_up(look, name)
    look.equal(value, at(look, name)["ecc_hits"] / total if total else None)


@law("per_memory.*.ecc_reads", "per_memory.*.ecc_write_backs")
def lines_of_ecc(look: Look, value: int, name: str) -> None:
    """A miss reads a line, unless it writes all its data; a line that leaves, or has no place, is written back."""
    measures = at(look, name)
    if not look.exact:
        return  # lines that were written before the window leave in it
    look.within(value, 0, measures["ecc_misses"])
    if not measures["writes"]:
        expected = measures["ecc_misses"] if look.path[-1] == "ecc_reads" else 0
        look.equal(value, expected)
