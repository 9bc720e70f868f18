// Caches, their requesters and the home of their lines on a bench (support/message_bench.hpp), watched by the
// oracle: every order of their messages can be tried, by hand or by the explorer
// (support/coherence_explorer.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "coherence/cache/params.hpp"
#include "coherence/home/bias_agent.hpp"
#include "coherence/home/directory_agent.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_losses.hpp"
#include "core/support/coherence_oracle.hpp"
#include "core/support/message_bench.hpp"
#include "protocol/request.hpp"

namespace cxloom::test {

class BenchMemory;

/// An access to a line, whose number it names.
struct Step {
  AccessKind kind;
  std::uint32_t line;
  bool fenced = false;  ///< not before all that the requester has made is answered
  std::uint16_t size = kLineBytes;
  bool keeps = false;  ///< of a flush: the line stays
};
constexpr Step read_of(std::uint32_t line) { return {AccessKind::kRead, line}; }
constexpr Step write_of(std::uint32_t line) { return {AccessKind::kWrite, line}; }
/// A write of a part of the line.
constexpr Step write_in(std::uint32_t line) { return {AccessKind::kWrite, line, false, 8}; }
constexpr Step flush_step(std::uint32_t line, bool keeps) {
  return {AccessKind::kFlush, line, false, kLineBytes, keeps};
}
/// An atomic operation on 8 bytes of the line.
constexpr Step atomic_of(std::uint32_t line) { return {AccessKind::kAtomic, line, false, 8}; }

/// What a requester does.
struct Plan {
  std::vector<Step> steps;      ///< one after the other
  bool repeated = false;        ///< instead: any of them, at any time, for ever
  std::uint32_t in_flight = 1;  ///< at once
};
/// Reads and writes of all lines, for ever.
Plan anything(std::uint32_t lines, std::uint32_t in_flight = 1);

struct HostSetup {
  std::optional<CacheAgentParams> cache;  ///< none: it keeps no copies
  Plan plan;
  AtomicsAt atomics = AtomicsAt::kCache;
};

/// The home of the lines, and how it keeps them coherent: HDM-DB, HDM-H or HDM-D.
struct HomeSetup : DcohParams {
  Coherence coherence = Coherence::kHdmDb;
  bool in_first =
      false;  ///< it is in the first requester's device, as with HDM-D it must; or in one of its own
  Bytes page{kLineBytes};      ///< of HDM-D,
  Bias initial = Bias::kHost;  ///< as are these
  std::uint32_t flip_after = 1;
};

struct CoherenceSetup {
  std::vector<HostSetup> hosts;
  HomeSetup home;
  std::uint32_t lines = 2;
  NetworkOrder order = NetworkOrder::kOfClass;
  bool quick_memory = false;            ///< memory answers at once, instead of when the explorer chooses
  MessageBench::OnSend fault;           ///< nothing: every message comes as it was sent
  std::optional<FailureSetup> failure;  ///< none: nothing fails
};

/// A cache of that many lines in one set, and a filter of that many entries, that take no time.
CacheAgentParams small_cache(std::uint32_t lines);
HomeSetup small_home(std::uint32_t entries);

class CoherenceBench final : public Explorable {
 public:
  explicit CoherenceBench(const CoherenceSetup& setup);
  ~CoherenceBench() override;

  std::size_t choices() const override;
  std::size_t deliveries() const override {
    return losses_ ? losses_->choices().size() : bench_.queues().size();
  }
  void take(std::size_t choice) override;
  /// The next step of a host's plan, and all that follows from it. Nothing is under way before it.
  void run_step(std::size_t host);
  bool idle() const override;
  std::string violation() override;
  std::string fingerprint() const override;
  void keep_log() override;
  const std::vector<std::string>& log() const override { return log_; }

  /// By host and step of its plan, the version of the line that it read or made; nothing: it is not done.
  using Results = std::vector<std::vector<std::optional<CoherenceOracle::Version>>>;
  Results results() const;
  const CoherenceOracle& oracle() const { return oracle_; }

 private:
  class Host;
  class Watch;

  Endpoint& add_home(const CoherenceSetup& setup);
  void let_fail(const FailureSetup& setup);
  /// How many steps a requester may make next.
  std::size_t options(std::size_t host) const;
  std::string name_of_host(std::size_t host) const;

  /// A choice that is no delivery.
  struct Issue {
    std::size_t host;
    std::size_t step;
  };
  Issue issue(std::size_t choice) const;
  std::string describe(std::size_t choice) const;
  void perform(std::size_t choice);
  std::vector<std::string> line_states() const;

  MessageBench bench_;
  std::vector<LineAddress> lines_;
  CoherenceOracle oracle_;
  std::unique_ptr<Watch> watch_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::unique_ptr<BenchMemory> memory_;
  std::unique_ptr<DirectoryAgent> home_;
  std::unique_ptr<CoherenceLosses> losses_;  // null: nothing fails
  std::string wrong_;
  bool logs_ = false;
  std::size_t steps_ = 0;
  std::vector<std::string> log_;
};

}  // namespace cxloom::test
