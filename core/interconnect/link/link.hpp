// A link between two components: two ends, of the kind that its parameters call for.
#pragma once

#include <cstdint>
#include <span>

#include "base/arena.hpp"
#include "interconnect/wire/link_params.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

class Component;
class Kernel;
class LinkEnd;
class LinkPath;
class Transmitter;
struct FlitSetup;
class Arbiter;
class ArbitrationNames;
struct ArbitrationContext;
template <class Product, class Context>
class KindRegistry;

struct Link {
  InArena<LinkEnd> forward;  ///< sends from the first component to the second
  InArena<LinkEnd> backward;
};

/// One side of a link to be made.
struct LinkSide {
  Component& component;
  std::uint16_t port;  ///< its number there: of the links made before
  Kernel& kernel;      ///< the component's
};

/// The kind of transmitter that the setup allows; that at the other side may be of the other kind.
InArena<Transmitter> make_flit_transmitter(LinkPath& path, const FlitSetup& setup);

/// The memory that a link takes when made, and once credits of each of these classes have come back in both
/// directions; `arbitrating` of its two components bring queues to its ports.
std::uint64_t link_bytes(const LinkParams& params, unsigned arbitrating, std::span<const Channel> classes);

/// Makes a link and attaches it to both components. `seed` is that of the errors on it.
Link make_link(const LinkParams& params, const LinkSide& first, const LinkSide& second, std::uint64_t seed,
               bool may_fail = false);

/// Gives each port of a component the arbiter that it asks for; to be called when all its links are made.
void make_arbiters(Component& owner, const KindRegistry<Arbiter, ArbitrationContext>& kinds,
                   std::uint64_t seed, const ArbitrationNames& names);

}  // namespace cxloom
