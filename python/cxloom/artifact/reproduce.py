"""Runs the study of an artifact again, and says what differs: its files, its systems, its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxloom.artifact.figures import Beside, Verdict, beside, figures_of, read_csv
from cxloom.artifact.manifest import ArtifactManifest, MadeBy, PackagedPoint, changed_files, read_manifest
from cxloom.artifact.package import ANY_NUMBER, FIGURES, hash_of
from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.display.numbers import significant
from cxloom.display.shown import Shown, ShowsItself
from cxloom.spec.override import Override
from cxloom.spec.reader import read_file
from cxloom.study.file import Study, read
from cxloom.study.points import described_point
from cxloom.study.runner import Outcome

if TYPE_CHECKING:
    from rich.table import Table

_NAMED = 3
"""Values of a system that differ, so many of which are named."""


@dataclass(frozen=True)
class Reproduction(ShowsItself):
    """An artifact beside a run of it."""

    manifest: ArtifactManifest
    here: MadeBy
    changed: Sequence[str]
    """Files of the artifact that are not as they were packaged."""
    systems: Sequence[str]
    """Points whose system is another here, as a preset or a default has changed."""
    figures: Sequence[Beside]

    @property
    def differing(self) -> list[Beside]:
        """The figures that differ by more than is allowed."""
        return [each for each in self.figures if each.verdict is Verdict.DIFFERENT]

    @property
    def agrees(self) -> bool:
        """Whether the files are those that were packaged, and no figure differs."""
        return not self.changed and not self.differing

    @property
    def sentence(self) -> str:
        """How many figures agree."""
        counts = dict.fromkeys(Verdict, 0)
        for each in self.figures:
            counts[each.verdict] += 1
        every = counted(len(self.figures), "figure")
        if counts[Verdict.SAME] == len(self.figures):
            said = f"{every}, all the same"
        else:
            said = f"{every}: {counts[Verdict.SAME]:,} the same, {counts[Verdict.WITHIN]:,} within what is allowed"
            said += f", {counts[Verdict.DIFFERENT]:,} different"
        if self.changed:
            said += f"; {counted(len(self.changed), 'file')} of the artifact changed"
        return f"{'Reproduced' if self.agrees else 'Not reproduced'}: {said}."

    @property
    def notes(self) -> list[str]:
        """What else is not as it was."""
        notes = []
        if (
            self.here.cxloom != self.manifest.made_by.cxloom
            or self.here.commit != self.manifest.made_by.commit
        ):
            notes.append(f"made with {self.manifest.made_by}; run with {self.here}")
        elif self.here.core != self.manifest.made_by.core:
            notes.append(f"the libraries are another build of {self.here}")
        return [*notes, *self.systems]

    def table(self, most: int | None = None) -> Table:
        """The figures that are not the same, the different ones first; of Rich.

        Args:
            most: as many rows at most.
        """
        from rich.text import Text

        from cxloom.display.plain_table import plain_table

        table = plain_table()
        for title in ("figure", "point"):
            table.add_column(title, no_wrap=True)
        for title in ("packaged", "here", "difference", "allowed"):
            table.add_column(title, justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        for each in self._unequal()[:most]:
            table.add_row(
                Text(each.figure.name),
                Text(each.figure.point),
                *(Text(_said(figure)) for figure in (each.packaged, each.here)),
                _difference(each),
                significant(each.allowed) if each.allowed else "0",
                "" if each.verdict is Verdict.WITHIN else "different",
            )
        return table

    def shown(self) -> Shown:
        """The sentence, what was changed, the table of differences and the notes."""
        tables = [self.table()] if self._unequal() else []
        return Shown([self.sentence, *self.changed], tables, self.notes)

    def to_json(self) -> dict[str, Any]:
        """All as plain data."""
        return {
            "title": self.manifest.title,
            "agrees": self.agrees,
            "sentence": self.sentence,
            "changed": list(self.changed),
            "notes": self.notes,
            "figures": [
                {
                    "figure": each.figure.name,
                    "point": each.figure.point,
                    "packaged": each.packaged and each.packaged.value,
                    "here": each.here and each.here.value,
                    "allowed": each.allowed,
                    "verdict": each.verdict,
                }
                for each in self.figures
            ],
        }

    def _unequal(self) -> list[Beside]:
        unequal = [each for each in self.figures if each.verdict is not Verdict.SAME]
        return sorted(unequal, key=lambda each: each.verdict is Verdict.WITHIN)


def reproduce(
    directory: Path, run: Callable[[Study], Outcome], *, tolerance: float | None = None
) -> Reproduction:
    """Runs the study of an artifact, and holds its figures against those that were packaged.

    Args:
        directory: the artifact.
        run: runs a study.
        tolerance: the relative difference of a figure that is allowed; by default the interval of the two.

    Raises InputError for a directory that is no artifact, or whose study or figures are gone.
    """
    manifest = read_manifest(directory)
    changed = changed_files(directory, manifest)
    packaged = read_csv(directory / FIGURES)
    study = read(
        directory / manifest.study,
        [Override.parse(each) for each in manifest.sets],
        quick=manifest.quick,
        most_points=ANY_NUMBER,
    )
    systems = list(_other_systems(directory, manifest.points, study))
    outcome = run(study)
    figures = beside(packaged, figures_of(outcome), tolerance)
    return Reproduction(manifest, MadeBy.here(), changed, systems, figures)


def _other_systems(directory: Path, points: Sequence[PackagedPoint], study: Study) -> Iterator[str]:
    """What differs in the systems of the points, of the first of them that does."""
    hashes = [hash_of(spec) for spec in study.specs]
    other = [at for at, (point, here) in enumerate(zip(points, hashes, strict=False)) if point.hash != here]
    if len(points) != len(hashes):
        yield f"the study has {counted(len(hashes), 'point')} here, and was packaged with {len(points):,}"
    if not other:
        return
    first = other[0]
    where = f"{counted(len(other), 'point')} of {len(points):,}: the system is another here than was packaged"
    try:
        packaged = read_file(directory / points[first].spec).plain()
    except InputError:
        yield where
        return
    here = study.specs[first].plain()
    changes = [
        each for each in _changes(packaged, here) if not each.startswith("workload.") or "trace" not in each
    ]
    named = "; ".join(changes[:_NAMED]) + ("; ..." if len(changes) > _NAMED else "")
    yield f"{where}. At {described_point(points[first].at)}: {named or 'what is in a file that it names'}"


def _changes(packaged: Any, here: Any, path: str = "") -> Iterator[str]:
    """What differs between plain data, value by value."""
    if isinstance(packaged, Mapping) and isinstance(here, Mapping):
        for key in dict.fromkeys((*packaged, *here)):
            yield from _changes(packaged.get(key), here.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(packaged, list) and isinstance(here, list) and len(packaged) == len(here):
        for at, (one, other) in enumerate(zip(packaged, here, strict=True)):
            yield from _changes(one, other, f"{path}[{at}]")
    elif packaged != here:
        yield f"{path} was {packaged}, is {here}"


def _said(figure: Any) -> str:
    if figure is None:
        return "not there"
    if figure.value is None:
        return "no value"
    value = significant(figure.value, 6) if isinstance(figure.value, float) else str(figure.value)
    return f"{value} ({figure.state})" if figure.state else value


def _difference(each: Beside) -> str:
    if each.difference != each.difference:
        return "-"
    share = ""
    if each.packaged is not None and isinstance(each.packaged.value, float) and each.packaged.value:
        share = f" ({100 * each.difference / abs(each.packaged.value):+.2g} %)"
    return f"{significant(each.difference)}{share}"
