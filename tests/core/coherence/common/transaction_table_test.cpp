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

/// A line that counts how often it is compared.
struct ComparedLine {
  LineAddress line;
  static inline int compared = 0;

  operator LineAddress() const { return line; }
  friend bool operator!=(const ComparedLine& a, LineAddress b) {
    ++compared;
    return a.line != b;
  }
};

struct ComparedTransaction {
  ComparedLine line;
  ComparedTransaction* next = nullptr;
};

TEST(TransactionTable, ComparesFewLinesWhateverTheStride) {
  // Fibonacci numbers and powers of two among them: multiples of either may share lists.
  for (const std::uint64_t under_way : {64U, 1024U}) {
    for (const std::uint64_t stride :
         {1U, 3U, 64U, 2584U, 2898U, 15'456U, 23'184U, 65'536U, 832'040U, 14'930'352U, 134'217'728U}) {
      TransactionTable<ComparedTransaction> table;
      std::deque<ComparedTransaction> all;
      for (std::uint64_t i = 0; i < under_way; ++i)
        table.add(all.emplace_back(ComparedTransaction{{LineAddress{i * stride}}}));
      ComparedLine::compared = 0;
      for (const ComparedTransaction& each : all) ASSERT_EQ(table.find(each.line), &each);
      EXPECT_LE(ComparedLine::compared, static_cast<int>(3 * under_way)) << stride;
    }
  }
}

}  // namespace
}  // namespace cxloom
