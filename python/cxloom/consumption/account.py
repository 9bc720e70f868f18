"""The account of a run's energy: a row for each part of each component, of what the core counted and of figures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cxloom.consumption.figures import Figures, matching
from cxloom.display.shown import Shown, ShowsItself
from cxloom.spec.parts import Part, links_of, parts_of, quantity

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from cxloom.base.summary import Summary

Basis = Literal["counted", "given", "estimate"]
"""Whence a row is: commands that the core counted, times currents of a data sheet; a figure of the user; a figure that
is published of another part."""
_MOST_NAMED = 4
_BITS = 8e9
"""Bits a second of a gigabyte a second."""


@dataclass(frozen=True)
class Row:
    """What one part of a component needs."""

    component: str
    """The device, or the link."""
    part: str
    power_w: float
    """Mean watts over the measured window."""
    idle_w: float
    """What it would need of that without traffic."""
    basis: Basis


@dataclass(frozen=True)
class Energy(ShowsItself):
    """Where the energy of a run went. Its numbers are defined in ``docs/energy.md``."""

    system: str
    rows: Sequence[Row]
    window_ns: float
    """Length of the measured window."""
    requests: int
    """Completed requests in it."""
    bandwidth: float
    """Their payload in gigabytes per second."""
    missing: Sequence[str]
    """What is not in the account, and why."""

    @property
    def power_w(self) -> float:
        """Mean watts of all rows."""
        return sum(row.power_w for row in self.rows)

    @property
    def idle_w(self) -> float:
        """Mean watts that would be needed without traffic."""
        return sum(row.idle_w for row in self.rows)

    @property
    def energy_uj(self) -> float:
        """Microjoules in the measured window."""
        return self.power_w * self.window_ns * 1e-3

    @property
    def nj_per_request(self) -> float:
        """Nanojoules of all, for each completed request."""
        return 1e3 * self.energy_uj / self.requests

    @property
    def pj_per_bit(self) -> float:
        """Picojoules of all, for each bit of payload."""
        return self.power_w / (self.bandwidth * _BITS) * 1e12 if self.bandwidth else float("inf")

    @property
    def sentence(self) -> str:
        """The sum, and its largest row, in one sentence."""
        if not self.rows:
            return (
                "Nothing of this system has figures of its energy: the notes say what would have to be given."
            )
        largest = max(self.rows, key=lambda row: row.power_w)
        share = 100 * largest.power_w / self.power_w if self.power_w else 0.0
        return (
            f"What is accounted for needs {self.power_w:.3g} W, {self.nj_per_request:.3g} nJ a request, of which "
            f"{100 * self.idle_w / (self.power_w or 1.0):.0f} % would be needed without traffic; the most, "
            f"{share:.0f} %, is {largest.part} of {largest.component}."
        )

    def frame(self) -> pl.DataFrame:
        """A row for each part: component, part, power_w, idle_w, nj_per_request, basis."""
        import polars as pl

        return pl.DataFrame([self._plain(row) for row in self.rows])

    def to_json(self) -> dict[str, Any]:
        """The account for programs."""
        return {
            "system": self.system,
            "power_w": self.power_w,
            "idle_w": self.idle_w,
            "energy_uj": self.energy_uj,
            "nj_per_request": self.nj_per_request,
            "pj_per_bit": self.pj_per_bit if self.bandwidth else None,
            "window_ns": self.window_ns,
            "requests": self.requests,
            "rows": [self._plain(row) for row in self.rows],
            "missing": list(self.missing),
        }

    def _plain(self, row: Row) -> dict[str, Any]:
        return {
            "component": row.component,
            "part": row.part,
            "power_w": row.power_w,
            "idle_w": row.idle_w,
            "nj_per_request": row.power_w * self.window_ns / self.requests,
            "basis": row.basis,
        }

    def table(self) -> Table:
        """The account for people; of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for title in ("component", "part"):
            made.add_column(title)
        for title in ("W", "idle W", "nJ/request", "share"):
            made.add_column(title, justify="right")
        made.add_column("basis")
        for row in sorted(self.rows, key=lambda row: -row.power_w):
            each = self._plain(row)
            share = row.power_w / self.power_w if self.power_w else 0.0
            numbers = (
                f"{row.power_w:.3g}",
                f"{row.idle_w:.3g}",
                f"{each['nj_per_request']:.3g}",
                f"{share:.0%}",
            )
            made.add_row(row.component, row.part, *numbers, row.basis)
        return made

    def shown(self) -> Shown:
        """The sentence, the table, and what is missing."""
        return Shown([self.sentence], [self.table()] if self.rows else [], self.missing)

    def __repr__(self) -> str:
        return json.dumps(self.to_json())


