// Reads an INI file: enough to check a configuration before a library sees it that ends the process for a
// mistake.
#pragma once

#include <cxloom/media.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cxloom::integrations {

class Ini {
 public:
  /// Throws InputError, with the line, for what is no INI file.
  explicit Ini(std::string path) : path_(std::move(path)) {
    std::ifstream file(path_);
    if (!file || file.peek() == std::ifstream::traits_type::eof()) {
      throw InputError(
          {path_ + ": the configuration cannot be read, or is empty", {}, "a file in INI format", {}},
          "config");
    }
    std::string line;
    std::string section;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
      const std::string text = trimmed(std::string_view(line).substr(0, line.find_first_of(";#")));
      if (text.empty()) continue;
      const std::size_t equals = text.find('=');
      if (text.front() == '[' && text.back() == ']') {
        section = lower(text.substr(1, text.size() - 2));
      } else if (equals != std::string::npos && !section.empty()) {
        entries_[section + "." + lower(trimmed(text.substr(0, equals)))] = {trimmed(text.substr(equals + 1)),
                                                                            number};
      } else {
        throw InputError({path_ + ":" + std::to_string(number) + ": not an entry of an INI file",
                          "'" + text + "'",
                          "[section], or key = value below one",
                          {}},
                         "config");
      }
    }
  }

  /// A value as text; `otherwise` if there is none.
  std::string text(const std::string& key, const std::string& otherwise) const {
    const auto found = entries_.find(lower(key));
    return found == entries_.end() ? otherwise : found->second.value;
  }
  /// A whole number within bounds.
  std::uint64_t number(const std::string& key, std::uint64_t otherwise, std::uint64_t least = 1) const {
    const std::string found = text(key, std::to_string(otherwise));
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error != std::errc{} || stop != found.data() + found.size() || value < least || value > 1U << 31U) {
      refuse(key, "not a number that can be", "a whole number of at least " + std::to_string(least));
    }
    return value;
  }
  std::uint64_t power_of_two(const std::string& key, std::uint64_t otherwise) const {
    const std::uint64_t value = number(key, otherwise);
    if ((value & (value - 1)) != 0) refuse(key, "not a power of two", "a power of two");
    return value;
  }
  /// One of several names.
  std::string choice(const std::string& key, const std::string& otherwise,
                     const std::vector<std::string>& allowed) const {
    std::string found = text(key, otherwise);
    if (std::find(allowed.begin(), allowed.end(), found) == allowed.end()) {
      refuse(key, "not known", list_names(allowed), nearest_name(found, allowed));
    }
    return found;
  }

  /// Throws the InputError about a key.
  [[noreturn]] void refuse(const std::string& key, const std::string& problem, const std::string& allowed,
                           const std::string& suggestion = {}) const {
    const auto found = entries_.find(lower(key));
    const std::string place =
        found == entries_.end() ? path_ : path_ + ":" + std::to_string(found->second.line);
    throw InputError(
        {place + ": " + key + " is " + problem,
         found == entries_.end() ? "nothing" : "'" + found->second.value + "'", allowed, suggestion},
        "config");
  }

 private:
  struct Entry {
    std::string value;
    std::size_t line = 0;
  };

  static std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
  }
  static std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
  }

  std::string path_;
  std::map<std::string, Entry> entries_;  // by "section.key"
};

}  // namespace cxloom::integrations
