// Objects that come and go by the million: taken from slabs, given back to a free list, counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

namespace cxloom {

/// T has a member `T* next`, which the pool uses while the object is free. If it has a member `std::uint32_t
/// index`, too, the object finds there its place in the pool, the same through all its lives. If it has a
/// function `renew`, that makes it as if new: it may leave alone what it knows to be so.
template <class T>
class Pool {
 public:
  /// The objects are in `memory`, which outlives the pool.
  explicit Pool(std::pmr::memory_resource& memory = *std::pmr::new_delete_resource()) : memory_(memory) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (std::uint32_t i = 0; i < made_; ++i) std::destroy_at(&slabs_[i / kSlab][i % kSlab]);
    for (Slot* slab : slabs_) memory_.deallocate(slab, kSlab * sizeof(Slot), alignof(Slot));
  }

  /// A fresh object, as if newly made.
  T& take() {
    if (!free_) make();
    T* object = free_;
    free_ = object->next;
    if constexpr (kRenewed) {
      object->renew();
    } else if constexpr (kIndexed) {
      const std::uint32_t index = object->index;
      std::construct_at(object);
      object->index = index;
    } else {
      std::construct_at(object);
    }
    ++live_;
    return *object;
  }
  void give_back(T& object) {
    object.next = free_;
    free_ = &object;
    --live_;
  }
  /// The object of that index, which has been taken at least once.
  T& at(std::uint32_t index) { return slabs_[index / kSlab][index % kSlab].object; }
  /// The object of that index; null if there never was one.
  T* find(std::uint32_t index) { return index < made_ ? &at(index) : nullptr; }
  /// Objects taken and not given back.
  std::uint64_t live() const { return live_; }

 private:
  static constexpr std::uint32_t kSlab = 64;
  static constexpr bool kIndexed = requires(T object) { object.index; };
  static constexpr bool kRenewed = requires(T object) { object.renew(); };

  /// A cache line apart: at a stride of a power of two the hot lines of all objects would share a part of the
  /// cache's sets, and thousands of them would push each other out.
  struct Slot {
    T object;
    std::array<std::byte, 64> apart;
  };

  // One at a time: of the slab of a small system few are ever wanted.
  [[gnu::noinline]] void make() {
    if (made_ == slabs_.size() * kSlab)
      slabs_.push_back(static_cast<Slot*>(memory_.allocate(kSlab * sizeof(Slot), alignof(Slot))));
    T& object = std::construct_at(&slabs_.back()[made_ % kSlab])->object;
    if constexpr (kIndexed) object.index = made_;
    object.next = nullptr;
    free_ = &object;
    ++made_;
  }

  std::pmr::memory_resource& memory_;
  std::vector<Slot*> slabs_;
  T* free_ = nullptr;
  std::uint32_t made_ = 0;
  std::uint64_t live_ = 0;
};

}  // namespace cxloom
