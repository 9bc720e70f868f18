"""The results of a run: what `cxloom run --json` prints, as an object."""

from __future__ import annotations

import functools
import itertools
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeAlias, cast

from cxloom.base.errors import InputError, reason_of
from cxloom.base.filenames import file_name, text_of
from cxloom.base.frozen import FrozenDict, frozen
from cxloom.base.indented import indented
from cxloom.base.words import counted
from cxloom.results.outdir import FILES, SPEC, SUMMARY, OutputDirectory
from cxloom.results.records import MemorySink
from cxloom.spec.node import described
from cxloom.spec.reader import read_file
from cxloom.spec.resolve import resolve
from cxloom.spec.resolved import Resolved
from cxloom.spec.writer import to_yaml

if TYPE_CHECKING:
    import polars as pl

    from cxloom.base.summary import Summary
    from cxloom.results.tail import Tail

Table: TypeAlias = MemorySink | Path
"""Rows in memory, or the Parquet file that holds them."""


_ALWAYS = ("requests", "latency_ns", "bandwidth_gb_per_s", "per_memory", "truncated", "spec_hash", "version")
"""Keys of every summary."""


_AT_ONCE = 4096
"""Pieces of JSON that are written at once."""


class Latency(NamedTuple):
    """The distribution of latencies, in nanoseconds; NaN where there was no request.

    The clock starts when the request exists: at its scheduled time in open loop, when it takes its queue slot in closed
    loop. It ends at completion.
    """

    mean: float
    min: float
    p50: float
    p90: float
    p99: float
    p999: float
    max: float
    ci95: tuple[float, float] | None = None
    """The 95 % interval of the mean; None where there were too few requests to decide, or it is not measured."""


