"""Caches of gem5's Ruby by this module's protocol CXL_MESI, above a host of the simulated system.

Each core has a cache of its own, for instructions and data, and all of them stand above one directory, which owns the
lines that it gets from below. Homes of the simulated system take lines back by the host's port `recalls`.
"""

from m5.defines import buildEnv
from m5.objects import (
    DMASequencer,
    MessageBuffer,
    RubyCache,
    RubyDirectoryMemory,
    RubyPortProxy,
    RubySequencer,
    RubySystem,
    SimpleExtLink,
    SimpleIntLink,
    SimpleNetwork,
    Switch,
)
from m5.util import fatal

VIRTUAL_NETWORKS = 6
INTO_NETWORK = {
    "L1Cache": ["requestToDir", "ackToDir", "doneToDir"],
    "DMA": ["recallToDir"],
    "Directory": ["orderToCache", "gift"],
}
OUT_OF_NETWORK = {
    "L1Cache": ["orderFromDir", "giftFromDir"],
    "DMA": ["giftFromDir"],
    "Directory": ["requestFromCache", "recallFromBelow", "ackFromCache", "doneFromCache"],
}
ELSEWHERE = {
    "L1Cache": ["mandatoryQueue"],
    "DMA": ["mandatoryQueue"],
    "Directory": ["requestToMemory", "responseFromMemory"],
}


class CxlMesi(RubySystem):
    """The caches of a host. One of a simulation: gem5's Ruby has its clock and its sizes once for all."""

    def setup(self, host, cores, size="32KiB", ways=8):
        """Caches of `size` bytes for `cores` cores; `sequencers` are for their ports.

        It is no part of the constructor, as controllers name this object.
        """
        if buildEnv.get("PROTOCOL") != "CXL_MESI":
            fatal(
                "This gem5 has another protocol of Ruby than CXL_MESI: "
                "`scons setconfig BUILD RUBY_PROTOCOL_CXL_MESI=y EXTRAS=...` chooses it."
            )
        self.number_of_virtual_networks = VIRTUAL_NETWORKS
        self.network = SimpleNetwork(ruby_system=self, netifs=[], number_of_virtual_networks=VIRTUAL_NETWORKS)
        caches = [RubyCache(size=size, assoc=ways, start_index_bit=6) for _ in range(cores)]
        self.sequencers = [
            RubySequencer(version=number, dcache=cache, ruby_system=self)
            for number, cache in enumerate(caches)
        ]
        self.recalls = DMASequencer(ruby_system=self)
        self.recalls.in_ports = host.recalls
        controllers = [
            self.controller("L1Cache", number, sequencer=sequencer, cacheMemory=cache)
            for number, (sequencer, cache) in enumerate(zip(self.sequencers, caches, strict=True))
        ]
        controllers.append(self.controller("DMA", 0, dma_sequencer=self.recalls))
        home = self.controller("Directory", 0, directory=RubyDirectoryMemory())
        home.addr_ranges = [host.memory.range]
        home.memory_out_port = host.cpu_side
        self.controllers = [*controllers, home]
        self.num_of_sequencers = cores
        self.connect()
        # For what the simulator itself reads and writes: system.system_port goes to its in_ports.
        self.sys_port_proxy = RubyPortProxy(ruby_system=self)

    def controller(self, kind, number, **parts):
        """A controller of the protocol with its queues."""
        import m5.objects

        made = getattr(m5.objects, f"{kind}_Controller")(version=number, ruby_system=self, **parts)
        for queue in INTO_NETWORK[kind]:
            setattr(made, queue, MessageBuffer(out_port=self.network.in_port))
        for queue in OUT_OF_NETWORK[kind]:
            setattr(made, queue, MessageBuffer(in_port=self.network.out_port))
        for queue in ELSEWHERE[kind]:
            setattr(made, queue, MessageBuffer())
        return made

    def connect(self):
        """Each controller has a router, and there is a link between each two of these."""
        self.network.routers = [Switch(router_id=number) for number in range(len(self.controllers))]
        self.network.ext_links = [
            SimpleExtLink(link_id=number, ext_node=controller, int_node=router)
            for number, (controller, router) in enumerate(
                zip(self.controllers, self.network.routers, strict=True)
            )
        ]
        pairs = [
            (one, other) for one in self.network.routers for other in self.network.routers if one is not other
        ]
        self.network.int_links = [
            SimpleIntLink(link_id=number, src_node=one, dst_node=other)
            for number, (one, other) in enumerate(pairs)
        ]
        self.network.setup_buffers()
