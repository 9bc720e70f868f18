"""The command `cxloom`. `docs/cli.md` describes it."""

from cxloom.cli.process import main

__all__ = ["main"]
