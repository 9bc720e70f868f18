#include "memory/flash/channel.hpp"

#include "kernel/kernel.hpp"

namespace cxloom {

void FlashChannel::ask(FlashBusUse& use) {
  (use.bytes == 0 ? commands_ : data_).push(use);
  if (looking_) return;
  looking_ = true;
  if (free_ <= kernel_.now()) {
    kernel_.at_end_of_instant(*this);
  } else {
    kernel_.schedule(free_, source_, *this, 0);
  }
}

void FlashChannel::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  kernel_.at_end_of_instant(*this);
}

void FlashChannel::settle() {
  looking_ = false;
  const Time now = kernel_.now();
  FlashBusUse& use = (commands_.empty() ? data_ : commands_).pop();
  if (now > free_) meter_.restart();
  free_ = now + use.commands + meter_.advance(use.bytes);
  if (!commands_.empty() || !data_.empty()) {
    looking_ = true;
    kernel_.schedule(free_, source_, *this, 0);
  }
  use.user->granted(use, free_);
}

}  // namespace cxloom
