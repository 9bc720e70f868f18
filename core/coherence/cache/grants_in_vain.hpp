// Grants that reach a cache when their home has taken the lines back: it was presumed dead, or has answered a
// snoop that came behind them first, as the answer to its question was lost. By the numbers of the answers
// that homes send (`Message::pushes`).
#pragma once

#include <cstdint>
#include <vector>

#include "coherence/cache/transaction.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class GrantsInVain {
 public:
  /// All that the home has sent up to this number, one at least.
  void add(NodeId home, std::uint32_t number) {
    if (homes_.size() <= home.index()) homes_.resize(home.index() + 1);
    homes_[home.index()] = {number, true};
  }
  /// What the transaction was granted, up to now.
  bool has(const CacheTransaction& transaction) {
    if (snooped_behind(transaction, transaction.grant)) return true;
    const std::size_t home = transaction.home.index();
    if (home >= homes_.size() || !homes_[home].any) return false;
    UpTo& up_to = homes_[home];
    if (!after(transaction.grant, up_to.number)) return true;
    if (transaction.grant - up_to.number >= kAllHaveCome) up_to.any = false;
    return false;
  }
  /// That answer of the home is one of these.
  bool covers(NodeId home, std::uint32_t number) const {
    return home.index() < homes_.size() && homes_[home.index()].any &&
           !after(number, homes_[home.index()].number);
  }
  /// A snoop that the home sent behind that answer was answered before the request of the transaction.
  static bool snooped_behind(const CacheTransaction& transaction, std::uint32_t number) {
    return transaction.snooped_first && !after(number, transaction.snooped);
  }

 private:
  struct UpTo {
    std::uint32_t number = 0;
    bool any = false;
  };

  // Behind so many further answers none of those before is on its way. Then the number is forgotten: numbers
  // wrap, and later ones would seem to be before it.
  static constexpr std::uint32_t kAllHaveCome = 1U << 30U;

  static bool after(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) > 0; }

  std::vector<UpTo> homes_;  // by node
};

}  // namespace cxloom
