// The cache of a host or accelerator, write-back: hits end here, misses fetch a line, dirty victims are written back. Of
// memory that is kept coherent it holds lines as shared, exclusive or modified, asks the home for what it needs, and answers the
// home's snoops, by the protocol that the home speaks. docs/model/coherence.md has the tables of its states.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/intrusive_queue.hpp"
#include "base/measure.hpp"
#include "coherence/cache_agent_params.hpp"
#include "coherence/cache_counts.hpp"
#include "coherence/cache_levels.hpp"
#include "coherence/cache_transaction.hpp"
#include "coherence/cxl_bias_protocol.hpp"
#include "coherence/cxl_cache_protocol.hpp"
#include "coherence/cxl_mem_protocol.hpp"
#include "coherence/home_protocol.hpp"
#include "coherence/line_table.hpp"
#include "coherence/prefetch_unit.hpp"
#include "component/endpoint.hpp"
#include "kernel/pool.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/address_map.hpp"
#include "protocol/request.hpp"
#include "tags/cache_array.hpp"
#include "tags/cache_kinds.hpp"

namespace cxloom {

class CacheAgent final : public Agent,
                         private Waiter,
                         private HomeProtocol::Cache,
                         private PrefetchUnit::Cache {
 public:
  /// Who makes the requests.
  class Client {
   public:
    /// The request is done now, its account charged up to now.
    virtual void answered(Request& request) = 0;
    /// `bytes` of a dirty line have reached memory at `target`; 0: they were lost on the way.
    virtual void written_back(NodeId target, std::uint16_t bytes) = 0;
    /// `bytes` of a line that nobody waits for have come from memory at `target`; 0: they were lost on the way.
    virtual void prefetched(NodeId target, std::uint16_t bytes) = 0;
    /// All that this event has changed is changed: it may go on with what waited for it.
    virtual void go_on() = 0;

   protected:
    ~Client() = default;
  };

  /// `process_time` is what requests take to come here: write-backs pass the same pipeline.
  CacheAgent(const CacheAgentParams& params, Time process_time, Endpoint& endpoint,
             const ComponentContext& context, const CacheKinds& kinds, Client& client,
             AtomicsAt atomics_at = AtomicsAt::kCache);

  /// Takes a request of one line at most, charged up to its arrival.
  void access(Request& request);
  /// Write-backs and notices of evictions on their way.
  std::uint64_t evictions() const { return evictions_; }
  /// Those of victims: what snoops have written back needs no room of the requester's.
  std::uint64_t victims() const { return evictions_ - snooped_out_; }
  /// Null: it asks for nothing ahead of its use.
  const PrefetchUnit* prefetcher() const { return prefetch_.get(); }
  /// Lines that it has asked for ahead of their use, without an answer.
  std::uint64_t prefetches() const { return prefetch_ ? prefetch_->under_way() : 0; }

  void start() override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time now) override;
  void close_window(Time now) override;
  void report(MeasureSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  /// The state in its array, and what is under way.
  std::string line_state(LineAddress line) const override;
  bool acts_later() const override { return true; }
  const CacheLevels& levels() const { return levels_; }
  /// What it holds a line as, in any level.
  LineState held(LineAddress line) const { return levels_.find(line).state; }
  /// Lines that snoops took away in the window while it held them.
  std::uint64_t lines_lost() const { return counts_.lines_lost; }

 private:
  friend struct AgentState;  // writes all of it down, to tell one state of a system from another
  enum Wake : std::uint8_t { kAnswer, kSnoop, kOperated };

  using Transaction = CacheTransaction;
  using Snoop = CacheSnoop;

  const EventHandler& owner() const override { return endpoint(); }
  Time now() const override;

  // Requests.
  bool attempt(Request& request, CacheLevels::Place place);
  void retry(Request& request);
  bool serves(const Request& request, LineState state) const;
  void perform(Request& request, std::uint32_t level);
  void launch(Transaction& transaction, Request& request, LineState held);
  void answer_later(Request& request);
  void answer(Request& request);
  void conclude(Transaction& transaction) override;
  void close(Transaction& transaction);

  // Atomic operations: cache_atomics.cpp.
  bool operates_at_home(const Request& request) const {
    return request.kind == AccessKind::kAtomic && atomics_at_ != AtomicsAt::kCache;
  }
  void ask_home(Transaction& transaction, Request& request, LineState held);
  void operate(Transaction& transaction, Request& request);
  void operated(Transaction& transaction);
  bool operates_on(LineAddress line) const;

  // Prefetches.
  bool concerns(LineAddress line) const override;
  void fetch(Request& request) override;
  bool goes_past(const Request& request, LineState state) const;
  bool is_missing(LineAddress line) const;
  void end_prefetch(Request& request);
  void note_gone(LineAddress line) {
    if (prefetch_) prefetch_->left(line);
  }

  // Answers.
  Transaction& transaction(std::uint32_t tag) override { return transactions_.at(tag); }
  void data_came(Message& message) override;
  void granted(Message& message, LineState state) override;
  void completed(Message& message) override;
  void finish_read(Transaction& transaction, bool failed);
  void serve_waiting(Transaction& transaction, bool failed);

  // Lines that leave.
  void fill(LineAddress line, LineState state);
  void evict_gone();
  void evict(LineAddress line, LineState state);
  void send_eviction(Transaction& transaction, Doing doing, LineState keeps, Time ready, Account* account);
  Transaction& open(LineAddress line, const AddressMap::Place& place);
  HomeProtocol& protocol_of(const AddressMap::Place& place);

  // Snoops.
  void snooped(Message& message, SnoopFor purpose, HomeProtocol& protocol) override;
  void look_up(Snoop& snoop);
  void snoop_line(Snoop& snoop, LineAddress line);
  void answer_snoop(Snoop& snoop, LineAddress line, Transaction* transaction);
  void answer_snoop_first(Transaction& transaction) override;
  void forwarded(LineAddress line);
  void line_answered(Snoop& snoop, LineState was, LineState left, const Account* account);

  Time occupy(Time from, Time length);

  Client& client_;
  Time fill_time_;
  Time clear_time_;
  Time atomic_time_;
  AtomicsAt atomics_at_;
  Time pipeline_;  // from the making of a request until it leaves
  std::optional<std::uint32_t> mshrs_;
  bool write_allocate_;
  bool notifies_;
  bool coherent_ = false;  // some memory is
  CacheLevels levels_;
  std::unique_ptr<PrefetchUnit> prefetch_;  // null: none
  CxlMemProtocol cxl_mem_;
  CxlBiasProtocol cxl_bias_;
  CxlCacheProtocol cxl_cache_;
  std::vector<CacheLevels::Gone> gone_;  // lines that have just left
  Time busy_until_;                      // with fills and clearing
  LineTable<Transaction> lines_;
  Pool<Transaction> transactions_;
  Pool<Snoop> snoops_;
  std::uint64_t evictions_ = 0;
  std::uint64_t snooped_out_ = 0;  // of these, write-backs that a snoop waits for
  std::uint32_t misses_ = 0;       // transactions that requests began
  std::uint32_t operations_ = 0;   // atomic operations under way
  IntrusiveQueue<Request> outside_;
  WaitList registers_;

  // Measuring.
  bool window_open_ = false;
  CacheCounts counts_;
};

}  // namespace cxloom
