"""`cxloom draw`: what a picture must hold whatever the topology, and what each topology must look like."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topologies import TOPOLOGIES, graph, system
from validation.examples import DRAWN, some

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.draw import shapes
from cxloom.draw.graph import Edge, Graph, Node, Role, graph_of, spelt
from cxloom.draw.layout import Layout, laid_out
from cxloom.draw.layout_shapes import SIZE
from cxloom.draw.node_style import LOADS, ON_DARK, ON_LIGHT, STYLES, load_class
from cxloom.draw.picture import Load, Picture, picture
from cxloom.draw.routes import Way, room_of
from cxloom.draw.svg import load_legend, to_svg

Call = Callable[..., Any]


def holds(drawn: Graph, layout: Layout) -> None:
    """No two nodes overlap, and no edge touches a node that it does not join."""
    apart = np.linalg.norm(layout.places[:, None] - layout.places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert apart.min(initial=np.inf) > 2 * SIZE
    for edge, way in zip(drawn.edges, layout.ways, strict=True):
        assert room_of(way, layout.places, (edge.a, edge.b)) > SIZE, (
            drawn.nodes[edge.a],
            drawn.nodes[edge.b],
        )
        assert np.allclose(way.points[[0, -1]], layout.places[[edge.a, edge.b]])


def labels_hold(drawn: Picture) -> None:
    """No two labels overlap, none is over a node or outside of the picture."""
    boxes = np.array([(t.x - t.width / 2, t.y - t.height / 2, t.width, t.height) for t in drawn.labels])
    marks = np.array(
        [(m.x - drawn.radius, m.y - drawn.radius, 2 * drawn.radius, 2 * drawn.radius) for m in drawn.marks]
    )
    for index, box in enumerate(boxes):
        for others in (np.delete(boxes, index, axis=0), marks):
            across = (box[0] + box[2] > others[:, 0] + 0.1) & (others[:, 0] + others[:, 2] > box[0] + 0.1)
            down = (box[1] + box[3] > others[:, 1] + 0.1) & (others[:, 1] + others[:, 3] > box[1] + 0.1)
            assert not (across & down).any(), drawn.labels[index]
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 0] + boxes[:, 2] <= drawn.width).all()
    assert (boxes[:, 1] + boxes[:, 3] <= drawn.height).all()


@pytest.mark.parametrize("name", some(TOPOLOGIES, DRAWN))
def test_nodes_and_links_keep_clear_of_nodes_and_labels_of_labels(name: str) -> None:
    drawn = graph(TOPOLOGIES[name])
    layout = laid_out(drawn)
    holds(drawn, layout)
    labels_hold(picture(drawn))


def generated() -> st.SearchStrategy[dict[str, Any]]:
    def of(kind: str, **ranges: tuple[int, int]) -> st.SearchStrategy[dict[str, Any]]:
        sizes = {key: st.integers(*bounds) for key, bounds in ranges.items()}
        return st.fixed_dictionaries({"kind": st.just(kind), "placement": st.just("paired"), **sizes})

    size = st.lists(st.integers(1, 5), min_size=2, max_size=3)
    grids = st.fixed_dictionaries(
        {"kind": st.sampled_from(["mesh", "torus"]), "placement": st.just("paired"), "size": size}
    )
    return st.one_of(
        of("chain", switches=(1, 90)),
        of("ring", switches=(3, 60)),
        of("fully-connected", switches=(1, 40)),
        of("tree", leaves=(1, 60), fan_out=(2, 5), root_degree=(2, 5)),
        of("spine-leaf", leaves=(1, 24), spines=(1, 8)).map(lambda given: {**given, "devices_per_leaf": 4}),
        of("hypercube", dimensions=(1, 5)),
        of("dragonfly", switches_per_group=(2, 5), global_links=(1, 2)).map(
            lambda given: {**given, "devices_per_switch": 2}
        ),
        grids,
    )


@settings(max_examples=25)
@given(generated())
def test_any_generated_topology_is_drawn_without_overlaps(topology: dict[str, Any]) -> None:
    drawn = graph(topology)
    holds(drawn, laid_out(drawn))
    labels_hold(picture(drawn))


@settings(max_examples=25)
@given(st.integers(2, 25), st.integers(0, 12), st.integers(0, 10**6))
def test_any_system_at_all_is_drawn_without_overlapping_nodes(count: int, more: int, seed: int) -> None:
    draw = random.Random(seed)
    roles = [draw.choice(list(Role)) for _ in range(count)]
    pairs = {(draw.randrange(i), i) for i in range(1, count)}
    pairs |= {tuple(sorted(draw.sample(range(count), 2))) for _ in range(more)}  # type: ignore[misc]
    nodes = [Node((f"n{i}",), role.value, role) for i, role in enumerate(roles)]
    drawn = Graph(nodes, [Edge(a, b, ((f"{a}-{b}", f"n{a}", f"n{b}"),)) for a, b in sorted(pairs)])
    layout = laid_out(drawn)
    apart = np.linalg.norm(layout.places[:, None] - layout.places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 2 * SIZE
    labels_hold(picture(drawn))


# --- what topologies look like ---------------------------------------------------------------------------------------


def rows_of(name: str) -> dict[str, set[float]]:
    """The heights of the nodes, by the letters of their names."""
    drawn = graph(TOPOLOGIES[name])
    found: dict[str, set[float]] = {}
    for node, (_, y) in zip(drawn.nodes, laid_out(drawn).places, strict=True):
        found.setdefault(re.match("[a-z]+", node.names[0])[0], set()).add(round(y, 6))  # type: ignore[index]
    return found


@pytest.mark.parametrize("name", [name for name in TOPOLOGIES if name.startswith("spine-leaf")])
def test_a_spine_leaf_has_spines_over_leaves_over_devices(name: str) -> None:
    rows = rows_of(name)
    (spines,), (leaves,), (hosts,), (memories,) = (rows[stem] for stem in ("spine", "leaf", "host", "mem"))
    assert spines < leaves < hosts == memories


@pytest.mark.parametrize(
    ("name", "levels"), [("fat-tree", 3), ("fat-tree-of-208", 3), ("fat-tree-four-levels", 4)]
)
def test_a_fat_tree_has_a_row_for_each_level(name: str, levels: int) -> None:
    rows = rows_of(name)
    assert len(rows["sw"]) == levels
    assert max(rows["sw"]) < min(rows["host"])


def test_pods_of_a_fat_tree_stand_over_their_switches_and_the_top_evenly_in_order() -> None:
    drawn = graph(TOPOLOGIES["fat-tree"])
    places = laid_out(drawn).places
    at = {node.names[0]: place for node, place in zip(drawn.nodes, places, strict=True)}
    edge, middle, top = ([at[f"sw{i}"] for i in part] for part in (range(8), range(8, 16), range(16, 20)))
    assert [x for x, _ in edge] == [x for x, _ in middle]
    pods = [x for x, _ in edge]
    assert pods[2] - pods[1] > pods[1] - pods[0]
    gaps = np.diff([x for x, _ in top])
    assert (gaps > 0).all()
    assert np.ptp(gaps) < 1e-6


@pytest.mark.parametrize("name", [name for name in TOPOLOGIES if name.startswith("spine-leaf-")])
def test_rows_fill_a_page(name: str) -> None:
    drawn = picture(graph(TOPOLOGIES[name]))
    assert drawn.width < 2.6 * drawn.height


@pytest.mark.parametrize(
    "name", ["spine-leaf-of-496", "fat-tree-of-208", "dragonfly", "torus-of-512", "ring", "tree-of-250"]
)
def test_a_picture_for_a_telephone_has_letters_that_are_read_there(name: str) -> None:
    drawn = picture(graph(TOPOLOGIES[name]), narrow=True)
    labels_hold(drawn)
    assert drawn.labels
    shown = min(1.0, 350 / drawn.width)
    assert drawn.letters * shown > 8
    assert drawn.height < 4 * drawn.width


def test_a_tree_has_its_root_on_top_and_nothing_crosses() -> None:
    rows = rows_of("tree")
    assert len(rows["sw"]) == 5  # 16 leaves, 8, 4, 2, and the root
    drawn = graph(TOPOLOGIES["tree"])
    lines = [way.points for way in laid_out(drawn).ways]
    for index, (a, b) in enumerate(lines):
        for c, d in lines[:index]:

            def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> float:
                return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

            crosses = side(a, b, c) * side(a, b, d) < -1e-9 and side(c, d, a) * side(c, d, b) < -1e-9
            assert not crosses


def test_a_chain_is_a_line_a_ring_a_circle_and_a_mesh_a_grid() -> None:
    def switches(name: str) -> np.ndarray:
        drawn = graph(TOPOLOGIES[name])
        chosen = [i for i, node in enumerate(drawn.nodes) if node.kind == "switch"]
        found: np.ndarray = laid_out(drawn).places[chosen]
        return found

    chain = switches("chain")
    assert np.ptp(chain[:, 1]) == 0
    assert (np.diff(chain[:, 0]) > 0).all()
    for name in ("ring", "fully-connected"):
        circle = switches(name)
        radii = np.linalg.norm(circle - circle.mean(axis=0), axis=1)
        assert np.ptp(radii) < 1e-6
    for name in ("mesh", "torus"):
        grid = switches(name)
        assert len(set(grid[:, 0].round(6))) == 4
        assert len(set(grid[:, 1].round(6))) == 4


def test_the_groups_of_a_dragonfly_stand_apart() -> None:
    drawn = graph(TOPOLOGIES["dragonfly"])
    places = laid_out(drawn).places
    switches = np.array([places[i] for i, node in enumerate(drawn.nodes) if node.kind == "switch"])
    groups = switches.reshape(9, 4, 2)
    middles = groups.mean(axis=1)
    within = np.linalg.norm(groups - middles[:, None], axis=2).max()
    between = min(math.dist(a, b) for i, a in enumerate(middles) for b in middles[:i])
    assert between > 2 * within


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("mesh", shapes.Grid),
        ("mesh-ladder", shapes.Grid),
        ("mesh-3d", shapes.Grid),
        ("hypercube", shapes.Cube),
        ("dragonfly", shapes.Groups),
        ("ring", shapes.Circle),
        ("chain", shapes.Row),
        ("fat-tree", shapes.Levels),
        ("spine-leaf", shapes.Levels),
        ("fully-connected", shapes.Circle),
    ],
)
def test_a_shape_is_found_in_whatever_order_the_devices_are_written(name: str, shape: type) -> None:
    drawn = graph(TOPOLOGIES[name])
    core = [i for i, node in enumerate(drawn.nodes) if node.kind == "switch"]
    random.Random(5).shuffle(core)
    place = {node: index for index, node in enumerate(core)}
    near = drawn.neighbours()
    adjacency = [[place[j] for j in near[i] if j in place] for i in core]
    bearing = [any(j not in place for j in near[i]) for i in core]
    assert isinstance(shapes.recognised(adjacency, bearing), shape)


@pytest.mark.parametrize("name", ["torus", "mesh-3d", "hypercube", "dragonfly", "ring", "tree"])
def test_one_link_less_or_more_is_another_shape(name: str) -> None:
    drawn = graph(TOPOLOGIES[name])
    core = [i for i, node in enumerate(drawn.nodes) if node.kind == "switch"]
    place = {node: index for index, node in enumerate(core)}
    adjacency = [[place[j] for j in near if j in place] for near in (drawn.neighbours()[i] for i in core)]
    whole = shapes.recognised(adjacency, [True] * len(core))
    far = shapes.distances(adjacency, [0]).index(2)
    adjacency[0].append(far)
    adjacency[far].append(0)
    assert type(shapes.recognised(adjacency, [True] * len(core))) is not type(whole)


def test_hosts_are_above_a_bus_and_memories_below() -> None:
    drawn = graph_of(cx.load("esf/validation").resolve())
    height = dict(zip((node.kind for node in drawn.nodes), laid_out(drawn).places[:, 1], strict=True))
    assert height["host"] < height["bus"] < height["memory"]


def test_a_layout_is_the_same_every_time() -> None:
    first, second = (picture(graph(TOPOLOGIES["dragonfly"])) for _ in range(2))
    assert to_svg(first) == to_svg(second)


# --- many devices ----------------------------------------------------------------------------------------------------


def test_devices_that_are_alike_are_one_node_in_a_large_system_only() -> None:
    large = graph(TOPOLOGIES["spine-leaf-of-496"])
    assert len(large.nodes) == 32 + 16 + 32
    assert sum(len(node.names) for node in large.nodes) == 496
    assert large.nodes[-1].label == "mem[210-223]"
    assert sum(len(edge.links) for edge in large.edges) == 960
    assert all(len(node.names) == 1 for node in graph(TOPOLOGIES["spine-leaf"]).nodes)


def test_devices_of_other_parameters_stand_for_themselves() -> None:
    made = system(TOPOLOGIES["spine-leaf-of-496"])
    made.memory("mem3", capacity="1TiB")
    nodes = graph_of(made.resolve()).nodes
    assert ("mem3",) in [node.names for node in nodes]
    assert any(len(node.names) == 13 for node in nodes)


def test_names_that_follow_each_other_are_spelt_as_a_range() -> None:
    assert spelt(["mem0"]) == "mem0"
    assert spelt(["mem0", "mem1", "mem2"]) == "mem[0-2]"
    assert spelt(["mem0", "mem2"]) == "mem[0,2]"
    assert spelt([f"mem{2 * i}" for i in range(9)]) == "mem0 ... mem16"
    assert spelt(["near", "far"]) == "near ... far"


def test_a_system_that_is_too_large_is_refused() -> None:
    with pytest.raises(InputError, match="too large to be drawn, found 4,140 nodes; allowed: at most 4,000"):
        graph({"kind": "torus", "size": [45, 46]})


def test_parallel_links_are_one_line_that_names_them() -> None:
    made = cx.System()
    made.host("host").memory("mem", capacity="1GiB", heads=3)
    made.switch("sw").connect("host", "sw").connect("mem", "sw", count=3)
    edges = graph_of(made.resolve()).edges
    assert [[name for name, _, _ in edge.links] for edge in edges] == [
        ["host-sw"],
        ["mem-sw", "mem-sw#2", "mem-sw#3"],
    ]


# --- the ways of links -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "is_curve"),
    [
        ([(0, 0), (4, 2)], False),
        ([(0, 0), (2, 5), (4, 0)], True),
        ([(0, 0), (0, 2), (4, 2), (4, 4)], True),
        ([(0, 0), (1, 0), (1, 2)], False),
        ([(0, 0), (1, 0), (1, 2), (5, 2), (5, 0)], False),
    ],
)
def test_the_halves_of_a_way_meet_and_together_are_it(
    points: list[tuple[float, float]], is_curve: bool
) -> None:
    way = Way(np.array(points, dtype=float), is_curve)
    first, last = way.halves()
    assert np.allclose(first.points[-1], last.points[-1])
    assert np.allclose([first.points[0], last.points[0]], [points[0], points[-1]])

    def length(of: Way) -> float:
        return float(np.linalg.norm(np.diff(of.samples(400), axis=0), axis=1).sum())

    assert math.isclose(length(first) + length(last), length(way), rel_tol=1e-3)


# --- looks and files -------------------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    """WCAG 2.2's relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_kinds_differ_in_shape_and_in_colour() -> None:
    assert len({style.shape for style in STYLES.values()}) == len(STYLES)
    assert len({style.colour for style in STYLES.values()}) == len(STYLES)
    for style in STYLES.values():  # nodes are seen on light and on dark paper
        assert contrast(style.colour, "#ffffff") > 2
        assert contrast(style.colour, "#14181d") > 3


