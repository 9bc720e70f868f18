#include "device/requester/access_check.hpp"

#include "component/memory_access.hpp"

namespace cxloom {

void check_mapped(const Agent& requester, const Work& work, std::uint64_t number, const Access& access) {
  Address at = access.address;
  for (std::uint32_t rest = access.lines(); rest > 0; --rest) {
    place_of(requester, number, at);
    if (access.kind == AccessKind::kFlush) check_durable(requester, work, number, at, access.brings);
    at = LineAddress::of(at).next().address();
  }
}

bool check_durable(const Agent& requester, const Work& work, std::uint64_t number, Address address,
                   bool brings) {
  const AddressMap::DecodedAddress place = place_of(requester, number, address);
  if (brings && place.coherent()) {
    throw InputError({"access " + std::to_string(number) +
                          " is a flush that brings data of coherent memory, which a recorded cache owned",
                      to_text(address),
                      "a trace without caches, or a region without coherence",
                      {}});
  }
  if (place.persistent) return true;
  if (work.shares && !place.coherent()) return true;
  if (work.flushes_anything && !place.coherent()) return false;
  const std::string what = place.coherent() ? "coherent" : "volatile";
  throw InputError({"access " + std::to_string(number) + " flushes a line of " + what + " memory",
                    to_text(address),
                    "addresses of a region with persistence: media or controller",
                    {}});
}

}  // namespace cxloom
