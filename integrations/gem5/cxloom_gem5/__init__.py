"""A system of cxloom as the memory of a board of gem5's standard library: `from cxloom_gem5 import CxlMemorySystem`."""

import os
import subprocess
from pathlib import Path

import m5
from gem5.components.memory.abstract_memory_system import AbstractMemorySystem
from m5.objects import CxlFabric, CxlHost, CxlMedium, CxlMemory, CxlPath, MemCtrl
from m5.util import fatal
from m5.util.convert import toMemorySize


class CxlMemorySystem(AbstractMemorySystem):
    """What a host of the system reaches by its address map: `size` bytes from `offset` on.

    spec: a file, or in its place another path, such as CxlDelay. A file in YAML is resolved by the `cxloom` of
    CXLOOM_PYTHON, or else of PATH; one that ends in .json has been.
    media: interfaces of gem5's DRAM by the names of the memories that have their time.
    shares: reads ask for shared copies; the memory bus of the board must not be the point of coherency then.
    Further parameters are those of CxlFabric.
    """

    def __init__(self, spec, size, host="host", offset=0, media=None, shares=False, **fabric):
        super().__init__()
        self._size = toMemorySize(size)
        self.fabric = spec if isinstance(spec, CxlPath) else CxlFabric(spec=resolved(spec), **fabric)
        self.store = CxlMemory()
        self.host = CxlHost(
            device=host,
            fabric=self.fabric,
            memory=self.store,
            offset=toMemorySize(offset) if isinstance(offset, str) else offset,
            shares=shares,
        )
        self._controllers = []
        for interface in (media or {}).values():
            # It has the time of accesses and no bytes: those are in the store.
            interface.null, interface.in_addr_map, interface.kvm_map = True, False, False
            self._controllers.append(MemCtrl(dram=interface))
        if media:
            self.controllers = self._controllers
            self.media = [
                CxlMedium(fabric=self.fabric, device=device, mem_side=controller.port)
                for device, controller in zip(media, self._controllers, strict=True)
            ]

    def incorporate_memory(self, board):
        pass

    def get_mem_ports(self):
        return [(self.store.range, self.host.cpu_side)]

    def get_memory_controllers(self):
        return list(self._controllers)

    def get_size(self):
        return self._size

    def get_uninterleaved_range(self):
        return [self.store.range]

    def set_memory_range(self, ranges):
        if len(ranges) != 1 or ranges[0].size() != self._size:
            fatal(f"CxlMemorySystem: the board must have one range of its {self._size} bytes.")
        self.store.range = ranges[0]


def resolved(spec):
    """The file of a spec as programs without Python read it."""
    if Path(spec).suffix == ".json":
        return str(spec)
    python = os.environ.get("CXLOOM_PYTHON")
    command = [python, "-m", "cxloom"] if python else ["cxloom"]
    try:
        # gem5's own Python may be another one: none of its settings are for that of cxloom.
        settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(
            [*command, "resolve", str(spec)], capture_output=True, text=True, check=False, env=settings
        )
    except FileNotFoundError:
        fatal(f"CxlMemorySystem: {command[0]} is not found: CXLOOM_PYTHON names the Python that has cxloom.")
    if done.returncode != 0:
        fatal(f"CxlMemorySystem: {spec}: {done.stderr.strip()}")
    file = Path(m5.options.outdir) / f"{Path(spec).stem}.resolved.json"
    file.write_text(done.stdout)
    return str(file)
