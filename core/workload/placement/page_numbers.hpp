// The numbers of a program's pages, from zero, in the order in which they are first used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_table.hpp"
#include "workload/placement/page_runs.hpp"

namespace cxloom {

/// Pages that are expected have a word each, which a random access finds in a part of the memory, and so of
/// the cache, that a hash table of them takes. That is for all others, and grows with the pages used.
class PageNumbers {
 public:
  /// More pages than this are not given a word each: 2 MiB.
  static constexpr std::uint64_t kMostExpected = std::uint64_t{1} << 19U;
  /// Many programs may use few pages each: these are the words of all of them. 16 MiB.
  static constexpr std::uint64_t kMostOfAll = std::uint64_t{1} << 22U;

  /// Most of these will be used, by one of so many programs. To be called before any page is.
  void expect(const PageRuns& pages, std::uint64_t programs = 1) {
    if (count_of(pages) > std::min(kMostExpected, kMostOfAll / std::max<std::uint64_t>(1, programs))) return;
    for (const PageRun& run : pages) {
      runs_.push_back({run, words_.size()});
      words_.resize(words_.size() + run.count);
    }
  }
  /// A new one at the first use of the page.
  std::uint64_t number_of(std::uint64_t page) {
    if (page + 1 == latest_) return latest_number_;  // never zero: addresses have 64 bits
    latest_ = page + 1;
    return latest_number_ = find(page);
  }

 private:
  struct Expected {
    PageRun pages;
    std::size_t words = 0;  // where those of its pages begin
  };
  struct Cell {
    std::uint64_t page = 0;  // from one
    std::uint64_t number = 0;

    std::uint64_t key() const { return page; }
  };

  std::uint64_t find(std::uint64_t page) {
    const auto behind = std::ranges::upper_bound(
        runs_, page, {}, [](const Expected& expected) { return expected.pages.first; });
    if (behind != runs_.begin()) {
      const Expected& run = behind[-1];
      const std::uint64_t place = page - run.pages.first;
      if (place < run.pages.count) {
        std::uint32_t& word = words_[run.words + place];
        if (word == 0) word = static_cast<std::uint32_t>(++used_);
        return word - std::uint64_t{1};
      }
    }
    Cell& cell = others_.place(page + 1);
    if (cell.page == 0) cell = {page + 1, used_++};
    return cell.number;
  }

  std::vector<Expected> runs_;        // by page
  std::vector<std::uint32_t> words_;  // numbers from one; 0: it was not used
  FlatTable<Cell> others_;
  std::uint64_t used_ = 0;
  std::uint64_t latest_ = 0;  // page from one
  std::uint64_t latest_number_ = 0;
};

}  // namespace cxloom
