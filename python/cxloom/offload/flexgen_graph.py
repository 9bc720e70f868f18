"""The loop of FlexGen's program as a graph of tasks: what a simulated system can play."""

from __future__ import annotations

from cxloom.offload.loop import Chain, Loop, steps_of
from cxloom.offload.plan import Plan
from cxloom.offload.task_graph import Kind, Task, TaskGraph, Use

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
    "attention on the CPU": ("kernel", "CPU", "", "", ""),
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
    graph = TaskGraph(objects=_objects(plan), on_gpu=plan.peak_bytes["gpu"])
    ends = _add(graph, loop, loop.before_all(), "begin", (-1, 0), ())
    for token in range(loop.tokens if tokens is None else min(tokens, loop.tokens)):
        for step, layer, batch in steps_of(token, loop.layers, loop.batches, loop.tokens):
            name = f"token {token}, layer {layer}, batch {batch}"
            ends = _add(graph, loop, loop.chains(step), name, (layer, batch), ends)
    return graph


def _objects(plan: Plan) -> dict[str, float]:
    """Bytes of what is in CPU memory, or goes through it from the disk."""
    given, shares, layers = plan.given, plan.policy.shares, plan.given.model.layers
    sizes = {
        "weights": layers * given.layer_bytes * (shares["wc"] + shares["wn"]),
        "cache": layers * plan.policy.sequences * given.kv_bytes * (shares["cc"] + shares["cn"]),
        "activations": 2.0 * given.prompt * given.model.hidden * plan.policy.sequences * shares["hc"],
    }
    return {name: size for name, size in sizes.items() if size > 0}


def _add(
    graph: TaskGraph,
    loop: Loop,
    chains: list[Chain],
    name: str,
    at: tuple[int, int],
    after: tuple[int, ...],
) -> tuple[int, ...]:
    """Adds the chains of a step, in its layer and batch, behind the one before; gives the task that ends it."""
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
            reads: tuple[Use, ...] = ()
            offset = _offset(graph, loop, moved, at) if kind == "copy" else 0.0
            if kind == "kernel":
                amount = _bytes_of_attention(loop, token)
                reads = (Use("cache", amount, _offset(graph, loop, "cache", at)),)
            seconds = loop.part_seconds(what, token)
            full = f"{name}: {what}"
            least = seconds if kind == "kernel" else 0.0
            ends_of = (moved, source, target, offset)
            task = Task(full, what, kind, on, seconds, amount, *ends_of, reads, after=last, least=least)
            last = (graph.add(task),)
        if last != after:
            ends += last
    return (graph.add(Task(f"{name}: all streams", "synchronise", "join", "", after=tuple(ends))),)


def _offset(graph: TaskGraph, loop: Loop, moved: str, at: tuple[int, int]) -> float:
    """Where in its object a step's part begins: weights of the next layer, the cache of the step's own batch."""
    layer, batch = at
    whole = graph.objects.get(moved, 0.0)
    if moved == "weights":
        return whole * ((layer + 1) % loop.layers) / loop.layers
    if moved == "cache":
        return whole * (max(layer, 0) * loop.batches + batch) / (loop.layers * loop.batches)
    return whole * batch / loop.batches


def _bytes_of_attention(loop: Loop, token: int) -> float:
    """Bytes of keys and values that attention on the CPU reads for a token of a batch, in a layer."""
    given, policy = loop.plan.given, loop.plan.policy
    on_cpu = policy.shares["cc"] + policy.shares["cn"]
    return 4.0 * policy.batch * (given.prompt + token) * given.model.kv_width * on_cpu
