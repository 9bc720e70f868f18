"""``cxloom kv``: servers of a language model whose KV cache lies in tiers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cxloom.cli.options import AsJson, Plugins, Quiet, ResultPage, Sets, written_to
from cxloom.cli.progress import ServingBar
from cxloom.cli.writing import check_forms, check_writable, write_texts
from cxloom.kv.serving import serve
from cxloom.spec.override import Override
from cxloom.spec.plugins import load_plugins


def kv(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="A file of servers, tiers and requests (docs/model/kv.md).")
    ],
    out: Annotated[
        list[str],
        written_to("Write all as .json, of which `cxloom report` makes a page."),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    html: ResultPage = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    sets: Sets = [],  # noqa: B006
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Play requests to a language model with a KV cache in tiers.

    Hit rates by tier over time, times to the first token and for each token after it, throughput, what each tier
    moves, and which resource limits.

    Exit code 0: played. 2: the input is wrong; nothing was written.
    """
    check_forms(map(Path, out), "result", [".json"])
    pages = [] if html is None else [html]
    check_forms(pages, "page", [".html", ".htm"], "--html")
    check_writable([*map(Path, out), *pages])
    load_plugins(plugins)
    with ServingBar(quiet) as bar:
        found = serve(spec, watch=bar.update, overrides=[Override.parse(text) for text in sets])
    text = json.dumps(found.to_json(), indent=2, allow_nan=False)
    texts = {Path(file): text + "\n" for file in out}
    if html is not None:
        from cxloom.report.serving_page import serving_page

        texts[html] = serving_page(found)
    write_texts(texts)
    if as_json:
        print(text)
    elif not quiet:
        from rich.text import Text

        from cxloom.display.console import output
        from cxloom.results.threads import threads_lines

        console = output()
        console.print(Text(found.sentence, style="bold"), soft_wrap=True)
        console.print()
        console.print(found.times())
        console.print()
        console.print(found.table())
        console.print(Text(f"\n{found.parts}"), soft_wrap=True)
        for note in [*found.found["notes"], *threads_lines(found.cost)]:
            console.print(Text(note), soft_wrap=True)
