"""The recipe of advice: commands of numactl and calls of libnuma that bind what was placed, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from test_advise import GIB, made, node

from cxloom.advising.objects import PlacedObject
from cxloom.advising.policies import Proposal
from cxloom.advising.recipe import recipe

THREE = [node("near", 30, 100), node("far", 10, 250), node("other", 10, 250)]


def recipe_of(*placed: tuple[PlacedObject, dict[str, float]]) -> str:
    objects, shares = zip(*placed, strict=True)
    return recipe(Proposal("optimum", objects, shares), THREE)


STUBS = """
#include <stddef.h>
#include <stdio.h>
enum { PROT_READ, PROT_WRITE, MAP_PRIVATE, MAP_ANONYMOUS, MPOL_PREFERRED, MPOL_WEIGHTED_INTERLEAVE };
static char* mmap(void* at, size_t size, int prot, int flags, int file, long from) {
  static size_t maps = 0;
  return (void)at, (void)size, (void)prot, (void)flags, (void)file, (void)from, (char*)(++maps << 40);
}
static void mbind(void* at, size_t size, int mode, const unsigned long* mask, unsigned long most, unsigned flags) {
  (void)most, (void)flags;
  printf("%zu %zu %zu %d %lu\\n", (size_t)at >> 40, (size_t)at & 0xFFFFFFFFFF, size, mode == MPOL_PREFERRED, *mask);
}
"""


# Linux has one set of weights: 3:1 of the first, and the pages of the others are bound in turns. All of an object is
# bound, once, and nothing beside it; each node has its share, as far as a last round that is cut off allows.
def test_the_recipe_binds_pages_in_turns_where_weights_differ(tmp_path: Path) -> None:
    sizes = {"a": 1 << 30, "b-2": 32 * 4096, "c": (16 << 20) + 8192, "d": 3 << 30}
    shares = {"a": 0.25, "b-2": 0.6, "c": 0.37, "d": 0.37}
    text = recipe_of(
        *(
            (PlacedObject("host", name, size, (1.0,)), {"near": 1 - shares[name], "far": shares[name]})
            for name, size in sizes.items()
        )
    )
    assert "echo 3 > /sys/kernel/mm/mempolicy/weighted_interleave/node0" in text
    assert text.count("echo") == 2
    source, program = tmp_path / "calls.c", tmp_path / "calls"
    calls = text.split("-lnuma */")[1]
    source.write_text(f"{STUBS}int main(void) {{\n  char *a, *b_2, *c, *d;\n{calls}\n  return 0;\n}}\n")
    subprocess.run([shutil.which("cc") or "gcc", source, "-o", program], check=True)
    bound = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    parts = [tuple(map(int, line.split())) for line in bound]
    assert parts[0] == (1, 0, sizes["a"], 0, 0b11)
    for number, name in enumerate(sizes, 1):
        mine = sorted(part[1:] for part in parts if part[0] == number)
        ends = [at + size for at, size, *_ in mine]
        assert [at for at, *_ in mine] == [0, *ends[:-1]]
        assert ends[-1] == sizes[name]
        if name != "a":
            far = sum(size for _, size, _, mask in mine if mask == 0b10)
            assert far / sizes[name] == pytest.approx(shares[name], abs=0.08)
    # Turns of gigabytes are of huge pages: 2 MiB.
    assert all(at % (2 << 20) == 0 for which, at, *_ in parts if which == 4)


def test_weights_of_other_nodes_are_other_weights() -> None:
    text = recipe_of(
        (made("a", 1, 1), {"near": 0.75, "far": 0.25}),
        (made("b", 1, 1), {"near": 0.75, "other": 0.25}),
        (made("c", 1, 1), {"far": 0.75, "other": 0.25}),
    )
    echoed = [line for line in text.splitlines() if line.startswith("echo")]
    assert [line.split()[1] for line in echoed] == ["3", "1", "1"]
    assert [line[-1] for line in echoed] == ["0", "1", "2"]
    # The far node has weight 1 there, so that the last is bound in turns.
    assert text.count("MPOL_WEIGHTED_INTERLEAVE") == 2
    assert "(char *)c" in text


def test_requesters_share_the_weights_of_the_system() -> None:
    rest = {"name": "host", "rest": True}
    one = replace(made("x", 1, 1), **rest)
    two = replace(one, requester="guest", name="guest")
    three = [replace(each, latency={"host": 1, "guest": 1}) for each in THREE]
    same = Proposal("optimum", [one, two], [{"near": 0.75, "far": 0.25}] * 2)
    assert recipe(same, three).count("echo") == 2
    assert recipe(same, three).count("--weighted-interleave=0,1") == 2
    text = recipe(replace(same, shares=[{"near": 0.75, "far": 0.25}, {"near": 0.4, "far": 0.6}]), three)
    assert text.count("echo") == 2
    assert text.count("--weighted-interleave=0,1") == 1
    assert "# 2:3 of nodes 0,1 would be right here" in text
    assert text.endswith("numactl --interleave=0,1 ./program")
    # What has no name is no variable of the program.
    assert "mmap" not in text


# A server of a pod has no node of its neighbour: its kernel numbers what it has itself, and has weights of its own.
@pytest.mark.parametrize("policy", [None, "uniform", "optimum"])
def test_each_machine_has_numbers_of_its_own(policy: str | None) -> None:
    nodes = [
        replace(node("own0", 30, 100), latency={"h0": 100.0}),
        replace(node("own1", 30, 100), latency={"h1": 100.0}),
        replace(node("pool", 10, 250), latency={"h0": 250.0, "h1": 250.0}),
    ]
    rest = [replace(made(name, 1, 1), requester=name, rest=True) for name in ("h0", "h1")]
    shares = [{"own0": 0.75, "pool": 0.25}, {"own1": 0.6, "pool": 0.4}]
    text = recipe(None if policy is None else Proposal(policy, rest, shares), nodes)
    first, second = text.split("# of h1: ")
    assert first.startswith("# of h0: node 0 is own0, node 1 is pool; ")
    assert second.startswith("node 0 is own1, node 1 is pool; ")
    command = {None: "localalloc", "uniform": "interleave=0,1", "optimum": "weighted-interleave=0,1"}[policy]
    weights = [[line.split()[1] for line in part.splitlines() if "echo" in line] for part in (first, second)]
    assert weights == ([["3", "1"], ["3", "2"]] if policy == "optimum" else [[], []])
    assert text.count(f"numactl --{command} ./program") == 2


# The command says where the rest goes; an object that goes elsewhere has a call, be it to the nearest node.
def test_an_object_near_is_bound_where_the_command_is_for_far() -> None:
    rest = replace(made("host", 1, 1), rest=True)
    for place in ({"far": 1.0}, {"near": 0.5, "far": 0.5}):
        assert f"a = numa_alloc_onnode({GIB}UL, 0);" in recipe_of(
            (made("a", 1, 1), {"near": 1.0}), (rest, place)
        )
    near = recipe_of((made("a", 1, 1), {"near": 1.0}), (made("b", 1, 1), {"far": 1.0}))
    assert "a = " not in near
    assert f"b = numa_alloc_onnode({GIB}UL, 1);" in near
    weighted = recipe_of((made("a", 1, 1), {"near": 0.75, "far": 0.25}), (rest, {"near": 0.4, "far": 0.6}))
    assert "--weighted-interleave=0,1" in weighted
    assert "echo 2 > /sys/kernel/mm/mempolicy/weighted_interleave/node0" in weighted
    assert "(char *)a" in weighted
