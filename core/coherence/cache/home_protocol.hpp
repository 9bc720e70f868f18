// How a cache speaks with the home of a line: by CXL.mem with the agent of a device (HDM-DB) or plain memory,
// by CXL.cache with the agent of a host (HDM-H).
#pragma once

#include <cstdint>

#include "coherence/cache/transaction.hpp"

namespace cxloom {

class HomeProtocol {
 public:
  /// The cache, as its protocols see it. A message that they hand on is what an answer came with.
  class Cache {
   public:
    virtual Time now() const = 0;
    virtual CacheTransaction& transaction(std::uint32_t tag) = 0;
    /// The data of a read are in; an exclusive copy comes with them where nobody keeps the line coherent.
    virtual void data_came(Message& message) = 0;
    /// It may hold the line as that from now on.
    virtual void granted(Message& message, LineState state) = 0;
    /// A write, a write-back or a notice is complete.
    virtual void completed(Message& message) = 0;
    /// A snoop has come.
    virtual void snooped(Message& message, SnoopFor purpose, HomeProtocol& protocol) = 0;
    /// The snoop that waits for the transaction comes before it: answers it.
    virtual void answer_snoop_first(CacheTransaction& transaction) = 0;
    /// Goes on with a transaction that is served, and was kept.
    virtual void conclude(CacheTransaction& transaction) = 0;

   protected:
    ~Cache() = default;
  };

  virtual ~HomeProtocol() = default;

  /// Asks the home for what `transaction` is doing, for its first request.
  virtual void ask(CacheTransaction& transaction, Request& request) = 0;
  /// Writes a dirty line back (kWriteBack) or notifies that one has left (kCleanEvict). Of the first, `keeps`
  /// stays in the cache.
  virtual void evict(CacheTransaction& transaction, LineState keeps, Time ready) = 0;
  virtual void receive(Message& message) = 0;
  /// An answer of a home, which has a number, is lost: nothing waits for it any more.
  virtual void answer_lost(const Message& /*answer*/) {}
  /// A snoop has come for a line that has something under way. Whether it waits; if not it is answered now.
  virtual bool defers(CacheTransaction& transaction, const CacheSnoop& snoop) = 0;
  /// Snooped data go with the answer; if not, they are written back before it.
  virtual bool forwards_data() const = 0;
  /// Sends the answer to a snoop whose lines have all been dealt with. Its message is the answer.
  virtual void respond(const CacheSnoop& snoop, Time ready) = 0;
};

}  // namespace cxloom
