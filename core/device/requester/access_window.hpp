// Which of the last accesses of a requester are not answered yet, a bit each: for dependences between them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace cxloom {

class AccessWindow {
 public:
  /// For a requester with so many requests in flight.
  explicit AccessWindow(std::uint32_t queue) : mask_(accesses(queue) - 1) {}

  /// How many accesses it knows. The bit of an access serves again one window later.
  static std::uint64_t accesses(std::uint32_t queue) {
    constexpr std::uint64_t kReach = 16;  // times the queue
    return std::max<std::uint64_t>(1024, std::bit_ceil(queue * kReach));
  }
  /// To be called before the others: a requester without work needs no memory.
  void prepare() { bits_.resize((mask_ + 1) / 64); }

  std::uint64_t size() const { return mask_ + 1; }
  bool outstanding(std::uint64_t id) const { return ((bits_[(id & mask_) >> 6U] >> (id & 63U)) & 1U) != 0; }
  /// The access is made, or answered.
  void flip(std::uint64_t id) { bits_[(id & mask_) >> 6U] ^= 1ULL << (id & 63U); }
  /// The access of number `id` may be made now, as one that needs the access `distance` places before it (0:
  /// none). What is older than a window has been answered.
  bool allows(std::uint64_t id, std::uint64_t distance) const {
    if (outstanding(id)) return false;
    return distance == 0 || distance > mask_ || distance > id || !outstanding(id - distance);
  }

 private:
  std::uint64_t mask_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace cxloom
