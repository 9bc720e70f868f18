"""A graph of tasks, built in Python with the words of the spec."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

Use: TypeAlias = "str | dict[str, Any]"
"""A whole object by its name, or a part: ``{"object": "weights", "bytes": "1GB", "offset": "2GB"}``."""


class TaskGraph:
    """A graph of compute, copies and kernels with dependences, for `System.tasks`.

    ::

        graph = cx.TaskGraph()
        graph.object("weights", "8GB", addresses={"kind": "bind", "nodes": ["cxl"]})
        graph.processor("gpu-cores", flops=312e12)
        load = graph.copy("load", source="weights", to="gpu", bytes="400MB")
        graph.compute("layer", on="gpu-cores", time="12ms", after=[load])
        system.tasks(**graph.section())

    Each method of a task gives its name. Values are checked when the system is checked or run, and keep the words of
    ``docs/model/tasks.md``; what is None is left out.
    """

    def __init__(self) -> None:
        self._objects: list[dict[str, Any]] = []
        self._processors: list[dict[str, Any]] = []
        self._graph: list[dict[str, Any]] = []

    def __len__(self) -> int:
        """How many tasks there are."""
        return len(self._graph)

    def object(self, name: str, size: str, **more: Any) -> str:
        """Adds an object of that size; `more` are `addresses` and `host`. Gives its name."""
        self._objects.append({"name": name, "size": size, **_given(more)})
        return name

    def processor(self, name: str, flops: float) -> str:
        """Adds a processor of so many floating-point operations per second. Gives its name."""
        self._processors.append({"name": name, "flops": flops})
        return name

    def compute(
        self,
        name: str,
        on: str,
        *,
        flops: float | None = None,
        time: str | None = None,
        after: Sequence[str] = (),
        **more: Any,
    ) -> str:
        """Adds operations of a processor, as `flops` or as a `time`."""
        return self._add(name, "compute", after, on=on, flops=flops, time=time, **more)

    def copy(
        self,
        name: str,
        source: str,
        to: str,
        *,
        bytes: str | None = None,
        after: Sequence[str] = (),
        **more: Any,
    ) -> str:
        """Adds a copy from an object to a device, from a device to an object, or with `on` between two objects."""
        return self._add(name, "copy", after, **{"from": source}, to=to, bytes=bytes, **more)

    def kernel(
        self,
        name: str,
        on: str,
        *,
        reads: Sequence[Use] = (),
        writes: Sequence[Use] = (),
        after: Sequence[str] = (),
        **more: Any,
    ) -> str:
        """Adds a phase of a host that reads and writes objects; `more`: `pattern`, `threads`, `flops`, `time`."""
        return self._add(name, "kernel", after, on=on, reads=list(reads), writes=list(writes), **more)

    def section(self) -> dict[str, Any]:
        """The section `tasks` of a spec."""
        whole = {"objects": self._objects, "processors": self._processors, "graph": self._graph}
        return {key: list(entries) for key, entries in whole.items() if entries}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the tasks, without objects and processors, as JSON Lines: what `tasks.file` names."""
        lines = (json.dumps(task, separators=(",", ":")) for task in self._graph)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def _add(self, name: str, kind: str, after: Sequence[str], **given: Any) -> str:
        self._graph.append({"name": name, "kind": kind, **_given({"after": list(after), **given})})
        return name


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value != []}
