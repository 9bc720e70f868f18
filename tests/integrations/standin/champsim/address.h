// What the adapter uses of ChampSim's addresses.
#pragma once

#include <cstdint>

namespace champsim {

class address {
 public:
  address() = default;
  explicit address(std::uint64_t value) : value_(value) {}
  template <typename T>
  T to() const {
    return static_cast<T>(value_);
  }

 private:
  std::uint64_t value_ = 0;
};

namespace data {

class bytes {
 public:
  bytes() = default;
  explicit bytes(long long count) : count_(count) {}
  long long count() const { return count_; }

 private:
  long long count_ = 0;
};

}  // namespace data
}  // namespace champsim
