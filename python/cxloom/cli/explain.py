"""``cxloom explain``: what limits a system, and what would move the limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cxloom.base.errors import InputError, reason_of
from cxloom.base.words import of_both
from cxloom.cli.options import (
    Against,
    AllAsJson,
    Plugins,
    Quiet,
    RunsAtATime,
    Sets,
    Spec,
    TailShare,
    tail_share,
    written_to,
)
from cxloom.cli.progress import ProgressBar, SweepBar
from cxloom.cli.writing import check_forms, check_writable, write_text
from cxloom.display.notes import folded
from cxloom.spec.override import Override
from cxloom.spec.plugins import load_plugins
from cxloom.system.system import System

if TYPE_CHECKING:
    from cxloom.explaining.explanation import Explanation
    from cxloom.results.tail import Tail

FORMS = (".svg", ".png", ".pdf", ".json")


def explain(
    spec: Spec,
    out: Annotated[
        list[str],
        written_to("Write the picture (.svg, .png, .pdf) or all as .json."),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    tail: TailShare = None,
    against: Against = None,
    jobs: RunsAtATime = None,
    as_json: AllAsJson = False,
    quiet: Quiet = False,
    sets: Sets = [],  # noqa: B006
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Say what limits SPEC, why, and what would move the limit.

    Runs SPEC, and again with each resource in use doubled: the limit is what gains the most. One sentence,
    then a table of the resources in the order of a request's way.

    Exit code 0: explained. 1: the system could not finish, or its measured window has no length. 2: the input is wrong;
    nothing was written.
    """
    from cxloom.explaining.explanation import explain as explained

    check_forms(map(Path, out), "picture", FORMS)
    check_writable(map(Path, out))
    share = tail_share(tail, as_json)
    if against is not None and as_json:
        raise InputError("--against is no part of --json", allowed="a table, or each by itself")
    load_plugins(plugins)
    base: Explanation | None = None
    overrides = [Override.parse(text) for text in sets]
    if against is not None:
        System.load(spec).resolve(overrides)  # what is wrong with it is said before the other runs
        with SweepBar(quiet, "explain") as bar:
            base = explained(against, jobs=jobs, watch=bar.update)
    with SweepBar(quiet, "explain") as bar:
        found = explained(spec, jobs=jobs, watch=bar.update, overrides=overrides)
    slow = None if share is None else _tail(spec, overrides, share, quiet)
    text = json.dumps(found.to_json(), indent=2, allow_nan=False)
    for file in out:
        if file.endswith(".json"):
            write_text(Path(file), text + "\n")
            continue
        from cxloom.display import style
        from cxloom.explaining.picture import picture

        try:
            style.save(picture(found), Path(file))
        except OSError as error:
            raise InputError(f"cannot be written: {reason_of(error)}", file=file, path="--out") from None
    if as_json:
        print(text)
    elif not quiet:
        from rich.text import Text

        from cxloom.display.console import output

        console = output()
        if base is None:
            console.print(Text(found.sentence, style="bold"))
            console.print()
            console.print(found.table())
        else:
            from cxloom.display.plain_table import print_whole
            from cxloom.explaining import beside

            console.print(Text(beside.sentence(base, found), style="bold"))
            console.print()
            for letter, name, each in (("A", against, base), ("B", spec, found)):
                console.print(Text.assemble((letter, "bold"), f"  {name}: {each.sentence}"))
            console.print()
            print_whole(beside.table(base, found))
        if slow is not None:
            from cxloom.results.tail_table import show_tail

            show_tail(slow)
        for note in folded(found.notes if base is None else of_both(base.notes, found.notes)):
            console.print(Text(f"\nnote: {note}", style="dim"))


def _tail(spec: str, overrides: list[Override], share: float, quiet: bool) -> Tail:
    """What makes the slowest requests slow: a run that records them all."""
    from cxloom.running.run import simulate
    from cxloom.system.simulation import build

    resolved = System.load(spec).resolve([*overrides, Override.of("outputs.requests", True)])
    with ProgressBar(quiet) as bar:
        return simulate(resolved, build(resolved), watch=bar.update).tail(share)
