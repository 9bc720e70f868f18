"""What ``cxloom offload`` does with a system: writes a plan as tasks for `cxloom run`, or plays it beside the plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxloom.base.errors import InputError, InputErrors, together
from cxloom.cli.options import whole_number
from cxloom.cli.writing import check_forms, check_writable

if TYPE_CHECKING:
    from cxloom.offload.simulated import Beside

System = Annotated[
    str | None,
    typer.Option(
        "--system",
        metavar="SPEC",
        help="A system with a GPU, to play the plan on: the file or preset of its spec. Work that it has is left out.",
    ),
]
Tasks = Annotated[
    Path | None,
    typer.Option(
        "--tasks",
        metavar="FILE.yaml",
        help="With --system: write it with the plan's tasks, for `cxloom run`.",
    ),
]
Simulate = Annotated[
    bool,
    typer.Option(
        "--simulate", help="With --system: simulate the plan, and show where it takes another time."
    ),
]
Place = Annotated[
    list[str],
    typer.Option(
        "--place",
        metavar="[OBJECT=]NODES",
        help="With --system: where objects are, page by page, such as dram,card or dram:3,card or cache=card. "
        "May be repeated.",
    ),
]
Host = Annotated[
    str | None, typer.Option("--host", metavar="NAME", help="With --system: who runs the CPU's passes.")
]
Dma = Annotated[
    str | None, typer.Option("--dma", metavar="NAME", help="With --system: the GPU that makes the copies.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        parser=whole_number(1),
        metavar="N",
        help="With --system: cores of a pass; by default all of the host.",
    ),
]
Scale = Annotated[
    int | None,
    typer.Option(
        "--scale",
        parser=whole_number(1),
        metavar="N",
        help="With --system: divide bytes, operations and times by N, and simulate every line; 1: windows of lines of "
        "the whole. By default so that at most two million lines move.",
    ),
]


@dataclass(frozen=True)
class OnSystem:
    """The options that are about a system."""

    system: str | None
    tasks: Path | None
    simulate: bool
    place: list[str]
    host: str | None
    dma: str | None
    threads: int | None
    scale: int | None

    def check(self) -> None:
        """Raises InputError for options that need others, and for a file that cannot be written."""
        given = {
            "--tasks": self.tasks is not None,
            "--simulate": self.simulate,
            "--place": bool(self.place),
            "--host": self.host is not None,
            "--dma": self.dma is not None,
            "--threads": self.threads is not None,
            "--scale": self.scale is not None,
        }
        for option, is_given in given.items():
            if is_given and self.system is None:
                raise InputError(f"{option} has no effect without --system", path=option)
        if self.system is not None and not (self.simulate or self.tasks is not None):
            raise InputError(
                "a system has no effect by itself",
                allowed="with --simulate, or --tasks FILE.yaml",
                path="--system",
            )
        files = [] if self.tasks is None else [self.tasks]
        check_forms(files, "spec", [".yaml", ".yml"], "--tasks")
        check_writable(files)

    def played(self, plan: Any, tokens: int | None, texts: dict[Path, str]) -> Beside | None:
        """Adds the spec to the texts to be written, and plays the plan if that is asked for."""
        if self.system is None:
            return None
        from cxloom.offload.simulated import beside, written
        from cxloom.offload.target import target

        on = target(
            self.system,
            host=self.host,
            dma=self.dma,
            threads=self.threads,
            place=self.place or plan.places,
            scale=self.scale,
        )
        graph = plan.task_graph(tokens)
        with nullcontext() if self.place or not plan.places else _places_of_memories():
            if self.tasks is not None:
                texts[self.tasks] = written(graph, on)
            return beside(graph, on) if self.simulate else None


@contextmanager
def _places_of_memories() -> Iterator[None]:
    """Errors of places at the option that said them: nobody has given --place."""

    def named(error: InputError) -> InputError:
        error.path = "--memory" if error.path == "place" else error.path
        return error

    try:
        yield
    except InputErrors as several:
        raise together([named(each) for each in several.errors]) from None
    except InputError as error:
        raise named(error) from None
