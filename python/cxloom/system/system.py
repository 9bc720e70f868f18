"""A system and its workload, built in Python with the words of the spec files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MethodType, ModuleType
from typing import Any

from cxloom.base.errors import InputError, InputErrors, reason_of
from cxloom.base.filenames import file_name
from cxloom.base.temporary import check_folder
from cxloom.base.words import counted
from cxloom.spec import alike, declared, presets
from cxloom.spec.bases import AUTO
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Node, Origin, described, from_plain
from cxloom.spec.override import Override
from cxloom.spec.reader import read_file, read_text
from cxloom.spec.resolve import Template, resolve
from cxloom.spec.resolved import Resolved
from cxloom.spec.writer import to_yaml
from cxloom.system.simulation import build, describe, work_note

_PACKAGE = str(Path(__file__).parents[1])


class _SectionMethod:
    """The method that sets parameters of the section of the same name, with its declaration as signature and docstring.

    Args:
        more: what its docstring says besides.
    """

    def __init__(self, more: str = "") -> None:
        self._more = more
        self._section = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._section = name

    def __get__(self, system: System | None, owner: type) -> Callable[..., System]:
        method = _setter(self._section, self._more)
        return method if system is None else MethodType(method, system)


class System:
    """A system under construction: devices, links, address map, workload and run.

    ::

        system = cx.System()
        system.host("host", queue=64, process_time="10ns")
        system.bus("bus", bandwidth="64GB/s")
        system.memory("mem[0-3]", capacity="16GiB")
        system.connect("host", "bus", port_delay="25ns")
        system.connect("bus", "mem[*]")
        system.map(to="mem[*]", interleave="256B")
        system.workload("host", pattern="random", reads="67%", requests=16000, footprint="1GiB")

    Every kind of device is a method of its own name, and so is each section that holds parameters: `run`, `outputs`,
    `tasks`.
    `help(system.host)` and ``cxloom components host`` list its parameters. Quantities are text with their unit, as in a
    file. Names may be ranges (``mem[0-3]``) where devices are declared, and ranges or globs (``mem[*]``) everywhere
    else. A wrong keyword or value raises InputError at once where it can be seen, and otherwise when the system is
    checked or run; either way with the line of Python that wrote it.

    Args:
        name: what the system is called in its results.
        preset: a shipped spec to start from, such as ``"esf/validation"``, or a file.
    """

    def __init__(self, name: str | None = None, *, preset: str | None = None) -> None:
        self._top = Node({}, _caller())
        self._overrides: list[Override] = []
        self._known: tuple[Node, Template] | None = None  # what paths are looked up in, spelt out once
        if name is not None:
            self._put("name", name)
        if preset is not None:
            self._put("preset", preset)

    # --- from and to files ---------------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> System:
        """The system of a spec file, or of a shipped preset by its name. Raises InputError if it cannot be read."""
        allowed = "a spec file, or the name of a preset"
        name = file_name(path, allowed)
        if not name:
            raise InputError("no file is named", allowed=allowed)
        there = os.path.exists(name)  # unlike a Path's, False where nobody can look
        shipped = None if there else presets.path_of(name)
        if shipped is None and not there and (near := nearest(name, presets.names())):
            raise _neither_file_nor_preset(name, near)
        try:
            tree = read_file(shipped or name)
        except InputError as error:
            # Where no file has a name like it, a name without an ending is meant for a preset.
            if error.problem == "no such file" and not error.suggestion and "." not in os.path.basename(name):
                raise _neither_file_nor_preset(name) from None
            raise
        return cls._of(tree)

    @classmethod
    def from_yaml(cls, text: str, file: str | None = None) -> System:
        """The system of YAML text; `file` is what errors call it. Raises InputError if it is not a spec."""
        if not isinstance(text, str):
            raise InputError("not a text", found=described(text), allowed="a spec in YAML", file=file)
        return cls._of(read_text(text, file))

    @classmethod
    def _of(cls, top: Node) -> System:
        system = cls()
        system._top = top
        return system

    def to_yaml(self) -> str:
        """The fully resolved spec as YAML: device by device and link by link. It loads back to the same system."""
        return to_yaml(self.resolve().plain())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_yaml` to a file, whose folders are made. Raises InputError if it cannot be written."""
        name = file_name(path, "a file to write to", "path")
        text = self.to_yaml()
        try:
            check_folder(Path(name))
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot be written: {reason_of(error)}", file=name) from None

    def resolve(self, overrides: Sequence[Override] = ()) -> Resolved:
        """The spec that the core takes, with every range, glob, preset and topology spelt out. Raises InputError.

        Args:
            overrides: values to set on top of those of `set`.
        """
        return resolve(self._top, [*self._overrides, *overrides])

    def template(self, overrides: Sequence[Override] = ()) -> Template:
        """What to resolve again and again with other overrides, as `resolve` would; later changes do not reach it.

        Args:
            overrides: values that are set every time, on top of those of `set`.
        """
        return Template(self._top, [*self._overrides, *overrides])

    def check(self) -> dict[str, Any]:
        """Builds the system without running it, and describes it: devices, links, routes, bounds. Raises InputError."""
        resolved = self.resolve()
        note = work_note(resolved)
        described = describe(resolved)
        described["notes"] += [note] if note else []
        return described

    # --- building ------------------------------------------------------------------------------------------------

    def add(self, kind: str, name: str, **params: Any) -> System:
        """Declares a device, or several by a range of names, of any kind. Raises InputError."""
        where = _caller()
        path = f"devices.{name}"
        checked = _checked(where, path, lambda: _models().check(_models().model("devices", kind), params))
        if name in self._entries("devices"):
            raise where.within(path).error(f"device '{name}' is declared twice", allowed="each name once")
        self._add_entry("devices", name, {"kind": kind, **checked}, where)
        return self

    def like(self, original: str, name: str, **params: Any) -> System:
        """Declares a device, or several by a range of names, like one that there is: `original`.

        It has the kind and parameters of the other, but for `params`, and links like the other's if nothing links it.
        Whether there is a device `original`, in the preset or here, is known when the system is resolved.
        """
        where = _caller()
        if name in self._entries("devices"):
            raise where.within(f"devices.{name}").error(
                f"device '{name}' is declared twice", allowed="each name once"
            )
        self._add_entry("devices", name, {alike.KEY: original, **params}, where)
        return self

    run = _SectionMethod("Starting it is `cxloom.run(system)`.")
    outputs = _SectionMethod()
    tasks = _SectionMethod("`cxloom.TaskGraph` makes what it takes.")

    def __getattr__(self, word: str) -> Callable[..., System]:
        """What is declared and has no name above: a method for each kind of device, and for a section of parameters."""
        if word.startswith("_"):
            raise AttributeError(word)
        if word in _sections():
            return MethodType(_setter(word), self)
        known = declared.kinds("devices")
        kind = word.replace("_", "-") if word.replace("_", "-") in known else word
        if kind not in known:
            near = nearest(kind, [*known, *_sections(), *(name for name in vars(System) if name[0] != "_")])
            hint = f"; did you mean '{near}'?" if near else ""
            raise AttributeError(f"a System has no '{kind}'{hint} (devices: {listed(known)})")
        return _constructor(self, kind)

    def __dir__(self) -> list[str]:
        kinds = (kind.replace("-", "_") for kind in declared.kinds("devices"))
        return sorted({*super().__dir__(), *_sections(), *kinds})

    def connect(self, a: str, b: str, *, pairwise: bool = False, **link: Any) -> System:
        """Links two devices, or all pairs of two sets of them (ranges, globs).

        Args:
            a, b: the ends.
            pairwise: join the first of `a` with the first of `b`, and so on, instead of all with all.
            link: what a link takes, such as bandwidth="64GB/s" or port_delay="25ns".
        """
        where = _caller()
        path = f"links[{len(self._items('links'))}]"
        checked = _checked(where, path, lambda: _models().check(_models().section_model("link"), link))
        extra = {"pairwise": True} if pairwise else {}
        self._append("links", {"between": [a, b], **extra, **checked}, where)
        return self

    def map(self, to: str | Sequence[str], **region: Any) -> System:
        """Adds a region to the address map, held by the devices `to` (names, ranges, globs); interleave="256B", ..."""
        where = _caller()
        path = f"address_map[{len(self._items('address_map'))}]"
        if not isinstance(to, (str, Sequence)):
            allowed = "the name of a device, or a list of names"
            raise where.within(f"{path}.to").error(
                "not a text or a list", found=described(to), allowed=allowed
            )
        targets = [to] if isinstance(to, str) else list(to)
        given = {"to": targets, **region}
        _checked(where, path, lambda: _models().check(_models().section_model("region"), given))
        self._append("address_map", given, where)
        return self

    def workload(self, name: str, **workload: Any) -> System:
        """Says what a requester does (or several: ranges, globs): pattern="random", ... or trace="redis.parquet"."""
        where = _caller()
        path = f"workload.{name}"
        pattern = workload.get("pattern")
        auto = {"base": AUTO} if workload.get("base") == AUTO else {}
        given = {key: value for key, value in workload.items() if key not in auto}
        model = lambda: _models().check(_models().requester_model(pattern), given)  # noqa: E731
        self._add_entry("workload", name, {**_checked(where, path, model), **auto}, where)
        return self

    def event(self, at: str, **action: Any) -> System:
        """Adds something that happens during the run: ``event("10us", fail={"link": ["sw0", "mem1"]})``."""
        where = _caller()
        path = f"events[{len(self._items('events'))}]"
        given = {"at": at, **action}
        checked = _checked(where, path, lambda: _models().check(_models().section_model("event"), given))
        self._append("events", checked, where)
        return self

    def topology(self, kind: str, **params: Any) -> System:
        """Generates devices and links by rule: ``topology("spine-leaf", ...)``; more may be added to them."""
        where = _caller()
        checked = _checked(
            where, "topology", lambda: _models().check(_models().model("topologies", kind), params)
        )
        self._put("topology", {"kind": kind, **checked}, where)
        return self

    def set(self, path: str, value: Any) -> System:
        """Sets any value by its path, such as ``set("devices.mem[*].media.latency", "60ns")``.

        A path that matches nothing of the system so far raises InputError, and leaves the system as it is. The value is
        looked at with all the others when the system is checked or run.
        """
        where = _caller()
        if not isinstance(path, str):
            allowed = "the path of a value, such as devices.host.queue"
            raise where.error("not a text", found=described(path), allowed=allowed)
        origin = Origin(where.file, where.line, path=path)
        override = Override(path, from_plain(value, origin))
        if self._known is None or self._known[0] is not self._top:
            self._known = (self._top, Template(self._top))
        try:
            self._known[1].resolve([*self._overrides, override])
        except InputError as error:  # what else is wrong may be right once the system is built
            for each in getattr(error, "errors", (error,)):
                if each.unmatched == path:
                    raise each from None
        self._overrides.append(override)
        return self

    def copy(self) -> System:
        """A copy of the system, to change without changing this one."""
        other = type(self)()
        other._top, other._overrides = self._top, list(self._overrides)
        return other

    def __repr__(self) -> str:
        counts = {key: len(self._entries(key)) for key in ("devices", "workload")}
        devices = counted(counts["devices"], "device entry")
        links = counted(len(self._items("links")), "link entry")
        return f"<System: {devices}, {links}>"

    def _repr_svg_(self) -> str | None:
        """The picture of ``cxloom draw`` for a notebook; none as long as the system cannot be built."""
        try:
            resolved = self.resolve()
            build(resolved)
        except InputError:
            return None
        from cxloom.draw.graph import graph_of  # with NumPy
        from cxloom.draw.picture import picture
        from cxloom.draw.svg import to_svg

        return to_svg(picture(graph_of(resolved)))

    # --- parts ---------------------------------------------------------------------------------------------------

    def _section(self, key: str, given: Mapping[str, Any], where: Origin) -> System:
        checked = _checked(where, key, lambda: _models().check(_models().section_model(key), given))
        for name, value in checked.items():
            self._add_entry(key, name, value, where)
        return self

    def _entries(self, key: str) -> dict[str, Node]:
        section = self._top.get(key)
        return section.map() if section is not None else {}

    def _items(self, key: str) -> list[Node]:
        section = self._top.get(key)
        return list(section.list()) if section is not None else []

    def _put(self, key: str, value: Any, where: Origin | None = None) -> None:
        node = from_plain(value, (where or _caller()).below(key))
        self._top = self._top.with_entries({**self._top.map(), key: node})

    def _add_entry(self, section: str, key: str, value: Any, where: Origin) -> None:
        place = where.below(section)
        entries = {**self._entries(section), key: from_plain(value, place.below(key))}
        self._top = self._top.with_entries({**self._top.map(), section: Node(entries, place, place)})

    def _append(self, section: str, value: Any, where: Origin) -> None:
        items = self._items(section)
        place = where.below(section)
        node = Node([*items, from_plain(value, place.below(len(items)))], place, place)
        self._top = self._top.with_entries({**self._top.map(), section: node})


