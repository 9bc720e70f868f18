// The memory of the guest, by the addresses of its kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "qemu_plugin_api.h"

namespace cxloom::qemu {

/// Reads as the processor whose callback this is would, whatever it may. Each processor has its own.
class GuestMemory {
 public:
  /// False if nothing is mapped there.
  bool read(std::uint64_t address, void* to, std::size_t size) {
    if (bytes_ == nullptr) bytes_ = g_byte_array_new();
    if (!qemu_plugin_read_memory_vaddr(address, bytes_, size)) return false;
    std::memcpy(to, bytes_->data, size);
    return true;
  }
  /// Eight bytes; 0 if nothing is mapped there.
  std::uint64_t word(std::uint64_t address) {
    std::uint64_t value = 0;
    return read(address, &value, sizeof value) ? value : 0;
  }

 private:
  qemu_plugin_bytes* bytes_ = nullptr;
};

}  // namespace cxloom::qemu
