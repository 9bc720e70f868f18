"""Azure's public trace for packing (2020): an SQLite file of VM requests, and of the share of a machine of each type.

The schema, the units (days, shares of a machine) and the ends that are missing are those of "Azure Trace for Packing
2020", revision 1, which Microsoft publishes with Protean (Hadary et al., OSDI 2020).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl

from cxloom.base.errors import InputError, reason_of
from cxloom.planning import inputs

FORMAT = "azure-packing-2020"
"""The name of the format."""
LENGTH = 14.0
"""Days that were recorded: starts before are negative."""
_LAST_END = 90.0
"""Days: ends are told up to there, and an end that is missing is later."""
_ROWS = 100_000
"""Rows that are taken from the file at a time."""
_VMS = """
SELECT vm.starttime, vm.endtime, type.core, type.memory
FROM vm JOIN vmType AS type ON type.vmTypeId = vm.vmTypeId
WHERE type.machineId = ? ORDER BY vm.vmId
"""
_MACHINES = """
SELECT type.machineId, count(*)
FROM vm JOIN vmType AS type ON type.vmTypeId = vm.vmTypeId
GROUP BY type.machineId ORDER BY count(*) DESC, type.machineId
"""


def packed(file: Path, given: inputs.Demand, servers: inputs.Servers) -> pl.DataFrame:
    """The VMs whose types the machine takes: `start` and `end` in seconds, whole `cores`, `memory` in bytes.

    Raises InputError for a file that is none of these, a machine that it has not, and servers without DRAM.
    """
    if servers.dram is None:
        raise InputError(
            "'dram' is missing",
            allowed=f"the DRAM of a server, of which a VM of {FORMAT} takes a share",
            path="servers",
        )
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as base:
            machine = _machine(base, given.machine, file)
            found = base.execute(_VMS, (machine,))
            rows = [np.array(some, dtype=float) for some in iter(lambda: found.fetchmany(_ROWS), [])]
    except sqlite3.Error as error:
        raise InputError(
            f"not the trace {FORMAT}",
            found=str(error),
            allowed="an SQLite file with the tables vm and vmType",
            file=file,
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=file) from None
    except (TypeError, ValueError) as error:
        raise InputError("not numbers", found=str(error), allowed="times and shares", file=file) from None
    start, end, core, memory = np.concatenate(rows).T
    return pl.DataFrame(
        {
            "start": start * 86400,
            "end": np.nan_to_num(end, nan=_LAST_END) * 86400,
            # A share such as 1/3 is a rounded number, whose product is not to be a core more.
            "cores": np.ceil(core * servers.cores - 1e-6),
            "memory": memory * servers.dram,
        }
    )


def _machine(base: sqlite3.Connection, wanted: int | None, file: Path) -> int:
    """The machine that is meant; by default the one for which most VMs have a type."""
    machines: list[tuple[int, int]] = base.execute(_MACHINES).fetchall()
    if not machines:
        raise InputError("no VMs", allowed="requests in vm with types in vmType", file=file)
    if wanted is None:
        return machines[0][0]
    if wanted not in dict(machines):
        shown = ", ".join(f"{machine} ({count:,} VMs)" for machine, count in machines[:8])
        more = f" and {len(machines) - 8} more" if len(machines) > 8 else ""
        raise InputError(
            "no such machine in the trace", found=str(wanted), allowed=shown + more, path="demand.machine"
        )
    return wanted
