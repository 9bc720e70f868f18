// Where the pages are that a processor of a machine accesses. Its writer and its reader keep the same of
// them, so that a page is told once, as long as it is remembered and stays where it is.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "program/feed/record.hpp"

namespace cxloom {

/// Remembers pages by the lower bits of their numbers. It throws nothing: it is compiled into the emulator's
/// plug-in.
class KnownPages {
 public:
  /// The pages of 4 GiB: a program that walks no more tells each page once. The table takes memory where it
  /// is used.
  static constexpr std::size_t kPages = std::size_t{1} << 20U;
  static constexpr std::uint64_t kPageMask = (std::uint64_t{1} << feed::kPageBits) - 1;

  KnownPages() = default;
  KnownPages(const KnownPages&) = delete;
  KnownPages& operator=(const KnownPages&) = delete;
  ~KnownPages() { std::free(pages_); }

  /// Notes that a page is there; false if that was known, and nothing has to be told.
  bool note(std::uint64_t page, std::uint64_t place) {
    if (pages_ == nullptr) pages_ = static_cast<Page*>(std::calloc(kPages, sizeof(Page)));
    if (pages_ == nullptr) std::abort();
    Page& known = pages_[page % kPages];
    if (known.number == page + 1 && known.place == place) return false;
    known = {page + 1, place};
    return true;
  }
  /// The place of a byte; false if that of its page is not known.
  bool place_of(std::uint64_t address, std::uint64_t& place) const {
    const std::uint64_t page = address >> feed::kPageBits;
    if (pages_ == nullptr || pages_[page % kPages].number != page + 1) return false;
    place = pages_[page % kPages].place + (address & kPageMask);
    return true;
  }

 private:
  struct Page {
    std::uint64_t number = 0;  // plus one: zero is none
    std::uint64_t place = 0;
  };
  Page* pages_ = nullptr;
};

}  // namespace cxloom
