"""A model in training whose optimizer states do not fit into the GPU: a step's time, and what of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.display.numbers import duration, percent, significant
from cxloom.offload.catalogue import shape_of
from cxloom.offload.task_graph import TaskGraph
from cxloom.offload.zero import Training
from cxloom.offload.zero_graph import TrainingStep
from cxloom.spec.quantities import checked

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class TrainingPlan:
    """A step of ZeRO-Offload. ``docs/offload.md`` defines its numbers."""

    step: TrainingStep

    @property
    def adam_bound(self) -> str:
        """What bounds Adam: memory or cores."""
        given = self.step.given
        return "cores" if given.parameters / given.adam_rate == given.adam_s else "memory"

    @property
    def sentence(self) -> str:
        """The step in one sentence."""
        given, total = self.step.given, self.step.total_s
        names = ", ".join(memory.name for memory in given.memories)
        return (
            f"A step of {significant(given.parameters / 1e9)} billion parameters takes {duration(total * 1e9)}, "
            f"{percent(given.adam_s / total if total else 0.0)} of it Adam, which {self.adam_bound} bounds; "
            f"optimizer states take {significant(given.footprint / 1e9)} GB of {names}."
            + (
                f" Left out, as no time or bandwidth is given: {', '.join(self._left_out)}."
                if self._left_out
                else ""
            )
        )

    @property
    def _left_out(self) -> list[str]:
        """Kinds of work that take no time, as what they would take is not given."""
        given = self.step.given
        takes = {
            "forward": given.forward_s > 0,
            "backward": given.backward_s > 0,
            "gradients from the GPU": math.isfinite(given.down),
            "parameters to the GPU": math.isfinite(given.up),
        }
        return [what for what, is_given in takes.items() if not is_given]

    def graph(self) -> dict[str, Any]:
        """The step as tasks with dependences."""
        return self.step.played.graph.to_json()

    def task_graph(self, tokens: int | None = None) -> TaskGraph:
        """The tasks of the step, to be played. Raises InputError for some tokens alone, as a step has none."""
        if tokens is not None:
            raise InputError("a step of training has no answers", path="tokens")
        return self.step.played.graph

    @property
    def places(self) -> list[str]:
        """Where the objects of a simulated step are unless it is said: its memories, page by page."""
        return [",".join(f"{memory.name}:{memory.weight}" for memory in self.step.given.memories)]

    def to_json(self) -> dict[str, Any]:
        """The plan for programs. A rate without a limit is null."""
        given, step = self.step.given, self.step
        return {
            "sentence": self.sentence,
            "given": _finite(given.model_dump()),
            "footprint_bytes": given.footprint,
            "bandwidth": given.bandwidth,
            "buckets": len(given.buckets),
            "step_s": step.total_s,
            "exposed_s": step.exposed,
            "adam_s": given.adam_s,
            "adam_bound": self.adam_bound,
            "cpu_passes_s": given.unscale_s + given.adam_s + given.cast_s,
            "copied_bytes": step.copied_bytes,
        }

    def table(self) -> Table:
        """The step's time by what it is spent on, for people; of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for title in ("exposed", "time", "share"):
            made.add_column(title, justify="left" if title == "exposed" else "right")
        total = self.step.total_s
        for what, seconds in self.step.exposed.items():
            made.add_row(what, duration(seconds * 1e9), percent(seconds / total))
        made.add_row("all", duration(total * 1e9), percent(1.0), style="bold")
        return made


def _finite(value: Any) -> Any:
    """A value with None for what is infinite, as JSON has no such number."""
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return None if value == float("inf") else value


def plan_training(model: str | float, *, memories: Sequence[Mapping[str, Any]], **given: Any) -> TrainingPlan:
    """Plans a step of training with optimizer states in CPU memory.

    Args:
        model: a name of the catalogue, such as "opt-6.7b", or a number of parameters, such as "8B".
        memories: where the states are, interleaved: `name`, `bandwidth`, and if they are limited `capacity`; pages of
            a round by `weight`.
        given: the other parameters of `Training`, such as `down="26GB/s"`, `forward="1s"`, `overlap=True`.

    Raises InputError for what is unknown or cannot be, and where the states do not fit.
    """
    parameters = model
    if isinstance(model, str) and not model[:1].isdigit():
        parameters = shape_of(model).parameters
    return TrainingPlan(
        TrainingStep(checked(Training, {"parameters": parameters, "memories": memories, **given}))
    )
