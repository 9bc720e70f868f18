"""From an execution trace of Chakra to a graph of tasks: docs/chakra.md."""

from __future__ import annotations

import heapq
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cxloom.base.errors import InputError
from cxloom.base.granules import PAGE
from cxloom.base.temporary import written_whole
from cxloom.base.words import counted
from cxloom.spec.parts import quantity
from cxloom.tasks.chakra.trace import Node, NodeType, Trace, read_chakra

Task = dict[str, Any]

_LOADS = (NodeType.MEM_LOAD, NodeType.MEM_STORE)
_EMPTY = (NodeType.INVALID, NodeType.METADATA)


@dataclass(frozen=True)
class ChakraGraph:
    """The tasks of a trace, and what of a spec they need.

    ``tasks`` is in an order in which each is behind those that it waits for. ``processors`` are the names that compute
    tasks run on, and ``tensor_bytes`` the bytes that the object of tensors has at least; 0: nothing is copied.
    """

    trace: Trace
    tasks: tuple[Task, ...]
    processors: tuple[str, ...]
    tensors: str
    tensor_bytes: int
    flops: float
    """The rate of each processor in `section`, which tasks with a time do not use."""
    dropped: int
    """Nodes without work, whose dependences go to those that wait for them."""
    untimed: tuple[Node, ...] = ()
    """Nodes of compute that record no duration in a trace that records others: they take 0 us."""

    @property
    def sentence(self) -> str:
        """What was imported, for people."""
        kinds = {kind: sum(1 for task in self.tasks if task["kind"] == kind) for kind in ("compute", "copy")}
        text = f"{counted(len(self.trace.nodes), 'node')}: {kinds['compute']:,} to compute, {kinds['copy']:,} to copy"
        if self.dropped:
            text += f"; {self.dropped} without work are left out"
        if self.trace.ignored:
            text += f"; {counted(self.trace.ignored, 'dependence')} by control alone left out"
        return text

    @property
    def notes(self) -> list[str]:
        """What to bear in mind, for people: work that the trace gives no time, if there is some."""
        if not self.untimed:
            return []
        first, count = self.untimed[0], len(self.untimed)
        of_all = sum(1 for node in self.trace.nodes if node.type == NodeType.COMP)
        return [
            f"{count} of {counted(of_all, 'node')} to compute {'takes' if count == 1 else 'take'} 0 us, as no duration "
            f"is recorded; the first is node {first.id} ('{first.name}'), record {first.record}. Chakra leaves out a "
            "duration of 0: whether they were short or not measured, the trace does not say"
        ]

    def section(self, file: str) -> dict[str, Any]:
        """The `tasks` of a spec that plays the tasks of a file."""
        section: dict[str, Any] = {"file": file}
        if self.tensor_bytes:
            section["objects"] = [{"name": self.tensors, "size": f"{self.tensor_bytes}B"}]
        section["processors"] = [{"name": name, "flops": self.flops} for name in self.processors]
        return section

    def write(self, file: str | os.PathLike[str]) -> Path:
        """Writes the tasks as JSON Lines, for `tasks.file` of a spec; gives the path. Raises OSError if it cannot."""
        with written_whole(Path(file)) as path:
            path.write_text(self.lines(), encoding="utf-8")
        return Path(file)

    def lines(self) -> str:
        """The tasks as JSON Lines."""
        return "".join(json.dumps(task) + "\n" for task in self.tasks)


@dataclass
class _Options:
    device: str
    tensors: str
    window: int
    compute: str
    network: float | None  # bytes per second
    timed: bool = False  # the trace records durations
    offset: int = 0
    most: int = field(default=0)
    untimed: list[Node] = field(default_factory=list)


