// Media of fixed latency, with an optional limit on bandwidth and on the number of banks at work.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "kernel/distribution.hpp"
#include "kernel/event_source.hpp"
#include "kernel/wait_list.hpp"
#include "memory/media/context.hpp"
#include "memory/media/data_path.hpp"
#include "memory/media/media.hpp"
#include "protocol/message.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

struct MeasureInfo;

struct FixedMediaParams {
  Time latency{45'000};
  std::optional<Time> write_latency;
  Bandwidth bandwidth;
  std::optional<std::uint32_t> banks;
  Bytes bank_interleave{256};

  static void describe(Schema<FixedMediaParams>& schema);
  static void estimate(const FixedMediaParams& params, MemoryEstimate& memory);
};

class FixedMedia final : public Media {
 public:
  using Params = FixedMediaParams;
  FixedMedia(const FixedMediaParams& params, const MediaContext& context);
  ~FixedMedia() override;

  void access(Message& message, Address address, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  Time least_time() const override { return std::min(latencies_[0], latencies_[1]); }
  bool asks_for_addresses() const override { return !banks_.empty(); }
  bool unlimited() const override { return banks_.empty() && data_path_.unlimited(); }
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();
  static std::vector<std::string> traits() { return {"forgets"}; }

 private:
  friend struct FixedMediaParams;  // whose estimate counts banks
  class Bank;
  enum Wake : std::uint8_t { kReady, kDone };

  Time latency_of(const Message& message) const { return latencies_[message.opcode == Opcode::kMemWr]; }

  Kernel& kernel_;
  MediaClient& client_;
  EventSource source_;
  std::array<Time, 2> latencies_;  // of reads and of writes
  unsigned bank_bits_;
  bool in_order_;  // accesses end in the order in which they begin
  DataPath data_path_;
  std::vector<std::unique_ptr<Bank>> banks_;  // none: unlimited
  LevelMonitor waiting_;
};

}  // namespace cxloom
