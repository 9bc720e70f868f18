"""Caches of gem5's Ruby for a board of its standard library: MESI_Two_Level, by the simple network or by Garnet."""

from unittest import mock

from gem5.components.cachehierarchies.ruby import mesi_two_level_cache_hierarchy as two_level
from m5.objects import (
    GarnetExtLink,
    GarnetIntLink,
    GarnetNetwork,
    GarnetNetworkInterface,
    GarnetRouter,
)


class GarnetPt2Pt(GarnetNetwork):
    """Every controller at a router of its own, and a link between each two: the library's SimplePt2Pt by Garnet."""

    def __init__(self, ruby_system):
        super().__init__()
        self.ruby_system = ruby_system

    def connectControllers(self, controllers):  # noqa: N802
        self.routers = [GarnetRouter(router_id=number) for number in range(len(controllers))]
        self.ext_links = [
            GarnetExtLink(link_id=number, ext_node=controller, int_node=router)
            for number, (controller, router) in enumerate(zip(controllers, self.routers, strict=True))
        ]
        pairs = [(source, sink) for source in self.routers for sink in self.routers if source != sink]
        self.int_links = [
            GarnetIntLink(link_id=len(controllers) + number, src_node=source, dst_node=sink)
            for number, (source, sink) in enumerate(pairs)
        ]
        self.netifs = [GarnetNetworkInterface(id=number) for number in range(len(controllers))]

    def setup_buffers(self):
        """Garnet has its own."""


class RubyCaches(two_level.MESITwoLevelCacheHierarchy):
    """First levels of a core, and a second that all cores share, above a directory for each range of memory."""

    def __init__(self, l1, l2, garnet=False):
        super().__init__(l1, "8", l1, "8", l2, "16", num_l2_banks=1)
        self._garnet = garnet

    def incorporate_cache(self, board):
        network = GarnetPt2Pt if self._garnet else two_level.SimplePt2Pt
        with mock.patch.object(two_level, "SimplePt2Pt", network):  # the library has no other place for it
            super().incorporate_cache(board)
