"""How large an input may be. What is larger is a slip, or meant to do harm, and is refused before it takes long.

All limits of the front end stand here; docs/spec.md lists them. The core has its own beside what they protect: ports of
a device, links and devices of a generated topology, the file of a curve.
"""

FILE_BYTES = 16 << 20
"""Bytes of a spec file."""
DEPTH = 64
"""Maps and lists inside of each other."""
ALIASED = 20_000
"""Values that aliases repeat."""
DIGITS = 400
"""Digits of a number: a real number of the largest exponent has 309."""
TEXT = 65_536
"""Characters of a value."""
KEY = 4_096
"""Characters of a key, which may list many names."""
NAME = 256
"""Characters of the name of a device."""
NAMES = 100_000
"""Names that one range may stand for."""
GLOB_NUMBERS = 1_000
"""Numbers in a pair of brackets beside a ``*``, where each is tried on each name."""
STARS = 4
"""Stars in a glob, each of which is tried at every length."""
DEVICES = 200_000
"""Devices of a system."""
LINKS = 1_000_000
"""Links of a system."""
SHOWN = 300
"""Characters of what a person wrote that a message repeats."""
