"""The worst inputs that anybody thought of, as a table: `test_worst_inputs` runs every row.

A row says how to make the input in an empty working directory, the command, its exit code, and words of the message,
whose first line gives the reason. Each must end within a second of processor time and a GiB of memory, and leave
nothing behind. The rows are grouped by what is wrong; a group that grows has a file of its own, `worst_*.py`, listed at
the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conftest import SPEC

Make = Callable[[Path], object]

RUN = ("run", "bad.yaml", "--out", "results")


def nothing(_folder: Path) -> None:
    """Makes no input."""


@dataclass(frozen=True)
class Bad:
    """One bad input."""

    name: str
    says: str | tuple[str, ...]
    """Words of the message."""
    make: Make = nothing
    """Makes the input in the working directory."""
    command: tuple[str, ...] = RUN
    """The arguments of `cxloom`."""
    code: int = 2
    line: int | None = None
    """The line of `bad.yaml` that the message names."""
    alone: bool = False
    """The message gives no other reason."""
    apart: bool = False
    """Run it in a process of its own: it is about the process, or might bring it down."""


def raw(content: bytes | str, name: str = "bad.yaml") -> Make:
    """Writes a file."""
    data = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(data)


def instead(old: str, new: str) -> Make:
    """Writes the example with something else in place of a part of it."""
    assert old in SPEC, old
    return raw(SPEC.replace(old, new, 1))


def example(folder: Path) -> None:
    """Writes the example, in which nothing is wrong."""
    (folder / "bad.yaml").write_text(SPEC)


WORKLOAD = "pattern: random, reads: 67%, requests: 2000, footprint: 1GiB"
"""What the requester of the example does."""


FILES = [
    Bad("no such file", "no such file"),
    Bad("empty", "the file is empty", raw("")),
    Bad("only a comment", "the file is empty", raw("# nothing\n")),
    Bad("program", "a binary file", raw(b"\x7fELF\0\0\0")),
    Bad("picture", "a binary file", raw(b"\x89PNG\r\n\x1a\n\0\0")),
    Bad("utf-16", "a binary file", raw("name: x\n".encode("utf-16"))),
    Bad("latin-1", "not UTF-8", raw(b"name: caf\xe9\n"), line=1),
    Bad("control character", "not YAML", raw(b"a: \x07\n"), line=1),
    Bad("a list", "not a spec", raw("- a\n"), line=1),
    Bad("just words", "not a spec", raw("just words\n"), line=1),
    Bad("no devices", "no devices", raw("name: x\n")),
    Bad("empty devices", "no devices", raw("devices: {}\n")),
    Bad("a list of devices", "not a map", raw("devices: [host]\n"), line=1),
    Bad("a directory", "a directory, not a file", lambda folder: (folder / "bad.yaml").mkdir()),
    Bad("a fifo's name that leads nowhere", "no such file", command=("run", "nowhere/bad.yaml")),
    Bad("a name with a null character", "a name with a null character", command=("check", "a\0b")),
    Bad("a name too long", "cannot be read", command=("check", "x" * 5000)),
    Bad("a link to itself", "cannot be read", lambda folder: (folder / "bad.yaml").symlink_to("bad.yaml")),
    Bad("a misspelt preset", "no such file, and no preset", command=("run", "esf/validatoin")),
]

OPTIONS = [
    Bad("misspelt path", "matches nothing", example, (*RUN, "--set", "devices.hsot.queue=1")),
    Bad(
        "zero by --set",
        ("devices.host.queue", "at least 1", "from --set devices.host.queue=0"),
        example,
        (*RUN, "--set", "devices.host.queue=0"),
    ),
    *(
        Bad(
            f"--until {condition}",
            ("run.until.ci: out of bounds", f"from --until {condition}", "more than 0 %, at most 100 %"),
            example,
            (*RUN, "--until", condition),
        )
        for condition in ("ci=-1%", "ci=0%", "ci=0", "ci=101%")
    ),
    Bad(
        "a base by --set that is too high",
        ("workload.host.base", "(from --set workload.host.base=64GiB)", "runs out of the address map"),
        example,
        (*RUN, "--set", "workload.host.base=64GiB"),
    ),
    Bad(
        "a base by --set that is a little too high",
        ("workload.host.base", "(from --set workload.host.base=65024MiB)", "runs out of the address map"),
        example,
        (*RUN, "--set", "workload.host.base=65024MiB"),
    ),
    Bad(
        "what --set leaves without effect together with the file",
        ("links[0].turnaround", "has no turnaround", "(from --set links[0].duplex=full)"),
        instead("port_delay: 25ns", "turnaround: 1ns, duplex: half"),
        (*RUN, "--set", "links[0].duplex=full"),
    ),
    Bad("--plugin without a name", "no plug-in is named", example, (*RUN, "--plugin", "")),
    Bad("--set without value", "not an override", example, (*RUN, "--set", "devices.host.queue")),
    Bad("--set of bad YAML", "not YAML", example, (*RUN, "--set", "devices.host.queue={")),
    Bad("--set of no path", "not an override", example, (*RUN, "--set", "=1")),
    Bad("negative seed", "a negative number", example, (*RUN, "--seed", "-1")),
    Bad(
        "seed that is a word",
        ("run.seed", "not a whole number", "'soon'", "from --seed soon"),
        example,
        (*RUN, "--seed", "soon"),
    ),
    Bad("time without unit", "the unit is missing", example, (*RUN, "--max-time", "5")),
    Bad("time that is a word", "not a quantity", example, (*RUN, "--max-time", "soon")),
    Bad("no such plug-in", "cannot be loaded", example, (*RUN, "--plugin", "nowhere.so"), apart=True),
    Bad("unknown option", "no such option: --threds", example, (*RUN, "--threds", "2")),
    Bad("unknown command", "no such command 'rnu'", command=("rnu",)),
    Bad("no spec", "missing argument 'SPEC'", command=("run",)),
    Bad("unknown kind", "unknown kind 'memroy'", command=("components", "memroy")),
    Bad("unknown study", "unknown study 'esf/topologeis'", command=("study", "run", "esf/topologeis")),
    Bad("no processes", "not a whole number from 1 on", command=("study", "run", "x", "--jobs", "0")),
    Bad("processes by a word", "not a whole number", command=("study", "run", "x", "--jobs", "many")),
    Bad("a study without a file", "unknown study ''", command=("study", "run", "")),
    Bad("study without points", "'system' is missing", raw("title: x\n"), ("study", "run", "bad.yaml")),
]

OUTPUTS = [
    Bad("--out is nothing", "the name of the directory is empty", example, ("run", "bad.yaml", "--out", "")),
    Bad("--out of a demo is nothing", "name of the directory is empty", command=("demo", "--out", "")),
    Bad(
        "--out of a study is nothing",
        "the name of the directory is empty",
        command=("study", "run", "esf/topologies", "--out", ""),
    ),
    Bad("a spec without a name", "no file is named", command=("run", "")),
    Bad("--out is a file", "not a directory", example, ("run", "bad.yaml", "--out", "bad.yaml")),
    Bad("--out below a file", "cannot be written", example, ("run", "bad.yaml", "--out", "bad.yaml/below")),
    Bad("--out in /proc", "cannot be written", example, ("run", "bad.yaml", "--out", "/proc/cxloom")),
    Bad(
        "--out over the spec itself",
        "holds a file 'spec.yaml'",
        raw(SPEC, "spec.yaml"),
        ("run", "spec.yaml", "--out", "."),
    ),
]


def table() -> list[Bad]:
    """All rows."""
    from worst_qos import QOS
    from worst_sizes import SIZES
    from worst_specs import SPECS
    from worst_traces import TRACES

    return [*FILES, *OPTIONS, *OUTPUTS, *QOS, *SIZES, *SPECS, *TRACES]
