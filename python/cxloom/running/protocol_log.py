"""The log of a protocol: every message that a device acts on, with the states of its line before and after.

``cxloom run --log`` and ``cxloom.run(log=...)`` say what is wanted in the same words. Rows leave memory as they come:
for standard error, a file of text, a Parquet file, or a table of the results.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from cxloom import _core
from cxloom.base.errors import InputError, reason_of
from cxloom.base.filenames import file_name
from cxloom.base.temporary import TemporaryFile, abandoned, remove
from cxloom.display.console import messages
from cxloom.results.outdir import NAMES, OutputDirectory
from cxloom.results.records import PARTS, Coded, Columns, FileSink, ParquetSink, Sink
from cxloom.spec.names import nearest

TEXT_FILES = (".txt", ".log")
TABLE_FILES = (".parquet",)
ALLOWED = (
    "protocol, protocol=FILE, or address=0x1000 for the messages of one line; more than one of them together"
)

_SNOOP_TYPES = ["NoOp", "SnpData", "SnpCur", "SnpInv"]
_META_VALUES = ["invalid", "any", "shared"]
_LARGEST = (1 << 64) - 1


class LogRequest(NamedTuple):
    """The messages to be logged, and where to."""

    plain: bool
    """Where no file is named: on standard error, or among the results."""
    files: tuple[Path, ...] = ()
    addresses: tuple[int, ...] = ()
    """Only the lines that hold these addresses; none: all lines."""
    option: str = "--log"
    """What errors call it."""

    @classmethod
    def parse(cls, given: object, option: str = "--log") -> Self | None:
        """What texts such as "protocol=run.txt" ask for; None if there are none. Raises InputError."""
        texts = [given] if isinstance(given, str) else [] if given is None else given
        if not isinstance(texts, (list, tuple)):
            raise InputError(
                "not a text, or a list of texts", found=repr(given), allowed=ALLOWED, path=option
            )
        plain, files, addresses = False, dict[Path, Path](), list[int]()
        for text in texts:
            key, equals, value = text.partition("=") if isinstance(text, str) else (repr(text), "", "")
            if key == "protocol" and not equals:
                plain = True
            elif key == "protocol":
                file = _file(value, f"{option} protocol")
                files[Path(os.path.realpath(file))] = file
            elif key == "address" and equals:
                addresses.append(_address(value, f"{option} address"))
            else:
                near = "" if key == "address" else nearest(key, ["protocol", "address"])
                raise InputError(
                    "there is no such log", found=str(text), allowed=ALLOWED, suggestion=near, path=option
                )
        if not texts:
            return None
        return cls(plain or not files, tuple(files.values()), tuple(addresses), option)


class ProtocolLog:
    """The log of a run, and the files that it is written to. As a context: leaving it without `commit` removes them."""

    def __init__(
        self,
        request: LogRequest,
        simulation: _core.Simulation,
        directory: OutputDirectory | None = None,
        shown: bool = False,
    ) -> None:
        """Begins to log: without a file to standard error if `shown`, otherwise into a table of the results.

        Raises InputError for an address that there is not, or a file that cannot be written.
        """
        self.is_table = request.plain and not shown
        self._option = request.option
        self._names = _Names(simulation)
        self._sinks: list[Sink] = []
        self._files: list[tuple[Path, TemporaryFile, ParquetSink | TextSink]] = []
        try:
            simulation.log_protocol(request.addresses)
        except InputError as error:
            error.path = f"{request.option} address"
            raise
        if request.plain and shown:
            self._sinks.append(ConsoleSink(self._names))
        try:
            for path in request.files:
                self._open(path, directory)
        except BaseException:
            self.discard()
            raise

    @classmethod
    def optional(
        cls,
        request: LogRequest | None,
        simulation: _core.Simulation,
        directory: OutputDirectory | None = None,
        shown: bool = False,
    ) -> Self | contextlib.nullcontext[None]:
        """The log if one is asked for, otherwise nothing; either can be entered."""
        return contextlib.nullcontext() if request is None else cls(request, simulation, directory, shown)

    def take(self, simulation: _core.Simulation) -> Columns:
        """Writes the messages since the last time, and gives them as the rows of a table."""
        raw, states = simulation.take_protocol()
        columns = _columns(raw, states, self._names)
        for sink in self._sinks:
            sink.add(columns)
        return columns

    def close(self) -> None:
        """There are no more messages."""
        for sink in self._sinks:
            sink.close()

    def commit(self) -> None:
        """Gives the files their names. Raises InputError for what could not be written, and removes it."""
        failed = None
        while self._files:
            path, temporary, sink = self._files.pop(0)
            failure = sink.failure
            if failure is None:
                try:
                    temporary.commit()
                    continue
                except OSError as error:
                    failure = error
            temporary.discard()
            failed = failed or self._unwritable(path, failure)
        if failed is not None:
            raise failed

    def discard(self) -> None:
        """Removes the files that have no name yet."""
        for sink in self._sinks:
            sink.abandon()
        for _, temporary, _ in self._files:
            temporary.discard()
        self._files = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def _open(self, path: Path, directory: OutputDirectory | None) -> None:
        if directory is not None and path.name in NAMES and path.parent.resolve() == directory.path.resolve():
            raise InputError(
                "the results have a file of this name",
                found=f"{path}",
                allowed="another name; without one the log is protocol.parquet among the results",
                path=f"{self._option} protocol",
            )
        try:
            if path.exists() and not path.is_file():
                raise InputError(
                    "not a regular file",
                    allowed="the name of a file to write",
                    file=path,
                    path=f"{self._option} protocol",
                )
            left = abandoned(path.parent, [path.name])
            temporary = TemporaryFile(path.parent, path.name)
        except OSError as error:
            raise self._unwritable(path, error) from None
        remove(left)
        is_table = path.suffix.lower() in TABLE_FILES
        sink = ParquetSink(temporary.path, {}) if is_table else TextSink(temporary.path, self._names)
        self._files.append((path, temporary, sink))
        self._sinks.append(sink)

    def _unwritable(self, path: Path, error: OSError) -> InputError:
        reason = f"the log cannot be written: {reason_of(error)}"
        return InputError(reason, file=path, path=f"{self._option} protocol")


class _Names:
    """What the numbers in the columns stand for."""

    def __init__(self, simulation: _core.Simulation) -> None:
        self.nodes = simulation.node_names()
        self.pbr_ids = simulation.pbr_ids()
        self.opcodes = simulation.opcode_names()
        self.widest_node = max(map(len, self.nodes), default=0)


def _columns(raw: _core.Columns, states: Sequence[str], names: _Names) -> Columns:
    """The columns with gaps where there is nothing to say."""
    import numpy as np  # a run without a log needs none of it

    def gaps(name: str, none: int) -> Any:
        column = raw[name]
        return np.ma.MaskedArray(np.where(column == none, 0, column), mask=column == none)

    def identity(nodes: str) -> Any:
        ids = np.asarray(names.pbr_ids, dtype=np.int16)[raw[nodes]]
        return np.ma.MaskedArray(np.where(ids < 0, 0, ids).astype(np.uint16), mask=ids < 0)

    no_address = raw["lines"] == 0
    return {
        "time_ps": raw["time_ps"],
        "sent_ps": gaps("sent_ps", -1),
        "source": Coded(raw["source"], names.nodes),
        "destination": Coded(raw["destination"], names.nodes),
        "requester": Coded(raw["requester"], names.nodes),
        "spid": identity("source"),
        "dpid": identity("destination"),
        "opcode": Coded(raw["opcode"], names.opcodes),
        "address": np.ma.MaskedArray(raw["address"], mask=no_address),
        "lines": np.ma.MaskedArray(raw["lines"], mask=no_address),
        "payload": raw["payload"],
        "ld": gaps("ld", 0xFF),
        "snp": Coded(gaps("snp", 0xFF), _SNOOP_TYPES),
        "meta": Coded(gaps("meta", 0xFF), _META_VALUES),
        "failed": raw["failed"].view(np.bool_),
        "part": Coded(raw["part"], PARTS),
        "before": Coded(gaps("before", 0), states),
        "after": Coded(gaps("after", 0), states),
    }


class _Row(NamedTuple):
    """A message as people read it."""

    time: str
    source: str
    destination: str
    opcode: str
    address: str
    before: str
    after: str
    failed: bool


_READ = [
    *("time_ps", "source", "destination", "opcode", "address", "lines", "ld", "snp"),
    *("before", "after", "failed"),
]


def _rows(columns: Columns) -> Iterator[_Row]:
    given = [columns[name].tolist() for name in _READ]
    for row in zip(*given, strict=True):
        time, source, destination, opcode, address, lines, ld, snp, before, after, failed = row
        if (
            snp is not None and snp != "NoOp" and opcode in ("MemRd", "MemWr")
        ):  # the others say it by their name
            opcode = f"{opcode} {snp}"
        if lines is not None and lines > 1:
            opcode = f"{opcode} x{lines}"
        if ld is not None:
            opcode = f"{opcode} ld {ld}"
        yield _Row(
            f"{time // 1000:8}.{time % 1000:03} ns",
            source,
            destination,
            opcode,
            "" if address is None else f"0x{address:010x}",
            before or "",
            after or "",
            failed,
        )


def _parts(row: _Row, width: int) -> Iterator[tuple[str, str]]:
    """The texts of a line one behind the other, and the style of each."""
    yield row.time, "dim"
    yield f"  {row.source:{width}}", "bold"
    yield " -> ", "dim"
    yield f"{row.destination:{width}}", "bold"
    yield f"  {row.opcode:17}", _style(row.opcode)
    yield f"  {row.address:12}", "dim"
    if row.before or row.after:
        yield f"  {row.before} -> ", "dim"
        yield row.after, "bold"
    if row.failed:
        yield "  failed", "bold red"


def _style(opcode: str) -> str:
    """Snoops and what belongs to them, answers, requests."""
    if opcode.startswith(("BI", "Snp", "Rsp")):
        return "yellow"
    if opcode.startswith(("MemData", "Cmp", "GO", "WritePull", "D2H", "H2D", "CplD")):
        return "green"
    return "cyan"


def _lines(columns: Columns, names: _Names) -> str:
    """A line for each message, as plain text."""
    width = names.widest_node
    return "".join("".join(text for text, _ in _parts(row, width)).rstrip() + "\n" for row in _rows(columns))


class ConsoleSink:
    """Prints the messages on standard error: in colour on a terminal, as plain text elsewhere."""

    def __init__(self, names: _Names) -> None:
        self._names = names
        self._console = messages()

    def add(self, columns: Columns) -> None:
        """Prints the next messages."""
        if not self._console.is_terminal:
            self._console.file.write(_lines(columns, self._names))
            self._console.file.flush()
            return
        from rich.text import Text

        lines = [Text.assemble(*_parts(row, self._names.widest_node)) for row in _rows(columns)]
        if lines:
            self._console.print(Text("\n").join(lines))

    def close(self) -> None:
        """Nothing is left to do."""

    def abandon(self) -> None:
        """Nothing is left to do."""


class TextSink(FileSink):
    """Writes the messages to a file of text."""

    def __init__(self, path: Path, names: _Names) -> None:
        self._names = names
        self._file = path.open("w", encoding="utf-8", newline="")

    def add(self, columns: Columns) -> None:
        """Writes the next messages."""
        if self.failure is None:
            with self._failing():
                self._file.write(_lines(columns, self._names))

    def close(self) -> None:
        """Ends the file."""
        if self.failure is None:
            with self._failing():
                self._file.close()

    def abandon(self) -> None:
        """Ends the file without what waits; the caller removes it."""
        with contextlib.suppress(OSError):
            os.truncate(self._file.name, 0)
        with contextlib.suppress(OSError):
            self._file.close()


def _file(name: str, path: str) -> Path:
    allowed = f"a file that ends in {', '.join(TEXT_FILES)} (text) or {', '.join(TABLE_FILES)} (a table)"
    file = Path(file_name(name, allowed, path))
    if file.suffix.lower() not in TEXT_FILES + TABLE_FILES:
        raise InputError(
            "the name of the file does not say what to write", found=f"'{name}'", allowed=allowed, path=path
        )
    return file


def _address(text: str, path: str) -> int:
    number = -1
    if re.fullmatch("0[xX][0-9a-fA-F]{1,40}", text):
        number = int(text, 16)
    elif re.fullmatch("[0-9]{1,40}", text):
        number = int(text)
    if not 0 <= number <= _LARGEST:
        raise InputError(
            "not an address",
            found=f"'{text}'",
            allowed="a number of bytes below 2^64, such as 0x1000 or 4096",
            path=path,
        )
    return number
