"""The objects that put a simulated CXL system behind the caches of gem5."""

from m5.defines import buildEnv
from m5.objects.AbstractMemory import AbstractMemory
from m5.objects.XBar import CoherentXBar
from m5.params import Param, RequestPort, ResponsePort, VectorParam
from m5.proxy import Parent
from m5.SimObject import SimObject
from m5.util import fatal


class CxlMemory(AbstractMemory):
    """The bytes of memories that are reached through hosts; their time is the path's."""

    type = "CxlMemory"
    cxx_header = "cxloom_gem5/backing_memory.hpp"
    cxx_class = "gem5::cxl::BackingMemory"


class CxlPath(SimObject):
    """What lies between the packets of hosts and their memory."""

    type = "CxlPath"
    abstract = True
    cxx_header = "cxloom_gem5/path.hpp"
    cxx_class = "gem5::cxl::Path"


class CxlDelay(CxlPath):
    """A path without a simulated system: an answer takes a time between two bounds, and lines are snooped at random."""

    type = "CxlDelay"
    cxx_header = "cxloom_gem5/delay.hpp"
    cxx_class = "gem5::cxl::Delay"

    shortest = Param.Latency("100ns", "The shortest time of an answer")
    longest = Param.Latency("100ns", "The longest time of an answer")
    snoop_interval = Param.Latency(
        "0ns", "Mean time between snoops of a line among the last that were asked for; 0: none"
    )
    snooped_lines = Param.Unsigned(64, "How many of the last lines may be snooped")


class CxlFabric(CxlPath):
    """A system of cxloom."""

    type = "CxlFabric"
    cxx_header = "cxloom_gem5/fabric.hpp"
    cxx_class = "gem5::cxl::Fabric"

    spec = Param.String("The file of the system, as `cxloom resolve` prints it")
    plugins = VectorParam.String([], "Libraries with kinds that the spec names")
    measures = VectorParam.String(
        [],
        "Numbers of the summary that become statistics, per_memory.mem0.reads say: since the last reset or dump",
    )
    summary = Param.String(
        "cxl.json", "Where the summary goes at the end, within the output folder; empty: nowhere"
    )


class CxlHost(SimObject):
    """A host of the simulated system: the memory below the last bus of its caches."""

    type = "CxlHost"
    cxx_header = "cxloom_gem5/host.hpp"
    cxx_class = "gem5::cxl::Host"

    fabric = Param.CxlPath(Parent.any, "What lies between this host and the memory")
    memory = Param.CxlMemory(Parent.any, "The bytes of the memory")
    system = Param.System(Parent.any, "The system that this host is of")
    device = Param.String("host", "The host's name in the spec; it has no workload there")
    offset = Param.Addr(0, "Where the memory begins in the address map of the spec")
    shares = Param.Bool(
        False,
        "Reads ask for shared copies. The bus above must not be the point of coherency, so that upgrades come here",
    )
    cpu_side = ResponsePort("To the last bus of the host's caches, or to a directory of Ruby")
    recalls = RequestPort("To a DMASequencer of Ruby's protocol CXL_MESI: homes take lines back by it")

    def connectPorts(self):  # noqa: N802
        """Refuses a bus that upgrades shared copies without a word to the memory: two hosts would write a line."""
        bus = self.cpu_side.peer and self.cpu_side.peer.simobj
        if self.shares and isinstance(bus, CoherentXBar) and bus.point_of_coherency:
            fatal(
                f"{self.path()}: shares is set, and {bus.path()} is the point of coherency: set its "
                "point_of_coherency=False."
            )
        protocol = buildEnv.get("PROTOCOL", "none")
        if self.recalls.peer and protocol != "CXL_MESI":
            fatal(
                f"{self.path()}: recalls are of Ruby's protocol CXL_MESI, and this gem5 is built with {protocol}: "
                "`scons setconfig BUILD RUBY_PROTOCOL_CXL_MESI=y EXTRAS=...` chooses it."
            )
        super().connectPorts()


class CxlMedium(SimObject):
    """A memory of the spec whose time is that of a memory controller of gem5, which keeps no bytes."""

    type = "CxlMedium"
    cxx_header = "cxloom_gem5/medium.hpp"
    cxx_class = "gem5::cxl::Medium"

    fabric = Param.CxlFabric(Parent.any, "The system that the memory is of")
    device = Param.String("mem", "The memory's name in the spec")
    system = Param.System(Parent.any, "The system that its accesses are counted for")
    mem_side = RequestPort("To the controller, whose range begins at 0")
