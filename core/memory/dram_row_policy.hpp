// The interface of row policies: when a row is closed that nobody has asked to close.
#pragma once

#include <cstdint>
#include <memory>

#include "memory/dram_params.hpp"
#include "memory/dram_timers.hpp"

namespace cxloom {

class DramRowPolicy {
 public:
  virtual ~DramRowPolicy() = default;

  /// A row is opened.
  virtual void opened(std::uint32_t /*bank*/, std::uint32_t /*row*/) {}
  /// The open row is used; `again`: not for the first time since it was opened. Returns whether it is closed with this access
  /// (automatic precharge), if no other waits for it.
  virtual bool used(std::uint32_t bank, bool again, Clock now) = 0;

  /// Rows close some time after nobody wants them any more, at `close_at`.
  virtual bool times_out() const { return false; }
  virtual Clock close_at(std::uint32_t /*bank*/) const { return kNeverClock; }
};

std::unique_ptr<DramRowPolicy> make_row_policy(const DramConfig& config, std::uint32_t banks);

}  // namespace cxloom
