// The whole state of the agents that keep lines coherent, as text: what tells one state of a system from
// another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "core/support/coherence_oracle.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class CacheAgent;
class DirectoryAgent;

namespace test {

/// A text of a state. Versions of data are written by their rank among those of the line that are written, so
/// that states that differ in how often lines were written before are the same.
class StateText {
 public:
  /// The state of a system with these lines.
  StateText(const CoherenceOracle& oracle, const std::vector<LineAddress>& lines)
      : oracle_(oracle), lines_(lines) {}

  const CoherenceOracle& oracle() const { return oracle_; }
  const std::vector<LineAddress>& lines() const { return lines_; }

  StateText& operator<<(std::string_view text) { return text_ += text, *this; }
  StateText& operator<<(char letter) { return text_ += letter, *this; }
  StateText& operator<<(std::uint64_t number) { return text_ += std::to_string(number), *this; }
  StateText& flag(bool set, char letter) { return set ? *this << letter : *this; }
  StateText& line(LineAddress line) { return *this << line.number(); }
  StateText& version(LineAddress line, CoherenceOracle::Version version);
  /// All of it that an agent looks at, and the data that it carries.
  StateText& message(const Message& message);

  std::string finish();

 private:
  struct Written {
    LineAddress line;
    CoherenceOracle::Version version;
    std::size_t at;  // in the text
  };

  const CoherenceOracle& oracle_;
  const std::vector<LineAddress>& lines_;
  std::string text_;
  std::vector<Written> versions_;
};

/// The state of a cache at `node`.
void write(const CacheAgent& cache, NodeId node, StateText& text);
void write(const DirectoryAgent& home, StateText& text);
/// For how many answers the cache will keep a message on its way to it, or which of them it is.
void write_order(const CacheAgent& cache, const Message& message, StateText& text);

}  // namespace test
}  // namespace cxloom
