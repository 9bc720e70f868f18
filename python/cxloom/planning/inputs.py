"""What a plan is given: servers, demand, sizing, traffic, and how it is run, but for designs and prices."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from cxloom.planning.units import GIB, Duration, Load, Portion, Rate, Room, Span


class Inputs(BaseModel):
    """A section of the file: unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Servers(Inputs):
    """The servers, all alike, and how a scheduler puts VMs on them."""

    count: Annotated[int, Field(ge=1, le=100_000)]
    """How many."""
    cores: Annotated[int, Field(ge=1)]
    """Cores of each that are sold; a core is sold once."""
    dram: Room | None = None
    """DRAM that each has today: limits what fits on one, and gives today's stranding. None: only cores limit."""
    placement: Literal["first-fit", "best-fit", "worst-fit"] = "best-fit"
    """Which server with room: the first; the one with the fewest cores free; the one with the most."""
    spare_cores: Annotated[int, Field(ge=0)] = 0
    """A server counts as sold out with so many cores free, or fewer: memory that is free there is stranded."""
    when_full: Literal["refuse", "wait"] = "refuse"
    """What becomes of a VM that does not fit: it is refused, or waits for its place, and ends when it would have."""


class VmSize(Inputs):
    """A size of VMs."""

    cores: Annotated[int, Field(ge=1)]
    memory: Room
    weight: Annotated[float, Field(gt=0)] = 1.0
    """How often it is asked for, in proportion to the others."""
    pool_share: Portion | None = None
    """The part of its memory that may lie in the pool; by default that of the demand."""


class Lifetime(Inputs):
    """How long VMs live."""

    mean: Span
    distribution: Literal["exponential", "lognormal", "fixed"] = "lognormal"
    sigma: Annotated[float, Field(gt=0, le=5)] = 1.5
    """The standard deviation of the logarithm, of a lognormal one. An estimate: minutes beside some of days."""


class Generate(Inputs):
    """VMs that are drawn."""

    duration: Span
    """VMs arrive for so long."""
    rate: Rate | None = None
    """VMs that arrive, mean over time."""
    cores_sold: Portion | None = None
    """Instead of `rate`: the share of all cores that would be in use, mean over time, if nothing were refused."""
    lifetime: Lifetime
    sizes: Annotated[tuple[VmSize, ...], Field(min_length=1)]
    swing: Portion = 0.0
    """How far the rate of arrivals goes up and down around its mean, as a sine."""
    period: Span = 86400.0
    """The length of the swing."""
    correlation: Annotated[Portion, Field(lt=1)] = 0.0
    """The chance that a VM has the size of the one before it: k arrivals apart sizes are correlated by its k-th
    power."""


class Columns(Inputs):
    """The names of the columns of a trace."""

    start: str = "start"
    end: str = "end"
    cores: str = "cores"
    memory: str = "memory"
    pool_share: str = "pool_share"
    """May be missing in the trace."""
    server: str = "server"
    """May be missing in the trace: numbers of servers, from 0 on."""


class Demand(Inputs):
    """The memory that is asked for over time: a trace, or one that is drawn."""

    trace: str | None = None
    """A file of VMs or jobs, .csv or .parquet, beside this one."""
    format: Literal["columns", "azure-2017", "azure-2019", "azure-packing-2020"] = "columns"
    """What its columns mean: those of `columns`, or of a public trace (docs/plan.md)."""
    machine: int | None = None
    """The machineId of azure-packing-2020 of which VMs take a share; by default that for which most have a type."""
    columns: Columns = Columns()
    time_unit: Span = 1.0
    """What 1 means in `start` and `end`."""
    memory_unit: Room = GIB
    """What 1 means in `memory`."""
    keep: Annotated[Portion, Field(gt=0)] = 1.0
    """The share of a trace's VMs that is taken, each by a draw of its own."""
    generate: Generate | None = None
    pool_share: Portion | None = None
    """The part of a VM's memory that may lie in the pool, where the trace or a size does not say."""
    warmup: Duration = 0.0
    """What happens in so much time from the beginning on fills the servers, and is not counted."""
    since: Duration | None = None
    """The beginning, as a time of the trace: VMs from before run already. By default the first start of the trace."""
    until: Span | None = None
    """The end of what is counted, as a time of the trace; by default that of `generate`, or of the trace's last VM."""


class Sizing(Inputs):
    """How much memory is enough."""

    probability: Annotated[Portion, Field(gt=0)] = 0.999
    """DRAM and devices are so large that this share of VMs, or of the time, gets all of its memory."""
    of: Literal["vms", "time"] = "vms"
    """VMs: so many of them get all of their memory. Time: so much of it nobody goes without."""
    batches: Annotated[int, Field(ge=4, le=1000)] = 20
    """Parts of a trace that are drawn again for the interval."""


class Traffic(Inputs):
    """What VMs do with their memory in the pool, for its latency under load."""

    per_gib: Load | None = None
    """Bandwidth for each GiB in use."""
    per_vm: Load | None = None
    """Bandwidth of each VM with memory in the pool, in equal parts to all of it."""
    reads: Annotated[Portion, Field(gt=0)] = 0.67
    """Share of reads; without any there is no latency to say. An estimate: two reads to a write."""
    pattern: Literal["random", "sequential"] = "random"
    arrivals: Literal["poisson", "even"] = "poisson"
    """Gaps between the accesses of a server: drawn, or all alike."""
    requests: Annotated[int, Field(ge=1000, le=100_000_000)] = 100_000
    """Accesses of all servers that are simulated."""


class Run(Inputs):
    """How the plan is computed."""

    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 1
    """The seed of what is drawn: demand, VMs that are kept, arrivals of accesses."""
    seeds: Annotated[int, Field(ge=1, le=1000)] = 1
    """Demands that are drawn, from `seed` on: results are their means, with an interval."""
