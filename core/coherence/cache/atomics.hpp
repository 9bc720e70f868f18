// The atomic operations of a cache. One made in the cache needs the only copy of the line, which stays until
// its end: snoops and further accesses wait for the transaction that stands for it, and a victim leaves after
// it. One made at the home leaves nothing of the line in the cache. docs/model/atomics.md has the closed
// forms.
#pragma once

#include "coherence/cache/client.hpp"
#include "coherence/cache/counts.hpp"
#include "coherence/cache/home_protocol.hpp"
#include "coherence/cache/lines.hpp"
#include "coherence/cache/params.hpp"
#include "coherence/cache/transaction.hpp"
#include "component/agent.hpp"

namespace cxloom {

class CacheAtomics {
 public:
  /// `agent` gets an event of the kind `wake` with the transaction of an operation that has ended. `cache`
  /// goes on with it.
  CacheAtomics(Time atomic_time, AtomicsAt at, Agent& agent, std::uint8_t wake, CacheLines& lines,
               HomeProtocol::Cache& cache, CacheClient& client, Windowed<CacheCounts>& counts)
      : atomic_time_(atomic_time),
        at_(at),
        agent_(agent),
        wake_(wake),
        lines_(lines),
        cache_(cache),
        client_(client),
        counts_(counts) {}

  /// A copy in that state is enough to make an operation here.
  bool served_by(LineState state) const {
    return at_ != AtomicsAt::kHome && (state == LineState::kClean || state == LineState::kDirty);
  }
  /// It is an atomic operation that the home makes, unless the copy is enough.
  bool at_home(const Request& request) const {
    return request.kind == AccessKind::kAtomic && (at_ != AtomicsAt::kCache || request.wants_memory());
  }
  /// Makes the operation of a request on the transaction's line, which is written already, as by a write.
  void operate(CacheTransaction& transaction, Request& request);
  /// It has ended.
  void end(CacheTransaction& transaction);
  /// Asks the home to make the operation. Here the line is held as `held`.
  void ask_home(CacheTransaction& transaction, Request& request, LineState held);

 private:
  Time atomic_time_;
  AtomicsAt at_;
  Agent& agent_;
  std::uint8_t wake_;
  CacheLines& lines_;
  HomeProtocol::Cache& cache_;
  CacheClient& client_;
  Windowed<CacheCounts>& counts_;
};

}  // namespace cxloom
