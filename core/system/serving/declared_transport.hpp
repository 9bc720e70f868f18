// Moves between tiers and servers by the bandwidth and latency that each tier declares.
#pragma once

#include <vector>

#include "system/serving/kv_transport.hpp"
#include "system/serving/serving_params.hpp"
#include "system/serving/shared_pipe.hpp"

namespace cxloom {

/// A way for reads and one for writes to each tier: of each server, or of all of them where they share it.
class DeclaredTransport final : public KvTransport {
 public:
  DeclaredTransport(const std::vector<KvTierParams>& tiers, std::uint32_t servers);

  void begin(Time now, const KvMove& move) override;
  Time next() const override;
  void advance(Time until, std::vector<std::uint64_t>& done) override;
  Time estimate(Time now, const KvMove& move) const override;
  KvWayUse used(std::uint32_t tier, bool write) const override;

 private:
  struct Way {
    bool shared;
    double each;                    // bytes a second; zero is no limit
    double together;                // bytes a second; zero is no limit
    std::vector<SharedPipe> pipes;  // one, or one for each server

    std::size_t pipe_of(std::uint32_t server) const { return shared ? 0 : server; }
    std::uint32_t place_of(std::uint32_t server) const { return shared ? server : 0; }
  };

  Way& way(std::uint32_t tier, bool write) { return ways_[std::size_t{tier} * 2 + (write ? 1 : 0)]; }
  const Way& way(std::uint32_t tier, bool write) const {
    return ways_[std::size_t{tier} * 2 + (write ? 1 : 0)];
  }

  std::uint32_t servers_;
  std::vector<Way> ways_;  // by tier, reads and writes
};

}  // namespace cxloom
