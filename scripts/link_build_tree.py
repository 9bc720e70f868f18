"""Make the environment that runs this script find the extension in the CMake build tree.

The Makefile installs the package in editable form, so that edits to Python files need no rebuild, and builds all C++
in one CMake tree, so that an edit to a C++ file costs one incremental build. What joins the two is a hook in the
environment's site-packages: it finds `cxloom._core` in build/package, where nothing has to be copied or installed
again after a build. It also keeps the bytecode of all modules inside the environment instead of the source tree.
"""

import sysconfig
from pathlib import Path

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
    (site_packages / "_cxloom_build_tree.pth").write_text("import _cxloom_build_tree\n")


if __name__ == "__main__":
    main()
