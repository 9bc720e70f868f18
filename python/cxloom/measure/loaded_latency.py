"""Loaded latency: the latency of a probe beside requesters that load a memory, over the bandwidth of all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cxloom.base.granules import LINE, MIB
from cxloom.measure import pictures
from cxloom.measure.bench import Bench, Cells, Node, Spec, note_on_load, offered, size_text
from cxloom.measure.measurement import Column, Measurement, gb_per_s, one_decimal
from cxloom.measure.peak import of_threads
from cxloom.measure.probe import PROBE, with_probe
from cxloom.spec.names import listed

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
"""Shares of the bandwidth without a delay that the delays of the points aim at."""
_FOOTPRINT = 256 * MIB
_LOADS = 100_000
"""Requests of all loading requesters at the highest load; the others have as much time."""
_WARM = 30  # reads of the probe
_UNLIKE = 1.1
"""Times as much of a full load as another requester has, from which on it is spoken of. Own choice."""
_LEAST = 0.05
"""The share of a bandwidth that is load at least, where a probe alone makes nearly all of it."""


def loaded(
    bench: Bench,
    requester: str | None = None,
    reads: float | Sequence[float] = 1.0,
    pattern: str = "random",
) -> Measurement:
    """A curve of bandwidth against latency for each memory and share of reads."""
    shares = list(reads) if isinstance(reads, Sequence) else [reads]
    several = len(shares) > 1
    chosen = bench.requesters[0] if requester is None else requester
    spec = with_probe(bench, bench.uncached(), chosen)
    nodes = bench.nodes(chosen)
    parts = offered(spec)
    work = [
        _Work(bench, chosen, node, parts[node.memory], of_reads, pattern, several)
        for node in nodes
        for of_reads in shares
    ]
    full = bench.run(spec, [each.point() for each in work])
    cells = Cells()
    for each, one in zip(work, full, strict=True):
        cells.has_rate(each.cell, one)
    cells.check()
    later = [
        (each, one, share)
        for each, one in zip(work, full, strict=True)
        if each.cell not in cells.without
        for share in SHARES
    ]
    summaries = bench.run(spec, [each.point(one, share) for each, one, share in later])
    rows = []
    for of, one in zip(work, full, strict=True):
        mine = [
            (each.delay_ns(first, share), summary)
            for (each, first, share), summary in zip(later, summaries, strict=True)
            if each is of
        ]
        rows += [_row(chosen, of, delay, summary, cells) for delay, summary in [*mine, (0.0, one)]]
    mix = ", ".join(f"{100 * each:.4g}" for each in shares) + " %"
    return Measurement(
        "loaded",
        bench.name,
        f"Loaded latency from {chosen}, {mix} reads, {pattern}" + of_threads(bench),
        rows,
        [
            Column("memory", "memory", right=False),
            *([Column("reads", "reads", _percent)] if several else []),
            Column("delay_ns", "delay ns", one_decimal),
            Column("bandwidth_gb_per_s", "GB/s", gb_per_s),
            Column("latency_ns", "latency ns", one_decimal),
            Column("p99_ns", "p99 ns", one_decimal),
        ],
        pictures.loaded,
        "; ".join(
            filter(None, [*_without_probe(bench, chosen), note_on_load(bench), *_unlike(work, full, cells)])
        ),
        cells.without,
        left_out=bench.before_events,
    )


def at_loads(
    bench: Bench, loads: Sequence[tuple[float, float, float]], requester: str | None = None
) -> list[tuple[float, float] | None]:
    """Bandwidth in GB/s and latency of the probe in ns at loads that are given, of the first memory of the bench.

    Args:
        loads: for each the share of reads, the bandwidth in GB/s that is asked for, and about what latency in ns comes
            out: as long as a load goes on, the probe reads. Of an infinite bandwidth all that the system gives.
        requester: whose probe it is; by default the first.

    None where nothing is known: requests are answered with an error.
    """
    chosen = bench.requesters[0] if requester is None else requester
    spec = with_probe(bench, bench.uncached(), chosen)
    node = bench.nodes(chosen)[0]
    part = offered(spec)[node.memory]
    most = max((bandwidth for _, bandwidth, _ in loads if math.isfinite(bandwidth)), default=1.0)
    points = []
    for reads, bandwidth, latency in loads:
        work = _Work(bench, chosen, node, part, reads, "random", several=True)
        known = {
            "bandwidth_gb_per_s": most,
            "per_requester": {chosen + PROBE: {"latency_ns": {"min": latency}}},
        }
        # The bandwidth is that of all: the probe has a line in each of its latencies.
        load = max(bandwidth - LINE / latency, _LEAST * bandwidth)
        point = work.point(known, load / most) if math.isfinite(bandwidth) else work.point()
        points.append((work, point))
    summaries = bench.run(spec, [point for _, point in points])
    rows = []
    for (work, _), summary in zip(points, summaries, strict=True):
        row = _row(chosen, work, 0.0, summary, Cells())
        known_row = row["bandwidth_gb_per_s"] is not None and row["latency_ns"] is not None
        rows.append((row["bandwidth_gb_per_s"], row["latency_ns"]) if known_row else None)
    return rows


def _without_probe(bench: Bench, chosen: str) -> Iterator[str]:
    """A note on memories that others may use, and the requester of the probe may not."""
    missing = [node.name for node in bench.all_nodes() if not bench.may(chosen, node)]
    if missing:
        yield (
            f"no curve of {listed(missing, word='and')}, which {chosen}, whose probe it is, may not use: --from "
            "names another one"
        )


def _unlike(work: Sequence[_Work], full: Sequence[Summary], cells: Cells) -> Iterator[str]:
    """A note on requesters that have unlike parts of a full load, the first of them: so are their delays."""
    for each, summary in zip(work, full, strict=True):
        parts = {} if each.cell in cells.without else each.parts(summary)
        if parts and max(parts.values()) > _UNLIKE * min(parts.values()):
            said = listed([f"{100 * part:.0f} % by {name}" for name, part in parts.items()], word="and")
            yield (
                f"the full load {each.cell} is {said}: at each point all have the same share of their own, and the "
                "delay is that of a requester on average"
            )
            return


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _row(requester: str, of: _Work, delay: float, summary: Summary, cells: Cells) -> dict[str, Any]:
    cell, known = of.cell, {"memory": of.node.name, "reads": of.reads, "delay_ns": delay}
    if cell in cells.without or not cells.has_rate(f"{cell} at a delay of {delay:.4g} ns", summary):
        numbers = dict.fromkeys(("bandwidth_gb_per_s", "latency_ns", "p99_ns"))
        return known | numbers
    probe = summary["per_requester"][requester + PROBE]["latency_ns"]
    return known | {
        "bandwidth_gb_per_s": summary["bandwidth_gb_per_s"],
        "latency_ns": probe["mean"],
        "p99_ns": probe["p99"],
    }


class _Work:
    """The work of a probe and of those who load one memory, of which each has bytes that are `offered` to it."""

    def __init__(
        self,
        bench: Bench,
        chosen: str,
        node: Node,
        offered: Mapping[str, int],
        reads: float,
        pattern: str,
        several: bool,
    ) -> None:
        self.node = node
        self.reads = reads
        self.cell = f"for {node.name}" + (f" at {_percent(reads)} reads" if several else "")
        self._bench = bench
        self._probe = chosen + PROBE
        self._loading: Sequence[str] = bench.users(node)
        mine = [offered.get(name, 0) for name in (*self._loading, self._probe)]
        self._size = min(_FOOTPRINT, node.part(len(mine), mine))
        self._common: Spec = {"footprint": size_text(self._size), "addresses": node.bound()}
        self._load = {"pattern": pattern, "reads": reads}

    def delay_ns(self, full: Mapping[str, Any], share: float) -> float:
        """The delay between two issues of a requester, on average, at which all have this share of the bandwidth."""
        most: float = full["bandwidth_gb_per_s"]
        return round(len(self._loading) * LINE / (share * most), 3)

    def parts(self, full: Mapping[str, Any]) -> dict[str, float]:
        """What each requester has of the full load, as a share; alike where that is not known."""
        rates = {
            name: full["per_requester"].get(name, {}).get("bandwidth_gb_per_s", 1.0) for name in self._loading
        }
        whole = sum(rates.values())
        return {name: rate / whole for name, rate in rates.items()}

    def point(self, full: Mapping[str, Any] | None = None, share: float = 1.0) -> Spec:
        """The spec at a share of the full load; without it, at the full load.

        Each requester has that share of its own full load: one behind a narrow link would be at its limit, and one
        behind a wide one far from it, at the same delay.
        """
        alike = dict.fromkeys(self._loading, 1 / len(self._loading))
        parts = alike if full is None else self.parts(full)
        loads = {name: max(1000, round(_LOADS * share * part)) for name, part in parts.items()}
        probes = 2000
        settings: Spec = {}
        if full is not None:
            mean = self.delay_ns(full, share)
            delays = {name: mean / part / len(parts) for name, part in parts.items()}
            settings = {
                f"{self._bench.part(name).at}.issue_interval": f"{delay:.3f}ns"
                for name, delay in delays.items()
            }
            time = min(loads[name] * delay for name, delay in delays.items())
            least = full["per_requester"][self._probe]["latency_ns"]["min"]
            probes = max(100, round(time / least))
        load = {**self._load, **self._common}
        work = self._bench.load(self._loading, self._size, load)
        work = {name: {**mine, "requests": loads[name]} for name, mine in work.items()}
        work[self._probe] = {"pattern": "pointer-chase", **self._common, "requests": probes}
        return {"workload": work, "run.warmup": _WARM, **settings}
