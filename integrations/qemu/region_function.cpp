#include "region_function.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cxloom::qemu {

bool RegionFunction::parse(const char* text) {
  unsigned long long device = 0;
  unsigned long long inode = 0;
  unsigned long long place = 0;
  if (std::strchr(text, ':') == nullptr) {
    in_program_ = true;
    place_ = static_cast<std::uint64_t>(std::strtoll(text, nullptr, 10));
    return true;
  }
  if (std::sscanf(text, "%llu:%llu:%llu", &device, &inode, &place) != 3) return false;
  device_ = device;
  inode_ = inode;
  place_ = place;
  return true;
}

CodeMapping RegionFunction::maps(std::uint64_t bytes, std::uint64_t protection, std::uint64_t flags,
                                 std::uint64_t file, std::uint64_t at) const {
  if (inode_ == 0 || (protection & PROT_EXEC) == 0 || (flags & MAP_ANONYMOUS) != 0) return {};
  struct stat status{};
  if (fstat(static_cast<int>(file), &status) != 0) return {};
  if (status.st_dev != device_ || status.st_ino != inode_) return {};
  return {at, bytes};
}

void RegionFunction::is_mapped(const CodeMapping& mapping, std::uint64_t address) {
  if (place_ < mapping.at || place_ - mapping.at >= mapping.bytes) return;
  entry_.store(address + (place_ - mapping.at), std::memory_order_relaxed);
}

}  // namespace cxloom::qemu
