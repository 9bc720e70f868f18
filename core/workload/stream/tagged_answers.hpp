// The listener to answers to accesses that were given with a tag: one for a device, instead of a closure
// for each access.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class TaggedAnswers {
 public:
  /// The access with that tag is answered now. The request's account has its latency.
  virtual void answered(std::uint64_t tag, const Request& request, Time now) = 0;

 protected:
  ~TaggedAnswers() = default;
};

}  // namespace cxloom
