"""Writes a resolved spec as YAML that reads back to the same spec."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

_PLAIN = re.compile(r"[\w./%+-]*")


def to_yaml(plain: Mapping[str, Any]) -> str:
    """YAML text of plain data: one line a device, link, region and requester."""
    yaml = YAML()
    yaml.width = 2**20  # one line each, however long
    yaml.default_flow_style = False
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = io.StringIO()
    yaml.dump(CommentedMap((key, _section(value)) for key, value in plain.items()), out)
    return out.getvalue()


def _section(value: Any) -> Any:
    if isinstance(value, Mapping):
        return CommentedMap((key, _flow(item)) for key, item in value.items())
    if isinstance(value, list):
        return CommentedSeq(_flow(item) for item in value)
    return _flow(value)


def _flow(value: Any) -> Any:
    """The value in flow style: {kind: host, queue: 64}."""
    if isinstance(value, Mapping):
        flowing = CommentedMap((key, _flow(item)) for key, item in value.items())
        flowing.fa.set_flow_style()
        return flowing
    if isinstance(value, list):
        items = CommentedSeq(_flow(item) for item in value)
        items.fa.set_flow_style()
        return items
    if isinstance(value, str) and not _PLAIN.fullmatch(value):
        return DoubleQuotedScalarString(value)  # beyond names and quantities, nothing is left to subtle rules
    return value
