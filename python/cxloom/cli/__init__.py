"""The command `cxloom`. `docs/cli.md` describes it.

`app` knows the commands, each of which has a module of its name: options in, a call of the package, output and exit
code. What the command can, Python can without it: nothing but these modules imports them.
"""

from cxloom.base.descriptors import hold_standard_descriptors
from cxloom.cli.at_once import ended_at_once

__all__ = ["entry", "main"]


def main() -> None:
    """Runs the command of `sys.argv` and raises SystemExit with its code, as of any function: who catches it goes on.

    What begins the process is `cxloom.__main__`.
    """
    with ended_at_once():
        hold_standard_descriptors()
        from cxloom.cli.process import run

        run()


entry = main
"""What installations of before have in their script `cxloom`."""
