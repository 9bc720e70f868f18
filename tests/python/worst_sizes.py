"""Inputs that are too large, too deep, too long or endless, and files that are no files."""

from __future__ import annotations

import os
from pathlib import Path

from worst_inputs import RUN, WORKLOAD, Bad, Make, example, instead, raw

LONG = "x" * 50_000
DIGITS = "9" * 5_000
MEDIA = "{kind: fixed, latency: 45ns}"


def fifo(name: str = "bad.yaml") -> Make:
    """Makes a pipe that nobody writes to."""
    return lambda folder: os.mkfifo(folder / name)


def sparse(size: int, name: str = "bad.yaml") -> Make:
    """Makes a file of zeros that takes no room."""

    def make(folder: Path) -> None:
        with (folder / name).open("wb") as file:
            file.truncate(size)

    return make


def bomb(first: str, level: str) -> Make:
    """Makes nine levels of aliases, each of nine of the level below."""
    above = [f"a{n}: &a{n} " + level.replace("ALL", ", ".join([f"*a{n - 1}"] * 9)) for n in range(1, 10)]
    return raw("\n".join([f"a0: &a0 {first}", *above]) + "\n")


def chained(levels: int) -> Make:
    """Makes lists that are flat as written, and deep once the aliases are followed."""
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, levels))]
    return raw("\n".join(lines) + "\n")


def indented(levels: int) -> str:
    """Maps inside of each other, a line each."""
    return "".join(" " * n + "a:\n" for n in range(levels))


def devices(names: str) -> Make:
    """Makes a spec with other memories."""
    return raw(f'devices:\n  host: {{kind: host}}\n  ? "{names}"\n  : {{kind: memory, capacity: 1GiB}}\n')


def linked(a: str, b: str) -> Make:
    """Makes a spec of two large groups and links from each to each."""
    groups = "".join(f'"{name}[0-99999]": {{kind: memory, capacity: 1GiB}}, ' for name in "ab")
    return raw(f"devices: {{{groups}}}\nlinks: [{{between: [{a}, {b}]}}]\n")


def generated(topology: str) -> Make:
    """Makes a spec of a topology."""
    return raw(f"topology: {{{topology}}}\n")


def setting(text: str) -> tuple[str, ...]:
    """A run with one more override."""
    return (*RUN, "--set", text)


FILES = [
    Bad("endless file", "a device, not a file", command=("run", "/dev/zero")),
    Bad("empty device", "a device, not a file", command=("check", "/dev/null")),
    Bad("a pipe that nobody writes to", "a pipe that nobody writes to", fifo(), apart=True),
    Bad(
        "a file of a terabyte",
        ("too large", "1,099,511,627,776 bytes", "at most 16,777,216 bytes"),
        sparse(1 << 40),
    ),
    Bad("a file that reads as an error", "cannot be read", command=("check", "/proc/self/mem")),
    Bad("preset of a device", "no such file", raw("preset: /dev/zero.yaml\n"), line=1),
    *(
        Bad(f"trace from {what}", says, instead(WORKLOAD, f"trace: {path}"))
        for what, path, says in [
            ("an endless file", "/dev/zero", "not a file"),
            ("an empty device", "/dev/null", "not a file"),
            ("a directory", "/tmp", "a directory"),
        ]
    ),
    *(
        Bad(
            f"curve from {what}",
            says,
            instead(MEDIA, f"{{kind: curve, file: {path}}}"),
        )
        for what, path, says in [
            ("an endless file", "/dev/zero", "not a file"),
            ("an empty device", "/dev/null", "not a file"),
            ("a directory", "/tmp", "not a file"),
        ]
    ),
]

PLUGINS = [
    Bad(f"plug-in from {what}", says, make, ("components", "--plugin", "plugin.so"))
    for what, says, make in [
        ("a directory", "a directory, not a file", lambda folder: (folder / "plugin.so").mkdir()),
        ("a text", "not a shared library", raw("text\n", "plugin.so")),
        ("an empty file", "an empty file", raw("", "plugin.so")),
        ("a terabyte of zeros", "not a shared library", sparse(1 << 40, "plugin.so")),
        ("a pipe", "not a regular file", fifo("plugin.so")),
        ("the start of a library", "the file is cut off", raw(b"\x7fELF", "plugin.so")),
    ]
]

NESTED = [
    Bad("nine levels of aliases", "aliases repeat too much", bomb("[x, x]", "[ALL]"), alone=True),
    Bad(
        "nine levels of aliases of maps", "aliases repeat too much", bomb("{x: 1}", "{b: [ALL]}"), alone=True
    ),
    Bad("nine levels of merged maps", "aliases repeat too much", bomb("{x: 1}", "{<<: [ALL]}"), alone=True),
    Bad("aliases 500 deep", "nested too deeply", chained(500), alone=True),
    Bad("lists 500 deep", "nested too deeply", raw("a: " + "[" * 500 + "]" * 500 + "\n"), line=1),
    Bad("lists 100,000 deep", "nested too deeply", raw("a: " + "[" * 100_000 + "\n"), line=1),
    Bad("maps 500 deep", "nested too deeply", raw("{a: " * 500 + "}" * 500 + "\n"), line=1),
    Bad("indented maps 500 deep", "nested too deeply", raw(indented(500)), line=64),
    Bad("lists 500 deep by --set", "nested too deeply", example, setting("name=" + "[" * 500)),
]