def account(
    spec: Mapping[str, Any], links: Sequence[Mapping[str, Any]], summary: Summary, figures: Figures
) -> Energy:
    """The account of a run.

    Args:
        spec: the resolved spec, plain.
        links: the links as the core describes them, in the order of the spec.
        summary: that of the run, of a window with requests and a length.
        figures: energy of what the core counts none for.
    """
    rows: list[Row] = []
    missing: list[str] = []
    rows += _links(spec, links, summary, figures, missing)
    unknown: dict[str, list[str]] = {}
    physical = {device for _, ends, _ in _physical(spec, links) for device in ends}
    for name in spec["devices"]:
        if any(True for _ in parts_of(spec, name, "switch")):
            rows.append(
                Row(
                    name,
                    "switch without its ports",
                    figures.switch_w,
                    figures.switch_w,
                    _of(figures, "switch_w"),
                )
            )
        if name in summary["per_memory"]:
            rows += _memory(spec, name, summary["per_memory"][name], figures, unknown)
            if name in physical and figures.controller_w is not None:
                rows.append(Row(name, "controller", figures.controller_w, figures.controller_w, "given"))
    missing += [f"{what}: {_some(names)}" for what, names in unknown.items()]
    if figures.controller_w is None and physical & set(summary["per_memory"]):
        missing.append("controllers of memories: nothing public is known of them; give controller_w")
    missing.append("requesters: processors, their caches and accelerators are not accounted for")
    return Energy(
        str(spec.get("name", "system")),
        rows,
        summary["simulated_time_ns"],
        summary["requests"],
        summary["bandwidth_gb_per_s"],
        missing,
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMED else f"{names[0]} and {len(names) - 1} more"


def _of(figures: Figures, *names: str) -> Basis:
    return "given" if set(names) & figures.model_fields_set else "estimate"


_Link = tuple[Mapping[str, Any], tuple[str, str], Part]


def _physical(spec: Mapping[str, Any], links: Sequence[Mapping[str, Any]]) -> Iterator[_Link]:
    """The physical links with their two devices and their parameters."""
    for link, written in zip(links, links_of(spec), strict=True):
        if written.get("phy") is not None:
            first, _, second = link["ends"][0]["name"].partition("->")
            yield link, (first, second), written


def _links(
    spec: Mapping[str, Any],
    links: Sequence[Mapping[str, Any]],
    summary: Summary,
    figures: Figures,
    missing: list[str],
) -> Iterator[Row]:
    """Ports and retimers of physical links, and links with a figure of their own."""
    basis = _of(figures, "port_pj_per_bit")
    known = set()
    for link, (first, second), written in _physical(spec, links):
        known.add(link["name"])
        rates = _rates(link, summary)
        for device, other in ((first, second), (second, first)):
            yield _sending(f"port to {other}", device, rates, figures.port_pj_per_bit, figures, basis)
        if retimers := written.count("retimers"):
            pj = retimers * figures.retimer_pj_per_bit
            what = "retimer" if retimers == 1 else f"{retimers} retimers"
            yield _sending(what, link["name"], rates, pj, figures, _of(figures, "retimer_pj_per_bit"))
    without = []
    for link in links:
        if link["name"] in known:
            continue
        pj_per_bit = matching(figures.links, link["name"])
        if pj_per_bit is None:
            without.append(link["name"])
            continue
        sent = sum(summary["per_link"][link["name"]][end["name"]]["bytes"] for end in link["ends"])
        power = pj_per_bit * 8e-3 * sent / summary["simulated_time_ns"]
        yield Row(link["name"], "link", power, 0.0, "given")
    if without:
        missing.append(f"links without phy; give links: {{NAME: pJ per bit}}: {_some(without)}")


def _rates(link: Mapping[str, Any], summary: Summary) -> list[tuple[float, float]]:
    """Bits a second of each direction, and the share of the window in which it sent something."""
    return [
        (
            8 * quantity("bandwidth", end["bandwidth"]),
            summary["per_link"][link["name"]][end["name"]]["utilization"] or 0.0,
        )
        for end in link["ends"]
    ]


def _sending(
    part: str,
    component: str,
    rates: Sequence[tuple[float, float]],
    pj_per_bit: float,
    figures: Figures,
    basis: Basis,
) -> Row:
    """What a port needs that sends in one direction and receives in the other, or a retimer that passes both on."""
    full = sum(bits for bits, _ in rates) * pj_per_bit * 1e-12
    busy = sum(bits * share for bits, share in rates) * pj_per_bit * 1e-12
    idle = full * figures.port_idle_share
    return Row(component, part, busy + (full - busy) * figures.port_idle_share, idle, basis)


def _memory(
    spec: Mapping[str, Any],
    name: str,
    measured: Mapping[str, Any],
    figures: Figures,
    unknown: dict[str, list[str]],
) -> Iterator[Row]:
    """The media of a memory: as the core counted, as given, or as published."""
    for kind, prefix in _media(spec, name) or [("", "")]:  # a kind need not declare its medium
        what = " ".join([*prefix.split("_"), kind]).strip()
        if measured.get(f"{prefix}energy_uj") is not None:
            window_w = 1e-3 * measured[f"{prefix}power_mw"] / measured[f"{prefix}energy_uj"]
            rest = measured[f"{prefix}energy_background_uj"] + measured[f"{prefix}energy_refresh_uj"]
            yield Row(
                name,
                f"{what} devices".lstrip(),
                1e-3 * measured[f"{prefix}power_mw"],
                rest * window_w,
                "counted",
            )
            continue
        each = matching(figures.media, name)
        read, write = (_rate(measured, prefix, way) for way in ("read", "write"))
        if each is None or read is None or write is None:
            unknown.setdefault(f"{what} media without {_WHY[each is None]}".lstrip(), []).append(name)
            continue
        active = _BITS * 1e-12 * (read * each.read_pj_per_bit + write * each.write_pj_per_bit)
        yield Row(name, f"{what} media".lstrip(), active + each.idle_w, each.idle_w, "given")


def _rate(measured: Mapping[str, Any], prefix: str, way: str) -> float | None:
    """Gigabytes a second that a medium reads or writes. One that is all of a memory and counts nothing, as a fixed
    latency, reads and writes what requests ask for."""
    counted: float | None = measured.get(f"{prefix}media_{way}_gb_per_s")
    return measured[f"{way}_gb_per_s"] if counted is None and not prefix else counted


_WHY = {
    True: "currents that are known; give media: {NAME: {read_pj_per_bit: ..., write_pj_per_bit: ..., idle_w: ...}}",
    False: "a count of what they read and write",
}


def _media(spec: Mapping[str, Any], device: str) -> list[tuple[str, str]]:
    """The kinds of media of a device, those within another with the prefix of their measures."""

    def within(part: Part, key: str, prefix: str) -> Iterator[tuple[str, str]]:
        kind, inner = part.kind(key)
        nested = [name for name, field in inner.fields.items() if field.get("category") == "media"]
        if not nested:
            yield kind, prefix
        for name in nested:
            yield from within(inner, name, f"{prefix}{name}_")

    parts = (part for part in parts_of(spec, device, "memory") if "media" in part.fields)
    return [each for part in parts for each in within(part, "media", "")]
