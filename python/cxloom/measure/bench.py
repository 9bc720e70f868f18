"""The bench that measurements stand on: a system without its work, and many points of it at once."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError, SimulationError
from cxloom.base.filenames import file_name
from cxloom.base.granules import PAGE
from cxloom.base.words import counted, joined
from cxloom.measure.look_ups import look_ups_ns, process_time
from cxloom.results.caveats import error_sentence, only_errors, why_no_length
from cxloom.spec.names import listed, nearest
from cxloom.spec.override import Override
from cxloom.spec.parts import Part, entry, part_of, quantity
from cxloom.sweeping.at_points import Keep, Watch, summaries_at, unwatched, whole
from cxloom.system.system import System

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

Spec = dict[str, Any]

_TRIED = 16
"""Reads that tell whether a memory answers a requester."""


@dataclass(frozen=True)
class Node:
    """Memory that one measurement goes to: one memory, or several that share their addresses by interleave."""

    name: str
    memory: str
    """One of its memories, which names it."""
    size: int
    owner: str | None
    offered: frozenset[str]
    """Requesters that have it when the run begins."""
    memories: tuple[str, ...] = ()
    """The names of all of its memories."""

    def bound(self) -> Spec:
        """The placement of pages there."""
        return {"kind": "bind", "nodes": [self.memory]}

    def footprint(self, wanted: int) -> int:
        """So many bytes, or as it has at most, in whole pages."""
        return max(PAGE, min(wanted, self.size) // PAGE * PAGE)

    def part(self, programs: int, offered: Iterable[int] = ()) -> int:
        """Bytes that each of so many programs has, in whole pages: no two have a page in common.

        None has more than the least that is `offered` to one of them. Raises InputError if there are fewer pages than
        programs.
        """
        each = min([self.size // PAGE // programs * PAGE, *offered])
        if each == 0:
            raise InputError(
                "memory of fewer pages than requesters that are to load it",
                found=f"{self.name}, {self.size // PAGE} of {PAGE // 1024}KiB for {programs}",
                allowed="a larger capacity or extent, or other memories (--memory)",
            )
        return each


class Bench:
    """A system to be measured.

    Args:
        system: a `System`, a spec file, or the name of a preset.
        memories: those to go to, by name; all if none is named.
        jobs: points at a time; by default one for each processor.
        threads: of each requester with cores that loads a memory; by default one for each of its cores.
        watch: is called now and then with the progress.
        overrides: values set in the system first.

    Raises InputError for a system that cannot be built, has no requester or no memory, or plays tasks.
    """

    def __init__(
        self,
        system: System | str | os.PathLike[str],
        *,
        memories: Sequence[str] = (),
        jobs: int | None = None,
        threads: int | None = None,
        watch: Watch = unwatched,
        overrides: Sequence[Override] = (),
    ) -> None:
        if not isinstance(system, System):
            system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
        resolved = system.resolve(overrides)
        from cxloom.system.simulation import describe

        described = describe(resolved)
        self._jobs = jobs
        self._watch = watch
        self._refused: dict[Node, list[str]] = {}
        self.roles = {each["name"]: each["roles"] for each in described["devices"]}
        self.requesters = [name for name, roles in self.roles.items() if "requester" in roles]
        tasks = resolved.root.get("tasks")
        if tasks is not None and tasks.value:
            raise resolved.placed(
                InputError(
                    "tasks are not measured: measure brings work of its own",
                    allowed="a spec without tasks (run plays them)",
                    path="tasks",
                )
            )
        whole = resolved.plain()
        self.before_events = (
            "the system is measured as it is before its events" if whole.get("events") else ""
        )
        """What of the spec is not measured; empty: nothing but its work."""
        self.spec = self._bare(whole)
        # A device that copies by DMA has a work of its own, beside which those that access memory are measured.
        accessing = [name for name in self.requesters if part_of(self.spec, name, "requester")]
        self.copying = [name for name in self.requesters if accessing and name not in accessing]
        """Requesters that copy by DMA, and are not measured."""
        self.requesters = accessing or self.requesters
        self.name = str(self.spec.get("name", "system"))
        self._nodes = [
            Node(
                joined(each["memories"]),
                each["memories"][0],
                min(int(each["bytes"]), *map(int, each["offered"].values() or [0])),
                each["owner"],
                frozenset(each["offered"]),
                tuple(each["memories"]),
            )
            for each in described["nodes"]
        ]
        if not self.requesters:
            problem = "nobody in this system makes requests"
            raise InputError(problem, allowed="a host or an accelerator", file=resolved.root.origin.file)
        self.cored = [name for name in self.requesters if self.part(name).below("core") is not None]
        """Requesters that have cores."""
        if threads is not None and not self.cored:
            raise InputError(
                "threads need cores to run on",
                found=counted(threads, "thread"),
                allowed="a requester with a core (of the simulator: run.threads in the spec)",
                path="--threads",
            )
        if threads is not None and threads < 1:
            raise InputError("too few threads", found=str(threads), allowed="1 or more", path="--threads")
        self._threads = threads
        if not self._nodes:
            problem = "this system has no memory to measure"
            raise InputError(problem, allowed="an address_map", file=resolved.root.origin.file)
        self._choose(memories, [name for each in described["nodes"] for name in each["memories"]], described)

    def _choose(self, memories: Sequence[str], known: list[str], described: Mapping[str, Any]) -> None:
        for name in memories:
            if name not in known and not any(each.startswith(f"{name} ld ") for each in known):
                raise InputError(
                    "no memory of this name has addresses",
                    found=f"'{name}'",
                    allowed=listed(known),
                    suggestion=nearest(name, known),
                    path="--memory",
                )
        if memories:
            self._nodes = [
                node
                for node, each in zip(self._nodes, described["nodes"], strict=True)
                if any(one in (name, name.split(" ld ")[0]) for one in memories for name in each["memories"])
            ]

    def _bare(self, spec: Spec) -> Spec:
        """The spec without work, events and recordings. All other traffic stays."""
        spec = copy.deepcopy(spec)
        for section in ("workload", "events", "outputs"):
            spec.pop(section, None)
        for name in self.requesters:
            if (part := part_of(spec, name, "requester")) is not None:
                entry(spec, part).pop("completion_timeout", None)  # nothing fails without events
        _drop(spec.get("devices", {}), "answer_timeout")
        run = spec.setdefault("run", {})
        for key in ("warmup", "warmup_time", "until"):
            run.pop(key, None)
        return spec

    def nodes(self, requester: str) -> list[Node]:
        """The memory that a requester may use. Raises InputError if there is none."""
        found = self._nodes_of(requester)
        if not found:
            raise InputError(
                "no memory to measure is for this requester",
                found=f"'{requester}'",
                allowed="memory that it has a way to, or an extent of, when the run begins",
            )
        return found

    def _nodes_of(self, requester: str) -> list[Node]:
        return [node for node in self._nodes if requester in node.offered]

    def users(self, node: Node) -> list[str]:
        """Requesters that load a memory in measurements of all at once: the memory answers them with data.

        The first time some reads of each tell, where there are several: a host may have no way to memory of another.
        """
        may = self._who_may(node)
        if len(self.requesters) > 1 and not self._refused:
            shared = self.all_nodes()
            work = {"pattern": "random", "requests": _TRIED, "footprint": "4KiB"}
            points = []
            for each in shared:
                each.part(len(self._who_may(each)))
                reads = {**work, "addresses": each.bound()}
                points.append({"workload": dict.fromkeys(self._who_may(each), reads)})
            for each, summary in zip(shared, self.run(self.uncached(), points), strict=True):
                found = summary["per_requester"]
                self._refused[each] = [name for name, mine in found.items() if only_errors(mine)]
        refused = self._refused.get(node, [])
        # If it answers nobody, a measurement of all says so.
        return [name for name in may if name not in refused] or may

    def left_out(self) -> str:
        """A note on requesters that do not load a memory, and why; empty if there are none."""
        said: dict[str, list[str]] = {}
        for node in self.all_nodes():
            here: dict[str, list[str]] = {}
            for name in self.requesters:
                if why := self._why_left_out(name, node):
                    here.setdefault(why, []).append(name)
            for why, names in here.items():
                said.setdefault(why, []).append(f"{listed(names, word='and')} to {node.name}")
        return "; ".join(f"left out, as {why}: {'; '.join(whose)}" for why, whose in said.items())

    def _why_left_out(self, requester: str, node: Node) -> str:
        if not self.may(requester, node):
            return self.why_not(requester, node)
        return "" if requester in self.users(node) else "requests are answered with an error"

    def why_not(self, requester: str, node: Node) -> str:
        """Why a requester that may not use a memory may not."""
        if node.owner not in (None, requester):
            return f"it is a logical device of {node.owner}"
        return "there is no way, or no extent, when the run begins"

    def all_nodes(self) -> list[Node]:
        """All that somebody may use, in the order of the address map. Raises InputError if there is none."""
        found = [node for node in self._nodes if not node.offered.isdisjoint(self.requesters)]
        return found or self.nodes(self.requesters[0])

    def may(self, requester: str, node: Node) -> bool:
        """The requester has it when the run begins."""
        return node in self._nodes_of(requester)

    def _who_may(self, node: Node) -> list[str]:
        return [name for name in self.requesters if self.may(name, node)]

    def part(self, requester: str) -> Part:
        """The parameters of its requests. Raises InputError if its kind declares none."""
        found = part_of(self.spec, requester, "requester")
        if found is None:
            kind = self.spec["devices"][requester]["kind"]
            raise InputError(
                "a requester cannot be measured whose kind does not declare its queue",
                found=f"'{requester}' of kind '{kind}'",
                allowed="a kind with the parameters of a requester (RequesterParams)",
            )
        return found

    def queue(self, requester: str) -> int:
        """Requests that it has in flight at most."""
        return self.part(requester).count("queue") or 1

    def threads(self, requester: str) -> int:
        """Threads of a requester that loads a memory: of one without cores a single one."""
        core = self.part(requester).below("core")
        if core is None:
            return 1
        return self._threads or core.count("cores") or 1

    def lines_of_core(self, requester: str) -> int:
        """Lines that the instructions of a core wait for at most (`core.fill_buffers`, or all its `core.mshrs`)."""
        core = self.part(requester).below("core")
        if core is None:
            return 1
        return core.count("fill_buffers") or core.count("mshrs") or 1

    def bound_of_core(self, requester: str) -> str:
        """The parameter that has them."""
        core = self.part(requester).below("core")
        return "fill_buffers" if core is not None and core.count("fill_buffers") else "mshrs"

    def lines_ahead(self, requester: str) -> int | None:
        """Lines that a core has under way at most with those of its prefetchers (`core.mshrs`); None without any."""
        core = self.part(requester).below("core")
        levels = (core.get("caches") if core is not None else None) or ()
        kinds = [level.get("prefetch") for level in levels if isinstance(level, Mapping)]
        if all((kind.get("kind") if isinstance(kind, Mapping) else kind) in (None, "none") for kind in kinds):
            return None
        return core.count("mshrs") if core is not None else None

    def in_flight(self, requester: str, depth: int = 1, *, ahead: bool = False) -> int:
        """Requests that it has in flight at most, with its queue divided by `depth`.

        With `ahead` its accesses have a pattern, so that prefetches are among them.
        """
        queue = self.queue(requester) // depth
        if requester not in self.cored:
            return queue
        lines = (self.lines_ahead(requester) if ahead else None) or self.lines_of_core(requester)
        return min(queue, self.threads(requester) * lines)

    def load(self, users: Sequence[str], footprint: int, work: Spec) -> Spec:
        """The workload in which these requesters do all the same, each with all of its threads."""
        whole: Spec = {}
        for name in users:
            # Each thread has a page at least, of what each requester has.
            threads = min(self.threads(name), max(1, footprint // PAGE))
            whole[name] = {**work, "threads": threads} if threads > 1 else work
        return whole

    def uncached(self, *, only: Mapping[str, Spec] | None = None) -> Spec:
        """The system whose requesters look their caches up and keep nothing there; `only` are parameters to set."""
        spec = copy.deepcopy(self.spec)
        for name in self.requesters:
            part = self.part(name)
            values = entry(spec, part)
            values.pop("cache", None)
            values.pop("atomics", None)
            if look_ups := look_ups_ns(part):
                values["process_time"] = process_time(part, look_ups)
            values.update((only or {}).get(name, {}))
        return spec

    def with_cache(self, spec: Spec, requester: str) -> Spec:
        """The system with the cache that a requester has."""
        part = self.part(requester)
        if (cache := copy.deepcopy(part.get("cache"))) is not None:
            entry(spec, part).update(cache=cache, process_time=part.text("process_time"))
        return spec

    def run(self, spec: Spec, points: Sequence[Spec], keep: Keep = whole) -> list[Summary]:
        """Runs a system at points, each of which sets values by path; gives what to `keep` of their summaries.

        Raises SimulationError if one cannot finish, InputError if one is refused.
        """
        base = {**spec, **{key: value for key, value in points[0].items() if "." not in key}}
        system = System.from_yaml(json.dumps(base))
        found = summaries_at(system, points, jobs=self._jobs, watch=self._watch, keep=keep)
        for each in found:
            if each.status == "refused":
                raise InputError(f"this system cannot be measured so: {each.error}")
            if each.summary is None:
                raise SimulationError(f"a point of the measurement did not finish: {each.error}")
        return [each.summary for each in found if each.summary is not None]


def _drop(part: Any, key: str) -> None:
    """Takes a key out of a part of a spec, and of all that is in it."""
    if isinstance(part, dict):
        part.pop(key, None)
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            _drop(each, key)


def offered(spec: Spec) -> dict[str, dict[str, int]]:
    """Bytes in whole pages that each requester has when the run begins, by the memory that names a node.

    Those that have none of a node are not there. Raises InputError for a system that cannot be built.
    """
    from cxloom.system.simulation import describe

    nodes = describe(System.from_yaml(json.dumps(spec)).resolve())["nodes"]
    return {
        each["memories"][0]: {name: int(count) for name, count in each["offered"].items()} for each in nodes
    }


def note_on_load(bench: Bench) -> str:
    """Whose load it is: of requesters that a memory answers, and of how many threads where they have cores."""
    return "; ".join(filter(None, [_threads_of(bench), bench.left_out()]))


def _threads_of(bench: Bench) -> str:
    return "; ".join(
        f"the load of {name} is of {counted(bench.threads(name), 'thread')}, of which each waits for "
        f"{bench.lines_of_core(name)} lines at most (core.{bench.bound_of_core(name)}){_ahead_of(bench, name)}, and "
        f"all for {bench.queue(name)} (queue)"
        for name in bench.cored
    )


def _ahead_of(bench: Bench, name: str) -> str:
    lines = bench.lines_ahead(name)
    return "" if lines is None else f", has {lines} under way with those of its prefetchers (core.mshrs)"


class Cells:
    """The results of a measurement by cell: a number, or why there is none."""

    def __init__(self) -> None:
        self.without: dict[str, str] = {}
        """Why there is none, by what the cell is."""
        self._asked: set[str] = set()

    def has_number(self, cell: str, summary: Summary) -> bool:
        """False if requests of the point were answered without data, or somebody got no answer in its window."""
        self._asked.add(cell)
        why = error_sentence(summary)
        silent = [name for name, mine in summary["per_requester"].items() if not mine["requests"]]
        if why is None and silent:
            why = f"{listed(silent, word='and')} got no answer in the measured window"
        if why is not None:
            self.without.setdefault(cell, why)
        return why is None

    def has_rate(self, cell: str, summary: Summary) -> bool:
        """Whether a bandwidth can be read: `has_number`, and a window that has a length."""
        if not self.has_number(cell, summary):
            return False
        why = why_no_length(summary)
        if why is not None:
            self.without.setdefault(cell, f"{why}, so that there is no bandwidth")
        return why is None

    def check(self) -> None:
        """Raises SimulationError if no cell has a number."""
        if self._asked and self._asked <= self.without.keys():
            cell, why = next(iter(self.without.items()))
            raise SimulationError(
                f"nothing could be measured: {cell}: {why}. The system is measured as it is before its events"
            )


def byte_count(text: str, path: str) -> int:
    """Bytes of a size as a spec has it, such as 48KiB. Raises InputError, at `path`, if it is none."""
    try:
        return int(quantity("bytes", text))
    except InputError:
        raise InputError(
            "not a size", found=f"'{text}'", allowed="a number with its unit, such as 64MiB", path=path
        ) from None


def size_text(count: int) -> str:
    """Bytes as a spec has them."""
    return f"{count}B"
