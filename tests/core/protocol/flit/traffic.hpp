// Drives a packer as a link end does, and reads its flits back: what the tests of packers and the fuzzer
// share.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "protocol/flit/packer.hpp"
#include "protocol/flit/reader.hpp"

namespace cxloom::test {

/// Queues of messages per class, a packer and a reader. Whatever goes in must come out: step() throws
/// InternalError if a message is lost, comes twice, out of order, with other data, or in slots other than
/// those that the flit says.
class FlitTraffic {
 public:
  explicit FlitTraffic(const FlitPacking& packing) : packer_(packing), reader_(packing.mode) {}

  void add(Channel channel, DataShape data = {}) {
    queues_[index(channel)].push_back(is_data_class(channel) ? data : DataShape{0, false});
    ++added_;
  }
  std::size_t waiting(Channel channel) const { return queues_[index(channel)].size(); }
  bool busy() const { return received_ < added_ || packer_.must_continue(); }

  /// Packs a flit of what waits in the classes of `mask` (a bit each), and reads it.
  const Flit& step(std::uint32_t mask = ~0U) {
    Offer offer;
    for (std::size_t i = 0; i < kChannelCount; ++i) {
      const auto channel = static_cast<Channel>(i);
      if ((mask >> i & 1U) == 0) continue;
      offer.set(channel, queues_[i].size());
      if (!is_data_class(channel)) continue;
      for (std::size_t k = 0; k < std::min<std::size_t>(queues_[i].size(), Offer::kMostWithData); ++k)
        offer.set_data(channel, k, queues_[i][k]);
    }
    packer_.pack(offer, flit_);
    account();
    check(reader_.read(flit_));
    ensure(reader_.data_expected() == packer_.data_waiting(),
           "packer and reader differ on the data under way");
    return flit_;
  }

  void drain() {
    for (unsigned idle = 0; busy(); ++idle) {
      const std::uint64_t before = received_;
      step();
      if (received_ > before) idle = 0;
      ensure(idle < 100, "messages wait although every class may go");
    }
  }

  std::uint64_t flits() const { return flits_; }
  std::uint64_t received() const { return received_; }
  std::uint64_t slots(SlotKind kind) const { return slots_[static_cast<std::size_t>(kind)]; }
  /// Slots of every kind that carry something.
  std::uint64_t used_slots() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kSlotKindCount; ++i) sum += slots_[i];
    return sum - slots(SlotKind::kEmpty);
  }
  const std::vector<FlitReader::Arrival>& last_arrivals() const { return arrivals_; }
  FlitPacker& packer() { return packer_; }

 private:
  struct Sent {
    Channel channel;
    DataShape data;
    std::uint64_t number;
  };

  static std::size_t index(Channel channel) { return static_cast<std::size_t>(channel); }

  void account() {
    ++flits_;
    unsigned sum = 0;
    for (std::size_t i = 0; i < kSlotKindCount; ++i) {
      slots_[i] += flit_.slots_of[i];
      sum += flit_.slots_of[i];
    }
    ensure(sum == flit_.slots, "a slot that is not accounted for");
  }

  // The link end's part: the placements take messages from their queues, the ends complete data in order.
  void check(std::vector<FlitReader::Arrival> arrivals) {
    std::deque<Sent> complete;
    std::size_t ends = 0;
    for (std::size_t i = 0; i < flit_.message_count; ++i) {
      const Flit::Placement& placed = flit_.message[i];
      auto& queue = queues_[index(placed.channel)];
      ensure(!queue.empty() && queue.front() == placed.data, "a message that was not offered");
      const Sent sent{placed.channel, queue.front(), sent_[index(placed.channel)]++};
      queue.pop_front();
      if (is_data_class(placed.channel)) under_way_.push_back(sent);
      else complete.push_back(sent);
    }
    for (; ends < flit_.end_count; ++ends) {
      ensure(!under_way_.empty(), "data end that never began");
      complete.push_back(under_way_.front());
      under_way_.pop_front();
    }
    ensure(arrivals.size() == complete.size(), "another number of messages arrives");
    received_ += arrivals.size();
    for (const FlitReader::Arrival& arrival : arrivals) {
      bool found = false;
      for (const Sent& sent : complete) {
        found |=
            sent.channel == arrival.channel && sent.number == arrival.number && sent.data == arrival.data;
      }
      ensure(found, "a message arrives that was not sent");
      ensure(arrival.number == arrived_[index(arrival.channel)]++, "a message out of its class's order");
    }
    arrivals_ = std::move(arrivals);
  }

  FlitPacker packer_;
  FlitReader reader_;
  Flit flit_;
  std::array<std::deque<DataShape>, kChannelCount> queues_;
  std::deque<Sent> under_way_;
  std::array<std::uint64_t, kChannelCount> sent_{};
  std::array<std::uint64_t, kChannelCount> arrived_{};
  std::array<std::uint64_t, kSlotKindCount> slots_{};
  std::vector<FlitReader::Arrival> arrivals_;
  std::uint64_t added_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t flits_ = 0;
};

/// One random life of a link: classes in a random mix, bursts, classes that stop for want of credits; then it
/// drains. Throws InternalError if a rule or a message breaks.
inline void fuzz_flits(FlitMode mode, std::uint64_t seed, unsigned steps) {
  RandomStream random(seed, "fuzz", std::string(kFlitModeNames[static_cast<std::size_t>(mode)]));
  FlitPacking packing{.mode = mode};
  packing.mac_every = static_cast<std::uint8_t>(random.below(3) == 0 ? 1 + random.below(6) : 0);
  packing.zero_extended = random.below(2) == 0;
  FlitTraffic traffic(packing);
  std::array<std::uint64_t, kChannelCount> weight{};
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const bool exists = largest_count(mode, static_cast<Channel>(i)) > 0;
    weight[i] = exists && random.below(2) == 0 ? random.below(8) : 0;
  }
  const std::uint64_t load = random.below(10);
  std::uint32_t mask = ~0U;
  for (unsigned step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < kChannelCount; ++i) {
      const auto channel = static_cast<Channel>(i);
      for (std::uint64_t k = 0; k < load; ++k) {
        if (random.below(20) >= weight[i] || traffic.waiting(channel) > 40) continue;
        DataShape data;
        data.trailer = random.below(4) == 0;
        if (mode == FlitMode::k68B && channel != Channel::kM2SRwD && random.below(4) == 0) data.chunks = 2;
        traffic.add(channel, data);
      }
    }
    if (random.below(16) == 0) mask = static_cast<std::uint32_t>(random.below(1ULL << kChannelCount));
    if (random.below(8) == 0) mask = ~0U;
    traffic.step(mask);
  }
  traffic.drain();
}

}  // namespace cxloom::test
