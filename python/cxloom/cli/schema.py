"""``cxloom schema``: the JSON Schema of spec files, for editors."""

from __future__ import annotations

import json

from cxloom.cli.options import Plugins
from cxloom.spec.jsonschema import schema as spec_schema
from cxloom.spec.plugins import load_plugins


def schema(plugins: Plugins = []) -> None:  # noqa: B006 - typer wants a list, and copies it
    """Print the JSON Schema of specs.

    An editor completes and checks spec files with it.

    In VS Code with the YAML extension, for one: cxloom schema > cxloom.schema.json, and as the first line of a spec:
    # yaml-language-server: $schema=cxloom.schema.json
    """
    load_plugins(plugins)
    print(json.dumps(spec_schema(), indent=2))