def import_chakra(
    file: str | os.PathLike[str],
    *,
    device: str = "gpu",
    tensors: str = "tensors",
    window: str = "1GiB",
    compute: str = "time",
    flops: float | None = None,
    network: str | None = None,
    control: bool = False,
) -> ChakraGraph:
    """The tasks of an execution trace of Chakra.

    ``device`` has the DMA engine that copies tensors from and to the object ``tensors``. A trace has no addresses: each
    tensor is behind the one before it, and the first again where ``window`` has no room left. ``compute`` is "time", by
    the recorded durations, or "ops", by ``num_ops`` at ``flops`` of the processor. ``network`` is the bandwidth of
    communication without a recorded duration, such as "50GB/s"; without it such a trace is refused.
    With ``control`` tasks also wait for nodes that theirs needs by control: without it by data alone, as Chakra has it.

    Raises InputError with the file and the record for what is no trace, for nodes that wait for each other in a circle,
    and for a node that does not say how long it takes or how much it moves.
    """
    if compute not in ("time", "ops"):
        raise InputError("none of what there is", found=f"'{compute}'", allowed="time, ops", path="compute")
    if (flops is not None) != (compute == "ops"):
        problem = (
            "operations without a rate" if flops is None else "a rate has no effect on recorded durations"
        )
        raise InputError(problem, allowed="compute ops and flops together", path="flops")
    if flops is not None and not 0 < flops < float("inf"):
        raise InputError("no rate", found=str(flops), allowed="more than 0", path="flops")
    options = _Options(
        device, tensors, int(_quantity("bytes", window, "window")), compute,
        None if network is None else _quantity("bandwidth", network, "network"),
    )  # fmt: skip
    trace = read_chakra(file, control=control)
    options.timed = any(node.duration is not None for node in trace.nodes)
    nodes = {node.id: node for node in trace.nodes}
    order = _order(trace, nodes)
    after = _after_work(order, nodes)
    tasks: list[Task] = []
    for node in order:
        if node.type in _EMPTY:
            continue
        try:
            task = {"name": _name(node), **_MAKERS[node.type](node, options)}
        except InputError as error:
            error.file = trace.file
            raise
        before = [_name(nodes[each]) for each in after[node.id]]
        tasks.append(task | ({"after": before} if before else {}))
    if not tasks:
        raise InputError(
            "a trace without work", allowed="a node of compute, memory or communication", file=file
        )
    processors = tuple(dict.fromkeys(task["on"] for task in tasks if task["kind"] == "compute"))
    untimed = tuple(sorted(options.untimed, key=lambda node: node.record))
    return ChakraGraph(
        trace,
        tuple(tasks),
        processors,
        tensors,
        options.most,
        flops or 1e12,
        len(order) - len(tasks),
        untimed,
    )


def _quantity(kind: str, text: str, path: str) -> float:
    try:
        value = float(quantity(kind, text))
    except InputError as error:
        error.path = path
        raise
    if value <= 0:
        raise InputError("nothing", found=text, allowed="more than 0", path=path)
    return value


def _name(node: Node) -> str:
    return f"{node.name or node.type.name.lower()}#{node.id}"


def _order(trace: Trace, nodes: dict[int, Node]) -> list[Node]:
    """Each node behind those that it needs; of several the one that began first, or has the least id.

    Raises InputError if there is no such order.
    """
    waits = {node.id: len(node.after) for node in trace.nodes}
    behind: dict[int, list[int]] = {node.id: [] for node in trace.nodes}
    for node in trace.nodes:
        for before in node.after:
            behind[before].append(node.id)
    ready = [(node.start, node.id) for node in trace.nodes if not node.after]
    heapq.heapify(ready)
    order = []
    while ready:
        _, number = heapq.heappop(ready)
        order.append(nodes[number])
        for each in behind[number]:
            waits[each] -= 1
            if waits[each] == 0:
                heapq.heappush(ready, (nodes[each].start, each))
    if len(order) < len(trace.nodes):
        raise _circle(trace, nodes, {number for number, left in waits.items() if left > 0})
    return order


def _circle(trace: Trace, nodes: dict[int, Node], left: set[int]) -> InputError:
    """Each that is left waits for one that is left: going there ends in a circle."""
    way: dict[int, int] = {}
    at = min(left)
    while at not in way:
        way[at] = len(way)
        at = next(before for before in nodes[at].after if before in left)
    circle = list(way)[way[at] :]
    shown = [*circle[:8], circle[0]] if len(circle) <= 8 else [*circle[:8], "..."]
    return InputError(
        f"record {nodes[at].record}: nodes that wait for each other in a circle",
        found=" for ".join(str(each) for each in shown),
        file=trace.file,
    )


