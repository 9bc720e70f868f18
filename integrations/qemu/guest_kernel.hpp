// Processes and mappings, as the guest's kernel knows them.
#pragma once

#include <cstdint>

#include "guest_memory.hpp"
#include "processor_register.hpp"

namespace cxloom::qemu {

/// Where a kernel has what is asked here: addresses, and places of fields in its structures.
struct KernelLayout {
  std::uint64_t maps = 0;        ///< the function that is called for each mapping that is made or changed
  std::uint64_t unmaps_all = 0;  ///< and for each address space that ends
  std::uint64_t per_processor = 0;
  std::uint64_t current = 0;  ///< of what each processor has for itself
  std::uint64_t task_space = 0;
  std::uint64_t task_process = 0;
  std::uint64_t task_leader = 0;
  std::uint64_t task_parent = 0;
  std::uint64_t task_name = 0;
  std::uint64_t space_heap_begin = 0;
  std::uint64_t space_heap_end = 0;
  std::uint64_t mapping_begin = 0;
  std::uint64_t mapping_end = 0;
  std::uint64_t mapping_space = 0;
  std::uint64_t mapping_flags = 0;
  std::uint64_t mapping_file = 0;
  std::uint64_t file_entry = 0;  ///< of a directory
  std::uint64_t entry_name = 0;

  /// Reads the file `kernel` of a folder: these numbers, a line each in this order, in hexadecimal. False if
  /// there is none, or it has others.
  bool read(const char* folder);
};

/// What a processor's kernel says. The processor's own callbacks ask.
class GuestKernel {
 public:
  static constexpr std::size_t kProcessName = 16;  ///< bytes, with a zero behind the last
  static constexpr std::size_t kMappingName = 32;

  struct Process {
    std::uint64_t space = 0;
    std::uint64_t parent = 0;  ///< its address space
    std::uint32_t pid = 0;
    char name[kProcessName] = {};
  };
  struct Mapping {
    std::uint64_t space = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char name[kMappingName] = {};
  };

  /// Whether another process runs than when this was asked last, outside of the kernel.
  bool changes(const KernelLayout& layout, unsigned processor);
  Process process(const KernelLayout& layout);
  /// The mapping for which `maps` was called, and the address space for which `unmaps_all` was: their first
  /// instructions are next.
  Mapping mapping(const KernelLayout& layout);
  std::uint64_t argument();

 private:
  GuestMemory memory_;
  ProcessorRegister argument_{"rdi"};  // of the calling convention
  std::uint64_t own_ = 0;              // where this processor has what is its own
  std::uint64_t task_ = 0;
  std::uint64_t space_ = 0;
};

}  // namespace cxloom::qemu
