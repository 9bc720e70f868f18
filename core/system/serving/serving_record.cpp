#include "system/serving/serving_record.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace cxloom {

ServingRow& ServingRecord::row_at(Time time) {
  // An instant is of the row that ends at it, so that the last row has some length.
  const std::int64_t at = std::max<std::int64_t>((time - start).ps() - 1, 0) / every.ps();
  if (at >= kMostRows)
    throw InputError({"a series of more than " + counted(static_cast<std::uint64_t>(kMostRows), "row"),
                      to_text(every),
                      "a longer time for a row",
                      {}},
                     "every");
  const auto index = static_cast<std::size_t>(at);
  while (rows.size() <= index) {
    rows.emplace_back();
    rows.back().found.resize(tiers.size());
    rows.back().loaded.resize(tiers.size());
  }
  return rows[index];
}

void ServingRecord::note_load(std::uint32_t tier, Time begun, Time ended, std::uint64_t bytes) {
  tiers[tier].loaded_bytes += bytes;
  row_at(ended);
  // Nobody knows when within the load which bytes came, which others slow down and let go.
  const auto all = static_cast<double>(bytes);
  const auto length = static_cast<double>((ended - begun).ps());
  Time from = begun;
  while (from < ended) {
    const std::int64_t row = (from - start).ps() / every.ps();
    const Time until = std::min(ended, start + every * (row + 1));
    rows[static_cast<std::size_t>(row)].loaded[tier] +=
        all * static_cast<double>((until - from).ps()) / length;
    from = until;
  }
  if (begun == ended) row_at(ended).loaded[tier] += all;
}

}  // namespace cxloom