def test_load_is_a_scale_of_lightness_too() -> None:
    light, dark = ([luminance(colour) for colour in colours] for colours in (ON_LIGHT, ON_DARK))
    assert light == sorted(light, reverse=True)
    assert dark == sorted(dark)
    assert [load_class(share) for share in (0, 0.1, 0.3, 0.6, 0.8, 1)] == [0, 1, 2, 3, 4, 5]
    assert len(LOADS) + 1 == len(ON_LIGHT) == len(ON_DARK)


def test_the_legend_of_loads_has_what_there_is() -> None:
    made = graph_of(cx.load("esf/validation").resolve())
    load = Load({("host-bus", "host"): 0.3, ("host-bus", "bus"): 0.8}, {"bus": 0.95}, {}, lambda _: "")
    names = re.findall(r"> ([^<]+)</span>", load_legend(picture(made, load)))
    assert names == ["to 50 %", "to 90 %", "over 90 %", "no limit"]


def test_svg_is_well_formed_and_has_every_device_and_link() -> None:
    made = graph(TOPOLOGIES["spine-leaf"])
    root = ElementTree.fromstring(to_svg(picture(made)))
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    for node in made.nodes:
        assert f"{node.label}: {node.kind}" in titles
    for edge in made.edges:
        assert edge.links[0][0] in titles


