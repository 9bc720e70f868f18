"""A model that answers prompts and does not fit into its GPU: the policy, the time, and what to expect of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.display.numbers import duration, significant, size
from cxloom.display.numbers import percent as percentage
from cxloom.offload.catalogue import shape_of
from cxloom.offload.difference import Difference, differences
from cxloom.offload.flexgen_graph import flexgen_graph
from cxloom.offload.inputs import Inference, Memories, Rates, Slack
from cxloom.offload.loop import Schedule, schedule
from cxloom.offload.plan import Plan, Policy, solve, with_least_on_disk
from cxloom.offload.search import nothing_fits, search
from cxloom.offload.shapes import ModelShape
from cxloom.offload.task_graph import TaskGraph
from cxloom.spec.quantities import checked

if TYPE_CHECKING:
    from rich.table import Table

PLACES = {"g": "on the GPU", "c": "in CPU memory", "n": "on the disk"}
OBJECTS = {"w": "weights", "c": "cache", "h": "activations"}

MOST_STEPS = 200_000
"""Steps of a graph at most, of some five tasks each (own choice: a gigabyte of JSON is not far)."""


@dataclass(frozen=True)
class InferencePlan:
    """A policy for a model, by FlexGen's cost model, and how its program plays it. ``docs/offload.md`` defines both."""

    plan: Plan
    searched: bool
    """Whether the policy was searched for, or given."""

    @cached_property
    def schedule(self) -> Schedule:
        """How long FlexGen's program takes with the policy."""
        return schedule(self.plan)

    @cached_property
    def differences(self) -> list[Difference]:
        """Where the program's time is another than the model's."""
        return differences(self.plan, self.schedule)

    @property
    def program_tokens_per_s(self) -> float:
        """Tokens of answers per second of the program."""
        return self.plan.policy.sequences * self.plan.given.output / self.schedule.total_s

    @property
    def sentence(self) -> str:
        """The plan in one sentence."""
        plan = self.plan
        return (
            f"By FlexGen's cost model {plan.given.model.name} gives {significant(plan.tokens_per_s)} tokens per second "
            f"with {plan.policy.batches} x {plan.policy.batch} sequences: {self._where()}. "
            f"FlexGen's loop takes {duration(self.schedule.total_s * 1e9)} where the model says "
            f"{duration(plan.total_s * 1e9)}.{self._beyond()}"
        )

    def _beyond(self) -> str:
        """The memories that are filled beyond their size, in a sentence behind others; empty if there are none."""
        given = self.plan.given
        found = [
            f"{size(peak)} of {size(getattr(given.memories, name))} of {name}"
            for name, peak in self.plan.peak_bytes.items()
            if peak > getattr(given.memories, name)
        ]
        return f" As slack allows, it fills more than there is: {', '.join(found)}." if found else ""

    def _where(self) -> str:
        said = []
        for letter, name in OBJECTS.items():
            shares = {place: self.plan.policy.shares.get(letter + place, 0.0) for place in PLACES}
            places = [
                f"{percentage(share)} {PLACES[place]}" for place, share in shares.items() if share > 5e-4
            ]
            said.append(f"{name} {', '.join(places)}")
        return "; ".join(said)

    def graph(self, tokens: int | None = None) -> dict[str, Any]:
        """The program's loop as tasks with dependences; see `task_graph`."""
        return self.task_graph(tokens).to_json()

    def task_graph(self, tokens: int | None = None) -> TaskGraph:
        """The program's loop as tasks with dependences, to be played.

        Args:
            tokens: only so many of each answer, from the prompt on; by default all.

        Raises InputError for more than `MOST_STEPS` batches in layers.
        """
        steps = self.plan.given.model.layers * self.plan.policy.batches
        whole = min(tokens or self.plan.given.output, self.plan.given.output)
        if steps * whole > MOST_STEPS:
            raise InputError(
                "too many tasks for a graph",
                found=f"{whole} tokens of {steps} steps",
                allowed=f"{MOST_STEPS} steps: fewer tokens or batches",
                path="tokens",
            )
        return flexgen_graph(self.plan, tokens)

    @property
    def places(self) -> list[str]:
        """Where the objects of a simulated plan are unless it is said: nothing, which is the nearest with room."""
        return []

    def to_json(self) -> dict[str, Any]:
        """The plan for programs."""
        plan, played = self.plan, self.schedule
        given = plan.given.model_dump(exclude={"model"})
        return {
            "model": {
                "name": plan.given.model.name,
                "layers": plan.given.model.layers,
                "hidden": plan.given.model.hidden,
                "parameters": plan.given.model.parameters,
                "kv_bytes_per_token": plan.given.model.kv_bytes_per_token(),
            },
            "sentence": self.sentence,
            "given": given,
            "searched": self.searched,
            "policy": {
                "batch": plan.policy.batch,
                "batches": plan.policy.batches,
                "sequences": plan.policy.sequences,
                "shares": dict(plan.policy.shares),
            },
            "footprint_bytes": plan.footprint_bytes,
            "peak_bytes": plan.peak_bytes,
            "cost_model": {
                "prefill_layer_s": plan.prefill_layer_s,
                "decode_layer_s": plan.decode_layer_s,
                "prefill_s": plan.prefill_s,
                "decode_s": plan.decode_s,
                "total_s": plan.total_s,
                "tokens_per_s": plan.tokens_per_s,
            },
            "program": {
                "prefill_s": played.prefill_s,
                "decode_s": played.decode_s,
                "total_s": played.total_s,
                "tokens_per_s": self.program_tokens_per_s,
                "tokens_s": list(played.tokens_s),
            },
            "differences": [
                {
                    "what": each.what,
                    "model_s": each.model_s,
                    "program_s": each.program_s,
                    "difference_s": each.difference_s,
                }
                for each in self.differences
            ],
        }

    def table_of_memories(self) -> Table:
        """What each memory holds at most, for people; of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for title in ("memory", "size", "may be filled", "at its peak"):
            made.add_column(title, justify="left" if title == "memory" else "right")
        given = self.plan.given
        for name, peak in self.plan.peak_bytes.items():
            capacity = getattr(given.memories, name)
            made.add_row(name, size(capacity), size(given.capacities[name]), size(peak))
        return made

    def table(self) -> Table:
        """The time of model and program by what it is spent on, for people; of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for title in ("seconds", "cost model", "FlexGen's loop", "more"):
            made.add_column(title, justify="left" if title == "seconds" else "right")
        for each in self.differences:
            made.add_row(
                each.what, f"{each.model_s:.3f}", f"{each.program_s:.3f}", f"{each.difference_s:+.3f}"
            )
        total, played = self.plan.total_s, self.schedule.total_s
        made.add_row("all", f"{total:.3f}", f"{played:.3f}", f"{played - total:+.3f}", style="bold")
        return made


