"""``cxloom compare``: several systems with their work, side by side."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxloom.base.errors import CxloomError, InputError
from cxloom.cli.options import AsJson, Plugins, Quiet, Sets, written_to
from cxloom.cli.run import HaltedError, execute, finish, resolve
from cxloom.cli.writing import check_forms, check_writable, write_text
from cxloom.results.outdir import is_stored
from cxloom.results.result import Result
from cxloom.running.compared import unlike
from cxloom.running.run import nanoseconds
from cxloom.spec.plugins import load_plugins

if TYPE_CHECKING:
    from cxloom.results.comparison import Comparison

_FORMS = (".csv", ".json")
_MOST = 26
"""As many systems can be compared as there are letters for them."""


def compare(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC...",
            help="Spec files, shipped presets, or directories that `cxloom run --out` wrote.",
        ),
    ],
    cases: Annotated[
        list[str],
        typer.Option(
            "--with",
            metavar="'PATH=VALUE ...'",
            help="One more system: the first with these values set. May be repeated.",
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    sets: Sets = [],  # noqa: B006
    seed: Annotated[str | None, typer.Option(metavar="N", help="Seed of the random streams of all.")] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="ci=P", help="End each when its mean latency is known so well: ci=1%."),
    ] = None,
    max_time: Annotated[
        str | None, typer.Option(metavar="T", help="End each after this simulated time: 1ms.")
    ] = None,
    out: Annotated[
        list[str],
        written_to("Write the table (.csv) or all (.json)."),
    ] = [],  # noqa: B006
    as_json: AsJson = False,
    quiet: Quiet = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Compare systems: what differs, and which part of the latency changed.

    Each is run with the same --set, --seed and --until, and compared with the first; results that are there already are
    compared as they are. A sentence for each, then a table.

    cxloom compare local.yaml cxl.yaml

    cxloom compare cxl.yaml --with 'devices.host.queue=64' --with 'devices.host.queue=128 links[*].credits=32'

    Exit code 0: compared. 1: one could not finish; after Ctrl-C no further one is run. 2: the input is wrong; nothing
    was written.
    """
    from cxloom.results.comparison import compare as compared

    files = [Path(file) for file in out]
    check_forms(files, "table", _FORMS)
    check_writable(files)
    limit = None if max_time is None else nanoseconds(max_time, "--max-time")
    if len(systems) + len(cases) < 2:
        raise InputError("nothing to compare with", found="one system", allowed="two or more SPEC, or --with")
    if len(systems) + len(cases) > _MOST:
        found = f"{len(systems) + len(cases)} systems"
        raise InputError(
            "too many to compare", found=found, allowed=f"at most {_MOST}; `cxloom sweep` runs more"
        )
    wanted: list[tuple[str, str, list[str]]] = [(system, system, []) for system in systems]
    wanted += [(" ".join(_settings(case)), systems[0], _settings(case)) for case in cases]
    results: dict[str, Result] = {}
    failure: CxloomError | None = None
    stored = [is_stored(system) for _, system, _ in wanted]
    if any(stored) and (sets or cases or seed is not None or until is not None):
        found = next(system for there, (_, system, _) in zip(stored, wanted, strict=True) if there)
        raise InputError(
            "results that are there are not run again", found=f"'{found}'", allowed="SPEC with options"
        )
    load_plugins(plugins)  # once, for all systems
    ready = [
        None if there else resolve(system, sets, [], seed, until, case=case)
        for there, (_, system, case) in zip(stored, wanted, strict=True)
    ]  # all are checked before one is run
    for (name, system, _), spec in zip(wanted, ready, strict=True):
        result, failed = (Result.load(system), None) if spec is None else execute(spec, None, quiet, limit)
        failure = failure or failed
        results[unlike(name, results)] = result
        if isinstance(failed, HaltedError):
            break
    if len(results) < 2:
        finish(failure)
    comparison = compared(results)
    for file in files:
        text = comparison.frame().write_csv() if file.suffix == ".csv" else _json(comparison)
        write_text(file, text)
    if as_json:
        print(_json(comparison), end="")
    elif not quiet:
        from cxloom.cli.comparison import show_comparison

        show_comparison(comparison)
    finish(failure)


def _settings(case: str) -> list[str]:
    """The settings of a `--with`: a space within brackets or braces separates nothing."""
    try:
        words = shlex.split(case)
    except ValueError:
        words = []
    if not words:
        raise InputError("no values to set", found=f"'{case}'", allowed="PATH=VALUE ...", path="--with")
    settings: list[str] = []
    open_brackets = 0
    for word in words:
        if open_brackets > 0:
            settings[-1] += f" {word}"
        else:
            settings.append(word)
        open_brackets += sum((sign in "[{") - (sign in "]}") for sign in word)
    return settings


def _json(comparison: Comparison) -> str:
    return json.dumps(comparison.to_json(), indent=2, allow_nan=False) + "\n"
