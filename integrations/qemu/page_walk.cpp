#include "page_walk.hpp"

#include <algorithm>
#include <cstring>

namespace cxloom::qemu {

namespace {

constexpr std::uint64_t kDirectMap = 0xFFFF'8880'0000'0000;  // of Linux: all memory, in its order
constexpr std::uint64_t kTable = 0x000F'FFFF'FFFF'F000;      // an entry's bits of the next table (AMD64, 5.3)
constexpr std::uint64_t kPresent = 1;
constexpr std::uint64_t kLarge = 1U << 7U;
constexpr unsigned kLevels = 4;

}  // namespace

bool PageWalk::find_register() {
  if (register_ != nullptr) return true;
  if (bytes_ == nullptr) bytes_ = g_byte_array_new();
  const qemu_plugin_array* const all = qemu_plugin_get_registers();
  if (all == nullptr) return false;
  const auto* const each = reinterpret_cast<const qemu_plugin_reg_descriptor*>(all->data);
  for (unsigned i = 0; i < all->length; ++i) {
    if (each[i].name != nullptr && std::strcmp(each[i].name, "cr3") == 0) register_ = each[i].handle;
  }
  return register_ != nullptr;
}

std::uint64_t PageWalk::read(std::uint64_t physical) {
  std::uint64_t value = 0;
  if (qemu_plugin_read_memory_vaddr(kDirectMap + physical, bytes_, sizeof value))
    std::memcpy(&value, bytes_->data, sizeof value);
  return value;
}

void PageWalk::entries(std::uint64_t address, const MemoryParts& memory, std::uint64_t* places) {
  std::fill_n(places, kLevels, 0);
  if (!find_register()) return;
  g_byte_array_set_size(bytes_, 0);
  std::uint64_t table = 0;
  const int size = qemu_plugin_read_register(register_, bytes_);
  if (size <= 0) return;
  std::memcpy(&table, bytes_->data, std::min<std::size_t>(static_cast<std::size_t>(size), sizeof table));
  for (unsigned level = kLevels; level >= 1; --level) {
    const std::uint64_t entry = (table & kTable) + (address >> (12U + 9U * (level - 1)) & 511U) * 8;
    std::uint64_t place = 0;
    if (memory.place_of(entry, place)) places[level - 1] = place;
    table = read(entry);
    if ((table & kPresent) == 0 || (level > 1 && (table & kLarge) != 0)) return;
  }
}

}  // namespace cxloom::qemu
