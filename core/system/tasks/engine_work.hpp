// The work of a device whose DMA engine makes copies of tasks.
#pragma once

#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// Has no accesses: tasks give the engine its transfers themselves. A device with it has work, and so counts
/// the requests of its engine as those of any other.
class EngineWork final : public AccessStream {
 public:
  /// There will be no more tasks.
  void close() { open_ = false; }

  bool next(Access& /*access*/) override { return false; }
  bool open() const override { return open_; }

 private:
  bool open_ = true;
};

}  // namespace cxloom
