"""The loop of FlexGen's program as a graph of tasks: what a simulated system can play."""

from __future__ import annotations

from cxloom.offload.loop import Chain, Loop, steps_of
from cxloom.offload.plan import Plan
from cxloom.offload.task_graph import Kind, Task, TaskGraph

PLACES: dict[str, tuple[Kind, str, str, str, str]] = {
    "weights from the disk": ("copy", "disk read", "weights", "disk", "cpu"),
    "weights to the GPU": ("copy", "to GPU", "weights", "cpu", "gpu"),
    "activations to the GPU": ("copy", "GPU", "activations", "cpu", "gpu"),
    "activations from the GPU": ("copy", "GPU", "activations", "gpu", "cpu"),
    "cache from the GPU": ("copy", "from GPU", "cache", "gpu", "cpu"),
    "cache from the disk": ("copy", "disk read cache", "cache", "disk", "cpu"),
    "cache to the disk": ("copy", "disk write", "cache", "cpu", "disk"),
    "matrices on the GPU": ("compute", "GPU", "", "", ""),
    "attention on the GPU": ("compute", "GPU", "", "", ""),
    "attention on the CPU": ("kernel", "CPU", "cache", "", ""),
}
"""The kind of each part, the stream that does it, its object, and where a copy goes from and to.

Streams are the program's: activations go in that of the computation, and the disk's copies are made by threads side by
side, so that weights and caches do not wait for one another.
"""


def flexgen_graph(plan: Plan, tokens: int | None = None) -> TaskGraph:
    """The tasks of a plan.

    Args:
        plan: the policy and the machine.
        tokens: only so many of each answer, from the prompt on; by default all.
    """
    loop = Loop(plan)
    graph = TaskGraph()
    ends = _add(graph, loop, loop.before_all(), "begin", ())
    for token in range(loop.tokens if tokens is None else min(tokens, loop.tokens)):
        for step, layer, batch in steps_of(token, loop.layers, loop.batches, loop.tokens):
            name = f"token {token}, layer {layer}, batch {batch}"
            ends = _add(graph, loop, loop.chains(step), name, ends)
    return graph


def _add(
    graph: TaskGraph, loop: Loop, chains: list[Chain], name: str, after: tuple[int, ...]
) -> tuple[int, ...]:
    """Adds the chains of a step behind the one before; gives the task that ends it."""
    ends: list[int] = []
    shares = loop.plan.policy.shares
    for chain in chains:
        last = after
        for what, token in chain:
            part = loop.parts(token)[what]
            amount = part.amount.at(shares)
            if amount <= 0:
                continue
            kind, on, moved, source, target = PLACES[what]
            bytes_read = _bytes_of_attention(loop, token) if kind == "kernel" else amount
            task = Task(
                f"{name}: {what}", what, kind, on, amount / part.rate, bytes_read, moved, source, target, last
            )
            last = (graph.add(task),)
        if last != after:
            ends += last
    return (graph.add(Task(f"{name}: all streams", "synchronise", "join", "", after=tuple(ends))),)


def _bytes_of_attention(loop: Loop, token: int) -> float:
    """Bytes of keys and values that attention on the CPU reads for a token of a batch, in a layer."""
    given, policy = loop.plan.given, loop.plan.policy
    on_cpu = policy.shares["cc"] + policy.shares["cn"]
    return 4.0 * policy.batch * (given.prompt + token) * given.model.kv_width * on_cpu
