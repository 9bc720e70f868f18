"""Tools on a system with a device of a plug-in each, in a process that has the plug-in: what each gives, or says.

    python tools_of_plugins.py LIBRARY FILE [whole]

FILE is systems by name, as JSON, and this prints {tool: {system: result}}.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.booting.enumeration import Access, Times
from cxloom.booting.system import machine_of_system
from cxloom.crash.power_failures import crash
from cxloom.curves.medium import ways_ns
from cxloom.execution.placed_program import prepare_all
from cxloom.execution.processor import Processor
from cxloom.execution.sampling import keeps_state
from cxloom.offload.target import target
from cxloom.spec.parts import part_of
from cxloom.system.simulation import describe

Spec = dict[str, Any]


def made(spec: Spec) -> cx.System:
    return cx.System.from_yaml(json.dumps(spec))


def tiered(spec: Spec) -> Spec:
    """A nearer memory beside it, and pages that move there."""
    spec = copy.deepcopy(spec)
    medium = {"kind": "fixed", "latency": "10ns"}
    spec["devices"]["near"] = {"kind": "memory", "capacity": "4MiB", "media": medium}
    spec["links"].append({"between": ["near", "sw"], "delay": "1ns", "bandwidth": "200GB/s"})
    spec["address_map"] = [{"to": "near"}, {"to": "mem"}]
    work = {"pattern": "hot-cold", "footprint": "8MiB", "requests": 2000, "tiering": "hot-pages"}
    spec["workload"] = {"host": {**work, "addresses": "first-touch"}}
    spec["run"] = {}
    return spec


def advised(spec: Spec) -> str:
    spec = tiered(spec)
    objects = [{"name": name, "size": "256KiB"} for name in "ab"]
    spec["workload"] = {"host": {"pattern": "objects", "requests": 1000, "objects": objects}}
    return cx.advise(made(spec), jobs=1).sentence


def persistent(spec: Spec) -> Spec:
    work = {"pattern": "random", "requests": 20, "reads": 0.2, "footprint": "64KiB"}
    memory = {"to": "mem", "persistence": "media"}
    return {**spec, "address_map": [memory], "workload": {"host": work}, "run": {}}


def computed_on(spec: Spec) -> str:
    """The host of an offload plan, beside a GPU."""
    gpu = {"between": ["gpu", "sw"], "bandwidth": "20GB/s"}
    devices = {**spec["devices"], "gpu": {"kind": "gpu"}}
    return target(made({**spec, "devices": devices, "links": [*spec["links"], gpu]})).host


def with_processor(spec: Spec) -> Any:
    """The queue of the host whose processor is that of a preset."""
    placed = prepare_all([made(spec)], None, None, None, Processor.load("epyc-9354"), None)
    part = part_of(placed[0].resolved.plain(), "host", "requester")
    return None if part is None else [part.count("queue"), "cache" in part.written, "core" in part.written]


def error_of_copy(spec: Spec) -> Any:
    found = cx.play_epochs(made(tiered(spec)), duration="1ms", check=2000)
    return found.error or list(found.notes)


def register_times(spec: Spec) -> list[float]:
    """How long reads of the configuration of what stands before the memory take, in the order of the way."""
    resolved = made(spec).resolve()
    times = Times(machine_of_system(resolved), resolved.plain(), describe(resolved))
    stations = ("sw root port 0", "sw upstream port", "sw downstream port 0")
    return [times.ns(Access("drivers", each, "configuration", 0, False, 0)) for each in stations]


FIGURES = {"links": {"*": 2}, "media": {"*": {"read_pj_per_bit": 3, "write_pj_per_bit": 5}}}

TOOLS: dict[str, Callable[[Spec], Any]] = {
    "import": lambda spec: ways_ns(made(spec), "mem"),
    "measure": lambda spec: cx.measure.sizes(made(spec), jobs=1, largest="4KiB").rows,
    "load": lambda spec: cx.measure.loaded(made(spec), jobs=1).rows,
    "bandwidth": lambda spec: cx.measure.bandwidth(made(spec), jobs=1).rows,
    "boot": lambda spec: machine_of_system(made(spec).resolve()).notes,
    "enumeration": register_times,
    "exec": with_processor,
    "sample": lambda spec: keeps_state(made(spec).resolve().plain()),
    "offload": computed_on,
    "epochs": error_of_copy,
    "crash": lambda spec: crash(made(persistent(spec)), every_event=True).to_json()["lost_instants"],
    "advise": advised,
    "energy": lambda spec: cx.energy(made(spec), FIGURES).to_json(),
}


LONG = ("load", "bandwidth", "advise")
"""Tools that take seconds and go by parameters of requesters: a slice tries them on a requester alone."""


def outcome(tool: Callable[[Spec], Any], spec: Spec) -> Any:
    try:
        return tool(spec)
    except InputError as error:
        return f"refused: {error}"


if __name__ == "__main__":
    cx.load_plugin(sys.argv[1])
    systems = json.loads(Path(sys.argv[2]).read_text())
    whole = "whole" in sys.argv[3:]
    found = {
        name: {
            system: outcome(tool, spec)
            for system, spec in systems.items()
            if whole or name not in LONG or system in ("ours", "nested requester")
        }
        for name, tool in TOOLS.items()
    }
    print(json.dumps(found))
