"""The file of a study: a system, what is varied, and what should come out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.kv.point import HITS, SERVING, KvRun, KvTemplate
from cxloom.spec.file_kind import FileKind, refuse_other
from cxloom.spec.node import Node, Origin, described
from cxloom.spec.override import Override
from cxloom.spec.reader import read_file, read_named
from cxloom.spec.resolve import Template
from cxloom.spec.resolved import Resolved
from cxloom.study.derive import Derived, derived
from cxloom.study.expect import Expectation, expectation
from cxloom.study.plots import Plot, Stack, plot
from cxloom.study.points import (
    CASE,
    Point,
    kept,
    map_of,
    matches,
    points_of,
    refuse_unknown,
    stays,
)

if TYPE_CHECKING:
    from cxloom.booting.point import BootRun, BootTemplate

__all__ = ["CASE", "Expectation", "Plot", "Point", "Stack", "Study", "matches", "read"]

_KEYS = {
    "title": "What the study is.",
    "source": "Where it was published.",
    "about": "What it shows, and what it had to choose.",
    "explain": "Why what comes out is not what was published, where it is not.",
    "system": "A spec: its file, or written here; `preset:` inside starts from a shipped one.",
    "kv": "In its place servers with a KV cache (docs/model/kv.md): their file, or written here.",
    "kv_hits": "In its place what requests find in a KV cache, without servers and time: `requests` and `tiers`.",
    "boot": "In its place a program on a booted machine (docs/boot.md#studies).",
    "set": "Values by path, for all points.",
    "cases": "Variants, each with values by path: by name, or a list of what each is on several axes (`at`) and its "
    "values (`set`).",
    "sweep": "Paths, each with the list of its values: every combination is a point.",
    "zip": "True: the n-th values of all paths make the n-th point, instead of every combination.",
    "quick": "A form for those in a hurry: `set`, values by path; `keep`, of some axes the values that stay; "
    "`tolerance`, to which relative ones are widened.",
    "derive": "Measures made of others, by name.",
    "defaults": "What all of `expect` have in common, such as a tolerance.",
    "expect": "What should come out.",
    "table": "Columns by name, each an axis or a measure: a row for each point.",
    "each": "A map of the summary, as by_hops: a row for each of its entries instead, whose name is `*` in the table.",
    "plot": "A picture of the table: its columns `x` and `y`, a line for each value of `lines`, if there is one; "
    "or, with `stack`, bars over `x` of the columns in it, a panel for each value of `panels`, if there is one.",
    "plots": "Several of them, by name.",
}

_SYSTEM, BOOT = "system", "boot"
_KINDS = (_SYSTEM, SERVING, HITS, BOOT)

MOST_POINTS = 10_000
"""More points are refused unless they are asked for: a list too many in a sweep is easily written."""

DEFAULT_COLUMNS = {
    "requests": "requests",
    "gb_per_s": "bandwidth_gb_per_s",
    "mean_ns": "latency_ns.mean",
    "p99_ns": "latency_ns.p99",
}
_OTHER_COLUMNS = {
    SERVING: {"requests": "requests", "hit_share": "hit_share", "ttft_s": "ttft_s.mean"},
    HITS: {"requests": "requests", "hit_share": "hit_share"},
    BOOT: {"time_ns": "time_ns", "slowdown": "slowdown"},
}
"""The measures that a study shows by default, besides its axes."""


@dataclass(frozen=True, slots=True)
class Study:
    """A system, the points at which it is run, and what should come out."""

    title: str
    source: str
    about: str
    explain: str
    """Why what comes out is not what was published, where it is not."""
    points: list[dict[str, Any]]
    specs: list[Resolved | KvRun | BootRun]
    """The resolved spec of each point, or its run of KV caches, or of a program on a booted machine."""
    derived: dict[str, Derived]
    """Measures made of others, by name; each uses none but those before it."""
    expectations: list[Expectation]
    columns: dict[str, str]
    """The columns of the table: each an axis or a measure, by its name in the table."""
    each: str | None
    """The table has a row for each entry of this map of the summary; ``*`` in a column stands for its name."""
    places: dict[str, Origin]
    """Where each column is written, and `each`; of none that is not."""
    plots: dict[str, Plot | Stack]
    """The pictures, by name."""
    quick: bool
    """Whether this is the quick form of the study, which lacks some points."""

    @property
    def plot(self) -> Plot | Stack | None:
        """The first picture."""
        return next(iter(self.plots.values()), None)


def read(
    path: str | os.PathLike[str],
    overrides: Sequence[Override] = (),
    *,
    most_points: int = MOST_POINTS,
    quick: bool = False,
) -> Study:
    """The study in a file, all its points resolved, with values set from outside for all of them.

    A study that shows nothing, neither what it expects nor a table, has a table of a few measures. With `quick` it is
    the form that the study's `quick` makes of it, which is all of it if there is none.

    Raises InputError, with file and line, for what is wrong in it.
    """
    top = read_file(path)
    entries = top.map()
    refuse_other(top, FileKind.STUDY)
    refuse_unknown(top, list(_KEYS))
    kind, system = _system(top)
    every = points_of(top, most_points)
    points = [point for point, _ in every]
    written = _Quick.of(entries.get("quick"), points)
    hurry = written if quick else _Quick()
    every = [(point, own) for point, own in every if stays(point, hurry.keep)]
    common = [Override(key, node) for key, node in map_of(entries.get("set")).items()]
    always = [*common, *overrides]
    template = _template(kind, system, always)
    settings = [[*own, *hurry.values] for _, own in every]
    specs = [template.resolve(each) for each in settings]
    for override in overrides:
        _refuse_overlaid(override, template, settings, specs)
    expectations = _expectations(entries, points, hurry.loosest)
    made = {name: derived(node, points) for name, node in map_of(entries.get("derive")).items()}
    columns = {name: column.text() for name, column in map_of(entries.get("table")).items()}
    places = {name: column.place for name, column in map_of(entries.get("table")).items()}
    if not columns and not expectations:
        shown = DEFAULT_COLUMNS if kind == _SYSTEM else _OTHER_COLUMNS[kind]
        columns = {name: axis for axis, name in _short(list(points[0])).items()} | shown
    plots = _plots(entries, columns, points)
    each = entries["each"].text() if "each" in entries else None
    if each is not None:
        places[each] = entries["each"].place
    points = [point for point, _ in every]
    expectations = [each for each in expectations if any(matches(point, each.at) for point in points)]
    text = {
        key: entries[key].text().strip() if key in entries else ""
        for key in ("title", "source", "about", "explain")
    }
    return Study(
        title=text["title"] or os.fspath(path),
        source=text["source"],
        about=text["about"],
        explain=text["explain"],
        points=points,
        specs=specs,
        derived=made,
        expectations=expectations,
        columns=columns,
        each=each,
        places=places,
        plots=plots,
        quick=quick,
    )


@dataclass(frozen=True, slots=True)
class Extent:
    """What a study is called, and how much it is."""

    title: str
    points: int
    expectations: int


def extent(path: str | os.PathLike[str]) -> Extent:
    """The extent of the study in a file; its systems are not resolved, so that what is wrong in them stays unsaid.

    Raises InputError, with file and line, for what is wrong in the rest.
    """
    top = read_file(path)
    entries = top.map()
    refuse_other(top, FileKind.STUDY)
    refuse_unknown(top, list(_KEYS))
    points = [point for point, _ in points_of(top, MOST_POINTS)]
    title = entries["title"].text().strip() if "title" in entries else ""
    return Extent(title or os.fspath(path), len(points), len(_expectations(entries, points, 0.0)))


@dataclass(frozen=True, slots=True)
class _Quick:
    values: Sequence[Override] = ()
    """Overrides that come last."""
    keep: Mapping[str, list[Any]] = field(default_factory=dict)
    loosest: float = 0.0
    """The least of the relative tolerances."""

    @classmethod
    def of(cls, node: Node | None, points: list[dict[str, Any]]) -> _Quick:
        if node is None:
            return cls()
        refuse_unknown(node, ["set", "keep", "tolerance"])
        loosest = node.get("tolerance")
        text = "0%" if loosest is None else str(loosest.value)
        if loosest is not None and not (
            text.endswith("%") and text[:-1].strip().replace(".", "", 1).isdigit()
        ):
            raise loosest.place.error(
                "not a percentage", found=described(loosest.value), allowed="such as 5%"
            )
        values = [Override(path, value) for path, value in map_of(node.get("set")).items()]
        return cls(values, kept(node.get("keep"), points), float(text[:-1]) / 100)


def _template(kind: str, system: Node, always: Sequence[Override]) -> Template | KvTemplate | BootTemplate:
    if kind == _SYSTEM:
        return Template(system, always)
    if kind == BOOT:
        from cxloom.booting.point import BootTemplate  # with all that a guest takes

        return BootTemplate(system, always)
    return KvTemplate(system, kind, always)


def _refuse_overlaid(
    override: Override,
    template: Template | KvTemplate | BootTemplate,
    settings: Sequence[Sequence[Override]],
    specs: Sequence[Resolved | KvRun | BootRun],
) -> None:
    """Raises InputError for a value from outside that is another one at every point, as the study sets it there."""
    if not all(override.path in {own.path for own in each} for each in settings):
        for each, spec in zip(settings, specs, strict=True):
            try:
                if template.resolve([*each, override]).plain() == spec.plain():
                    return  # it is the value there
            except InputError:  # beside what the point sets it is none
                continue
    raise override.value.place.error(
        "the study sets this value itself at every point",
        allowed="what it does not vary, or a copy of the study",
    )


def _expectations(
    entries: dict[str, Node], points: list[dict[str, Any]], loosest: float
) -> list[Expectation]:
    expect = entries.get("expect")
    defaults = map_of(entries.get("defaults"))
    return [
        expectation(node.with_entries({**defaults, **node.map()}), points, loosest)
        for node in (expect.list() if expect is not None else [])
    ]


def _plots(
    entries: dict[str, Node], columns: dict[str, str], points: list[dict[str, Any]]
) -> dict[str, Plot | Stack]:
    plots = {name: plot(node, columns, points) for name, node in map_of(entries.get("plots")).items()}
    if "plot" in entries:
        if plots:
            raise entries["plot"].place.error("'plot' beside 'plots'", allowed="one of them")
        plots["plot"] = plot(entries["plot"], columns, points)
    return plots


def _short(axes: list[str]) -> dict[str, str]:
    """The last word of each path, where no other has the same."""
    short = {axis: axis.rpartition(".")[2] for axis in axes}
    taken = [*short.values(), *DEFAULT_COLUMNS]
    return {axis: name if taken.count(name) == 1 else axis for axis, name in short.items()}


def _system(top: Node) -> tuple[str, Node]:
    """What is run, and its tree."""
    written = [kind for kind in _KINDS if (node := top.get(kind)) is not None and node.value is not None]
    if len(written) > 1:
        raise top.map()[written[1]].place.error(
            f"both '{written[0]}' and '{written[1]}'", allowed="one of them"
        )
    if not written:
        raise top.origin.error(
            "'system' is missing", allowed="a spec, or the file of one; kv, kv_hits or boot"
        )
    kind = written[0]
    system = top.map()[kind]
    if isinstance(system.value, str):
        return kind, read_named(system, "system")
    system.map()
    return kind, system
