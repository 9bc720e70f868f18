"""The account of a run's energy: a row for each part of each component, of what the core counted and of figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.base.words import ends_of
from cxloom.consumption.energy import Basis, Energy, Missing, Row
from cxloom.consumption.figures import Figures, MediaFigures
from cxloom.results.caveats import error_sentence
from cxloom.spec.names import listed, matching, nearest
from cxloom.spec.parts import Part, links_of, part_of, parts_of

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

_BITS = 8e9
"""Bits a second of a gigabyte a second."""
_NEVER = (
    "processors, accelerators and engines with their caches, buses, root ports, home agents, persist buffers"
)


def account(
    spec: Mapping[str, Any], described: Mapping[str, Any], summary: Summary, figures: Figures
) -> Energy:
    """The account of a run.

    Args:
        spec: the resolved spec, plain.
        described: the system as `cxloom check --json` has it, its links in the order of the spec.
        summary: that of the run, of a window with requests and a length.
        figures: energy of what the core counts none for.

    Raises InputError for figures of links or memories that are not there, or whose energy follows otherwise.
    """
    made = _Account(spec, described, summary, figures)
    rows = [*made.links(), *made.switches(), *made.memories()]
    errors = error_sentence(summary)
    return Energy(
        str(spec.get("name", "system")),
        rows,
        summary["simulated_time_ns"],
        summary["requests"],
        summary["bandwidth_gb_per_s"],
        [*made.missing(), Missing(_NEVER)],
        [
            *made.notes(),
            *([] if errors is None else [f"{errors}; energy for each request is that of all, by the others"]),
            *summary["notes"],
        ],
    )


class _Account:
    """The parts of an account, and which figures had an effect."""

    def __init__(
        self, spec: Mapping[str, Any], described: Mapping[str, Any], summary: Summary, figures: Figures
    ) -> None:
        self._spec = spec
        self._links: list[tuple[Mapping[str, Any], Part]] = list(
            zip(described["links"], links_of(spec), strict=True)
        )
        self._roles = {device["name"]: device["roles"] for device in described["devices"]}
        self._summary = summary
        self._figures = figures
        self._window_ns = summary["simulated_time_ns"]
        self._missing: dict[str, list[str]] = {}
        self._used: set[str] = set()
        abstract = [link["name"] for link, written in self._links if written.get("phy") is None]
        self._of_link = _by_name("links", figures.links, abstract, "links without phy")
        uncounted = [
            label
            for name in summary["per_memory"]
            for label, _, prefix in _media(spec, name)
            if summary["per_memory"][name].get(f"{prefix}energy_uj") is None
        ]
        self._of_medium = _by_name("media", figures.media, uncounted, "media whose energy is not counted")

    def links(self) -> Iterator[Row]:
        """Ports and retimers of physical links, and links with a figure of their own."""
        for link, written in self._links:
            name = link["name"]
            if written.get("phy") is not None:
                yield from self._physical(link, written)
                continue
            if name not in self._of_link:
                self._missing.setdefault("links without phy; give links: {NAME: pJ per bit}", []).append(name)
                continue
            sent = sum(self._summary["per_link"][name][end["name"]]["bytes"] for end in link["ends"])
            yield Row(name, "link", self._of_link[name] * 8e-3 * sent / self._window_ns, 0.0, "given")

    def _physical(self, link: Mapping[str, Any], written: Part) -> Iterator[Row]:
        """What sends in one direction and receives in the other needs for each bit of either."""
        figures = self._figures
        rate = _raw_bits_per_second(written.text("phy"))
        ways = self._summary["per_link"][link["name"]]
        busy = sum(ways[end["name"]]["utilization"] or 0.0 for end in link["ends"])

        def row(component: str, part: str, pj_per_bit: float, basis: Basis) -> Row:
            of_one = rate * pj_per_bit * 1e-12
            idle = figures.port_idle_share
            return Row(component, part, of_one * (busy + (2 - busy) * idle), of_one * 2 * idle, basis)

        first, second = ends_of(link["ends"][0]["name"])
        basis = self._basis("port_pj_per_bit", "port_idle_share")
        for device in (first, second):
            yield row(device, f"port of {link['name']}", figures.port_pj_per_bit, basis)
        if retimers := written.count("retimers"):
            what = "retimer" if retimers == 1 else f"{retimers} retimers"
            basis = self._basis("retimer_pj_per_bit")
            yield row(link["name"], what, retimers * figures.retimer_pj_per_bit, basis)

    def switches(self) -> Iterator[Row]:
        """Switches without their ports."""
        watts = self._figures.switch_w
        for name in self._spec["devices"]:
            if part_of(self._spec, name, "switch") is not None:
                yield Row(name, "switch without its ports", watts, watts, self._basis("switch_w"))

    def memories(self) -> Iterator[Row]:
        """Media, and controllers of memory devices at physical links."""
        outside = {
            device
            for link, written in self._links
            if written.get("phy") is not None
            for device in ends_of(link["ends"][0]["name"])
        }
        watts = self._figures.controller_w
        for name, measured in self._summary["per_memory"].items():
            for label, kind, prefix in _media(self._spec, name):
                yield from self._medium(name, measured, label, kind, prefix)
            if name in outside and "requester" not in self._roles.get(name, ()):
                if watts is None:
                    said = "controllers of memories: no public figure was found; give controller_w"
                    self._missing.setdefault(said, []).append(name)
                else:
                    yield Row(name, "controller", watts, watts, self._basis("controller_w"))

    def _medium(
        self, name: str, measured: Mapping[str, Any], label: str, kind: str, prefix: str
    ) -> Iterator[Row]:
        what = " ".join(word for word in (prefix.rstrip("_"), kind) if word)
        counted = measured.get(f"{prefix}energy_uj")
        if counted is not None:
            rest = measured[f"{prefix}energy_background_uj"] + measured[f"{prefix}energy_refresh_uj"]
            watts = 1e3 / self._window_ns
            yield Row(name, f"{what} devices", counted * watts, rest * watts, "counted")
            return
        each: MediaFigures | None = self._of_medium.get(label)
        if each is None:
            said = f"{what} media".lstrip() + " without currents that are known; give media: {NAME: ...}"
            self._missing.setdefault(said, []).append(label)
            return
        read, write = (_rate(measured, prefix, way) for way in ("read", "write"))
        active = _BITS * 1e-12 * ((read or 0) * each.read_pj_per_bit + (write or 0) * each.write_pj_per_bit)
        if (read is None or write is None) and (each.read_pj_per_bit or each.write_pj_per_bit):
            said = "what media read and write that do not count it, within others"
            self._missing.setdefault(said, []).append(label)
        yield Row(name, f"{what} media".lstrip(), active + each.idle_w, each.idle_w, "given")

    def missing(self) -> list[Missing]:
        """What is not in the account, after its rows were made."""
        return [Missing(what, names) for what, names in self._missing.items()]

    def notes(self) -> Iterator[str]:
        """Figures without an effect, and what of links is not as it was counted."""
        idle = sorted(self._figures.model_fields_set - self._used - {"links", "media"})
        if idle:
            yield f"without effect in this system: {listed(idle, word='and')}"
        failing = [
            link["name"]
            for link, written in self._links
            if written.get("phy") is not None and (written.get("degraded") or written.get("outage"))
        ]
        if failing:
            yield f"lanes and links that go down are counted as if they had not: {listed(failing, 4, 'and')}"
        if any("fail" in event for event in self._spec.get("events") or ()):
            yield "what events fail is counted as if it had not failed"

    def _basis(self, *names: str) -> Basis:
        self._used |= set(names)
        return "given" if names[0] in self._figures.model_fields_set else "estimate"


def _by_name(key: str, given: Mapping[str, Any], names: Sequence[str], what: str) -> dict[str, Any]:
    """The figure of each name that a glob matches, the last one of several. Raises InputError for one without any."""
    found: dict[str, Any] = {}
    for glob, value in given.items():
        matched = matching(glob, names)
        if not matched:
            raise InputError(
                f"no {what} of this name",
                found=f"'{glob}'",
                allowed=listed(names) or f"this system has no {what}",
                suggestion=nearest(glob, names),
                path=f"{key}.{glob}",
            )
        found |= dict.fromkeys(matched, value)
    return found


def _raw_bits_per_second(phy: str) -> float:
    """Bits a second of one direction of ``pcieN-xLANES``, with those of the line code: a lane has 2^N GT/s."""
    generation, lanes = phy.removeprefix("pcie").split("-x")
    return 2.0 ** int(generation) * 1e9 * int(lanes)


def _rate(measured: Mapping[str, Any], prefix: str, way: str) -> float | None:
    """Gigabytes a second that a medium reads or writes. One that is all of a memory and counts nothing, as a fixed
    latency, reads and writes what requests ask for."""
    counted: float | None = measured.get(f"{prefix}media_{way}_gb_per_s")
    return measured[f"{way}_gb_per_s"] if counted is None and not prefix else counted


def _media(spec: Mapping[str, Any], device: str) -> list[tuple[str, str, str]]:
    """The media of a device: the name of each, its kind, and what stands before its measures. A kind of device need
    not declare its medium."""

    def within(part: Part, key: str, label: str, prefix: str) -> Iterator[tuple[str, str, str]]:
        kind, inner = part.kind(key)
        nested = [name for name, field in inner.fields.items() if field.get("category") == "media"]
        if not nested:
            yield label, kind, prefix
        for name in nested:
            yield from within(inner, name, f"{label}.{name}", f"{prefix}{name}_")

    parts = (part for part in parts_of(spec, device, "memory") if "media" in part.fields)
    return [each for part in parts for each in within(part, "media", device, "")] or [(device, "", "")]
