"""``cxloom offload``: models that do not fit into their GPU."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cxloom.base.errors import InputError, InputErrors, together
from cxloom.cli.offload_system import Dma, Host, OnSystem, Place, Scale, Simulate, System, Tasks, Threads
from cxloom.cli.options import AsJson, Quiet, whole_number, written_to
from cxloom.cli.writing import check_forms, check_writable, write_texts
from cxloom.display.notes import folded

app = typer.Typer(
    help="Plan models that do not fit into their GPU.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Out = Annotated[list[str], written_to("Write all as .json.")]
Graph = Annotated[
    Path | None,
    typer.Option("--graph", metavar="FILE", help="Write the tasks with their dependences as .json."),
]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model such as opt-30b; `cxloom offload models` lists them.")
]


@app.command("models")
def models(as_json: AsJson = False) -> None:
    """List the models that are known by their names."""
    from cxloom.offload.catalogue import MODELS

    rows = [
        {
            "name": shape.name,
            "layers": shape.layers,
            "hidden": shape.hidden,
            "parameters": shape.parameters,
            "weight_bytes": shape.weight_bytes(),
            "kv_bytes_per_token": shape.kv_bytes_per_token(),
        }
        for shape in MODELS.values()
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    from rich.table import Table

    from cxloom.display.console import output
    from cxloom.display.numbers import significant, size

    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("model")
    for title in ("layers x hidden", "billion parameters", "weights in fp16", "cache of a token"):
        table.add_column(title, justify="right")
    for shape in MODELS.values():
        table.add_row(
            shape.name,
            f"{shape.layers} x {shape.hidden}",
            significant(shape.parameters / 1e9),
            size(shape.weight_bytes()),
            size(shape.kv_bytes_per_token()),
        )
    output().print(table)


@app.command("flexgen")
def flexgen(
    model: Model,
    prompt: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="Tokens of each prompt.")
    ] = 512,
    output: Annotated[
        int, typer.Option(parser=whole_number(2), metavar="N", help="Tokens of each answer.")
    ] = 32,
    gpu: Annotated[str, typer.Option(metavar="SIZE", help="Memory of the GPU.")] = "15GiB",
    cpu: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory of the CPU: all DRAM and CXL memory together.")
    ] = "204GiB",
    disk: Annotated[str, typer.Option(metavar="SIZE", help="The disk; 0B: none.")] = "1500GiB",
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="B[xN]",
            help="Sequences that the GPU computes at a time, and how many of these share a layer's weights; by "
            "default both are searched for.",
        ),
    ] = None,
    percent: Annotated[
        str | None,
        typer.Option(
            metavar="'WG WC CG CC HG HC'",
            help="A policy instead of the best one: percent of weights, cache and activations on the GPU and in CPU "
            "memory, as FlexGen has them. It needs --batch BxN.",
        ),
    ] = None,
    sets: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A rate or a slack, such as rates.to_gpu=25GB/s or slack.cpu=85%.",
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    graph: Graph = None,
    tokens: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1),
            metavar="N",
            help="With --graph or --system: only so many tokens of each answer.",
        ),
    ] = None,
    system: System = None,
    tasks: Tasks = None,
    simulate: Simulate = False,
    place: Place = [],  # noqa: B006
    host: Host = None,
    dma: Dma = None,
    threads: Threads = None,
    scale: Scale = None,
    out: Out = [],  # noqa: B006
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Plan answers of MODEL as FlexGen does: how many sequences at a time, and what is where.

    FlexGen's cost model and search, at the rates of a T4 unless --set says others, and beside it what FlexGen's program
    takes with that policy at the same rates.

    With --system the loop becomes tasks of a simulated system.

    Exit code 0: planned. 1: a simulation could not finish. 2: the input is wrong, or nothing fits; nothing was written.
    """
    from cxloom.offload.inference import plan_inference

    onto = OnSystem(system, tasks, simulate, place, host, dma, threads, scale)
    _check_files(out, graph, onto)
    if tokens is not None and graph is None and system is None:
        raise InputError("--tokens has no effect without --graph or --system", path="--tokens")
    given = _set_values(sets)
    with _options_named("--gpu, --cpu, --disk"):
        found = plan_inference(
            model,
            prompt=prompt,
            output=output,
            memories={"gpu": gpu, "cpu": cpu, "disk": disk},
            rates=given["rates"],
            slack=given["slack"],
            **_batch(batch),
            percent=None if percent is None else _percent(percent),
        )
    shown = _Shown(found, [found.table_of_memories, found.table], tokens, onto)
    shown.put(out, graph, as_json, quiet)


