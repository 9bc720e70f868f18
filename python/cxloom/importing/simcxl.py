"""Reads scripts of SimCXL and CXL-DMSim: Python that makes a board of gem5 with CXL memory, ``x86-cxl-*.py``.

A script is read and never run. It is followed as far as it says what the board is made of: arguments with their
defaults, constants, comparisons, and calls by their names. What it does besides, such as booting a kernel, is passed
over. The board itself, ``x86_board.py``, may be given, too; otherwise its numbers are those of the sources (5908b58).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cxloom.base.errors import InputError
from cxloom.spec.names import listed, nearest


class _Unknown:
    """A value that only a run of the script would tell."""

    def __repr__(self) -> str:
        return "what only a run of the script would tell"


UNKNOWN = _Unknown()


@dataclass
class Made:
    """What a call makes: the name of the class or function, and its arguments as far as they are known."""

    name: str
    given: dict[str, Any]
    arguments: list[Any] = field(default_factory=list)
    """The arguments without a name."""
    line: int | None = None

    def refuse_unnamed(self, file: str) -> None:
        """Raises InputError for arguments without a name: what they are is not in the script."""
        if self.arguments:
            raise InputError(
                f"arguments of {self.name} without names", found=", ".join(map(_short, self.arguments)),
                allowed=f"{self.name}(name=value, ...)", file=file, line=self.line,
            )  # fmt: skip


def _short(value: Any) -> str:
    return value.name if isinstance(value, Made) else repr(value)


@dataclass
class Argument:
    """An argument of the script's command line."""

    default: Any
    integer: bool
    choices: list[Any] | None


@dataclass
class Board:
    """What a script and its board say of a system, by the names that they use."""

    file: str
    parts: dict[str, Any]
    """What the board is made of, by the names of its own parameters."""
    arguments: dict[str, Any]
    """The arguments of the command line, as given or by default."""
    bridge: dict[str, Any] = field(
        default_factory=lambda: {
            "bridge_lat": "50ns",
            "proto_proc_lat": "12ns",
            "req_fifo_depth": 128,
            "resp_fifo_depth": 128,
        }
    )
    devices: dict[bool, dict[str, Any]] = field(
        default_factory=lambda: {
            True: {"proto_proc_lat": "15ns", "req_size": 48, "rsp_size": 48},
            False: {"proto_proc_lat": "60ns", "req_size": 36, "rsp_size": 36},
        }
    )
    """The CXL device, of an ASIC and of an FPGA."""
    notes: list[str] = field(default_factory=list)


def read_simcxl(text: str, file: str, given: Mapping[str, str]) -> Board:
    """Reads a script with these arguments of its command line. Raises InputError, with the line, for one that makes no
    board with CXL memory, or one that only a run would tell."""
    follow = _Follow(file, dict(given))
    follow.all(_parsed(text, file).body)
    unknown = [name for name in given if name not in follow.arguments]
    if unknown:
        known = [*follow.arguments]
        raise InputError(
            f"the script has no argument --{unknown[0]}", allowed=listed(known) or "none",
            suggestion=nearest(unknown[0], known), path="--arg", file=file,
        )  # fmt: skip
    boards = [
        made for made in follow.values.values() if isinstance(made, Made) and "cxl_memory" in made.given
    ]
    if len(boards) != 1:
        raise InputError(
            "no board with CXL memory" if not boards else "several boards",
            allowed="a script with one X86Board(..., cxl_memory=...)",
            file=file,
        )
    (board,) = boards
    board.refuse_unnamed(file)
    return Board(file, board.given, follow.chosen, notes=follow.notes)


def read_board(text: str, file: str, board: Board) -> None:
    """Takes the numbers of bridge and device from ``x86_board.py``. Raises InputError if they are not there."""
    tree = _parsed(text, file)
    value = _Follow(file, {}).value
    bridges = [
        made for made in map(value, _calls(tree)) if isinstance(made, Made) and made.name == "CXLBridge"
    ]
    if len(bridges) != 1:
        raise InputError("no CXLBridge in this board", allowed="x86_board.py of SimCXL", file=file)
    board.bridge |= bridges[0].given
    found: dict[bool, dict[str, Any]] = {True: {}, False: {}}
    for branch in (node for node in ast.walk(tree) if isinstance(node, ast.If)):
        if isinstance(branch.test, ast.Attribute) and branch.test.attr.strip("_") == "is_asic":
            for asic, statements in ((True, branch.body), (False, branch.orelse)):
                found[asic] |= _device(statements, value)
    own = bool(board.parts.get("is_asic", True))
    if not found[own]:
        raise InputError(
            f"no numbers of the device of an {'ASIC' if own else 'FPGA'} in this board",
            allowed="if self._is_asic: and else:, with configCXL(...) or proto_proc_lat, req_size and rsp_size",
            file=file,
        )
    for asic, numbers in found.items():
        board.devices[asic] |= numbers


