// Accesses between a reader of a trace and their taker, so that one line's need not be there all at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workload/stream/access_stream.hpp"

namespace cxloom {

class AccessQueue {
 public:
  /// What an access of a trace can be at most before it becomes its lines.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;

  void add(const Access& access) {
    accesses_.push_back(access);
    ++added_;
  }
  /// So many bytes from its address on: an access for each line, of which the first has what else it says.
  void add_lines(const Access& access, std::uint64_t bytes) {
    large_.push_back({accesses_.size(), std::max<std::uint64_t>(bytes, 1)});
    add(access);
  }

  /// Appends what comes next; nothing: all was taken. Of lines that stand for many accesses not all at once.
  void take(std::vector<Access>& accesses) {
    if (large_.empty() && accesses.empty()) {
      accesses.swap(accesses_);
      accesses_.reserve(accesses.size() + accesses.size() / 16);  // the next block has about as many
      return;
    }
    constexpr std::size_t kMost = std::size_t{1} << 17U;
    for (std::size_t left = kMost; left > 0 && at_ < accesses_.size(); --left) {
      if (next_large_ < large_.size() && large_[next_large_].at == at_) {
        take_line(large_[next_large_], accesses);
      } else {
        accesses.push_back(accesses_[at_++]);
      }
    }
    if (at_ < accesses_.size()) return;
    accesses_.clear();
    large_.clear();
    at_ = next_large_ = 0;
  }

  /// Accesses that the trace has had so far, however large.
  std::uint64_t added() const { return added_; }

 private:
  struct Large {
    std::size_t at;
    std::uint64_t bytes;  // that are left to be cut into lines
  };

  void take_line(Large& large, std::vector<Access>& accesses) {
    Access& access = accesses_[large.at];
    const std::uint64_t part =
        std::min<std::uint64_t>(large.bytes, kLineBytes - access.address.value() % kLineBytes);
    access.size = static_cast<std::uint16_t>(part);
    accesses.push_back(access);
    access.address = Address{access.address.value() + part};
    access.instruction_gap = access.cycles = access.dependence = 0;
    access.dependence_cycles = 0;
    large.bytes -= part;
    if (large.bytes > 0) return;
    ++at_;
    ++next_large_;
  }

  std::vector<Access> accesses_;
  std::vector<Large> large_;  // in their order
  std::size_t at_ = 0;
  std::size_t next_large_ = 0;
  std::uint64_t added_ = 0;
};

}  // namespace cxloom
