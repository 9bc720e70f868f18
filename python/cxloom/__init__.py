"""cxloom simulates computer systems with CXL: describe a system and a workload, and see where every nanosecond went.

::

    import cxloom as cx

    system = cx.load("system.yaml")          # or build it: cx.System(), system.host(...), system.connect(...)
    result = cx.run(system, seed=1)
    print(result)                            # the table of `cxloom run`
    result.bandwidth, result.latency.p99, result.breakdown, result.requests()
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as a type checker does not see it: typing takes half of the time of loading all this
if TYPE_CHECKING:
    from typing import Any

    from cxloom import kv, measure
    from cxloom._core import __version__
    from cxloom.advising.advice import advise
    from cxloom.base.errors import CxloomError, InputError, SimulationError
    from cxloom.consumption.consumed import energy
    from cxloom.epochs.study import play_epochs
    from cxloom.explaining.explanation import explain
    from cxloom.fitting.fit import fit
    from cxloom.offload.inference import plan_inference
    from cxloom.offload.simulated import simulate_plan
    from cxloom.offload.training import plan_training
    from cxloom.planning.plan import plan
    from cxloom.results.result import Latency, Measures, Result
    from cxloom.running.compared import compare
    from cxloom.running.run import UnfinishedError, UnwrittenError, run
    from cxloom.spec.plugins import include_dir, library_dir, load_plugin
    from cxloom.sweeping.find import find
    from cxloom.sweeping.result import SweepResult
    from cxloom.sweeping.sweep import sweep
    from cxloom.system.system import System, load
    from cxloom.tasks.chakra.convert import import_chakra
    from cxloom.tasks.graph import TaskGraph

_HOMES = {
    "_core": ("__version__",),
    "advising.advice": ("advise",),
    "consumption.consumed": ("energy",),
    "epochs.study": ("play_epochs",),
    "explaining.explanation": ("explain",),
    "base.errors": ("CxloomError", "InputError", "SimulationError"),
    "offload.inference": ("plan_inference",),
    "offload.simulated": ("simulate_plan",),
    "offload.training": ("plan_training",),
    "planning.plan": ("plan",),
    "results.result": ("Latency", "Measures", "Result"),
    "running.compared": ("compare",),
    "running.run": ("UnfinishedError", "UnwrittenError", "run"),
    "spec.plugins": ("include_dir", "library_dir", "load_plugin"),
    "fitting.fit": ("fit",),
    "sweeping.find": ("find",),
    "sweeping.result": ("SweepResult",),
    "sweeping.sweep": ("sweep",),
    "system.system": ("System", "load"),
    "tasks.chakra.convert": ("import_chakra",),
    "tasks.graph": ("TaskGraph",),
}
"""The modules by what they give to the package; each is loaded when it is first asked for."""

__all__ = [
    "CxloomError",
    "InputError",
    "Latency",
    "Measures",
    "Result",
    "SimulationError",
    "SweepResult",
    "System",
    "TaskGraph",
    "UnfinishedError",
    "UnwrittenError",
    "__version__",
    "advise",
    "compare",
    "energy",
    "explain",
    "find",
    "fit",
    "import_chakra",
    "include_dir",
    "kv",
    "library_dir",
    "load",
    "load_plugin",
    "measure",
    "plan",
    "plan_inference",
    "plan_training",
    "play_epochs",
    "run",
    "simulate_plan",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name in ("kv", "measure"):
        return import_module(f"cxloom.{name}")
    for home, names in _HOMES.items():
        if name in names:
            globals()[name] = value = getattr(import_module(f"cxloom.{home}"), name)
            return value
    raise AttributeError(f"the package cxloom has no '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
