"""A program on a booted machine as a point of a study: its values set, ready to be carried out in whatever process."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from cxloom.base.errors import AbsentError, InputError, SimulationError
from cxloom.booting.balancing import Balancing
from cxloom.booting.booted import BootedMachine, booted
from cxloom.booting.compiled import compiled
from cxloom.booting.firmware import firmware_of
from cxloom.booting.folder import find_set_up
from cxloom.booting.linux import MODES, check_mode
from cxloom.booting.machine import Machine
from cxloom.booting.performance import measured
from cxloom.booting.places import check_has_ram
from cxloom.booting.policy import KINDS, Policy
from cxloom.booting.program import Program
from cxloom.booting.reported import check_built
from cxloom.booting.room import room_of
from cxloom.booting.system import bare, machine_of_system
from cxloom.booting.timed import AS_IT_IS, NEAR, MachineResult, TimedProgram, timed_program
from cxloom.execution.processor import Processor
from cxloom.execution.sampling import Sampling
from cxloom.results.caveats import error_sentence
from cxloom.spec import paths
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Node, described
from cxloom.spec.override import Override
from cxloom.spec.reader import read_file
from cxloom.spec.resolve import Template
from cxloom.spec.resolved import Resolved
from cxloom.system.simulation import build
from cxloom.system.system import System

KEYS = (
    "system",
    "program",
    "arguments",
    "files",
    "host",
    "local",
    "processors",
    "mode",
    *KINDS,
    "room",
    "tiering",
    "scan-periods",
    "large-pages",
    "roi",
    "core",
    "exact",
)
"""What is booted and run: names of options of ``cxloom boot``, the system, the program (one on this computer, or a C
source beside the file), its arguments."""

Value = TypeVar("Value")

_PASSED_ON = ("PATH", "LD_LIBRARY_PATH")
_SOURCE = ".c"


@dataclass(frozen=True)
class BootRun:
    """A run that nothing more is set in."""

    root: Node
    """Its keys, without the system."""
    resolved: Resolved

    @property
    def threads(self) -> int:
        """How many processors of this computer have work at a time: the simulation, and each of the guest's."""
        return 1 + self._processors()

    def plain(self) -> dict[str, Any]:
        """Its keys as plain data."""
        return {key: node.plain() for key, node in self.root.map().items()} | {
            "system": self.resolved.plain()
        }

    def digest(self) -> str:
        """A digest of all that decides what comes out: of files that are named what is in them, and of the set-up its
        versions, if there is one."""
        whole: dict[str, Any] = {"kind": "boot", "values": self.plain(), "system": self.resolved.digest()}
        whole["files"] = [
            hashlib.sha256(each.read_bytes()).hexdigest() if each.is_file() else str(each)
            for each in self._named()
        ]
        with contextlib.suppress(AbsentError):
            found = find_set_up()
            whole["set-up"] = [found.kernel_version, *found.qemu.version]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()

    def checked(self) -> dict[str, Any]:
        """What it would report, as far as that is known before a boot. Raises InputError for what is wrong in it, and
        AbsentError for what it needs and this computer has not."""
        find_set_up()
        check_built()
        with tempfile.TemporaryDirectory() as folder:
            self._program(Path(folder))
        with self._placing():
            machine = self._machine()
            self._policy(machine)
            self._balancing()
            self._exact()
            room_of(self._text("room"), machine)
        with self._placing(), self._timed(machine):
            work = {machine.host: {"pattern": "random", "requests": 1}}
            idle = System.from_yaml(json.dumps(bare(self.resolved).plain() | {"workload": work}))
            return {**build(idle.resolve()).summary(), **_SHAPE}

    def carried_out(self) -> dict[str, Any]:
        """What it finds, with its cost. Raises InputError for what is wrong in it, and SimulationError if the guest or
        the program does not end well."""
        before = _cpu_seconds()
        summary = _summary_of(self._run())
        seconds = _cpu_seconds() - before  # of this point: a process may carry out several
        memory = max(each.ru_maxrss for each in _used()) * 1024
        return {**summary, "cost": {"cpu_seconds": round(seconds, 6), "peak_memory_bytes": memory}}

    def _run(self) -> MachineResult:
        with contextlib.ExitStack() as ends:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
            command, program = self._program(folder)
            machine = self._machine()
            policy = self._policy(machine)
            balancing = self._balancing()
            played = ends.enter_context(self._timed(machine))
            firmware = firmware_of(machine, measured(self.resolved, machine))
            guest = ends.enter_context(
                booted(machine, find_set_up(), self._mode(), firmware, reporting=played.reporting)
            )
            guest.balance(balancing)
            guest.leave(room_of(self._text("room"), machine))
            said = ends.enter_context(tempfile.TemporaryFile())
            nothing = os.open(os.devnull, os.O_RDONLY)
            ends.callback(os.close, nothing)
            found = played.run(
                guest,
                program,
                command,
                {name: os.environ[name] for name in _PASSED_ON if name in os.environ},
                policy,
                region=self._text("roi"),
                sampling=None if self._exact() else Sampling(),
                streams=(nothing, said.fileno(), said.fileno()),
            )
            _check_end(found, said.fileno(), guest)
            return found

    @contextlib.contextmanager
    def _placing(self) -> Iterator[None]:
        """What is wrong with an option is said at its key in the file."""
        try:
            yield
        except InputError as error:
            node = self.root.get(error.path.removeprefix("--"))
            raise (
                error
                if node is None or error.file
                else node.place.error(
                    error.problem, found=error.found, allowed=error.allowed, suggestion=error.suggestion
                )
            ) from None

    def _value(self, key: str, default: Value, kinds: tuple[type[Value], ...], allowed: str) -> Value:
        """What a key has that is a value of one of these kinds. Raises InputError for another."""
        node = self.root.get(key)
        if node is None or node.value is None:
            return default
        if type(node.value) not in kinds:  # True is no number
            raise node.place.error(f"not {allowed}", found=described(node.value), allowed=allowed)
        return cast(Value, node.value)

    def _text(self, key: str) -> str | None:
        node = self.root.get(key)
        return None if node is None or node.value is None else node.text()

    def _path(self, node: Node) -> Path:
        """What a word of the file names: a file beside it, or else a program of this computer."""
        word, place = node.text(), node.place
        beside = Path(node.origin.folder, word)
        if beside.exists():
            return beside
        if os.sep in word or beside.suffix == _SOURCE:
            raise place.error("no such file", found=str(beside), allowed="a program, or a C source")
        found = shutil.which(word)
        if found is None:
            allowed = "one that is installed, from Debian's packages for example"
            raise AbsentError(
                f"there is no program '{word}' here",
                allowed=allowed,
                path=place.path,
                file=place.file,
                line=place.line,
            )
        return Path(found)

    def _named(self) -> list[Path]:
        program, files = self.root.get("program"), self.root.get("files")
        if program is None:
            raise self.root.place.error(
                "'program' is missing", allowed="a program, or a C source beside the file"
            )
        return [self._path(each) for each in (program, *(() if files is None else files.list()))]

    def _program(self, folder: Path) -> tuple[list[str], Program]:
        """The command, and the program with what it needs; a source is compiled in the folder."""
        first, *files = self._named()
        program = compiled(first, folder) if first.suffix == _SOURCE else first
        given = self.root.get("arguments")
        arguments = [] if given is None or given.value is None else [each.plain() for each in given.list()]
        command = [str(program), *map(str, arguments)]
        return command, Program(command, files)

    def _machine(self) -> Machine:
        local = self._text("local")
        names = None if local is None else [name.strip() for name in local.split(",")]
        machine = machine_of_system(self.resolved, self._text("host"), names, self._processors())
        check_has_ram(machine)
        check_mode(self._mode(), machine)
        return machine

    def _processors(self) -> int:
        return self._value("processors", 1, (int,), "a whole number")

    def _mode(self) -> str:
        return self._text("mode") or MODES[0]

    def _policy(self, machine: Machine) -> Policy | None:
        policy = Policy.parse({kind: self._text(kind) for kind in KINDS})
        if policy is not None:
            policy.check(machine, self._mode())
        return policy

    def _exact(self) -> bool:
        return self._value("exact", False, (bool,), "true or false")

    def _balancing(self) -> Balancing:
        periods = float(self._value("scan-periods", 1.0, (int, float), "a number"))
        balancing = Balancing(self._text("tiering"), periods, self._text("large-pages"))
        balancing.check(self._mode())
        return balancing

    @contextlib.contextmanager
    def _timed(self, machine: Machine) -> Iterator[TimedProgram]:
        system = System.from_yaml(json.dumps(self.resolved.plain()))
        core = self._text("core")
        processor = None if core is None else Processor.load(core)
        with timed_program(
            [system, system],
            machine.host,
            [NEAR, AS_IT_IS],
            processor,
            self._text("roi"),
            machine.processors,
        ) as timed:
            yield timed


