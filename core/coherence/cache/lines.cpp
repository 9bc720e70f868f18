#include "coherence/cache/lines.hpp"

#include <algorithm>

#include "coherence/common/coherence_home.hpp"
#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

CacheLines::CacheLines(const CacheAgentParams& params, Time process_time, const CacheKinds& kinds,
                       std::uint64_t seed, Agent& agent, HomeProtocols& protocols,
                       Windowed<CacheCounts>& counts)
    : agent_(agent),
      protocols_(protocols),
      counts_(counts),
      fill_time_(params.fill_time),
      notifies_(params.clean_evictions == CleanEvictions::kNotified),
      levels_(params, kinds.victims, seed, agent.name()),
      pipeline_(process_time + levels_.access_time(levels_.count())) {}

void CacheLines::use(LineAddress line, std::uint32_t level) {
  levels_.use(line, level, gone_);
  if (level > 0) evict_gone();
}

[[gnu::hot]] Slot CacheLines::fill(LineAddress line, LineState state) {
  const Slot slot = levels_.fill(line, state, gone_);
  occupy(agent_.endpoint().now(), fill_time_);
  evict_gone();
  return slot;
}

void CacheLines::clean(LineAddress line, bool keeps) {
  const LineState state = find(line).state;
  if (state == LineState::kInvalid) return;
  if (!keeps) {
    drop(line);
  } else if (state == LineState::kDirty) {
    set_state(line, LineState::kClean);
  }
}

// The first flush behind that tells who stored to it.
void CacheLines::tell_of_loss(LineAddress line, Request& request) {
  if (lost_.empty() || request.is_copy() || lost_.erase(line.number()) == 0) [[likely]]
    return;
  request.failed = true;
  request.message.size = 0;
}

void CacheLines::flush(LineAddress line, Request& request) {
  tell_of_loss(line, request);
  clean(line, request.keeps);
}

bool CacheLines::flushes_alone(const Request& request, LineState held) const {
  if (held == LineState::kDirty || request.brings) return false;
  const bool notice = coherent_ && notifies_ && !request.keeps && held != LineState::kInvalid;
  return !notice || !agent_.endpoint().system_context().map->find(request.address)->coherent();
}

bool CacheLines::leaves_clean(Transaction& transaction, LineState held, Request& request) {
  if (held == LineState::kDirty || request.brings) return false;
  transaction.waiting.pop();
  flush(transaction.line, request);
  ++counts_->clean_evictions;
  send_eviction(transaction, Doing::kCleanEvict, LineState::kInvalid, request.account.mark(), nullptr);
  return true;
}

void CacheLines::flushed(const Transaction& transaction, Request& request) {
  if (!request.failed) return tell_of_loss(transaction.line, request);
  ++counts_->dirty_lines_lost;
  if (transaction.coherent) clean(transaction.line, false);  // memory may not have what it has
}

std::vector<LineAddress> CacheLines::lose(std::optional<NodeId> home) {
  const AddressMap& map = *agent_.endpoint().system_context().map;
  std::vector<LineAddress> held;
  levels_.for_each_line([&](LineAddress line) {
    const auto place = map.find(line.address());
    if (!home || (place->coherent() && place->home == *home)) held.push_back(line);
  });
  std::vector<LineAddress> modified;
  for (const LineAddress line : held) {
    const LineState state = find(line).state;
    if (state == LineState::kInvalid) continue;  // it was in another level, too
    const Transaction* const busy = under_way(line);
    if (state == LineState::kDirty && !(busy && busy->doing == Doing::kOperate)) modified.push_back(line);
    if (state == LineState::kDirty) lost_.insert(line.number());
    drop(line);
  }
  counts_->dirty_lines_lost += modified.size();
  return modified;
}

[[gnu::hot]] Time CacheLines::occupy(Time from, Time length) {
  if (length > Time{}) busy_until_ = std::max(busy_until_, from) + length;
  return std::max(busy_until_, from);
}

[[gnu::hot]] CacheLines::Transaction& CacheLines::open(LineAddress line,
                                                       const AddressMap::DecodedAddress& place) {
  Transaction& transaction = transactions_.take();
  transaction.begin(line, place, protocols_.of(place, agent_.endpoint().id()));
  if (place.coherent()) {
    if (const auto* const home = agent_.endpoint().system_context().roles.of<CoherenceHome>(place.home))
      home->expect(line);
  }
  lines_.add(transaction);
  return transaction;
}

// A transaction that is over has no line in the table, or one that has another transaction.
std::vector<LineAddress> CacheLines::under_way_to(NodeId target) {
  std::vector<LineAddress> lines;
  for (std::uint32_t index = 0; const Transaction* const each = transactions_.find(index); ++index)
    if (each->target == target && under_way(each->line) == each) lines.push_back(each->line);
  return lines;
}

[[gnu::hot]] void CacheLines::close(Transaction& transaction) {
  lines_.remove(transaction);
  transactions_.give_back(transaction);
}

[[gnu::hot]] void CacheLines::evict_gone() {
  for (const CacheLevels::Gone& each : gone_) {
    note_gone(each.line);
    evict(each.line, each.state);
  }
  gone_.clear();
}

[[gnu::hot]] void CacheLines::evict(LineAddress line, LineState state) {
  const bool dirty = state == LineState::kDirty;
  if (held_ > 0) {
    const Transaction* const operation = under_way(line);
    if (operation && operation->doing == Doing::kOperate) return;  // it leaves at their end
  }
  if (!dirty && !(coherent_ && notifies_)) return;
  const auto* const region = agent_.endpoint().system_context().map->region_of(line.address());
  ensure(region != nullptr, "a cached line that no region holds");
  const AddressMap::DecodedAddress place = AddressMap::decode_in(*region, line.address());
  // Leaving lines pass the pipeline of requests, and so keep their place among them.
  const Time ready = agent_.endpoint().now() + pipeline_;
  if (!place.coherent() && !dirty) return;
  Transaction* const before = under_way(line);
  if (before && !dirty)
    return;  // it asks for more than it has lost, or its copy was to stay after a write-back
  ensure(!before || before->doing == Doing::kNothing, "a dirty line with something under way");
  Transaction& transaction = before ? *before : open(line, place);
  if (!dirty) ++counts_->clean_evictions;
  send_eviction(transaction, dirty ? Doing::kWriteBack : Doing::kCleanEvict, LineState::kInvalid, ready,
                nullptr);
}

[[gnu::hot]] void CacheLines::send_eviction(Transaction& transaction, Doing doing, LineState keeps,
                                            Time ready, Account* account) {
  ++evictions_;
  if (account) ++snooped_out_;
  transaction.doing = doing;
  transaction.evict = {};
  transaction.evict.account = account;
  transaction.protocol->evict(transaction, keeps, ready);
}

bool CacheLines::leave_first(Transaction& transaction, LineState held, Time ready) {
  if (held == LineState::kInvalid) return false;
  drop(transaction.line);
  if (held != LineState::kDirty) return false;
  send_eviction(transaction, Doing::kWriteBack, LineState::kInvalid, ready, nullptr);
  return true;
}

[[gnu::hot]] void CacheLines::eviction_completed(const Transaction& transaction, bool failed) {
  if (failed && transaction.doing == Doing::kWriteBack) lost_.insert(transaction.line.number());
  --evictions_;
  if (transaction.evict.account) --snooped_out_;
}

}  // namespace cxloom