def _neither_file_nor_preset(name: str, near: str = "") -> InputError:
    allowed = f"a file, or a preset, which `cxloom presets` lists: {listed(presets.names())}"
    return InputError("no such file, and no preset of this name", allowed=allowed, suggestion=near, file=name)


def load(path: str | os.PathLike[str]) -> System:
    """The system of a spec file, or of a shipped preset by its name; see `System.load`."""
    return System.load(path)


def _models() -> ModuleType:
    """The models of what is built in Python: with pydantic, which a system from a file does not need."""
    from cxloom.spec import models

    return models


def _checked(where: Origin, path: str, check: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result of `check`; an error of it gets the place in Python and the path in the spec."""
    try:
        return check()
    except InputErrors as errors:
        raise InputErrors(where.within(path).placed(each) for each in errors.errors) from None
    except InputError as error:
        raise where.within(path).placed(error) from None


def _sections() -> list[str]:
    """The sections that are parameters."""
    return [key for key, about in declared.sections().items() if about["form"] == "one"]


def _setter(section: str, more: str = "") -> Callable[..., System]:
    """The method that sets parameters of a section; `more` is what its docstring says besides."""

    def put(self: System, /, **params: Any) -> System:
        return self._section(section, params, _caller())

    about = declared.sections()[section]
    doc = f"{about['doc']} {more}".rstrip()
    return _documented(put, section, doc, declared.declarations()[about["entry"]], {}, bound=True)


def _constructor(system: System, kind: str) -> Callable[..., System]:
    """The method that declares a device of a kind."""

    def declare(name: str, **params: Any) -> System:
        return system.add(kind, name, **params)

    info = declared.kinds("devices")[kind]
    return _documented(declare, kind.replace("-", "_"), info["doc"], info, {"name": "what it is called."})


def _documented(
    method: Callable[..., System],
    name: str,
    doc: str,
    info: Mapping[str, Any],
    positional: Mapping[str, str],
    *,
    bound: bool = False,
) -> Callable[..., System]:
    """The method with the declared parameters as its signature and documentation, behind those that it has itself.

    Args:
        bound: it is a function of the class, with `self` before them.
    """

    import inspect

    own = [
        inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="str")
        for each in positional
    ]
    if bound:
        own.insert(0, inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY))
    keywords = [
        inspect.Parameter(field["name"], inspect.Parameter.KEYWORD_ONLY, default=field["default"] or None)
        for field in info["fields"]
    ]
    lines = [f"    {each}: {text}" for each, text in positional.items()]
    lines += [
        f"    {field['name']}: {field['doc']} Default: {field['default'] or 'none'}."
        for field in info["fields"]
    ]
    method.__name__ = method.__qualname__ = name
    method.__doc__ = "\n".join([doc, "", "Args:", *lines])
    method.__signature__ = inspect.Signature([*own, *keywords])  # type: ignore[attr-defined]
    return method


def _caller() -> Origin:
    """The line of Python outside of this package that is being executed."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return Origin(frame.f_code.co_filename, frame.f_lineno)
