"""``python -m cxloom``: the command."""

from cxloom.cli import main

if __name__ == "__main__":
    main()
