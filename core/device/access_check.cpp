#include "device/access_check.hpp"

#include "component/memory_access.hpp"

namespace cxloom {

void check_mapped(const Agent& requester, std::uint64_t number, const Access& access) {
  Address at = access.address;
  for (std::uint32_t rest = access.lines(); rest > 0; --rest) {
    place_of(requester, number, at);
    if (access.kind == AccessKind::kFlush) check_durable(requester, number, at);
    at = LineAddress::of(at).next().address();
  }
}

void check_durable(const Agent& requester, std::uint64_t number, Address address) {
  if (place_of(requester, number, address).persistent) return;
  throw InputError({"access " + std::to_string(number) + " flushes a line of volatile memory",
                    to_text(address),
                    "addresses of a region with persistence: media or controller",
                    {}});
}

}  // namespace cxloom