def _after_work(order: list[Node], nodes: dict[int, Node]) -> dict[int, list[int]]:
    """The nodes with work that each waits for: by way of those without."""
    found: dict[int, list[int]] = {}
    for node in order:
        before: dict[int, None] = {}
        for each in node.after:
            before |= dict.fromkeys(found[each] if nodes[each].type in _EMPTY else [each])
        found[node.id] = list(before)
    return found


def _wrong(node: Node, problem: str, allowed: str) -> InputError:
    return InputError(f"record {node.record}: node {node.id} ('{node.name}') {problem}", allowed=allowed)


def _number(node: Node, name: str) -> int | None:
    """An attribute that counts something; None: the node has none."""
    value = node.attributes.get(name)
    if value is None:
        return None
    if isinstance(value, (bool, str, float)) or value < 0:
        raise _wrong(node, f"has as {name} {value!r}", "a whole number")
    return int(value)


def _is_on_cpu(node: Node) -> bool:
    value = node.attributes.get("is_cpu_op", False)
    if not isinstance(value, int) or value not in (0, 1):
        raise _wrong(node, f"has as is_cpu_op {value!r}", "a truth value, or 0 or 1")
    return bool(value)


def _compute(node: Node, options: _Options) -> Task:
    is_on_cpu = _is_on_cpu(node)
    on = "cpu" if is_on_cpu else f"{options.device}-cores"
    if options.compute == "ops" and not is_on_cpu:
        ops = _number(node, "num_ops")
        if ops is None:
            raise _wrong(
                node, "has no num_ops", "num_ops of each node on the GPU, or its duration: --compute time"
            )
        return {"kind": "compute", "on": on, "flops": ops}
    return {"kind": "compute", "on": on, "time": f"{_recorded(node, options)}us"}


def _recorded(node: Node, options: _Options) -> int:
    """The duration of computation.

    Protobuf leaves out a 0. So a node without the field took 0 us where others have it, unless it counts operations.
    """
    if node.duration is None and (not options.timed or "num_ops" in node.attributes):
        by_ops = "" if _is_on_cpu(node) else ", or its operations: --compute ops --flops RATE"
        raise _wrong(node, "has no recorded duration", f"its duration{by_ops}")
    if node.duration is None:
        options.untimed.append(node)
    return node.duration or 0


def _communicate(node: Node, options: _Options) -> Task:
    on = "receive" if node.type == NodeType.COMM_RECV else "network"
    if _is_on_cpu(node):
        on = "cpu"  # the call of it
    if node.duration:
        return {"kind": "compute", "on": on, "time": f"{node.duration}us"}
    size = _number(node, "comm_size")
    if size is None:
        raise _wrong(node, "has neither a duration nor a comm_size", "one of the two for communication")
    if options.network is None:
        raise _wrong(
            node,
            f"moves {size} bytes between NPUs, and no duration is recorded",
            "--network, the bandwidth of that",
        )
    return {"kind": "compute", "on": on, "time": f"{round(size / options.network * 1e12)}ps"}


def _copy(node: Node, options: _Options) -> Task:
    size = _number(node, "tensor_size")
    if not size:
        raise _wrong(node, "has no tensor_size", "the bytes that each node of memory moves")
    if size > options.window:
        raise _wrong(
            node,
            f"moves {size} bytes, and the window has {options.window}",
            "--window, of one tensor at least",
        )
    if options.offset + size > options.window:
        options.offset = 0
    task: Task = {"kind": "copy", "bytes": f"{size}B"}
    ends = [options.tensors, options.device]
    task["from"], task["to"] = ends if node.type == NodeType.MEM_LOAD else reversed(ends)
    if options.offset:
        task["offset"] = f"{options.offset}B"
    options.most = max(options.most, options.offset + size)
    options.offset += -(-size // PAGE) * PAGE
    return task


_MAKERS: dict[NodeType, Callable[[Node, _Options], Task]] = {
    NodeType.COMP: _compute,
    **dict.fromkeys(_LOADS, _copy),
    **dict.fromkeys((NodeType.COMM_SEND, NodeType.COMM_RECV, NodeType.COMM_COLL), _communicate),
}
