// Rows of a table of measures: members of the struct itself and of its counts, some only where another member
// says so; and the columns of a table of rows.
#include "base/measure_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/columns.hpp"

namespace cxloom {
namespace {

struct Counts {
  std::uint64_t hits = 0;
  std::uint64_t errors = 0;
  std::uint64_t atomics = 0;
};
struct Measured : Counts {
  double queue_mean = 0;
  bool fails = false;
};

constexpr std::array kMeasures{
    measure<Measured, &Measured::hits>("hits", "", "found"),
    measure<&Measured::queue_mean>("queue_mean", "", "that wait"),
    measure<Measured, &Measured::errors, &Measured::fails>("errors", "", "failed"),
    measure<Measured, &Measured::atomics, &Measured::atomics>("atomics", "", "of them atomic"),
};

std::vector<std::string> names(const Value& reported) {
  std::vector<std::string> all;
  for (const auto& [name, value] : *reported.as_map()) all.push_back(name);
  return all;
}

TEST(MeasureTable, ReportsWhatIsToBeReportedInItsOrder) {
  Measured measured{{.hits = 3, .errors = 0, .atomics = 0}, 1.5};
  EXPECT_EQ(names(map_of(kMeasures, measured)), (std::vector<std::string>{"hits", "queue_mean"}));
  measured.fails = true;
  measured.atomics = 2;
  const Value all = map_of(kMeasures, measured);
  EXPECT_EQ(names(all), (std::vector<std::string>{"hits", "queue_mean", "errors", "atomics"}));
  EXPECT_EQ(*all.find("hits")->as_integer(), 3);
  EXPECT_EQ(infos_of(kMeasures).size(), 4U);
}

struct Table {
  std::vector<std::uint64_t> id;
  std::vector<float> queue;
};
constexpr std::tuple kColumns{
    column<&Table::id>("id", "", "number"),
    column<&Table::queue>("queue", "B", "bytes that wait"),
};

TEST(Columns, AreSeenWithTheirValues) {
  Table table{{1, 2}, {0.5F, 1.5F}};
  std::string seen;
  each_column(table, kColumns, [&](const MeasureInfo& info, auto& values) {
    seen += std::string(info.name) + std::string(info.unit) + std::to_string(values.size()) + ' ';
    values.clear();
  });
  EXPECT_EQ(seen, "id2 queueB2 ");
  EXPECT_TRUE(table.id.empty() && table.queue.empty());
  EXPECT_EQ(infos_of(kColumns)[1].meaning, "bytes that wait");
}

}  // namespace
}  // namespace cxloom
