// DRAM media by itself: a saturated channel, or one access after another in idle time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "component/component_time.hpp"
#include "kernel/kernel.hpp"
#include "memory/dram/controller/media.hpp"
#include "protocol/request.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom {

class DramDrive final : public MediaClient, public EventHandler {
 public:
  struct Counts {
    std::uint64_t requests;
    std::uint64_t events;
  };

  explicit DramDrive(const DramParams& params)
      : owner_(ComponentContext{kernel_, "memory", NodeId{0}, 1}),
        media_(params, MediaContext{kernel_, owner_, *this, kinds_.media, kinds_.victims, Bytes{kBytes}, 1}),
        source_(kernel_.new_source()),
        requests_(kOutstanding) {
    for (std::size_t i = 0; i < kOutstanding; ++i) requests_[i].message.tag = static_cast<std::uint32_t>(i);
  }

  /// Random accesses, two reads to a write: a new one as soon as one is done, or one each `interval`.
  Counts run(std::uint64_t count, Time interval) {
    left_ = count;
    interval_ = interval;
    if (interval == Time{}) {
      for (Request& request : requests_) issue(request);
    } else {
      kernel_.schedule(Time{}, source_, *this, 0, 0);
    }
    kernel_.run(Time::max(), ~std::uint64_t{0});
    return {done_, kernel_.events()};
  }

  void media_done(Message& message, Time /*at*/) override {
    ++done_;
    if (interval_ == Time{}) issue(requests_[message.tag]);
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t number) override {
    if (left_ == 0) return;
    issue(requests_[number % kOutstanding]);
    kernel_.schedule(kernel_.now() + interval_, source_, *this, 0, number + 1);
  }

 private:
  static constexpr std::uint64_t kBytes = 1ULL << 33U;
  static constexpr std::uint64_t kOutstanding = 128;
  class Owner final : public Component {
   public:
    using Component::Component;
  };

  void issue(Request& request) {
    if (left_ == 0) return;
    --left_;
    request.begin(owner_.id(), kernel_.now());
    request.message.account = &request.account;
    request.message.opcode = random_.below(3) == 0 ? Opcode::kMemWr : Opcode::kMemRd;
    request.message.size = 64;
    media_.access(request.message, Address{random_.below(kBytes / 64) * 64}, kernel_.now());
  }

  Kernel kernel_;
  Owner owner_;
  const Registry kinds_ = builtin_registry();
  DramMedia media_;
  EventSource source_;
  RandomStream random_{1, "dram", "benchmark"};
  std::vector<Request> requests_;
  std::uint64_t left_ = 0;
  std::uint64_t done_ = 0;
  Time interval_;
};

}  // namespace cxloom
