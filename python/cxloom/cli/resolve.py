"""``cxloom resolve``: a spec as JSON, device by device, for programs without Python."""

from __future__ import annotations

import json

from cxloom.base.errors import InputError
from cxloom.cli import run
from cxloom.cli.options import Plugins, Sets, Spec
from cxloom.system.simulation import build, errors_placed


def resolve(
    spec: Spec,
    sets: Sets = [],  # noqa: B006 - typer wants a list, and copies it
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Print a spec as programs without Python read it.

    SPEC becomes one JSON object: every device and link one by one, presets and topology written out. A program that
    embeds cxloom opens it: cxloom_open() in C, EmbeddedSystem in C++. It drives the devices that have no workload here.
    Traces are read by Python alone.

    Exit code 2: SPEC is not valid, or replays a trace.
    """
    resolved = run.resolve(spec, sets, plugins)
    with errors_placed(resolved):
        if traces := resolved.traces():
            name = next(iter(traces))
            raise InputError(
                "a program without Python replays no traces",
                path=f"workload.{name}.trace",
                allowed="a pattern, or no workload: the program makes the accesses",
            )
    build(resolved)  # says what is wrong with it
    print(json.dumps(resolved.plain()))
