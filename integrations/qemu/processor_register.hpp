// A register of the processor whose callback this is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "qemu_plugin_api.h"

namespace cxloom::qemu {

/// Finds the register by its name when it is read first. Each processor has its own.
class ProcessorRegister {
 public:
  explicit ProcessorRegister(const char* name) : name_(name) {}

  /// False if there is none, or it cannot be read here. A register that programs use is that of the
  /// instruction only in a callback with QEMU_PLUGIN_CB_R_REGS.
  bool read(std::uint64_t& value) {
    if (!find()) return false;
    g_byte_array_set_size(bytes_, 0);
    const int size = qemu_plugin_read_register(handle_, bytes_);
    if (size <= 0) return false;
    value = 0;
    std::memcpy(&value, bytes_->data, std::min<std::size_t>(static_cast<std::size_t>(size), sizeof value));
    return true;
  }

 private:
  bool find() {
    if (handle_ != nullptr) return true;
    const qemu_plugin_array* const all = qemu_plugin_get_registers();
    if (all == nullptr) return false;
    const auto* const each = reinterpret_cast<const qemu_plugin_reg_descriptor*>(all->data);
    for (unsigned i = 0; i < all->length; ++i) {
      if (each[i].name != nullptr && std::strcmp(each[i].name, name_) == 0) handle_ = each[i].handle;
    }
    if (bytes_ == nullptr) bytes_ = g_byte_array_new();
    return handle_ != nullptr;
  }

  const char* name_;
  void* handle_ = nullptr;
  qemu_plugin_bytes* bytes_ = nullptr;
};

}  // namespace cxloom::qemu
