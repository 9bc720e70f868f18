// The memory of a home on a bench (support/coherence_bench.hpp).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "component/memory_front.hpp"
#include "core/support/message_bench.hpp"
#include "kernel/kernel.hpp"

namespace cxloom::test {

/// Memory that answers when the test delivers: accesses to different lines in any order.
class BenchMemory final : public Agent {
 public:
  /// The first virtual channel of accesses to it, apart from those of the device's own messages.
  static constexpr std::uint64_t kApart = std::uint64_t{1} << 32U;

  BenchMemory(MessageBench& bench, Endpoint& device, bool quick)
      : Agent(device), bench_(bench), quick_(quick), completion_(*this) {
    device.add_sender(*this);
  }
  void put_behind(MemoryFront& front) { completion_.front = &front; }

  void receive(Message& message) override {
    if (quick_) {
      endpoint().kernel().deliver(Time{}, endpoint().source(), completion_, message);
      return;
    }
    const std::uint64_t vc = kApart + LineAddress::of(message.address).number();
    const NodeId home = endpoint().id();
    for (const auto& [key, queue] : bench_.queues()) {
      if (queue.receiver == &completion_ && key.vc == vc &&
          (key.channel == Channel::kM2SRwD || message.channel == Channel::kM2SRwD))
        raced_ = bench_.describe(message) + " while the memory works on another access to the line";
    }
    bench_.wait_for(completion_, {home, home, message.channel, vc}, message);
  }
  /// What it has of these lines is gone. Nothing is in it.
  void lose(const std::vector<LineAddress>& lines) {
    ensure(quick_, "a memory that fails with accesses in it");
    for (const LineAddress line : lines) lost_.insert(line.number());
  }
  /// It has not been written since.
  bool lost(LineAddress line) const { return lost_.contains(line.number()); }
  /// A write and another access to its line that were in the memory at once: it may take them in any order.
  const std::string& raced() const { return raced_; }

 private:
  struct Completion final : EventHandler {
    explicit Completion(BenchMemory& whole) : memory(whole) {}
    void receive(Message& message) override {
      const LineAddress line = LineAddress::of(message.address);
      const bool write = message.opcode == Opcode::kMemWr;
      if (write && message.size == kLineBytes) memory.lost_.erase(line.number());
      if (!write && memory.lost(line)) message.failed = message.poisoned = true;
      message.opcode = write ? Opcode::kCmp : Opcode::kMemData;
      message.channel = channel_of(message.opcode);
      front->memory_answered(message);
    }
    BenchMemory& memory;
    MemoryFront* front = nullptr;
  };

  MessageBench& bench_;
  bool quick_;
  Completion completion_;
  std::string raced_;
  std::set<std::uint64_t> lost_;  // lines
};

}  // namespace cxloom::test
