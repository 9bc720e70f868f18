"""Laws of media with inline compression before them."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look
from validation.laws.memory import at, media, posts
from validation.systems import LINE, Spec
from validation.unloaded import bytes_of, default, time_ps


def value_of(parameters: Spec, key: str) -> str:
    """A parameter, as it is written or by default."""
    return str(parameters.get(key, default("media", "compressed", key)))


def counted(look: Look, name: str) -> bool:
    """Whether each access is of a part of one block, and all of them are in the window to their end."""
    return look.exact and look.payload == LINE and not posts(look, name)


@law(*(f"per_memory.*.blocks_{what}" for what in ("decompressed", "compressed", "merged")))
def blocks(look: Look, value: int, name: str) -> None:
    """A read decompresses its block, a write of a part, too, and compresses it."""
    measures = at(look, name)
    look.within(measures["blocks_merged"], 0, measures["blocks_compressed"])
    if counted(look, name):
        reads = measures["reads"] if look.path[-1] == "blocks_decompressed" else 0
        look.equal(value, reads + measures["writes"])
    look.within(value, 0)


@law("per_memory.*.stored_share")
def stored_share(look: Look, value: float | None, name: str) -> None:
    parameters = media(look, name)
    if not at(look, name)["blocks_compressed"]:
        look.equal(value, None)
        return
    assert value is not None
    block, sector = (bytes_of(value_of(parameters, key)) for key in ("block", "sector"))
    if float(value_of(parameters, "spread")) > 0:
        look.within(value, sector / block, 1)
        return
    sectors = -(-block // float(value_of(parameters, "ratio")) // sector)
    look.equal(value, sectors * sector / block)


@law("per_memory.*.engines_busy_mean")
def engines_busy(look: Look, value: float, name: str) -> None:
    parameters, measures = media(look, name), at(look, name)
    look.within(value, 0, int(value_of(parameters, "engines")))
    if counted(look, name):
        worked = sum(
            measures[f"blocks_{way}ed"] * time_ps(value_of(parameters, f"{way}_time")) / 1000
            for way in ("compress", "decompress")
        )
        look.equal(value * look.length, worked)
