"""cxloom simulates computer systems with CXL: describe a system and a workload, and see where every nanosecond went.

::

    import cxloom as cx

    system = cx.load("system.yaml")          # or build it: cx.System(), system.host(...), system.connect(...)
    result = cx.run(system, seed=1)
    print(result)                            # the table of `cxloom run`
    result.bandwidth, result.latency.p99, result.breakdown, result.requests()
"""

from cxloom._core import __version__
from cxloom.errors import CxloomError, InputError, SimulationError
from cxloom.results import Latency, Measures, Result
from cxloom.run import UnfinishedError, run
from cxloom.spec.plugins import include_dir
from cxloom.system import System, load

__all__ = [
    "CxloomError",
    "InputError",
    "Latency",
    "Measures",
    "Result",
    "SimulationError",
    "System",
    "UnfinishedError",
    "__version__",
    "include_dir",
    "load",
    "run",
]