def _device(statements: Sequence[ast.stmt], value: Callable[[ast.expr], Any]) -> dict[str, Any]:
    """Numbers of the device that statements set: ``configCXL(Latency("15ns"), 48)``, or attributes."""
    found: dict[str, Any] = {}
    for statement in statements:
        for made in map(value, _calls(statement)):
            if isinstance(made, Made) and made.name == "configCXL":
                latency, size = (*made.arguments, None, None)[:2]
                found |= {"proto_proc_lat": latency, "req_size": size, "rsp_size": size}
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            name = statement.targets[0].attr
            if name in ("proto_proc_lat", "req_size", "rsp_size"):
                found[name] = value(statement.value)
    return found


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _parsed(text: str, file: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problem = getattr(error, "msg", None) or str(error)
        raise InputError(f"not Python: {problem}", file=file, line=getattr(error, "lineno", None)) from None


_NOTHING = (ast.Import, ast.ImportFrom, ast.Expr, ast.Pass)
"""Statements that make nothing of a board."""
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda one, many: one in many,
}


class _Follow:
    """Follows a script: its names, and what they stand for."""

    def __init__(self, file: str, given: dict[str, str]) -> None:
        self.file = file
        self.values: dict[str, Any] = {}
        self.arguments: dict[str, Argument] = {}
        self.chosen: dict[str, Any] = {}
        self.notes: list[str] = []
        self._given = given

    def all(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.Assign):
                self._assign(statement)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                self._argument(statement.value)
            elif isinstance(statement, ast.If):
                self._branch(statement)
            elif not isinstance(statement, _NOTHING):
                self._pass_over(statement)

    def _pass_over(self, statement: ast.stmt) -> None:
        """Says that a statement which may change the board is not followed."""
        first = ast.unparse(statement).partition("\n")[0]
        self.notes.append(f"Line {statement.lineno} is not followed: `{first}`.")

    def _assign(self, statement: ast.Assign) -> None:
        value = self.value(statement.value)
        if isinstance(value, Made) and value.name == "parse_args":
            self.chosen = {name: self._choose(name, each) for name, each in self.arguments.items()}
        for target in statement.targets:
            if isinstance(target, ast.Name):
                self.values[target.id] = value
            else:
                self._pass_over(statement)

    def _branch(self, statement: ast.If) -> None:
        test = self._test(statement.test)
        if test is UNKNOWN:
            if any(isinstance(node, ast.Assign) for node in ast.walk(statement)):
                raise InputError(
                    "only a run of the script would tell which way it goes", found=ast.unparse(statement.test)[:60],
                    allowed="arguments and constants, compared", file=self.file, line=statement.lineno,
                )  # fmt: skip
            return
        if test == "False":
            self.notes.append(
                f"`if {ast.unparse(statement.test)}` in line {statement.lineno}: the text 'False' is true in Python. "
                "What is under it holds here, as there."
            )
        self.all(statement.body if test else statement.orelse)

    def _argument(self, call: ast.Call) -> None:
        made = self.value(call)
        if isinstance(made, Made) and made.name == "add_argument" and made.arguments:
            name = str(made.arguments[-1]).lstrip("-").replace("-", "_")
            choices = made.given.get("choices")
            self.arguments[name] = Argument(
                made.given.get("default"),
                made.given.get("type") == "int",
                choices if isinstance(choices, list) else None,
            )

    def _choose(self, name: str, argument: Argument) -> Any:
        if name not in self._given:
            return argument.default
        text: Any = self._given[name]
        if argument.integer:
            if not text.isascii() or not text.isdigit():
                raise InputError("not an integer", found=f"'{text}'", path=f"--arg {name}", file=self.file)
            text = int(text)
        if argument.choices is not None and text not in argument.choices:
            raise InputError(
                f"not a value of --{name}", found=f"'{text}'", allowed=listed(map(str, argument.choices)),
                path=f"--arg {name}", file=self.file,
            )  # fmt: skip
        return text

    def value(self, node: ast.expr) -> Any:
        """What an expression stands for, as far as that is known."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.values.get(node.id, node.id if node.id in ("int", "str", "float") else UNKNOWN)
            case ast.Attribute() if self._is_argument(node):
                return self.chosen.get(node.attr, UNKNOWN)
            case ast.Attribute():
                return node.attr
            case ast.List() | ast.Tuple():
                return [self.value(each) for each in node.elts]
            case ast.Call():
                return self._call(node)
            case ast.IfExp():
                test = self._test(node.test)
                return UNKNOWN if test is UNKNOWN else self.value(node.body if test else node.orelse)
            case ast.Compare(ops=[how], comparators=[other]) if type(how) in _COMPARISONS:
                sides = self._test(node.left), self._test(other)
                return UNKNOWN if UNKNOWN in sides else _COMPARISONS[type(how)](*sides)
            case ast.UnaryOp(op=ast.Not()):
                test = self._test(node.operand)
                return UNKNOWN if test is UNKNOWN else not test
        return UNKNOWN

    def _is_argument(self, node: ast.Attribute) -> bool:
        """Whether this is an argument of the command line: of what `parse_args` gave, whatever its name."""
        found = self.values.get(node.value.id) if isinstance(node.value, ast.Name) else None
        return isinstance(found, Made) and found.name == "parse_args"

    def _test(self, node: ast.expr) -> Any:
        """What a test goes by. What a call gives and what a name of another module stands for is unknown."""
        value = self.value(node)
        elsewhere = isinstance(node, ast.Attribute) and not self._is_argument(node)
        return UNKNOWN if elsewhere or isinstance(value, Made) else value

    def _call(self, node: ast.Call) -> Any:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        arguments = [self.value(each) for each in node.args]
        if name == "Latency" and arguments:
            return arguments[0]
        given = {each.arg: self.value(each.value) for each in node.keywords if each.arg}
        return Made(name, given, arguments, node.lineno)