class Measures:
    """Bandwidth and latency of all requests, or of a part of them (reads, one requester, one memory)."""

    _given: Mapping[str, Any]
    """What `values` is made from when somebody asks for it: a copy, which is large in large systems."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        vars(self)["_given"] = values

    @functools.cached_property
    def values(self) -> Mapping[str, Any]:
        """All measures by the keys of the summary. They do not change."""
        values: Mapping[str, Any] = frozen(self._given)
        return values

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"results do not change: '{name}' cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"results do not change: '{name}' cannot be deleted")

    def __eq__(self, other: object) -> bool:
        """True if all measures are equal; what a run cost is none."""
        return isinstance(other, type(self)) and self._measured() == other._measured()

    def __hash__(self) -> int:
        return hash(tuple((key, value) for key, value in self._measured().items() if _is_plain(value)))

    def _measured(self) -> dict[str, Any]:
        return {key: value for key, value in self._given.items() if key != "cost"}

    @property
    def bandwidth(self) -> float:
        """Payload bytes moved in the measured window over its length, in GB/s (10^9 bytes per second)."""
        return float(self._given["bandwidth_gb_per_s"])

    @property
    def latency(self) -> Latency:
        """Mean, extremes and percentiles of the latency, in ns."""
        known = self._given["latency_ns"]
        interval = known.get("ci95")
        return Latency(
            **{key: _known(known[key]) for key in Latency._fields if key != "ci95"},
            ci95=None if interval is None else (float(interval[0]), float(interval[1])),
        )

    @property
    def breakdown(self) -> Mapping[str, float]:
        """Mean ns of each segment of the latency; they sum to `latency.mean`; NaN where there was no request."""
        return FrozenDict((segment, _known(value)) for segment, value in self._given["breakdown_ns"].items())

    def __getitem__(self, key: str) -> Any:
        """Any value by its key of the summary; `docs/cli.md` lists them."""
        return self.values[key]

    def __iter__(self) -> Iterator[str]:
        """The keys of the summary."""
        return iter(self._given)

    def __contains__(self, key: object) -> bool:
        """Whether the summary has this key."""
        return key in self._given


class Result(Measures):
    """The results of one run.

    `summary` holds everything by the keys that ``cxloom run --json`` prints; the attributes are shorthands for the
    common ones. `requests()`, `series()`, `commands()` and `protocol()` are tables. A result does not change, and is
    equal to any other of the same measures, whatever each of the runs cost.
    """

    spec: Resolved
    """The system and its work, resolved."""
    _tables: dict[str, Table]
    _replay: Callable[[Resolved], Table] | None

    def __init__(
        self,
        summary: Mapping[str, Any],
        spec: Resolved,
        tables: Mapping[str, Table] | None = None,
        replay: Callable[[Resolved], Table] | None = None,
    ) -> None:
        """`replay` plays the run once more for the rows of `requests()`, where the run recorded none."""
        super().__init__(summary)
        vars(self).update(spec=spec, _tables=dict(tables or {}), _replay=replay)

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Result:
        """The results in a directory that ``--out`` wrote. Raises InputError if it holds none."""
        folder = Path(file_name(directory, "a directory that `cxloom run --out` wrote"))
        try:
            summary = json.loads(text_of(folder / SUMMARY))
        except FileNotFoundError:
            raise InputError(f"no results here: there is no {SUMMARY}", file=folder) from None
        except OSError as error:
            raise InputError(f"cannot be read: {reason_of(error)}", file=folder / SUMMARY) from None
        except ValueError:
            raise InputError("not a summary: it is no JSON", file=folder / SUMMARY) from None
        if not isinstance(summary, dict):
            raise InputError("not a summary", found=described(summary), file=folder / SUMMARY)
        missing = [key for key in _ALWAYS if key not in summary]
        if missing:
            raise InputError(
                f"not the summary of a run: no '{missing[0]}'",
                allowed="what `cxloom run --out` writes",
                file=folder / SUMMARY,
            )
        tables = {output: folder / name for output, name in FILES.items() if (folder / name).exists()}
        return cls(summary, resolve(read_file(folder / SPEC)), tables)

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables that there are, by the key of `outputs` that asks for each."""
        return FrozenDict(self._tables)

    @property
    def summary(self) -> Summary:
        """All results by the keys of ``cxloom run --json``. Not to be changed: equal parts may be one object."""
        return cast("Summary", self.values)

    @property
    def count(self) -> int:
        """Completed requests in the measured window, of them `reads`, `writes`, `atomics` and `flushes`."""
        return int(self._given["requests"])

    @property
    def reads(self) -> int:
        """Completed reads in the measured window."""
        return int(self._given["reads"])

    @property
    def writes(self) -> int:
        """Completed writes in the measured window."""
        return int(self._given["writes"])

    @property
    def atomics(self) -> int:
        """Completed atomic operations in the measured window."""
        return int(self._given.get("atomics", 0))

    @property
    def flushes(self) -> int:
        """Completed flushes in the measured window."""
        return int(self._given.get("flushes", 0))

    @property
    def read(self) -> Measures:
        """The measures of the reads alone."""
        return Measures(self._given["read"])

    @property
    def write(self) -> Measures:
        """The measures of the writes alone."""
        return Measures(self._given["write"])

    @property
    def atomic(self) -> Measures | None:
        """The measures of the atomic operations alone; None where there were none."""
        return Measures(self._given["atomic"]) if "atomic" in self._given else None

    @property
    def flush(self) -> Measures | None:
        """The measures of the flushes alone; None where there were none."""
        return Measures(self._given["flush"]) if "flush" in self._given else None

    @property
    def simulated_time(self) -> float:
        """Length of the measured window in ns: from when all are warm to when the first has done its work."""
        return float(self._given["simulated_time_ns"])

    @property
    def per_requester(self) -> Mapping[str, Measures]:
        """The measures by requester."""
        return self._parts("per_requester")

    @property
    def per_memory(self) -> Mapping[str, Measures]:
        """The measures by memory."""
        return self._parts("per_memory")

    @property
    def per_io(self) -> Mapping[str, Measures]:
        """The measures by I/O engine; packets instead of requests."""
        return self._parts("per_io")

    @property
    def per_link(self) -> Mapping[str, Measures]:
        """Utilisation and more by link."""
        return self._parts("per_link")

    @property
    def per_switch(self) -> Mapping[str, Measures]:
        """Utilisation and more by switch."""
        return self._parts("per_switch")

    @property
    def per_device(self) -> Mapping[str, Measures]:
        """The measures by device of a plug-in that is none of the others; empty if there is none."""
        return self._parts("per_device") if "per_device" in self._given else FrozenDict()

    @property
    def bottleneck(self) -> str | None:
        """What limits the run, as far as is known: the last resource on a request's way that is full.

        Those before it are full because they wait for it. None if nothing is full: then the latency limits. Of
        resources that are nearly full `cxloom.explain` knows more: it runs the system with each doubled.
        """
        from cxloom.bottleneck.resources import cause
        from cxloom.bottleneck.shared_limits import all_resources

        try:
            found = cause(all_resources(self.spec.plain(), self.summary)) if self.count else None
        except InputError:  # a stored result of a plug-in that is not loaded
            return None
        return None if found is None else found.name

    @property
    def stationary(self) -> bool | None:
        """False where the halves of the window disagree; a note says by how much. None: too few requests to decide."""
        known: bool | None = self._given["stationary"]
        return known

    @property
    def truncated(self) -> bool:
        """True if the run was ended early, so that these results cover a part of it; `stop_reason` says why."""
        return bool(self._given["truncated"])

    @property
    def stop_reason(self) -> str:
        """Why the run ended."""
        return str(self._given["stop_reason"])

    def plain(self) -> Summary:
        """The `summary` itself, without the copy that does not change, which is large in large systems."""
        return cast("Summary", self._given)

    def requests(self) -> pl.DataFrame:
        """One row per request, with its segments. A run that did not record them is played again, which gives the same.

        To record them at once: ``cx.run(system, requests=True)``, or ``outputs: {requests: true}`` in the spec. Raises
        InputError for results without them that were loaded from a directory, or are of a truncated run.
        """
        return _frame(self._recorded())

    def _recorded(self) -> Table:
        if "requests" not in self._tables:
            if self._replay is None or self.truncated:
                raise InputError(
                    "this run recorded no requests", allowed="outputs: {requests: true} in the spec"
                )
            self._tables["requests"] = self._replay(self.spec)
        return self._tables["requests"]

    def tail(self, share: float = 0.99) -> Tail:
        """What makes the slowest requests slow: those from the percentile `share` of the latency on, beside all.

        Of the rows of `requests()`, with which it shares what it raises; and InputError for a share that is no part of
        one, or without an answered request.
        """
        from cxloom.results.tail import tail_of

        table = self._recorded()
        with _readable(table):
            return tail_of(_scanned(table), share)

    def series(self) -> pl.DataFrame:
        """Utilisations and occupancies over time, one row per sample. Raises InputError if they were not recorded."""
        if "series" not in self._tables:
            raise InputError("this run recorded no series", allowed="outputs: {series: ...} in the spec")
        return _frame(self._tables["series"])

    def commands(self) -> pl.DataFrame:
        """The commands of all DRAM, one row per command. Raises InputError if they were not recorded.

        Those of one rank are in the order of time. `docs/model/dram.md` describes the columns.
        """
        if "commands" not in self._tables:
            raise InputError("this run recorded no commands", allowed="outputs: {commands: true} in the spec")
        return _frame(self._tables["commands"])

    def protocol(self) -> pl.DataFrame:
        """The messages of the protocol, one row per message, in the order in which devices act on them.

        Raises InputError if they were not logged: ``cx.run(system, log="protocol")``. `docs/model/protocol_log.md`
        describes the columns.
        """
        if "protocol" not in self._tables:
            raise InputError("this run logged no protocol", allowed='cx.run(system, log="protocol")')
        return _frame(self._tables["protocol"])

    def to_json(self) -> str:
        """The summary as ``cxloom run --json`` prints it."""
        return "".join(indented(self._given))

    def write_json(self, to: TextIO) -> None:
        """Writes the text of `to_json`, and a line's end, without holding it whole: it is large in large systems."""
        pieces = itertools.chain(indented(self._given), ["\n"])
        while some := "".join(itertools.islice(pieces, _AT_ONCE)):
            to.write(some)

    def show(self) -> None:
        """Prints the table that ``cxloom run`` prints on standard output."""
        from cxloom.results.terminal import show

        show(self.plain())

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes the results as ``--out`` does, each file at once or not at all. Raises InputError if it cannot."""
        with OutputDirectory(directory) as out:
            for output, table in self.tables.items():
                _frame(table).write_parquet(out.temporary(FILES[output]))
            out.commit(self.to_json() + "\n", to_yaml(self.spec.plain()))

    def _parts(self, key: str) -> Mapping[str, Measures]:
        return FrozenDict((name, Measures(values)) for name, values in self._given[key].items())

    def _repr_html_(self) -> str:
        from cxloom.results.html import to_html

        return to_html(self.plain())

    def __str__(self) -> str:
        from cxloom.results.terminal import to_text

        return to_text(self.plain())

    def __repr__(self) -> str:
        mean = self.latency.mean
        return f"<Result: {counted(self.count, 'request')}, {self.bandwidth:.2f} GB/s, mean latency {mean:.1f} ns>"


def _known(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _is_plain(value: object) -> bool:
    return not isinstance(value, (dict, list))


def _frame(table: Table) -> pl.DataFrame:
    with _readable(table):
        return _scanned(table).collect()


def _scanned(table: Table) -> pl.LazyFrame:
    """The rows as they are asked for: a table of millions is read in pieces."""
    import polars as pl  # see `MemorySink.frame`

    return table.frame().lazy() if isinstance(table, MemorySink) else pl.scan_parquet(table)


@contextmanager
def _readable(table: Table) -> Iterator[None]:
    """Raises InputError where the file is no table."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError):
        file = None if isinstance(table, MemorySink) else table
        raise InputError("not a table of results: it is no Parquet, or cut off", file=file) from None
