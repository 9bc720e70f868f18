"""The command `cxloom`. `docs/cli.md` describes it."""

from cxloom.cli.app import main

__all__ = ["main"]
