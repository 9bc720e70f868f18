#include "workload/trace/words.hpp"

#include <utility>

namespace cxloom {

void TraceWords::assign(std::string_view line, std::uint64_t number, bool commas) {
  line_ = line;
  number_ = number;
  words_.clear();
  if (!commas) {
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line))
      words_.push_back(word);
    return;
  }
  for (std::size_t comma = line.find(','); comma != std::string_view::npos; comma = line.find(',')) {
    words_.push_back(line.substr(0, comma));
    line.remove_prefix(comma + 1);
  }
  words_.push_back(line);
}

void TraceWords::expect(std::size_t fewest, std::size_t most, std::string_view form) const {
  if (words_.size() >= fewest && words_.size() <= most) return;
  refuse("a line of " + counted(words_.size(), "column"), line_, std::string(form));
}

std::uint64_t TraceWords::decimal(std::string_view what, std::string_view word, std::uint64_t most) const {
  std::uint64_t number = 0;
  if (!parse_number(word, 10, number) || number > most)
    refuse("bad " + std::string(what), word, "an integer from 0 to " + std::to_string(most));
  return number;
}

std::uint64_t TraceWords::hexadecimal(std::size_t word) const {
  std::uint64_t address = 0;
  if (!parse_number(without_mark(words_[word]), 16, address))
    refuse("bad address", words_[word], "an address of up to 64 bits, such as 0x1f40");
  return address;
}

void TraceWords::refuse(std::string problem, std::string_view text, std::string allowed) const {
  throw TraceError({std::move(problem), quoted(text), std::move(allowed), {}}, number_);
}

bool is_decimal(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_hexadecimal(std::string_view word) {
  const std::string_view digits = without_mark(word);
  return !digits.empty() && digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

bool is_marked_hexadecimal(std::string_view word) {
  return without_mark(word).size() < word.size() && is_hexadecimal(word);
}

std::string_view without_mark(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2);
  return word;
}

}  // namespace cxloom
