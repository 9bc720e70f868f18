// A run of servers of a language model over the requests of a trace or a generator.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/value.hpp"
#include "system/serving/serving_server.hpp"
#include "workload/kv/request/kv_future.hpp"

namespace cxloom {

struct Registry;

class Serving {
 public:
  /// Throws InputError, with the path of the key, for parameters that are wrong. Requests arrive at their
  /// times over `requests.speed`, and are no more than `requests.first`.
  Serving(const Registry& registry, ServingParams params, KvRequests requests);
  ~Serving();

  /// Goes on with so many steps at most; true when all requests are answered.
  bool advance(std::uint64_t steps);
  Time now() const { return now_; }
  std::uint64_t done() const { return record_->done; }
  std::uint64_t requests() const { return requests_.size(); }
  /// All there is to tell (docs/model/kv.md).
  Value result() const;

 private:
  void make_tiers(const Registry& registry);
  bool step();
  void hear_moves();
  std::size_t server_for(std::size_t request);

  ServingParams params_;
  ModelShape model_;
  KvRequests requests_;
  std::unique_ptr<KvFuture> future_;
  std::unique_ptr<KvTransport> transport_;
  std::unique_ptr<ServingRecord> record_;
  std::vector<std::vector<std::shared_ptr<KvTier>>> tiers_;  // by server
  std::vector<ServingServer> servers_;
  std::size_t arrived_ = 0;
  std::unordered_map<std::uint32_t, std::size_t> chats_;  // the server of each conversation
  std::size_t turn_ = 0;
  Time now_;
  std::vector<std::uint64_t> tickets_;
};

/// The tiers of one server: those of `shared` from their place on, and its own before. Throws InputError with
/// the path of the key.
std::vector<std::shared_ptr<KvTier>> make_kv_tiers(const Registry& registry,
                                                   const std::vector<KvTierParams>& tiers,
                                                   std::uint64_t block_bytes, const KvFuture& future,
                                                   std::uint64_t seed,
                                                   const std::vector<std::shared_ptr<KvTier>>& shared);

}  // namespace cxloom