@pytest.mark.parametrize(
    ("form", "begins"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<!doc")]
)
def test_the_command_writes_every_form(cxloom: Call, tmp_path: Path, form: str, begins: bytes) -> None:
    path = tmp_path / "new" / f"system.{form}"
    outcome = cxloom("draw", "esf/validation", "--out", path)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"1 host, 1 bus, 4 memories, 5 links: drawn in {path}\n"
    assert path.read_bytes().startswith(begins)
    assert not re.search(rb"(src|href)=\"?https?:|url\(http|@import", path.read_bytes())


def test_quiet_it_is_drawn_without_a_word(cxloom: Call, tmp_path: Path) -> None:
    path = tmp_path / "system.svg"
    outcome = cxloom("draw", "esf/validation", "--out", path, "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert path.exists()


def test_equal_pictures_are_equal_files(cxloom: Call, tmp_path: Path) -> None:
    for form in ("svg", "pdf", "png"):
        files = [tmp_path / f"{name}.{form}" for name in ("a", "b")]
        for file in files:
            assert cxloom("draw", "esf/validation", "--out", file).code == 0
        assert files[0].read_bytes() == files[1].read_bytes()


def test_bad_input_is_refused_and_nothing_written(cxloom: Call, tmp_path: Path) -> None:
    outcome = cxloom("draw", "esf/validation", "--out", tmp_path / "system.gif")
    assert outcome.code == 2
    assert "unsupported picture format" in outcome.err
    assert "allowed: .svg, .png, .pdf or .html" in outcome.err
    outcome = cxloom("draw", "esf/validation", "--set", "devices.host.queu=1", "--out", tmp_path / "x.svg")
    assert outcome.code == 2
    (tmp_path / "file").write_text("")
    outcome = cxloom("draw", "esf/validation", "--out", tmp_path / "file" / "x.svg")
    assert outcome.code == 2
    assert "cannot be written: " in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