def plan_inference(
    model: str | ModelShape,
    *,
    prompt: int = 512,
    output: int = 32,
    memories: Mapping[str, str | float] | None = None,
    rates: Mapping[str, str | float] | None = None,
    slack: Mapping[str, str | float] | None = None,
    batch: int | None = None,
    batches: int | None = None,
    percent: Sequence[float] | None = None,
) -> InferencePlan:
    """Plans how a model answers prompts that does not fit into its GPU.

    Args:
        model: a name of the catalogue, such as "opt-30b", or a shape.
        prompt: tokens of each prompt.
        output: tokens of each answer.
        memories: sizes of `gpu`, `cpu` and `disk`, such as {"cpu": "200GiB"}.
        rates: rates of `Rates`, such as {"to_gpu": "25GB/s"}.
        slack: which part of `gpu`, `cpu` and `disk` may be filled.
        batch: sequences that the GPU computes at a time; by default searched for.
        batches: how many of these share a layer's weights; by default searched for. It needs `batch`.
        percent: weights, cache and activations on the GPU and in CPU memory, as FlexGen's `--percent` has them; by
            default the linear program's. It needs `batches`.

    Raises InputError for what is unknown or cannot be, and where nothing fits, with what would.
    """
    shape = shape_of(model) if isinstance(model, str) else model
    given = checked(
        Inference,
        {
            "model": shape,
            "prompt": prompt,
            "output": output,
            "memories": checked(Memories, memories or {}, "memories"),
            "rates": checked(Rates, rates or {}, "rates"),
            "slack": checked(Slack, slack or {}, "slack"),
        },
    )
    for name, number in (("batch", batch), ("batches", batches)):
        if number is not None and number < 1:
            raise InputError("not a number of sequences", found=str(number), allowed="1 or more", path=name)
    if percent is not None:
        if batch is None or batches is None:
            raise InputError("shares need a batch and how many there are", path="percent")
        return InferencePlan(_of_policy(given, Policy.of_percent(batch, batches, _percent(percent))), False)
    if batches is None:
        return InferencePlan(search(given, batch), True)
    if batch is None:
        raise InputError("a number of batches needs the sequences of each", path="batches")
    found = solve(given, batch, batches)
    if found is None:
        if solve(given, 1, 1) is None:
            raise nothing_fits(given, None)
        raise InputError(
            "so many sequences do not fit", found=f"{batches} x {batch}", allowed="fewer", path="batches"
        )
    return InferencePlan(with_least_on_disk(found), False)


def _percent(given: Sequence[float]) -> Sequence[float]:
    if (
        len(given) != 6
        or any(each < 0 for each in given)
        or any(given[at] + given[at + 1] > 100 for at in (0, 2, 4))
    ):
        allowed = (
            "six numbers: weights, cache, activations on the GPU and in CPU memory, at most 100 for each two"
        )
        raise InputError(
            "not shares", found=" ".join(f"{each:g}" for each in given), allowed=allowed, path="percent"
        )
    if given[4] + given[5] != 100:
        raise InputError(
            "activations cannot be on the disk",
            found=f"{given[4]:g} and {given[5]:g}",
            allowed="100 together",
            path="percent",
        )
    return given


def _of_policy(given: Inference, policy: Policy) -> Plan:
    """The plan of a policy. Raises InputError if a memory is too small for it."""
    plan = Plan(given, policy)
    for name, peak in plan.peak_bytes.items():
        if peak > given.capacities[name] * (1 + 1e-9):
            raise InputError(
                f"the policy does not fit into the memory '{name}'",
                found=f"{size(peak)} at its peak",
                allowed=f"{size(given.capacities[name])}: {percentage(getattr(given.slack, name))} of it (slack)",
                path=f"memories.{name}",
            )
    return plan
