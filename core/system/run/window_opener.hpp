// Opens the measured window at a given time.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

class WindowOpener final : public EventHandler {
 public:
  WindowOpener(Kernel& kernel, Time at, std::function<void()> open)
      : open_(std::move(open)), source_(kernel.new_source()) {
    kernel.schedule_background(at, source_, *this, 0);
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) override { open_(); }

 private:
  std::function<void()> open_;
  EventSource source_;
};

}  // namespace cxloom
