// What a machine tells of its pages, processes and mappings, from its words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "program/feed/program_sink.hpp"
#include "program/feed/record.hpp"

namespace cxloom {

/// Names stand in words, the first bytes first, up to a zero or the last of them.
template <std::size_t kWords>
std::string name_of(const std::uint64_t* words) {
  std::array<char, kWords * sizeof(std::uint64_t) + 1> text{};
  std::memcpy(text.data(), words, text.size() - 1);
  return text.data();
}

inline GuestProcess guest_process_of(const std::uint64_t* words) {
  return {.space = feed::payload(words[0]),
          .parent = words[2],
          .pid = static_cast<std::uint32_t>(words[1]),
          .name = name_of<feed::kProcessNameWords>(words + 3)};
}

inline GuestMapping guest_mapping_of(const std::uint64_t* words) {
  return {.space = feed::payload(words[0]),
          .begin = words[1],
          .end = words[2],
          .name = name_of<feed::kMappingNameWords>(words + 3)};
}

inline TabledPage tabled_page_of(const std::uint64_t* words) {
  TabledPage page{.address = feed::payload(words[0]) << feed::kPageBits};
  for (unsigned level = 0; level < feed::kPageLevels; ++level) page.entries[level] = words[2 + level];
  return page;
}

}  // namespace cxloom
