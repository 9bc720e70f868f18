// A process under an emulator, as its ring tells it: what its code consists of.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "program/feed/directory.hpp"
#include "program/feed/program_sink.hpp"
#include "program/feed/ring.hpp"

namespace cxloom {

/// Knows the blocks that its threads enter by number; a fork knows its parent's.
class FeedProcess {
 public:
  /// `number` is its own among the processes.
  FeedProcess(FeedDirectory::Ring ring, std::uint32_t number) : ring_(std::move(ring)), number_(number) {}

  FeedRingHead& head() const { return ring_.head(); }
  std::uint32_t ring() const { return ring_.number; }
  std::uint32_t number() const { return number_; }
  /// The name of its program, as it is called.
  std::string name() const { return {head().name, strnlen(head().name, sizeof head().name)}; }

  /// Takes what its ring has of new blocks. Throws SimulationError if it is none.
  void read_blocks();
  /// The block of that number, which was told before it is entered. Throws SimulationError if it was not.
  const ProgramBlock& block(std::uint64_t number) {
    if (number >= blocks_.size()) [[unlikely]]
      find_block(number);
    return *blocks_[number];
  }
  /// A fork of `parent`, which tells no more blocks that it knows. Throws SimulationError if it knows others.
  void inherit(FeedProcess& parent);

  /// execve has put another in its place: nothing will follow.
  void replace() { replaced_ = true; }
  bool is_replaced() const { return replaced_; }
  bool is_over() const { return replaced_ || head().closed.load(std::memory_order_acquire) != 0; }
  /// The rings of all forks that it has begun are there.
  bool has_all_forks() const { return head().forks.load(std::memory_order_acquire) <= forks_seen_; }

 private:
  void find_block(std::uint64_t number);

  FeedDirectory::Ring ring_;
  std::uint32_t number_;
  std::uint32_t forks_seen_ = 0;
  bool replaced_ = false;
  std::vector<std::shared_ptr<const ProgramBlock>> blocks_;
};

}  // namespace cxloom
