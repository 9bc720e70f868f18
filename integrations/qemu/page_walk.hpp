// The walk of a guest's page tables, as its processor would do it.
#pragma once

#include <cstdint>

#include "guest_memory.hpp"
#include "memory_parts.hpp"
#include "processor_register.hpp"

namespace cxloom::qemu {

/// The processor's register of its page tables, and Linux's view of all memory: x86-64 with four levels, and
/// no randomised addresses.
class PageWalk {
 public:
  /// Writes the places of the entries that lead to an address, the nearest to the page first; 0 for those
  /// that a large page has not, or that are in no memory of the simulated system. Within a callback of the
  /// processor.
  void entries(std::uint64_t address, const MemoryParts& memory, std::uint64_t* places);

 private:
  ProcessorRegister tables_{"cr3"};
  GuestMemory memory_;
};

}  // namespace cxloom::qemu