_SHAPE: dict[str, Any] = {
    "time_ns": None,
    "near_ns": None,
    "slowdown": None,
    "instructions": None,
    "accesses": None,
    "instructions_per_cycle": None,
    "time_parts": {},
    "core": {},
    "tlb": {},
    "kernel": {"instructions": None, "accesses": None, "time_ns": None, "processors": {}, "counters": {}},
    "register_accesses": None,
    "processes": {},
}
"""What a run says besides the summary of its system; maps are filled as it goes on."""


def _used() -> list[resource.struct_rusage]:
    """What this process has used, and those that it has waited for, such as emulators."""
    return [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


def _cpu_seconds() -> float:
    return sum(each.ru_utime + each.ru_stime for each in _used())


def _summary_of(found: MachineResult) -> dict[str, Any]:
    near, run = found.result.executions
    wrong = error_sentence(run.summary)
    if wrong is not None:
        raise SimulationError(f"the program cannot run on the system: {wrong}")
    plain = found.to_dict()
    last = {
        key: value
        for key, value in plain["systems"][-1].items()
        if key not in ("system", "placement", "threads")
    }
    return {
        **last,
        "near_ns": near.time_ns,
        "instructions": found.result.instructions,
        "accesses": found.result.accesses,
        "core": dict(run.core),
        "tlb": plain.get("tlb", {}),
        "kernel": {
            **{key: value for key, value in plain["kernel"].items() if key != "times_ns"},
            "time_ns": sum(found.kernel_ns[-1:]),
        },
        "register_accesses": found.register_accesses,
        "processes": _by_name(found),
    }


def _by_name(found: MachineResult) -> dict[str, dict[str, float]]:
    """Instructions, accesses and time of all processes of a name."""
    by_name: dict[str, dict[str, float]] = {}
    for each in found.processes:
        counts = by_name.setdefault(each.name, {"instructions": 0, "accesses": 0, "time_ns": 0.0})
        counts["time_ns"] += sum(each.times_ns[-1:])
        counts["instructions"] += each.instructions
        counts["accesses"] += each.accesses
    return by_name


def _check_end(found: MachineResult, said: int, guest: BootedMachine) -> None:
    """Raises SimulationError for a program that has not ended well, with the reason or its last words."""
    ended = found.result.ended
    if ended is not None and ended.command_code != 0:
        size = os.fstat(said).st_size
        lines = os.pread(said, size, 0).decode(errors="replace").strip().splitlines()
        why = guest.killed(ended.command_code) or (lines[-1] if lines else "")
        raise SimulationError(
            f"the program ended with exit code {ended.command_code}{f': {why}' if why else ''}"
        )


class BootTemplate:
    """A run that is resolved again and again, each time with other values.

    Args:
        top: its tree as read.
        overrides: values that are set every time, before those of `resolve`. A path that begins with none of `KEYS` is
            one of the system.
    """

    def __init__(self, top: Node, overrides: Sequence[Override] = ()) -> None:
        for key, node in top.map().items():
            if key not in KEYS:
                raise (node.key or node.place).error(
                    f"unknown key '{key}'", allowed=listed(KEYS), suggestion=nearest(key, KEYS)
                )
        written = top.get("system")
        if written is None:
            raise top.place.error("'system' is missing", allowed="a spec, or the file of one")
        system = written
        if isinstance(written.value, str):
            system = read_file(os.path.join(written.origin.folder, written.value))
        own, of_system = _split(overrides)
        self._template = Template(system, of_system)
        self._top = top.with_entries({key: node for key, node in top.map().items() if key != "system"})
        self._own = own

    def resolve(self, overrides: Sequence[Override] = ()) -> BootRun:
        """The run under these values. Raises InputError."""
        own, of_system = _split(overrides)
        root = self._top
        for override in [*self._own, *own]:
            root = paths.assign(root, tuple(override.path.split(".")), override.value)
        return BootRun(root, self._template.resolve(of_system))


def _split(overrides: Sequence[Override]) -> tuple[list[Override], list[Override]]:
    """The values of a run, and those of its system."""
    own = [each for each in overrides if each.path in KEYS and each.path != "system"]
    others = [each for each in overrides if each not in own]
    return own, [each._replace(path=each.path.removeprefix("system.")) for each in others]
