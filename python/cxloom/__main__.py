"""``python -m cxloom``: the command."""

from cxloom.cli import entry

if __name__ == "__main__":
    entry()
