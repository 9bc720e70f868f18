"""``cxloom schema``: the JSON Schema of spec files and of files of KV caches, for editors."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.cli.options import Plugins
from cxloom.spec.jsonschema import kv_schema
from cxloom.spec.jsonschema import schema as spec_schema
from cxloom.spec.plugins import load_plugins


def schema(
    of: Annotated[
        str,
        typer.Argument(metavar="WHAT", help="spec: of specs. kv: of files of `cxloom kv`."),
    ] = "spec",
    plugins: Plugins = [],  # noqa: B006 - typer wants a list, and copies it
) -> None:
    """Print the JSON Schema of specs, or of files of KV caches.

    An editor completes and checks such files with it.

    In VS Code with the YAML extension, for one: cxloom schema > cxloom.schema.json, and as the first line of a spec:
    # yaml-language-server: $schema=cxloom.schema.json
    """
    made = {"spec": spec_schema, "kv": kv_schema}.get(of)
    if made is None:
        raise InputError("nothing with a schema", found=f"'{of}'", allowed="spec, kv", path="WHAT")
    load_plugins(plugins)
    print(json.dumps(made(), indent=2))
