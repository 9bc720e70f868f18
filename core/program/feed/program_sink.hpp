// The run of a program, block by block, for its simulation or recording while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "program/feed/block.hpp"
#include "program/feed/record.hpp"
#include "program/feed/system_call.hpp"

namespace cxloom {

struct ProgramThread {
  std::uint32_t number = 0;   ///< from 1, over all processes, in the order in which they began
  std::uint32_t process = 0;  ///< which address space it has: from 0, in the order in which they began
};

/// An address of a thread, unique over all processes: the process stands above its 48 bits.
constexpr std::uint64_t among_all(const ProgramThread& thread, std::uint64_t address) {
  constexpr unsigned kSpaceBits = 48;
  return address | std::uint64_t{thread.process} << kSpaceBits;
}

/// Memory of a process that is mapped.
struct ProgramMapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< of its begin in the file, if it is of one
  std::string path;          ///< of that file; empty: of none
};

struct ProgramAccess {
  /// The place of an access goes by its address and its process.
  static constexpr std::uint64_t kByAddress = ~std::uint64_t{0};

  std::uint64_t address = 0;      ///< virtual, in the space of its process
  std::uint16_t size = 0;         ///< bytes
  std::uint16_t instruction = 0;  ///< index of its instruction in the block
  bool reads = false;
  bool writes = false;               ///< an atomic operation does both
  std::uint64_t place = kByAddress;  ///< in memory, where a machine says it
};

/// The place of an access, in the space that caches go by.
constexpr std::uint64_t place_of(const ProgramThread& thread, const ProgramAccess& access) {
  return access.place == ProgramAccess::kByAddress ? among_all(thread, access.address) : access.place;
}

/// A page of a machine, as the tables say that lead to it.
struct TabledPage {
  std::uint64_t address = 0;  ///< of its first byte
  std::array<std::uint64_t, feed::kPageLevels>
      entries{};  ///< their places, the nearest to the page first; 0: none
};

/// A process of a machine, as its kernel knows it.
struct GuestProcess {
  std::uint64_t space = 0;   ///< its address space, a number of one at a time
  std::uint64_t parent = 0;  ///< the address space of its parent; 0: it has none
  std::uint32_t pid = 0;
  std::string name;
};

/// A mapping in an address space of a machine; an empty one: the address space is gone.
struct GuestMapping {
  std::uint64_t space = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;  ///< of its file, or what it is in brackets; empty: memory of no file
};

class ProgramSink {
 public:
  virtual ~ProgramSink() = default;
  /// A thread went through a block, and accessed memory in this order. `continued`: its first instruction is
  /// a repeated one that goes on, and not another instruction.
  virtual void block(const ProgramThread& thread, const ProgramBlock& block,
                     std::span<const ProgramAccess> accesses, bool continued) = 0;
  /// `by` is the call that began it (clone, fork, execve); of nobody for the first program.
  virtual void thread_begins(const ProgramThread& /*thread*/, const Release& /*by*/) {}
  virtual void thread_ends(const ProgramThread& /*thread*/) {}
  /// The thread is in the kernel from the one to the other, if it comes back. Calls, their ends and the
  /// beginnings of threads are reported in the order in which they happened, over all threads: what lets a
  /// thread go on is reported before it goes on.
  virtual void system_call(const ProgramThread& /*thread*/, const SystemCall& /*call*/) {}
  virtual void system_call_ends(const ProgramThread& /*thread*/, const SystemCallEnd& /*end*/) {}
  /// Memory that its process has: all that it begins with, and files that it has mapped.
  virtual void memory_mapped(const ProgramThread& /*thread*/, const ProgramMapping& /*mapping*/) {}
  /// A processor of a machine is about to access a page.
  virtual void page_placed(const ProgramThread& /*thread*/, const TabledPage& /*page*/) {}
  /// A processor of a machine accesses a register of a device.
  virtual void register_accessed(const ProgramThread& /*thread*/) {}
  /// What a processor of a machine does outside of the kernel from now on is of that process.
  virtual void process_goes_on(const ProgramThread& /*thread*/, const GuestProcess& /*process*/) {}
  /// An address space of a machine has this mapping from now on.
  virtual void space_mapped(const GuestMapping& /*mapping*/) {}
  /// A thread that is in a call that may wait was seen to sleep there.
  virtual void thread_sleeps(const ProgramThread& /*thread*/) {}
  /// A thread that is in the kernel will go on behind that call, which was just reported; or, if it is of
  /// nobody, it turned out to wait on.
  virtual void thread_turns(const ProgramThread& /*thread*/, const Release& /*by*/) {}
  /// It has read in memory that another thread has ended: what it does from now on comes after that, without
  /// a call.
  virtual void thread_joins(const ProgramThread& /*thread*/, const Release& /*by*/) {}
  /// It wants no more.
  virtual bool complete() const { return false; }
};

}  // namespace cxloom
