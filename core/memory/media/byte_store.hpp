// The bytes in memory, for users of values, not of times. Pages come into being when they are written.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "base/units.hpp"

namespace cxloom {

class ByteStore {
 public:
  /// Copies the bytes at `address`; bytes that were never written are zero.
  void read(Address address, std::span<std::byte> out) const {
    for_each_page(address, out.size(),
                  [&](std::uint64_t page, std::size_t within, std::size_t done, std::size_t count) {
                    const auto found = pages_.find(page);
                    if (found == pages_.end()) {
                      std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(done), count, std::byte{0});
                    } else {
                      std::copy_n(found->second->begin() + static_cast<std::ptrdiff_t>(within), count,
                                  out.begin() + static_cast<std::ptrdiff_t>(done));
                    }
                  });
  }
  void write(Address address, std::span<const std::byte> bytes) {
    for_each_page(address, bytes.size(),
                  [&](std::uint64_t page, std::size_t within, std::size_t done, std::size_t count) {
                    auto& slot = pages_[page];
                    if (!slot) slot = std::make_unique<Page>();
                    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(done), count,
                                slot->begin() + static_cast<std::ptrdiff_t>(within));
                  });
  }

 private:
  static constexpr std::size_t kPageBytes = 4096;
  using Page = std::array<std::byte, kPageBytes>;

  template <class Action>
  static void for_each_page(Address address, std::size_t size, Action action) {
    for (std::size_t done = 0; done < size;) {
      const std::uint64_t at = address.value() + done;
      const std::size_t within = at % kPageBytes;
      const std::size_t count = std::min(size - done, kPageBytes - within);
      action(at / kPageBytes, within, done, count);
      done += count;
    }
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace cxloom
