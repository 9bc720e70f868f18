// Which access a value waits for: followed from loads through registers and through memory, as a processor's renaming does.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "program/block.hpp"

namespace cxloom {

/// The number of an access, from 1; 0 is none. Later accesses have larger numbers.
using Producer = std::uint64_t;

/// Of one thread: of each register and of recently stored words, the latest access whose data went into it. An access that has
/// several to wait for waits for the latest of them.
class DependenceTracker {
 public:
  Producer of(RegisterSet registers) const {
    Producer latest = 0;
    for (; registers != 0; registers &= registers - 1) {
      const Producer one = registers_[static_cast<std::size_t>(std::countr_zero(registers))];
      if (one > latest) latest = one;
    }
    return latest;
  }
  void set(RegisterSet registers, Producer producer) {
    for (; registers != 0; registers &= registers - 1) {
      registers_[static_cast<std::size_t>(std::countr_zero(registers))] = producer;
    }
  }

  /// A value made of this was stored.
  void store(std::uint64_t address, std::uint32_t size, Producer producer) {
    for (std::uint64_t word = address / kWord; word <= (address + size - 1) / kWord; ++word) {
      Stored& stored = stored_[place(word)];
      // Of a word that is stored in parts, the latest.
      if (size < kWord && stored.word == word && stored.producer > producer) continue;
      stored = {word, producer};
    }
  }
  /// What was stored there waits for this, as far as it is still remembered.
  Producer stored(std::uint64_t address, std::uint32_t size) const {
    Producer latest = 0;
    for (std::uint64_t word = address / kWord; word <= (address + size - 1) / kWord; ++word) {
      const Stored& stored = stored_[place(word)];
      if (stored.word == word && stored.producer > latest) latest = stored.producer;
    }
    return latest;
  }

 private:
  static constexpr std::uint64_t kWord = 8;
  // What is spilled and reloaded lies close together, and comes back soon.
  static constexpr std::size_t kRemembered = 1024;

  struct Stored {
    std::uint64_t word = 0;
    Producer producer = 0;
  };

  static std::size_t place(std::uint64_t word) { return static_cast<std::size_t>(word % kRemembered); }

  std::array<Producer, 64> registers_{};
  std::array<Stored, kRemembered> stored_{};
};

}  // namespace cxloom
