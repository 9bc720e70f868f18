// Ranges: a placement for each range of a program's addresses, or each of its objects, as mbind gives it to a
// mapping.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/schema.hpp"
#include "workload/placement/page_placement.hpp"

namespace cxloom {

class RangesPlacement final : public PagePlacement {
 public:
  struct Range {
    std::optional<std::string> object;
    std::optional<Address> base;
    std::optional<Bytes> size;
    KindSpec place{"preferred", Value(Value::Map{})};

    static void describe(Schema<Range>& schema);
  };
  struct Params {
    std::vector<Range> ranges;
    KindSpec otherwise{"preferred", Value(Value::Map{})};

    static void describe(Schema<Params>& schema);
  };
  RangesPlacement(const Params& params, PlacementContext& context);
  std::optional<Choice> place(std::uint64_t page, std::uint64_t count,
                              std::span<const std::uint64_t> free) override;
  Round round(std::uint64_t page, std::uint64_t count) const override;
  void nodes_changed(const std::vector<bool>& has_memory) override;
  void restart() override;
  std::vector<std::vector<std::size_t>> named() const override;
  /// All of them may be in one range.
  std::uint64_t sure_of() const override;
  /// As the placement of its range is.
  bool is_explicit(std::uint64_t page) const override;

 private:
  struct Pages {
    std::uint64_t first;
    std::uint64_t end;
    std::unique_ptr<PagePlacement> placement;
  };

  /// The placement of a page, and of how many of the `count` pages from it on.
  std::pair<PagePlacement*, std::uint64_t> of(std::uint64_t page, std::uint64_t count) const;
  /// Adds the pages of a range, which overlap no other. Throws InputError.
  void add(const Range& range, PlacementContext& context);

  std::vector<Pages> ranges_;  // by their first pages
  std::unique_ptr<PagePlacement> otherwise_;
};

}  // namespace cxloom
