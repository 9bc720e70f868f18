#include "coherence/home/agent_params.hpp"

#include "base/schema.hpp"

namespace cxloom {

void HomeAgentParams::describe(Schema<HomeAgentParams>& schema) {
  schema.doc(
      "A home agent: an inclusive snoop filter, and snoops of CXL.cache to the caches that hold lines, the "
      "host's own among them.");
  describe_in(schema);
}

}  // namespace cxloom
