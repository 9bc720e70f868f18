// One server of a language model: a queue, a prefill at a time, and decoding of all that have their first
// token.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "system/serving/kv_transport.hpp"
#include "system/serving/serving_params.hpp"
#include "system/serving/serving_record.hpp"
#include "workload/kv/model/model_shape.hpp"
#include "workload/kv/tier/kv_tiers.hpp"

namespace cxloom {

/// Which move of which server is done.
struct MoveTicket {
  std::uint32_t server = 0;
  std::uint32_t tier = 0;
  bool write = false;

  std::uint64_t number(std::size_t tiers) const {
    return (std::uint64_t{server} * tiers + tier) * 2 + (write ? 1 : 0);
  }
  static MoveTicket of(std::uint64_t number, std::size_t tiers) {
    return {static_cast<std::uint32_t>(number / 2 / tiers), static_cast<std::uint32_t>(number / 2 % tiers),
            number % 2 == 1};
  }
};

/// What the servers of a run have in common. All of it outlives them.
struct ServingContext {
  const ServingParams& params;
  const ModelShape& model;
  const KvRequests& requests;
  KvTransport& transport;
  ServingRecord& record;
};

/// Requests are prefilled one after the other in the order of arrival, each whole, and before decoding goes
/// on: a decode step under way ends first. Each step of decoding makes a token of every request that has its
/// first one; it takes the longer of its operations and of reading weights and KV caches from memory.
///
/// What a prefill adds to the tiers is written behind it. Nobody waits for that, and nobody finds it before.
///
/// With `loads: first` a prefix is loaded while decoding goes on. With `loads: layers` the prefill has the
/// processor from the beginning of the load on.
class ServingServer {
 public:
  ServingServer(const ServingContext& context, std::uint32_t number, KvTiers tiers);

  /// Requests that are not done.
  std::uint64_t waiting() const { return queue_.size() + (prefill_ ? 1 : 0) + batch_.size(); }
  void arrive(std::size_t request) { queue_.push_back(request); }
  /// Its load from a tier is done.
  void loaded(Time now, std::uint32_t tier);
  /// The first of its writes to a tier is done.
  void written(std::uint32_t tier);
  /// When its processor is through with what it does; Time::max() if it does nothing.
  Time next() const { return busy_until_; }
  /// Ends what ends now.
  void end(Time now);
  /// Begins what can begin.
  void begin(Time now);

 private:
  struct Prefill {
    std::size_t request = 0;
    std::uint64_t cached = 0;           // tokens
    std::vector<std::uint64_t> tokens;  // of them, by tier
    Time compute;
    std::uint64_t layers = 1;  // parts in which it is loaded and computed
    std::uint64_t asked = 0;   // of them
    std::uint32_t pending = 0;
    Time part_asked;  // the part that is under way
    Time loaded;      // all parts
    Time computed;    // all parts that are loaded
  };
  struct Decoding {
    std::size_t request;
    std::uint64_t context;  // tokens
    std::uint32_t left;
  };
  enum class ServerWork : std::uint8_t { kNone, kPrefill, kDecode };

  void begin_prefill(Time now);
  void choose_prefix(Time now, Prefill& prefill);
  double seconds_with(Time now, std::size_t request, std::span<const std::uint64_t> tokens,
                      std::uint64_t cached) const;
  void note_found(Time now, const Prefill& prefill);
  void ask(Time now);
  void compute_part(Time now);
  void end_prefill(Time now);
  void write_blocks(Time now);
  void begin_step(Time now);
  void end_step(Time now);
  void end_request(Time now, const Decoding& request);
  std::uint64_t part_bytes(std::uint32_t tier) const;
  Time computing(std::uint64_t tokens, std::uint64_t cached) const;

  ServingContext context_;
  std::uint32_t number_;
  KvTiers tiers_;
  std::deque<std::size_t> queue_;
  std::optional<Prefill> prefill_;
  std::vector<Decoding> batch_;
  ServerWork work_ = ServerWork::kNone;
  Time busy_until_ = Time::max();
  Time idle_from_;
  std::vector<std::uint8_t> where_;
  std::vector<KvTraffic> traffic_;
  std::vector<std::deque<std::vector<KvBlock>>> writes_;  // under way, by tier, in the order of their ends
};

}  // namespace cxloom
