// A line of another simulator's trace in its words, and what its readers ask of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "workload/trace/lines.hpp"

namespace cxloom {

class TraceWords {
 public:
  static constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

  /// Words are cut at blanks and tabs or, of a CSV file, at commas, where they may be empty.
  void assign(std::string_view line, std::uint64_t number, bool commas = false);

  std::string_view line() const { return line_; }
  std::size_t size() const { return words_.size(); }
  std::string_view operator[](std::size_t word) const { return words_[word]; }

  /// Each throws TraceError with the line.
  void expect(std::size_t fewest, std::size_t most, std::string_view form) const;
  std::uint64_t decimal(std::string_view what, std::size_t word, std::uint64_t most = kLargest) const {
    return decimal(what, words_[word], most);
  }
  std::uint64_t decimal(std::string_view what, std::string_view word, std::uint64_t most = kLargest) const;
  /// With 0x or without.
  std::uint64_t hexadecimal(std::size_t word) const;
  [[noreturn]] void refuse(std::string problem, std::string_view text, std::string allowed) const;

 private:
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::vector<std::string_view> words_;
};

bool is_decimal(std::string_view word);
/// With 0x or without.
bool is_hexadecimal(std::string_view word);
/// It begins with 0x, and the rest is a hexadecimal number.
bool is_marked_hexadecimal(std::string_view word);
/// Without its 0x, if it has one.
std::string_view without_mark(std::string_view word);

}  // namespace cxloom
