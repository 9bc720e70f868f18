#include "base/memory_estimate.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>

#include "base/kind_list.hpp"
#include "base/schema.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// The first number in a file of /proc or /sys; none where it says "max" or there is no file.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

std::uint64_t free_in_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (file >> name >> kibibytes) {
    std::getline(file, unit);
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return kNoLimit;
}

/// The least that the control group (version 2) or a group around it leaves.
std::uint64_t free_in_group() {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  std::string group;
  while (std::getline(file, line)) {
    if (line.starts_with("0::")) group = line.substr(3);
  }
  std::uint64_t least = kNoLimit;
  while (true) {
    const std::string folder = "/sys/fs/cgroup" + group;
    const auto limit = number_in(folder + "/memory.max");
    const auto used = number_in(folder + "/memory.current");
    if (limit && used) least = std::min(least, *limit - std::min(*limit, *used));
    const std::size_t end = group.rfind('/');
    if (end == std::string::npos) return least;
    group.resize(end);
  }
}

std::uint64_t free_in_process() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  const std::uint64_t used =
      number_in("/proc/self/statm").value_or(0) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used);
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) { return a > kNoLimit - b ? kNoLimit : a + b; }

}  // namespace

void MemoryEstimate::add(const std::string& key, const std::string& value, std::uint64_t count,
                         std::uint64_t each) {
  const std::uint64_t bytes = each != 0 && count > kNoLimit / each ? kNoLimit : count * each;
  bytes_ = saturating_sum(bytes_, bytes);
  if (bytes <= largest_.bytes) return;
  const bool separate = !prefix_.empty() && !key.empty();
  largest_ = {prefix_ + (separate ? "." : "") + key, value, bytes};
}

void MemoryEstimate::add_media(const std::string& key, const KindSpec& media) {
  const KindList::Entry* const entry = media_ ? media_->find(media.kind) : nullptr;
  if (!entry || !entry->estimate) return;
  add_below(key, [&](MemoryEstimate& inside) { entry->estimate(media.params, inside); });
}

void MemoryEstimate::add_like_the_last(std::uint64_t bytes) { bytes_ = saturating_sum(bytes_, bytes); }

std::string memory_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 4> kUnits{"kB", "MB", "GB", "TB"};
  double amount = static_cast<double>(bytes) / 1e3;
  std::size_t unit = 0;
  for (; amount >= 1000.0 && unit + 1 < kUnits.size(); ++unit) amount /= 1000.0;
  std::array<char, 32> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%.1f %s", amount, kUnits.at(unit)));
  return text.data();
}

std::uint64_t available_memory() { return std::min({free_in_machine(), free_in_group(), free_in_process()}); }

}  // namespace cxloom
