#include "coherence/home/dcoh_params.hpp"

#include "base/schema.hpp"

namespace cxloom {

void DcohParams::describe(Schema<DcohParams>& schema) {
  schema.doc(
      "A coherency agent (DCOH): an inclusive snoop filter, and back-invalidate snoops to the caches that "
      "hold lines of its memory.");
  describe_in(schema);
}

}  // namespace cxloom
