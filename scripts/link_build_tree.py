"""Make the environment that runs this script use the package from the source tree and its CMake build tree.

Python files are used where they are, so that editing one needs no step at all, and all C++ is built in one CMake
tree, so that editing a C++ file costs one incremental build. Two lines in the environment's site-packages join the
halves: a path to python/, and a hook that finds `cxloom._core` in build/package, where nothing has to be copied or
installed again after a build. An editable install of the build backend would do the same with a CMake tree of its
own, a finder in front of every import, and a reinstallation after each change of the C++ side.

The hook also keeps the bytecode of all modules inside the environment instead of the source tree.
"""

import sysconfig
from pathlib import Path

# A line of a .pth file is a path relative to its directory (.venv/lib/python3.x/site-packages), or an import.
PATHS = """\
../../../../python
import _cxloom_build_tree
"""

HOOK = '''\
"""Finds cxloom._core in the build tree; written by scripts/link_build_tree.py."""

import os
import sys
from importlib.machinery import PathFinder

_ENVIRONMENT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
_PACKAGE = os.path.join(os.path.dirname(_ENVIRONMENT), "build", "package", "cxloom")


class BuildTreeFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [_PACKAGE]) if name == "cxloom._core" else None


sys.meta_path.append(BuildTreeFinder)
if sys.pycache_prefix is None:
    sys.pycache_prefix = os.path.join(_ENVIRONMENT, "pycache")
'''


def main() -> None:
    site_packages = Path(sysconfig.get_path("purelib"))
    (site_packages / "_cxloom_build_tree.py").write_text(HOOK)
    (site_packages / "_cxloom_build_tree.pth").write_text(PATHS)


if __name__ == "__main__":
    main()
