// Items that a program outside names by a number. A number is used once: after its item has left, it names
// nothing, whatever has taken its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cxloom {

template <class Item>
class HandleTable {
 public:
  /// The number of a new item, never 0. Pointers to others are no longer valid.
  std::uint64_t add(Item item) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(places_.size()));
      places_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    Place& place = places_[index];
    place.item = std::move(item);
    place.used = true;
    return std::uint64_t{++place.life} << kLifeShift | index;
  }
  /// The item of a number; null if it names none.
  Item* find(std::uint64_t number) {
    const std::uint64_t index = index_of(number);
    if (index >= places_.size()) return nullptr;
    Place& place = places_[index];
    return place.used && place.life == number >> kLifeShift ? &place.item : nullptr;
  }
  /// The item of that number, which is there, leaves.
  Item remove(std::uint64_t number) {
    Place& place = places_[index_of(number)];
    place.used = false;
    free_.push_back(static_cast<std::uint32_t>(index_of(number)));
    return std::move(place.item);
  }
  std::size_t count() const { return places_.size() - free_.size(); }

 private:
  struct Place {
    Item item{};
    std::uint32_t life = 0;  // how many items have been here
    bool used = false;
  };
  static constexpr unsigned kLifeShift = 32;
  static std::uint64_t index_of(std::uint64_t number) {
    return number & ((std::uint64_t{1} << kLifeShift) - 1);
  }

  std::vector<Place> places_;
  std::vector<std::uint32_t> free_;  // of these
};

}  // namespace cxloom
