// Which access a value waits for: followed from loads through registers and through memory, as a processor's
// renaming does.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "program/feed/block.hpp"

namespace cxloom {

/// The number of an access, from 1; 0 is none. Later accesses have larger numbers.
using Producer = std::uint64_t;

/// The access that a value waits for, and how long it takes from there.
class Dependence {
 public:
  static constexpr std::uint64_t kMostCycles = 0xFFFF;

  constexpr Dependence() = default;
  explicit constexpr Dependence(Producer from, std::uint64_t cycles = 0, std::uint64_t at = 0)
      : known(at), latest_(from << kCycleBits | cycles) {}

  constexpr Producer producer() const { return latest_ >> kCycleBits; }
  /// From its data to this value, at most `kMostCycles`; without a producer this means nothing.
  constexpr std::uint16_t cycles() const { return static_cast<std::uint16_t>(latest_); }
  constexpr Dependence after(std::uint32_t more) const {
    Dependence result = *this;
    result.known += more;
    const std::uint64_t room = kMostCycles - cycles();
    result.latest_ += std::min<std::uint64_t>(more, room);
    return result;
  }
  constexpr Dependence not_before(std::uint64_t cycle) const {
    Dependence result = *this;
    result.known = std::max(known, cycle);
    return result;
  }
  /// The result of both waits for the later one.
  friend constexpr Dependence later(const Dependence& a, const Dependence& b) {
    Dependence result;
    result.latest_ = std::max(a.latest_, b.latest_);
    result.known = std::max(a.known, b.known);
    return result;
  }

  /// The cycle of its thread in which it is there, if no access takes longer than the caches.
  std::uint64_t known = 0;

 private:
  static constexpr unsigned kCycleBits = 16;

  std::uint64_t latest_ = 0;  // producer, and below it the cycles: the later one is the larger
};

/// The dependences of one thread: the latest access whose data went into each register, and into each
/// recently stored word. An access that has several to wait for waits for the latest.
class DependenceTracker {
 public:
  Dependence of(RegisterSet registers) const {
    Dependence latest;
    for (; registers != 0; registers &= registers - 1)
      latest = later(registers_[static_cast<std::size_t>(std::countr_zero(registers))], latest);
    return latest;
  }
  Dependence of(FewRegisters::Pair registers) const {
    return later(registers_[registers[0]], registers_[registers[1]]);
  }
  void set(RegisterSet registers, const Dependence& value) {
    for (; registers != 0; registers &= registers - 1)
      registers_[static_cast<std::size_t>(std::countr_zero(registers))] = value;
  }
  void set(FewRegisters::Pair registers, const Dependence& value) {
    registers_[registers[0]] = value;
    registers_[registers[1]] = value;
  }

  /// A value made of this was stored.
  void store(std::uint64_t address, std::uint32_t size, const Dependence& value) {
    for (std::uint64_t word = address / kWord; word <= (address + size - 1) / kWord; ++word) {
      Stored& stored = stored_[place(word)];
      // A word that is stored in parts has the latest of them.
      if (size < kWord && stored.word == word && stored.value.producer() > value.producer()) continue;
      stored = {word, value};
    }
  }
  /// The dependence of the value stored there, as far as it is still remembered.
  Dependence stored(std::uint64_t address, std::uint32_t size) const {
    Dependence latest;
    for (std::uint64_t word = address / kWord; word <= (address + size - 1) / kWord; ++word) {
      const Stored& stored = stored_[place(word)];
      if (stored.word == word) latest = later(stored.value, latest);
    }
    return latest;
  }

 private:
  static constexpr std::uint64_t kWord = 8;
  // Spilled values lie close together, and come back soon.
  static constexpr std::size_t kRemembered = 1024;

  struct Stored {
    std::uint64_t word = 0;
    Dependence value;
  };

  static std::size_t place(std::uint64_t word) { return static_cast<std::size_t>(word % kRemembered); }

  std::array<Dependence, FewRegisters::kPlaces> registers_{};
  std::array<Stored, kRemembered> stored_{};
};

}  // namespace cxloom
