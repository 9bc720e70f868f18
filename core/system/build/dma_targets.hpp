// The hosts and peers that complete the requests of DMA engines.
#pragma once

namespace cxloom {

class System;

/// Aims each DMA engine at its host, and at the memories that it reaches without one if it sends to peers. To
/// be called when there are routes. Throws InputError where there is no such host, or no such memory.
void aim_dma_engines(System& system);

}  // namespace cxloom