@app.command("zero")
def zero(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model such as opt-6.7b, or parameters such as 8B.")
    ],
    memory: Annotated[
        list[str],
        typer.Option(
            metavar="NAME:BANDWIDTH[:SIZE[:PAGES]]",
            help="Memory of the CPU with optimizer states, such as dram:460.8GB/s:768GB. May be repeated: states are "
            "interleaved, so many PAGES in each round.",
        ),
    ],
    down: Annotated[
        str | None, typer.Option(metavar="RATE", help="Bandwidth from the GPU to memory.")
    ] = None,
    up: Annotated[str | None, typer.Option(metavar="RATE", help="Bandwidth from memory to the GPU.")] = None,
    forward: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time of forward in a micro-step.")
    ] = None,
    backward: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time of backward in a micro-step.")
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1), metavar="N", help="Tokens of a micro-step, instead of both times."
        ),
    ] = None,
    gpu_rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="With --tokens: arithmetic of the GPU, such as 60Tflop/s."),
    ] = None,
    gpu_efficiency: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="With --gpu-rate, which is then the peak: the part that is reached."
        ),
    ] = None,
    accumulate: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="Micro-steps of a step.")
    ] = 1,
    overlap: Annotated[
        bool, typer.Option("--overlap", help="Copy gradients while backward goes on (overlap_comm: true).")
    ] = False,
    bucket: Annotated[
        str, typer.Option(metavar="N", help="Parameters whose gradients are copied together.")
    ] = "500M",
    version: Annotated[
        str,
        typer.Option(
            metavar="D+U",
            help="Bytes down and up for a parameter: 4+2, 4+4 (DeepSpeed before June 2025), 2+2 (papers).",
        ),
    ] = "4+2",
    adam_rate: Annotated[
        str | None,
        typer.Option(metavar="N", help="Parameters per second that the cores compute at most, such as 2.6B."),
    ] = None,
    graph: Graph = None,
    system: System = None,
    tasks: Tasks = None,
    simulate: Simulate = False,
    place: Place = [],  # noqa: B006
    host: Host = None,
    dma: Dma = None,
    threads: Threads = None,
    scale: Scale = None,
    out: Out = [],  # noqa: B006
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Plan a step of training with ZeRO-Offload: optimizer states in CPU memory, Adam on the CPU.

    With --system the step becomes tasks of a simulated system.

    Exit code 0: planned. 1: a simulation could not finish. 2: the input is wrong, or the states do not fit; nothing was
    written.
    """
    from cxloom.offload.training import plan_training

    onto = OnSystem(system, tasks, simulate, place, host, dma, threads, scale)
    _check_files(out, graph, onto)
    given = {
        "down": down,
        "up": up,
        "forward": forward,
        "backward": backward,
        "tokens": tokens,
        "gpu_rate": gpu_rate,
        "gpu_efficiency": gpu_efficiency,
        "adam_rate": adam_rate,
    }
    with _options_named("--memory"):
        found = plan_training(
            model,
            memories=[_memory(text) for text in memory],
            accumulate=accumulate,
            overlap=overlap,
            bucket=bucket,
            version=version,
            **{name: value for name, value in given.items() if value is not None},
        )
    _Shown(found, [found.table], None, onto).put(out, graph, as_json, quiet)


def _check_files(out: list[str], graph: Path | None, onto: OnSystem) -> None:
    files = {"--out": [Path(file) for file in out], "--graph": [] if graph is None else [graph]}
    for option, paths in files.items():
        check_forms(paths, "plan", [".json"], option)
        check_writable(paths)
    onto.check()


@dataclass(frozen=True)
class _Shown:
    """A plan that is written and printed, with its simulation if that is asked for."""

    plan: Any
    tables: list[Callable[[], Any]]
    tokens: int | None
    onto: OnSystem

    def put(self, out: list[str], graph: Path | None, as_json: bool, quiet: bool) -> None:
        """Writes and prints all."""
        texts: dict[Path, str] = {}
        with _options_named(""):
            if graph is not None:
                tasks = self.plan.task_graph(self.tokens).to_json()
                texts[graph] = json.dumps(tasks, indent=1, allow_nan=False) + "\n"
            played = self.onto.played(self.plan, self.tokens, texts)
        said = self.plan.to_json() | ({} if played is None else {"simulated": played.to_json()})
        text = json.dumps(said, indent=2, allow_nan=False)
        write_texts(texts | {Path(file): text + "\n" for file in out})
        if as_json:
            print(text)
        elif not quiet:
            from rich.text import Text

            from cxloom.display.console import output

            console = output()
            console.print(Text(self.plan.sentence, style="bold"))
            for table in self.tables:
                console.print()
                console.print(table())
            if played is not None:
                console.print(Text(f"\n{played.sentence}\n", style="bold"))
                console.print(played.table())
                for note in folded(played.notes):
                    console.print(Text(f"\nnote: {note}", style="dim"))


def _set_values(sets: list[str]) -> dict[str, dict[str, str]]:
    """The values of --set, by their groups."""
    found: dict[str, dict[str, str]] = {"rates": {}, "slack": {}}
    for text in sets:
        name, equals, value = text.partition("=")
        group, dot, key = name.partition(".")
        if not equals or not dot or group not in found:
            raise InputError(
                "not a rate or a slack",
                found=f"'{text}'",
                allowed="such as rates.to_gpu=25GB/s or slack.cpu=85%",
                path="--set",
            )
        found[group][key] = value
    return found


def _batch(text: str | None) -> dict[str, int]:
    if text is None:
        return {}
    found = re.fullmatch(r"([0-9]{1,9})(?:x([0-9]{1,9}))?", text)
    if found is None:
        raise InputError("not a batch", found=f"'{text}'", allowed="such as 48 or 48x3", path="--batch")
    return {"batch": int(found[1]), **({"batches": int(found[2])} if found[2] else {})}


def _percent(text: str) -> list[float]:
    words = re.split(r"[ ,]+", text.strip())
    if not all(re.fullmatch(r"[0-9]+(\.[0-9]+)?", word) for word in words):
        raise InputError("not shares", found=f"'{text}'", allowed="six numbers", path="--percent")
    return [float(word) for word in words]


def _memory(text: str) -> dict[str, str]:
    parts = text.split(":")
    if not 2 <= len(parts) <= 4 or not all(parts):
        raise InputError(
            "not a memory", found=f"'{text}'", allowed="NAME:BANDWIDTH[:SIZE[:PAGES]]", path="--memory"
        )
    return dict(zip(("name", "bandwidth", "capacity", "weight"), parts, strict=False))


_OPTIONS = {
    "memories.gpu": "--gpu",
    "memories.cpu": "--cpu",
    "memories.disk": "--disk",
    "batches": "--batch",
    "parameters": "MODEL",
    "model": "MODEL",
}


@contextmanager
def _options_named(memories: str) -> Iterator[None]:
    """Names the option that an InputError is about as the command line has it; `memories` are those of all memories."""
    try:
        yield
    except InputErrors as several:
        raise together([_named(each, memories) for each in several.errors]) from None
    except InputError as error:
        raise _named(error, memories) from None


def _named(error: InputError, memories: str) -> InputError:
    if error.file is not None:  # a key in it, and no option
        return error
    first = error.path.partition(".")[0]
    if error.path in _OPTIONS:
        error.path = _OPTIONS[error.path]
    elif first == "memories":
        error.path = memories
    elif first in ("rates", "slack"):
        error.path = f"--set {error.path}"
    elif first and not first.startswith("-"):
        error.path = f"--{first.replace('_', '-')}"
    return error
