// The columns of a table that a run hands over in rows: each is declared once, beside the table's struct,
// with its name, unit, meaning, and the member that has its values. What is handed over and what is declared
// come from that.
//
//   struct SeriesTable { std::vector<float> queue; };
//   inline constexpr std::tuple kSeriesColumns{
//       column<&SeriesTable::queue>("queue", "", "messages that wait")};
#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include "base/measure.hpp"

namespace cxloom {

template <auto kTheMember>
struct Column {
  static constexpr auto kMember = kTheMember;
  MeasureInfo info;
};

template <auto kMember>
constexpr Column<kMember> column(std::string_view name, std::string_view unit, std::string_view meaning) {
  return {{name, unit, meaning}};
}

/// Calls `act(info, values)` for each column of a table.
template <class Table, class... Columns, class Act>
void each_column(Table& table, const std::tuple<Columns...>& columns, Act act) {
  std::apply([&](const Columns&... each) { (act(each.info, table.*Columns::kMember), ...); }, columns);
}

template <class... Columns>
std::vector<MeasureInfo> infos_of(const std::tuple<Columns...>& columns) {
  return std::apply([](const Columns&... each) { return std::vector<MeasureInfo>{each.info...}; }, columns);
}

}  // namespace cxloom
