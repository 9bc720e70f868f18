"""What FlexGen's program does with a policy: layer by layer and batch by batch, all streams in step.

`flex_opt.py` waits for all streams behind each batch of each layer. Within such a step the GPU computes a batch,
while the weights of the next layer come (during the layer's first batch alone), the cache of the next batch is read,
and that of the batch before is stored. The first and last layers of embeddings are left out, as in the cost model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cxloom.offload.cost_model import Parts, decode, prefill
from cxloom.offload.plan import Plan

Chain = list[tuple[str, int]]
"""Parts that follow each other, each with the token that it is for."""


@dataclass(frozen=True)
class Step:
    """A batch in a layer, and what runs beside it. Token 0 is the one that comes out of the prompt."""

    token: int
    before: int | None
    """The token of the batch that was computed in the step before; None: there was none."""
    after: int | None
    """The token of the batch that the next step computes; None: there is none."""
    weights: int | None
    """The token for which the next layer's weights come during this step; None: none come."""


def steps_of(token: int, layers: int, batches: int, tokens: int) -> Iterator[tuple[Step, int, int]]:
    """The steps of a token in their order, each with its layer and batch."""
    for layer in range(layers):
        for batch in range(batches):
            yield step_of(token, layer, batch, layers, batches, tokens), layer, batch


def step_of(token: int, layer: int, batch: int, layers: int, batches: int, tokens: int) -> Step:
    """What one step does."""
    first, final = layer == batch == 0, layer == layers - 1 and batch == batches - 1
    before = (token - 1 if token else None) if first else token
    after = (token + 1 if token + 1 < tokens else None) if final else token
    weights = None
    if batch == 0:
        weights = token if layer < layers - 1 else token + 1
        weights = weights if weights < tokens else None
    return Step(token, before, after, weights)


def _counted(token: int, layers: int, batches: int, tokens: int) -> Counter[Step]:
    """How often each step comes in a token: all but those at its ends are alike."""
    if layers < 3 or batches < 3:
        return Counter(step for step, _, _ in steps_of(token, layers, batches, tokens))
    found: Counter[Step] = Counter()
    for layer, many in ((0, 1), (1, layers - 2), (layers - 1, 1)):
        for batch, each in ((0, 1), (1, batches - 2), (batches - 1, 1)):
            found[step_of(token, layer, batch, layers, batches, tokens)] += many * each
    return found


class Loop:
    """The steps of a plan, and what each does."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.layers, self.batches = plan.given.model.layers, plan.policy.batches
        self.tokens = plan.given.output
        self.parts = lru_cache(maxsize=None)(self._parts)

    def _parts(self, token: int) -> Parts:
        """What a layer does for a token of one batch."""
        given, batch = self.plan.given, self.plan.policy.batch
        if token == 0:
            return prefill(given, batch)
        return decode(given, batch, batch, given.prompt + token)

    def chains(self, step: Step) -> list[Chain]:
        """What runs beside each other in a step.

        The first of them computes. Activations go between memory and GPU in its stream, and so before it.
        """
        compute = [
            *([] if step.before is None else [("activations from the GPU", step.before)]),
            *([] if step.after is None else [("activations to the GPU", step.after)]),
            *((name, step.token) for name in _COMPUTED if name in self.parts(step.token)),
        ]
        weights = [] if step.weights is None else [(name, step.weights) for name in WEIGHTS]
        read = [("cache from the disk", step.after)] if step.after else []
        stored: tuple[str, ...] = ()
        if step.before is not None and not self._is_last(step.before):
            stored = _STORED[step.before > 0]
        return [compute, weights, read, [(name, step.before or 0) for name in stored]]

    def _is_last(self, token: int) -> bool:
        """The cache of the last token is not needed any more, and the program does not store it."""
        return token == self.tokens - 1

    def seconds(self, chain: Chain) -> float:
        """How long a chain takes."""
        return sum(self.part_seconds(name, token) for name, token in chain)

    def part_seconds(self, name: str, token: int) -> float:
        """How long a part takes for a token of one batch."""
        return self.parts(token)[name].seconds.at(self.plan.policy.shares)

    def before_all(self) -> list[Chain]:
        """What happens before the first step: the first layer's weights and the first batch's activations."""
        return [[(name, 0) for name in WEIGHTS], [("activations to the GPU", 0)]]


WEIGHTS = ("weights from the disk", "weights to the GPU")
_COMPUTED = ("attention on the CPU", "matrices on the GPU", "attention on the GPU")
_STORED = (("cache from the GPU", "cache to the disk"), ("cache to the disk",))
"""What is stored of a prompt, and of a token behind it, whose keys and values are with the CPU where it attends."""


@dataclass(frozen=True)
class Schedule:
    """How long the program takes, and what of."""

    before_s: float
    """Seconds before the first step."""
    tokens_s: Sequence[float]
    """Seconds of each token of all sequences; the first is that of the prompts."""
    exposed: Mapping[str, float]
    """Seconds by what they were spent on: in each step that is the longest chain. They sum to the total."""

    @property
    def total_s(self) -> float:
        """Seconds of all tokens, and of what comes before."""
        return self.before_s + sum(self.tokens_s)

    @property
    def prefill_s(self) -> float:
        """Seconds of the prompts, and of what comes before."""
        return self.before_s + self.tokens_s[0]

    @property
    def decode_s(self) -> float:
        """Seconds of all tokens behind the first."""
        return sum(self.tokens_s[1:])


def schedule(plan: Plan) -> Schedule:
    """How long FlexGen's program takes with a plan, at the rates of the cost model."""
    loop = Loop(plan)
    exposed: dict[str, float] = {}

    def spend(chains: Sequence[Chain], many: int) -> float:
        longest = max(chains, key=loop.seconds)
        for name, token in longest:
            seconds = loop.part_seconds(name, token)
            if seconds:
                exposed[name] = exposed.get(name, 0.0) + many * seconds
        return many * loop.seconds(longest)

    before = spend(loop.before_all(), 1)
    tokens = [
        sum(
            spend(loop.chains(step), many)
            for step, many in _counted(token, loop.layers, loop.batches, loop.tokens).items()
        )
        for token in range(loop.tokens)
    ]
    return Schedule(before, tokens, exposed)
