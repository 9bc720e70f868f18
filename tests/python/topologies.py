"""Generated topologies of all kinds, small and large, for tests of pictures."""

from __future__ import annotations

from typing import Any

import cxloom as cx
from cxloom.draw.graph import Graph, graph_of

PAIRED = {"placement": "paired"}
TOPOLOGIES: dict[str, dict[str, Any]] = {
    "switch": {"kind": "switch", "requesters": 4, "memories": 3},
    "switch-of-200": {"kind": "switch", "requesters": 40, "memories": 160},
    "chain": {"kind": "chain", "switches": 8},
    "chain-of-160": {"kind": "chain", "switches": 160, **PAIRED},
    "ring": {"kind": "ring", "switches": 6},
    "ring-of-3": {"kind": "ring", "switches": 3, **PAIRED},
    "ring-of-160": {"kind": "ring", "switches": 160, **PAIRED},
    "tree": {"kind": "tree", "leaves": 16},
    "tree-uneven": {"kind": "tree", "leaves": 13, "fan_out": 3, **PAIRED},
    "tree-of-250": {"kind": "tree", "leaves": 250},
    "spine-leaf": {"kind": "spine-leaf", "leaves": 4, "spines": 2, "devices_per_leaf": 4},
    "spine-leaf-least": {"kind": "spine-leaf", "leaves": 2, "spines": 2, "devices_per_leaf": 1},
    "spine-leaf-one-spine": {"kind": "spine-leaf", "leaves": 2, "spines": 1, "devices_per_leaf": 1},
    "spine-leaf-of-496": {"kind": "spine-leaf", "leaves": 32, "spines": 16, "devices_per_leaf": 14},
    "spine-leaf-paired": {"kind": "spine-leaf", "leaves": 64, "spines": 16, "devices_per_leaf": 6, **PAIRED},
    "fully-connected": {"kind": "fully-connected", "switches": 16},
    "fully-connected-64": {"kind": "fully-connected", "switches": 64, **PAIRED},
    "mesh": {"kind": "mesh", "size": [4, 4]},
    "mesh-ladder": {"kind": "mesh", "size": [2, 5]},
    "mesh-3d": {"kind": "mesh", "size": [3, 4, 2]},
    "torus": {"kind": "torus", "size": [4, 4]},
    "torus-of-512": {"kind": "torus", "size": [16, 16]},
    "torus-3d": {"kind": "torus", "size": [4, 4, 4], **PAIRED},
    "hypercube": {"kind": "hypercube", "dimensions": 4},
    "hypercube-of-192": {"kind": "hypercube", "dimensions": 6, **PAIRED},
    "fat-tree": {"kind": "fat-tree", "ports": 4},
    "fat-tree-of-208": {"kind": "fat-tree", "ports": 8},
    "fat-tree-four-levels": {"kind": "fat-tree", "ports": 4, "levels": 4},
    "dragonfly": {"kind": "dragonfly", "switches_per_group": 4, "global_links": 2, "devices_per_switch": 2},
    "dragonfly-small": {
        "kind": "dragonfly",
        "switches_per_group": 2,
        "global_links": 1,
        "devices_per_switch": 2,
        **PAIRED,
    },
    "dragonfly-of-408": {
        "kind": "dragonfly",
        "switches_per_group": 8,
        "global_links": 2,
        "devices_per_switch": 2,
    },
}


def system(topology: dict[str, Any]) -> cx.System:
    """A system of this topology, with a workload."""
    made = cx.System()
    made.topology(**topology)
    made.workload("host*", pattern="random", requests=10)
    return made


def graph(topology: dict[str, Any]) -> Graph:
    """The graph of its picture."""
    return graph_of(system(topology).resolve())
