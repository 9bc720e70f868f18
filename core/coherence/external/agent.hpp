// A cache outside of the simulation, for the homes of its lines: asks them for what its requests want, and
// hands their snoops to the outside, which answers them. A line has one transaction at a time; requests to it
// wait for its end, and a snoop is handed out before a request is granted or after.
#pragma once

#include <cstdint>
#include <string>

#include "base/handle_table.hpp"
#include "coherence/cache/client.hpp"
#include "coherence/cache/home_protocol.hpp"
#include "coherence/cache/home_protocols.hpp"
#include "coherence/cache/transaction.hpp"
#include "coherence/common/transaction_table.hpp"
#include "coherence/external/outside_cache.hpp"
#include "coherence/external/outside_lines.hpp"
#include "component/endpoint.hpp"
#include "kernel/pool.hpp"
#include "protocol/request.hpp"

namespace cxloom {

/// What a request wants is in its kind and its flags:
///
///   read               the current value, and no copy
///   read, keeps        a copy, shared or exclusive as the home grants it
///   write, keeps       an exclusive copy: the line comes and nobody else has it
///   write, keeps, brings   the same for a shared copy that is there: without the line's data
///   write              its bytes go to memory, past all caches
///   flush, brings      a modified line leaves
///   flush              a clean line leaves
class ExternalCache final : public Agent, private HomeProtocol::Cache {
 public:
  ExternalCache(Endpoint& endpoint, CacheClient& client);

  /// Names the cache outside; to be called before anything comes to it.
  void be(OutsideCache& outside) { outside_ = &outside; }
  bool has_outside() const { return outside_ != nullptr; }
  /// It keeps no more of a line that nothing is under way for than a shared copy.
  void keep_shared(LineAddress line) { granted_.set(line, LineState::kShared); }
  /// The outside has given up a modified line: its write-back comes as soon as the requester has room for it.
  void gives_up(LineAddress line) { leaving_.add(line); }
  /// Takes a request of one line at most, charged up to its arrival.
  void access(Request& request);
  /// The outside held the line of the snoop of that number as `held`, and holds it as the snoop leaves it:
  /// not at all, or shared, or clean if it was modified and the data have been asked for: returns that.
  /// Throws InputError, with everything as it was, if no such snoop is outside.
  LineState snoop_answered(std::uint64_t number, LineState held);
  /// Snoops that the outside has, and has not answered.
  std::uint64_t snoops_outside() const { return outside_snoops_.count(); }
  /// Lines with something under way, requests among them.
  std::uint64_t lines_under_way() const { return lines_.lines(); }
  /// What it may hold of a line that it has just asked for. Of one that nobody keeps coherent nobody else has
  /// a copy that is cared for.
  LineState granted(LineAddress line) const;

  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  std::string line_state(LineAddress line) const override;
  bool acts_later() const override { return true; }

 private:
  Time now() const override;
  CacheTransaction& transaction(std::uint32_t tag) override { return transactions_.at(tag); }
  void data_came(Message& message) override;
  void granted(Message& message, LineState state) override;
  void completed(Message& message) override;
  void snooped(Message& message, SnoopFor purpose, HomeProtocol& protocol) override;
  void answer_snoop_first(CacheTransaction& transaction) override { hand_out(transaction); }
  void conclude(CacheTransaction& transaction) override;

  CacheTransaction& open(LineAddress line);
  void launch(CacheTransaction& transaction);
  void ask_current(CacheTransaction& transaction, Request& request);
  void evict(CacheTransaction& transaction, Request& request, Doing doing);
  void finish_read(CacheTransaction& transaction, bool failed);
  void answer(CacheTransaction& transaction, std::uint16_t bytes);
  void answer_at_once(CacheTransaction& transaction);
  void snoop_line(CacheSnoop& snoop, LineAddress line);
  void hand_out(CacheTransaction& transaction);
  bool absorb_write_back(CacheTransaction& transaction);
  bool absorb_waiting(CacheTransaction& transaction);
  LineState leave(CacheTransaction& transaction, LineState held);
  void write_snooped(CacheTransaction& transaction, LineState left);
  void carried(CacheTransaction& writer, const Message& message);
  void line_answered(CacheTransaction& transaction, LineState was, LineState left);

  CacheClient& client_;
  OutsideCache* outside_ = nullptr;
  HomeProtocols protocols_;
  GrantedLines granted_;
  LeavingLines leaving_;
  TransactionTable<CacheTransaction> lines_;
  Pool<CacheTransaction> transactions_;
  Pool<CacheSnoop> snoops_;
  HandleTable<CacheTransaction*> outside_snoops_;  // that the outside has, by the transactions of their lines
};

}  // namespace cxloom
