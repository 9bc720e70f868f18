#include "region_function.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <charconv>
#include <string_view>
#include <system_error>

namespace cxloom::qemu {

namespace {

/// Takes a decimal number off the front of a text. False if none stands there.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc{};
}

bool take_colon(std::string_view& text) {
  const bool stands_there = text.starts_with(':');
  text.remove_prefix(stands_there ? 1 : 0);
  return stands_there;
}

}  // namespace

bool RegionFunction::parse(const char* text) {
  std::string_view rest = text;
  if (rest.find(':') == std::string_view::npos) {
    std::int64_t distance = 0;
    if (!take_number(rest, distance) || !rest.empty()) return false;
    in_program_ = true;
    place_ = static_cast<std::uint64_t>(distance);
    return true;
  }
  return take_number(rest, device_) && take_colon(rest) && take_number(rest, inode_) && take_colon(rest) &&
         take_number(rest, place_) && rest.empty();
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
