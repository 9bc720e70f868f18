"""The granules of memory, in bytes: what one transfer carries, and what one translation covers."""

LINE = 64
"""A cache line. It is that of CXL, and the core's `kLineBytes` (core/base/units.hpp)."""
PAGE = 4096
"""A small page of x86-64."""
MIB = 1 << 20
