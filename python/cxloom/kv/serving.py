"""A run of servers of a language model with a KV cache in tiers."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.display.numbers import duration, percent, significant, size
from cxloom.kv import spec
from cxloom.kv.requests import Requests
from cxloom.results.threads import in_one_thread
from cxloom.spec import paths
from cxloom.spec.node import Node, Origin, from_plain
from cxloom.spec.override import Override
from cxloom.spec.resolved import Resolved

if TYPE_CHECKING:
    from rich.table import Table

Watch = Callable[[int, int, float], None]
"""Is called now and then with the requests that are done, all of them, and the simulated seconds."""

_STEPS = 20_000


def unwatched(_done: int, _requests: int, _seconds: float) -> None:
    """Nobody looks."""


def share_text(share: float | None) -> str:
    """A share as people read it; a dash where there is none."""
    return "-" if share is None else percent(share)


TIER_COLUMNS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "blocks": ("held_blocks", "{:,}".format),
    "of": ("capacity_blocks", "{:,}".format),
    "found": ("hit_share", share_text),
    "computed anyway": ("computed_tokens", "{:,}".format),
    "loaded": ("loaded_bytes", size),
    "written": ("written_bytes", size),
    "reads busy": ("read_busy", share_text),
    "writes busy": ("write_busy", share_text),
}
"""What is shown of a tier: the column, its measure, and how that is written."""


@dataclass(frozen=True)
class Served:
    """What a serving run has found. Its numbers are defined in ``docs/model/kv.md``."""

    name: str
    found: Mapping[str, Any]
    cost: Mapping[str, Any] = field(default_factory=dict)
    """CPU seconds, peak memory and threads: all that differs between two equal runs."""

    @property
    def sentence(self) -> str:
        """The run in one sentence."""
        found = self.found
        first, limit = found["ttft_s"], found["limit"]
        limits = (
            "nothing but arrivals limits it"
            if limit["resource"] == "arrivals"
            else f"what limits it is {limit['resource']}"
        )
        return (
            f"{counted(found['requests'], 'request')} in {_time(found['time_s'])}: the KV cache has "
            f"{share_text(found['hit_share'])} of the prompts' tokens, {share_text(found['loaded_share'])} are loaded, "
            "the first token comes after "
            f"{_time(first['mean'])} (p99 {_time(first['p99'])}), and {limits}."
        )

    def to_json(self) -> dict[str, Any]:
        """The run for programs."""
        return {"name": self.name, "sentence": self.sentence, **self.found, "cost": dict(self.cost)}

    def table(self) -> Table:
        """The tiers for people, of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for head in ("tier", *TIER_COLUMNS):
            made.add_column(head, justify="left" if head == "tier" else "right")
        for name, tier in self.found["tiers"].items():
            made.add_row(name, *(text(tier[key]) for key, text in TIER_COLUMNS.values()))
        return made

    def times(self) -> Table:
        """The times of requests for people, of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for head in ("", "mean", "p50", "p90", "p99", "max"):
            made.add_column(head, justify="right" if head else "left")
        for key, name in (("ttft_s", "first token"), ("time_per_token_s", "each token after")):
            if (each := self.found[key]) is not None:
                made.add_row(name, *(_time(each[head]) for head in ("mean", "p50", "p90", "p99", "max")))
        return made

    @property
    def parts(self) -> str:
        """What the mean time to the first token consists of, in one sentence."""
        parts = self.found["ttft_s"]["parts"]
        said = ", ".join(f"{name} {_time(seconds)}" for name, seconds in parts.items())
        made = self.found["tokens_per_s"]
        rate = "" if made is None else f" {significant(made)} tokens are made a second."
        return f"The first token waits for: {said}.{rate}"


def serve(
    system: str | os.PathLike[str] | Mapping[str, Any],
    *,
    requests: Requests | None = None,
    watch: Watch = unwatched,
    overrides: Sequence[Override] = (),
) -> Served:
    """Runs servers of a language model.

    Args:
        system: a file as ``docs/model/kv.md`` has it, or the same as a map.
        requests: are played instead of those that it names; ``requests`` is left out of it then.
        watch: is called now and then with the requests that are done, all of them, and the simulated seconds.
        overrides: values set in it first.

    Raises InputError, with file, line and key, for what is wrong in it.
    """
    return serve_tree(_root(system, overrides), requests=requests, watch=watch)


def serve_tree(root: Node, *, requests: Requests | None = None, watch: Watch = unwatched) -> Served:
    """Serves what a tree describes, with its values set and its fabric resolved."""
    if requests is None:
        requests = spec.requests_of(root)
    began = time.process_time()
    try:
        running = _core.KvServing(root.plain(), requests.core)
        while not running.advance(_STEPS):
            watch(running.done, running.requests, running.now_s)
    except InputError as error:
        raise paths.located(root, error) from None
    found = running.result()
    cost = {
        "cpu_s": time.process_time() - began,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        **in_one_thread(_threads_of(root.get("fabric"))),
    }
    name = root.get("name")
    return Served(str(name.value) if name is not None else "serving", found, cost)


def _threads_of(fabric: Node | None) -> int:
    """Threads that runs of a fabric ask for."""
    return 1 if fabric is None or fabric.value is None else Resolved(fabric).threads()


def _root(system: str | os.PathLike[str] | Mapping[str, Any], overrides: Sequence[Override]) -> Node:
    if isinstance(system, Mapping):
        return spec.with_values(from_plain(dict(system), Origin()), overrides)
    return spec.read(system, overrides)


def _time(seconds: float) -> str:
    return duration(seconds * 1e9)
