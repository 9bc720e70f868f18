// For systems that are built to be looked at, or run for something else than their requests.
#pragma once

#include <cstdint>

#include "protocol/request_observer.hpp"

namespace cxloom {

/// Does nothing with what it hears.
class NullObserver final : public RequestObserver {
 public:
  void measuring_begins(Time /*now*/) override {}
  void work_ends(Time /*now*/) override {}
  void completed(const Request& /*request*/, Time /*now*/) override {}
  void line_completed(const Request& /*line*/, Time /*now*/) override {}
  void written_back(NodeId /*requester*/, NodeId /*target*/, std::uint64_t /*bytes*/) override {}
  void prefetched(NodeId /*requester*/, NodeId /*target*/, std::uint64_t /*bytes*/) override {}
};

}  // namespace cxloom
