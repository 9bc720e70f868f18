// The calls of a home agent for the data of writes: each goes out to who writes, and comes back with the
// data.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "coherence/home/directory_work.hpp"
#include "kernel/pool.hpp"
#include "protocol/account.hpp"
#include "protocol/message.hpp"

namespace cxloom {

struct HomePull {
  HomePull* next = nullptr;
  std::uint32_t index = 0;
  DirectoryTransaction* transaction = nullptr;  ///< null: its home has failed since, and nobody waits
  Time asked_at;
  Message message;
  Account account;  ///< of a request that waits for the data
};

class HomePulls {
 public:
  /// A call, and the data that it brings, name the entry of the home that they are for by 12 bits (UQID).
  static constexpr std::uint64_t kMost = 1U << 12U;

  std::uint64_t live() const { return pulls_.live(); }
  HomePull& take(DirectoryTransaction& transaction, Time now) {
    HomePull& pull = pulls_.take();
    pull.transaction = &transaction;
    pull.asked_at = now;
    pull.message.tag = pull.index;
    return pull;
  }
  void give_back(HomePull& pull) {
    pull.transaction = nullptr;
    pulls_.give_back(pull);
  }
  /// Null: the message is none.
  HomePull* of(const Message& message) {
    HomePull* const pull = pulls_.find(message.tag);
    return pull && &pull->message == &message ? pull : nullptr;
  }
  /// The device of the home has failed: nobody waits for what is under way.
  void abandon() {
    for (std::uint32_t i = 0; HomePull* const pull = pulls_.find(i); ++i) pull->transaction = nullptr;
  }

 private:
  Pool<HomePull> pulls_;
};

}  // namespace cxloom
