// What the tests of the trace readers share.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "workload/stream/access_stream.hpp"
#include "workload/trace/lines.hpp"

namespace cxloom {

/// An access with all its fields, comparable.
inline auto fields_of(const Access& access) {
  return std::tuple(access.address.value(), access.kind, access.size, access.thread, access.instruction_gap,
                    access.dependence, access.timed, access.timestamp.ps(), access.role, access.cycles,
                    access.dependence_cycles);
}

inline bool same(const std::vector<Access>& some, const std::vector<Access>& others) {
  if (some.size() != others.size()) return false;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (fields_of(some[i]) != fields_of(others[i])) return false;
  }
  return true;
}

/// Takes what a parser has read, by and by.
void take_all(auto& parser, std::vector<Access>& accesses) {
  for (std::size_t before = accesses.size() + 1; before != accesses.size();) {
    before = accesses.size();
    parser.take(accesses);
  }
}

/// Parses a whole text in blocks of the given size.
template <class Parser>
std::vector<Access> parse_all(Parser parser, std::string_view text, std::size_t block = 1U << 20U) {
  std::vector<Access> accesses;
  for (std::size_t at = 0; at < text.size(); at += block) {
    const std::string_view part = text.substr(at, block);
    if constexpr (requires { parser.take(accesses); }) {
      parser.feed(part);
      take_all(parser, accesses);
    } else {
      parser.feed(part, accesses);
    }
  }
  parser.finish();
  if constexpr (requires { parser.take(accesses); }) take_all(parser, accesses);
  return accesses;
}

/// The error of parsing a text: "line N: ..."; empty if there is none.
template <class Parser>
std::string error_of(Parser parser, std::string_view text) {
  try {
    parse_all(std::move(parser), text);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace cxloom
