"""Options that several commands have, and numbers on the command line, with messages of ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from cxloom.base.errors import InputError


def whole_number(least: int) -> Callable[[object], int]:
    """Makes a parser of whole numbers from `least` on."""

    def parse(text: object) -> int:
        if not re.fullmatch("[0-9]{1,18}", str(text)) or int(str(text)) < least:
            raise typer.BadParameter(f"not a whole number from {least} on, found '{text}'")
        return int(str(text))

    return parse


def _at_a_time(what: str, default: str = "one per processor") -> Any:
    return typer.Option(
        "--jobs", parser=whole_number(1), metavar="N", help=f"{what} at a time; by default {default}."
    )


def written_to(what: str) -> Any:
    """The option of a list of files that something is written into, of forms that `what` says."""
    return typer.Option("--out", metavar="FILE", help=f"{what} May be repeated.")


SPEC = typer.Argument(metavar="SPEC", help="A spec file, or a shipped preset such as esf/validation.")

Spec = Annotated[str, SPEC]
Sets = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Set a value, such as devices.host.queue=8. May be repeated."
    ),
]
Plugins = Annotated[
    list[str],
    typer.Option("--plugin", metavar="LIB", help="Load more kinds of components. May be repeated."),
]
RunsAtATime = Annotated[int | None, _at_a_time("Runs")]
StudyRunsAtATime = Annotated[
    int | None, _at_a_time("Runs", "one per processor, and fewer of machines that are booted")
]
PointsAtATime = Annotated[int | None, _at_a_time("Points")]
SetsOfPoints = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Set a value at all points; may be repeated."),
]
ResultPage = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write the results into this page, FILE.html.")
]
OnDask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Run on a Dask cluster: its scheduler's address or file, or local.",
    ),
]
StudyFolder = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Where points and all that is made of them go; by default build/studies/NAME.",
    ),
]
MostPoints = Annotated[
    int,
    typer.Option("--max-points", parser=whole_number(1), metavar="N", help="Refuse a study of more points."),
]
TailShare = Annotated[
    str | None,
    typer.Option(metavar="P", help="Say what makes the requests beyond this percentile slow: 99 or 99.9."),
]
Against = Annotated[
    str | None,
    typer.Option(metavar="SPEC", help="Show this system beside it, without --set: a spec file or a preset."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
AllAsJson = Annotated[bool, typer.Option("--json", help="Print all as one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no progress and no table.")]
QuietFile = Annotated[bool, typer.Option("--quiet", help="Print no line about what was written.")]


def tail_share(text: str | None, as_json: bool) -> float | None:
    """The percentile of ``--tail``, as a share; None without one. Raises InputError."""
    if text is None:
        return None
    if as_json:
        raise InputError(
            "--tail is no part of --json", allowed="a table; in Python, result.tail(0.99).to_json()"
        )
    try:
        percentile = float(text.removeprefix("p").removesuffix("%"))
    except ValueError:
        percentile = -1
    if 0 < percentile < 1:
        meant = f"{100 * percentile:g}"
        raise InputError(
            "a percentile below the first",
            found=f"'{text}'",
            allowed="99 or 99.9",
            suggestion=meant,
            path="--tail",
        )
    if not 0 <= percentile < 100:
        raise InputError("not a percentile", found=f"'{text}'", allowed="from 0 to below 100", path="--tail")
    return percentile / 100


def share_of_reads(text: str, option: str) -> float:
    """A share of reads such as 67% or 0.67. Raises InputError, which names the option."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError("not a share of reads", found=f"'{text}'", allowed="0% to 100%", path=option)
    return value
