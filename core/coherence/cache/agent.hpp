// The cache of a host or accelerator, write-back: hits end here, misses fetch a line, dirty victims are
// written back. Of memory that is kept coherent it holds lines as shared, exclusive or modified, asks the
// home for what it needs, and answers the home's snoops, by the protocol that the home speaks.
// docs/model/coherence.md has the tables of its states.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.hpp"
#include "base/intrusive_queue.hpp"
#include "base/measure.hpp"
#include "coherence/cache/atomics.hpp"
#include "coherence/cache/client.hpp"
#include "coherence/cache/counts.hpp"
#include "coherence/cache/grants_in_vain.hpp"
#include "coherence/cache/home_protocol.hpp"
#include "coherence/cache/home_protocols.hpp"
#include "coherence/cache/line_observers.hpp"
#include "coherence/cache/lines.hpp"
#include "coherence/cache/mshr_file.hpp"
#include "coherence/cache/params.hpp"
#include "coherence/cache/prefetch_unit.hpp"
#include "coherence/cache/snoops.hpp"
#include "coherence/cache/transaction.hpp"
#include "component/endpoint.hpp"
#include "component/memory_access.hpp"
#include "protocol/request.hpp"
#include "tags/cache_kinds.hpp"

namespace cxloom {

class CacheAgent final : public Agent, private HomeProtocol::Cache, private PrefetchUnit::Cache {
 public:
  using Client = CacheClient;

  /// `process_time` is what requests take to come here: write-backs pass the same pipeline.
  CacheAgent(const CacheAgentParams& params, Time process_time, Endpoint& endpoint,
             const ComponentContext& context, const CacheKinds& kinds, Client& client,
             AtomicsAt atomics_at = AtomicsAt::kCache);

  /// Takes a request of one line at most, charged up to its arrival.
  void access(Request& request);
  /// Write-backs and notices of evictions on their way.
  std::uint64_t evictions() const { return lines_.evictions(); }
  /// Write-backs and notices of victims: what snoops have written back needs no room of the requester's.
  std::uint64_t victims() const { return lines_.victims(); }
  /// Null: it asks for nothing ahead of its use.
  const PrefetchUnit* prefetcher() const { return prefetch_.get(); }
  /// Lines that it has asked for ahead of their use, without an answer.
  std::uint64_t prefetches() const { return prefetch_ ? prefetch_->under_way() : 0; }

  // In a system parts of which fail: docs/model/failures.md. What it holds of the lines of `home` is gone;
  // they return the lines that were modified.

  /// Its device has crashed: all lines are gone.
  std::vector<LineAddress> crashed() { return lines_.lose({}); }
  /// No way leads there any more.
  std::vector<LineAddress> cut_off(NodeId home) { return lines_.lose(home); }
  /// The home has presumed it dead, and has sent it so many answers: what these grant is in vain.
  std::vector<LineAddress> presumed_dead(NodeId home, std::uint32_t answers) {
    if (answers > 0) in_vain_->add(home, answers);
    return lines_.lose(home);
  }

  /// A numbered answer of a home to it is lost.
  void answer_lost(const Message& answer) {
    protocols_.of(place_of(*this, answer.tag, answer.address), endpoint().id()).answer_lost(answer);
  }

  void start() override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override { mshrs_.resources(sink); }
  static std::vector<MeasureInfo> measures();

  /// The state in its array, and what is under way.
  std::string line_state(LineAddress line) const override;
  bool acts_later() const override { return true; }
  const CacheLevels& levels() const { return lines_.levels(); }
  /// What it holds a line as, in any level.
  LineState held(LineAddress line) const { return lines_.find(line).state; }
  /// Null: nothing is under way for the line.
  const CacheTransaction* under_way(LineAddress line) const { return lines_.under_way(line); }
  /// The lines of a memory for which something is under way.
  std::vector<LineAddress> under_way_to(NodeId memory) { return lines_.under_way_to(memory); }
  const HomeProtocols& protocols() const { return protocols_; }
  const MshrFile& mshrs() const { return mshrs_; }
  /// Null: nothing fails.
  const GrantsInVain* in_vain() const { return in_vain_.get(); }
  /// Modified lines whose data were lost in the window.
  std::uint64_t dirty_lines_lost() const { return counts_.window().dirty_lines_lost; }
  /// Lines that snoops took away in the window while it held them.
  std::uint64_t lines_lost() const { return counts_.window().lines_lost; }

 private:
  enum Wake : std::uint8_t { kAnswer, kSnoop, kOperated };

  using Transaction = CacheTransaction;

  Time now() const override;

  // Requests.
  // By reference: put together in registers, and taken apart, they would pass through memory in two widths.
  bool attempt(Request& request, const CacheLevels::LookupResult& found);
  void retry(Request& request);
  bool serves(const Request& request, LineState state) const;
  void perform(Request& request, const CacheLevels::LookupResult& found);
  void launch(Transaction& transaction, Request& request, LineState held);
  void answer_later(Request& request);
  void answer(Request& request);
  void conclude(Transaction& transaction) override;
  void close(Transaction& transaction);

  // Prefetches.
  bool concerns(LineAddress line) const override;
  void fetch(Request& request) override;
  bool goes_past(const Request& request, LineState state) const;
  bool is_missing(LineAddress line) const;
  void end_prefetch(Request& request);

  // Answers.
  Transaction& transaction(std::uint32_t tag) override { return lines_.transaction(tag); }
  void data_came(Message& message) override;
  void granted(Message& message, LineState state) override;
  void completed(Message& message) override;
  void finish_read(Transaction& transaction);
  void serve_waiting(Transaction& transaction, Flaw flaw) {
    serve_waiting(transaction, flaw, lines_.find(transaction.line));
  }
  void serve_waiting(Transaction& transaction, Flaw flaw, const CacheLevels::LookupResult& held);
  bool usable(Transaction& transaction, const Message& message);
  void end_upgrade(Transaction& transaction, const Message& message);

  // Snoops.
  void snooped(Message& message, SnoopFor purpose, HomeProtocol& protocol) override {
    snoops_.take(message, purpose, protocol);
  }
  void answer_snoop_first(Transaction& transaction) override { snoops_.answer_first(transaction); }

  Client& client_;
  bool write_allocate_;
  LineObservers observers_;
  Windowed<CacheCounts> counts_;
  ArrayInArena<Windowed<CacheLevelCounts>> level_counts_;
  HomeProtocols protocols_;
  CacheLines lines_;
  CacheSnoops snoops_;
  CacheAtomics atomics_;
  std::unique_ptr<PrefetchUnit> prefetch_;  // null: none
  MshrFile mshrs_;
  std::unique_ptr<GrantsInVain> in_vain_;  // null: nothing fails
};

}  // namespace cxloom
