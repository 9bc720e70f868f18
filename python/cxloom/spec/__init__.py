"""Spec files: reading, expanding, checking and writing them. `docs/spec.md` describes the format.

The way of a spec: :mod:`reader` (YAML to nodes that know their line), :mod:`presets` and :mod:`merge` (layers over
each other), :mod:`names` (ranges and globs), :mod:`paths` (overrides), :mod:`resolve` (all of it, in order), and then
the core, which knows what the parameters mean. Nothing here builds a simulation.
"""

from cxloom.spec.node import Node, Origin, SpecError
from cxloom.spec.override import Override
from cxloom.spec.reader import read_file, read_text
from cxloom.spec.resolve import resolve
from cxloom.spec.resolved import Resolved
from cxloom.spec.writer import to_yaml

__all__ = [
    "Node",
    "Origin",
    "Override",
    "Resolved",
    "SpecError",
    "read_file",
    "read_text",
    "resolve",
    "to_yaml",
]
