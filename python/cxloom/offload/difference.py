"""Why FlexGen's cost model and its program take different times: by what each spends its time on."""

from __future__ import annotations

from dataclasses import dataclass

from cxloom.offload.loop import Schedule
from cxloom.offload.plan import Plan


@dataclass(frozen=True)
class Difference:
    """Seconds that one kind of work adds to the time of each."""

    what: str
    model_s: float
    """In the cost model: of each layer the longest chain."""
    program_s: float
    """In the program's loop: of each step the longest chain."""

    @property
    def difference_s(self) -> float:
        """Seconds that the program spends more."""
        return self.program_s - self.model_s


def model_seconds(plan: Plan) -> dict[str, float]:
    """The seconds of the cost model by what they are spent on. They sum to its total."""
    layers, tokens = plan.given.model.layers, plan.given.output - 1
    found: dict[str, float] = {}
    for parts, chain, many in (
        (plan.prefill, plan.prefill_chain, layers),
        (plan.decode, plan.decode_chain, layers * tokens),
    ):
        for name in chain:
            found[name] = found.get(name, 0.0) + many * parts[name].seconds.at(plan.policy.shares)
    return found


def differences(plan: Plan, played: Schedule) -> list[Difference]:
    """All kinds of work that either spends time on. Their differences sum to that of the totals."""
    model = model_seconds(plan)
    names = dict.fromkeys([*model, *played.exposed])
    found = [Difference(name, model.get(name, 0.0), played.exposed.get(name, 0.0)) for name in names]
    return [each for each in found if each.model_s or each.program_s]
