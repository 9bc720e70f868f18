// What a snoop filter knows of its entries beside their lines: a state of two values, and the owners.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/prefetch.hpp"
#include "base/zeroed_array.hpp"
#include "tags/slot.hpp"

namespace cxloom {

/// A bit for the state and one for each peer, side by side: the entries of a large filter are looked at all
/// over, and what few caches own then fits where it is near. Entries of less than a word share one; of others
/// each has words of its own.
class EntryBits {
 public:
  EntryBits(std::uint32_t entries, std::uint32_t peers)
      : stride_(stride_of(peers)),
        words_(stride_ <= kWord ? 1 : stride_ / kWord),
        mask_(stride_ < kWord ? (std::uint64_t{1} << stride_) - 1 : ~std::uint64_t{0}),
        bits_(words_for(entries, stride_)) {}

  /// What one takes of memory.
  static std::uint64_t bytes(std::uint64_t entries, std::uint32_t peers) {
    return words_for(entries, stride_of(peers)) * sizeof(std::uint64_t);
  }

  bool state(Slot slot) const { return has(slot, kState); }
  void set_state(Slot slot, bool state) { set(slot, kState, state); }
  bool owner(Slot slot, std::uint32_t peer) const { return has(slot, bit_of(peer)); }
  void set_owner(Slot slot, std::uint32_t peer, bool owns) { set(slot, bit_of(peer), owns); }
  void clear_owners(Slot slot) {
    const std::size_t first = first_word(slot);
    bits_[first] &= ~(owners_in(0) << shift(slot));
    for (std::uint32_t i = 1; i < words_; ++i) bits_[first + i] = 0;
  }
  bool has_owners(Slot slot) const { return owned_without(slot, kState); }
  /// No peer but this one is an owner, and this one may be none.
  bool owned_by_none_but(Slot slot, std::uint32_t peer) const { return !owned_without(slot, bit_of(peer)); }
  /// Calls `visit(peer)` for each owner, the lowest number first. It may change the owners of the entry.
  template <class Visit>
  void for_each_owner(Slot slot, Visit&& visit) const {
    for (std::uint32_t i = 0; i < words_; ++i) {
      for (std::uint64_t left = owners(slot, i); left != 0; left &= left - 1)
        visit(i * kWord + static_cast<std::uint32_t>(std::countr_zero(left)) - bit_of(0));
    }
  }
  /// Asks memory for an entry.
  [[gnu::always_inline]] void foresee(Slot slot) const { prefetch(bits_.data() + first_word(slot)); }

 private:
  static constexpr std::uint32_t kWord = 64;
  static constexpr std::uint32_t kState = 0;  // the bit of the state, which those of the peers follow

  static std::uint32_t bit_of(std::uint32_t peer) { return peer + 1; }
  static std::uint32_t stride_of(std::uint32_t peers) {
    const std::uint32_t bits = bit_of(peers);
    return bits <= kWord ? std::bit_ceil(bits) : (bits + kWord - 1) / kWord * kWord;
  }
  static std::size_t words_for(std::uint64_t entries, std::uint32_t stride) {
    return (entries * stride + kWord - 1) / kWord;
  }

  std::size_t first_bit(Slot slot) const { return std::size_t{slot} * stride_; }
  std::size_t first_word(Slot slot) const { return first_bit(slot) / kWord; }
  std::uint32_t shift(Slot slot) const { return static_cast<std::uint32_t>(first_bit(slot) % kWord); }

  bool has(Slot slot, std::uint32_t bit) const {
    const std::size_t at = first_bit(slot) + bit;
    return (bits_[at / kWord] >> at % kWord & 1U) != 0;
  }
  void set(Slot slot, std::uint32_t bit, bool on) {
    const std::size_t at = first_bit(slot) + bit;
    std::uint64_t& word = bits_[at / kWord];
    word = (word & ~(std::uint64_t{1} << at % kWord)) | std::uint64_t{on} << at % kWord;
  }
  /// The owners' bits in a word of an entry, shifted to where those of the first entry are.
  std::uint64_t owners_in(std::uint32_t word) const { return word == 0 ? mask_ & ~std::uint64_t{1} : mask_; }
  std::uint64_t owners(Slot slot, std::uint32_t word) const {
    return bits_[first_word(slot) + word] >> shift(slot) & owners_in(word);
  }
  // An owner whose bit is `without` does not count. Most entries are in one word.
  bool owned_without(Slot slot, std::uint32_t without) const {
    const std::uint64_t uncounted = std::uint64_t{1} << without % kWord;
    if (words_ == 1) return (owners(slot, 0) & ~uncounted) != 0;
    for (std::uint32_t i = 0; i < words_; ++i) {
      if ((owners(slot, i) & (i == without / kWord ? ~uncounted : ~std::uint64_t{0})) != 0) return true;
    }
    return false;
  }

  std::uint32_t stride_;  // bits from an entry to the next, a power of two or whole words
  std::uint32_t words_;   // in which an entry has bits
  std::uint64_t mask_;    // the bits of an entry in one of them
  ZeroedArray<std::uint64_t> bits_;
};

}  // namespace cxloom
