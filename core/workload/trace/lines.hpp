// Errors in a trace's text, and its lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

/// A trace is wrong at a line, counted from one.
class TraceError : public InputError {
 public:
  TraceError(Detail detail, std::uint64_t line)
      : InputError(std::move(detail), "line " + std::to_string(line)), line_(line) {}
  std::uint64_t line() const { return line_; }

 private:
  std::uint64_t line_;
};

/// The text in quotes, as an error message shows it: one line, printable, not too long.
std::string quoted(std::string_view text);

/// Takes the next word, separated by blanks, off the front of the text; empty at the end.
std::string_view take_word(std::string_view& text);
/// Reads the whole text as a number; false if it is none, or none of 64 bits.
bool parse_number(std::string_view text, int base, std::uint64_t& number);

/// Cuts blocks of bytes into lines, wherever the blocks begin and end.
class LineSplitter {
 public:
  static constexpr std::size_t kLongestLine = 1U << 16U;

  /// No line is longer than so many bytes.
  explicit LineSplitter(std::size_t longest = kLongestLine) : longest_(longest) {}

  /// Calls `on_line(std::string_view)`, without the line's end (LF or CR LF), for each line that the block
  /// completes.
  template <class OnLine>
  void feed(std::string_view block, OnLine&& on_line) {
    while (!block.empty()) {
      const std::size_t end = block.find('\n');
      const std::string_view piece = block.substr(0, end);
      if (begun_.size() + piece.size() > longest_) throw too_long(piece);
      if (end == std::string_view::npos) {
        begun_ += piece;
        return;
      }
      ++number_;
      if (begun_.empty()) {
        on_line(without_return(piece));
      } else {
        begun_ += piece;
        on_line(without_return(begun_));
        begun_.clear();
      }
      block.remove_prefix(end + 1);
    }
  }

  /// At the end of the input: what follows the last line's end, counted as a line unless it is empty.
  std::string_view rest() {
    if (!begun_.empty()) ++number_;
    return begun_;
  }

  /// The number of the line handed out last, from one.
  std::uint64_t number() const { return number_; }

 private:
  static std::string_view without_return(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  TraceError too_long(std::string_view piece) const;

  std::size_t longest_;
  std::string begun_;  // the start of a line whose end has not come yet
  std::uint64_t number_ = 0;
};

}  // namespace cxloom
