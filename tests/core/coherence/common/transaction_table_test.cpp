#include "coherence/common/transaction_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>

#include "base/random.hpp"

namespace cxloom {
namespace {

struct Transaction {
  LineAddress line;
  Transaction* next = nullptr;
};

TEST(TransactionTable, FindsWhatIsUnderWayAndNothingElse) {
  // Beside a map: lines of two neighbourhoods and of powers of two, which share lists whatever the hash, come
  // and go, with up to 3,000 under way at one time, so that the table grows.
  for (const std::uint64_t most : {1U, 20U, 3000U}) {
    RandomStream random(most, "transaction_table", "lines");
    TransactionTable<Transaction> table;
    std::deque<Transaction> all;
    std::map<std::uint64_t, Transaction*> under_way;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t far = std::uint64_t{1} << random.below(58);
      const std::uint64_t number =
          random.chance(0.2) ? far : random.below(2) * 1'000'000 + random.below(2 * most);
      const LineAddress line{number};
      Transaction* const found = table.find(line);
      const auto wanted = under_way.find(number);
      ASSERT_EQ(found, wanted == under_way.end() ? nullptr : wanted->second) << number;
      if (found) {
        table.remove(*found);
        under_way.erase(wanted);
        ASSERT_EQ(table.find(line), nullptr);
      } else if (under_way.size() < most) {
        Transaction& added = all.emplace_back(Transaction{line});
        table.add(added);
        under_way[number] = &added;
      }
      ASSERT_EQ(table.lines(), under_way.size());
    }
    for (const auto& [number, transaction] : under_way)
      ASSERT_EQ(table.find(LineAddress{number}), transaction);
  }
}

}  // namespace
}  // namespace cxloom