NUMBERS = [
    *(
        Bad(f"{name}", "too long", instead("capacity: 16GiB", f"capacity: {text}"))
        for name, text in [
            ("5000 digits", DIGITS),
            ("5000 negative digits", f"-{DIGITS}"),
            ("5000 hexadecimal digits", f"0x{DIGITS}"),
            ("5000 octal digits", "0o" + "7" * 5_000),
            ("5000 digits and a fraction", f"{DIGITS}.5"),
        ]
    ),
    Bad("5000 digits with a unit", "too large", instead("16GiB", f"{DIGITS}GiB")),
    Bad("a number beyond all", "capacity", instead("16GiB", "1e400")),
    Bad("not a number", "capacity", instead("16GiB", ".nan")),
    Bad("5000 digits by --set", "too long", example, setting(f"devices.host.queue={DIGITS}")),
    Bad("5000 digits as an index", "not a range", example, setting(f"links[{DIGITS}].delay=1ns")),
    Bad("4000 digits in a range", "not a range", devices(f"mem[0-{DIGITS[:4000]}]")),
    Bad("5000 digits as a seed", "too long", example, (*RUN, "--seed", DIGITS)),
]

TEXTS = [
    Bad("half of a character", "half of a character", raw('name: "\\ud800"\n'), line=1),
    Bad("half of a character as a key", "half of a character", raw('"\\udfff": 1\n'), line=1),
    Bad(
        "half of a character by --set",
        ("not YAML", "\\udc80"),
        example,
        setting("name=\udc80"),
        apart=True,
    ),
    Bad("long key", ("too long", "(50,000 characters)"), raw(f"? {LONG}\n: 1\n"), line=1),
    Bad("long key without its mark", "not YAML", raw(f"{LONG}: 1\n"), line=1),
    Bad("long name of a device", "too long", devices(LONG), line=3),
    Bad("long name by a range", "too long", devices("x" * 250 + "[1000000]")),
    Bad("long name in a link", "name is too long", instead("between: [host", f"between: [{LONG}")),
    Bad("long text", "too long", raw(f"name: {LONG}{LONG}\n"), line=1),
    Bad("long kind", "unknown", instead("kind: memory", f"kind: {LONG}")),
    Bad("long preset", "unknown preset 'xxx", raw(f"preset: {LONG}\n"), line=1),
    Bad("long path", "the path 'devices.xxx", example, setting(f"devices.{LONG}=1")),
    Bad("path of 50,000 steps", "not a path", example, setting("a." * 50_000 + "a=1")),
]


def unlinked(count: int) -> Make:
    """Makes a spec of memories that nothing leads to."""
    return raw(f"devices: {{host: {{kind: host}}, 'mem[0-{count - 1}]': {{kind: memory, capacity: 1GiB}}}}\n")


MANY = [
    Bad("20,000 memories without links", "no links lead from 'host' to this device", unlinked(20_000)),
    Bad("100,000 memories without links", "no links lead from 'host' to this device", unlinked(100_000)),
    Bad("a thousand million names", "too many names", devices("mem[0-999999999]"), line=3),
    Bad("a thousand million names by two ranges", "too many names", devices("mem[0-31999][0-31999]")),
    Bad("many ranges in brackets", "too many names", devices(f"mem[{','.join(['0-99999'] * 400)}]")),
    Bad("many brackets", "too many names", devices("m" + "[0-9]" * 50)),
    Bad("many stars", "too many stars", linked("a" + "*" * 60, "b0")),
    Bad("a large range in a glob", "too many numbers", linked('"[0-99999]*"', "b0")),
    Bad("ten thousand million links", "too many links", linked('"a[*]"', '"b[*]"')),
    Bad("every device with every other", "too many links", linked('"*"', '"*"')),
    Bad("two thousand million links", "too many links", generated("kind: fully-connected, switches: 65534")),
    Bad("a torus of four thousand million", "size", generated("kind: torus, size: [65535, 65535]")),
    Bad("a mesh beyond 64 bits", "size", generated("kind: mesh, size: [65535, 65535, 65535]")),
    Bad(
        "a spine of 65535 and as many leaves",
        "too many",
        generated("kind: spine-leaf, spines: 9999, leaves: 9998, devices_per_leaf: 1"),
    ),
]

SIZES = [*FILES, *PLUGINS, *NESTED, *NUMBERS, *TEXTS, *MANY]
