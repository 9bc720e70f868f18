// Stands in for DRAMsim3 where it is not installed: the interface that the adapter uses, and the simplest
// memory behind it. Reads take a fixed number of cycles, those of one line are answered together by their
// address, writes are acknowledged a cycle later, and a full queue takes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dramsim3 {

/// What the next memory systems do; tests set it.
struct Behaviour {
  std::uint64_t read_cycles = 48;
  std::size_t queue = 32;
  std::uint64_t hangs_after = ~std::uint64_t{0};  // completions
  std::uint64_t throws_at = ~std::uint64_t{0};    // cycle
};
inline Behaviour behaviour;

class MemorySystem {
 public:
  MemorySystem(const std::string& /*config_file*/, const std::string& /*output_dir*/,
               std::function<void(std::uint64_t)> read_callback,
               std::function<void(std::uint64_t)> write_callback)
      : read_done_(std::move(read_callback)), write_done_(std::move(write_callback)) {}

  bool WillAcceptTransaction(std::uint64_t /*address*/, bool /*is_write*/) const {
    return pending_.size() < behaviour.queue;
  }
  bool AddTransaction(std::uint64_t address, bool is_write) {
    const auto same = [&](const Pending& other) {
      return !is_write && !other.is_write && other.address == address;
    };
    std::uint64_t at = cycle_ + (is_write ? 1 : behaviour.read_cycles);
    for (const Pending& other : pending_) at = same(other) ? other.at : at;
    pending_.push_back({address, is_write, at});
    return true;
  }
  void ClockTick() {
    if (cycle_ == behaviour.throws_at) throw std::runtime_error("a bank has lost its way");
    for (std::size_t i = 0; i < pending_.size();) {
      if (pending_[i].at > cycle_ || completed_ == behaviour.hangs_after) {
        ++i;
        continue;
      }
      const Pending done = pending_[i];
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      ++completed_;
      (done.is_write ? write_done_ : read_done_)(done.address);
    }
    ++cycle_;
  }

 private:
  struct Pending {
    std::uint64_t address;
    bool is_write;
    std::uint64_t at;
  };
  std::function<void(std::uint64_t)> read_done_;
  std::function<void(std::uint64_t)> write_done_;
  std::vector<Pending> pending_;
  std::uint64_t cycle_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace dramsim3
