#include "program/memory_origins.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cxloom {

namespace {

constexpr std::uint64_t kFrame = 4096;
constexpr std::uint64_t kAtOnePlace = 0x10;     // MAP_FIXED
constexpr std::uint64_t kOfNoFile = 0x20;       // MAP_ANONYMOUS
constexpr std::uint64_t kForAStack = 0x2'0000;  // MAP_STACK

constexpr std::uint64_t frames_end(std::uint64_t address) { return (address + kFrame - 1) / kFrame * kFrame; }

}  // namespace

void MemoryOrigins::begins(std::uint32_t process, std::uint32_t copy_of) {
  if (process != copy_of) processes_[process] = processes_[copy_of];
}

void MemoryOrigins::is_mapped(std::uint32_t process, const ProgramMapping& mapping) {
  Process& whose = processes_[process];
  if (mapping.path.empty()) {
    // Memory without bytes in a file that follows memory with some is of the file, too.
    const auto next = whose.ranges.upper_bound(mapping.begin);
    const bool behind = std::exchange(whose.behind_a_file, false);
    if (behind && next != whose.ranges.begin() && std::prev(next)->second.end == mapping.begin) {
      map(whose, mapping.begin, mapping.end, std::prev(next)->second.origin);
    } else {
      whose.nameless[mapping.begin] = {mapping.end, 0};
    }
    return;
  }
  whose.behind_a_file = true;
  files_.emplace_back(process, mapping);
  map(whose, mapping.begin, mapping.end,
      number_of({.kind = MemoryOrigin::kFile, .process = process, .file = mapping.path, .callers = {}}));
}

void MemoryOrigins::calls(const ProgramThread& thread, const SystemCall& call,
                          std::span<const std::uint64_t> callers) {
  switch (call.number) {
    case system_call::kMmap:
    case system_call::kMunmap:
    case system_call::kBrk:
    case system_call::kMremap:
      pending_[thread.number] = {call,
                                 {callers.begin(), callers.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                         callers.size(), kCallers))}};
      break;
    default: break;
  }
}

void MemoryOrigins::ends(const ProgramThread& thread, const SystemCallEnd& end) {
  const auto found = pending_.find(thread.number);
  if (found == pending_.end()) return;
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  if (end.result < 0 || end.number != pending.call.number) return;
  const auto result = static_cast<std::uint64_t>(end.result);
  Process& process = processes_[thread.process];
  switch (pending.call.number) {
    case system_call::kMmap: mapped(thread, pending, result); break;
    case system_call::kMunmap:
      unmap(process, pending.call.arguments[0],
            pending.call.arguments[0] + frames_end(pending.call.arguments[1]));
      break;
    case system_call::kMremap: moved(process, pending.call, result); break;
    default: {
      const std::uint64_t before = std::exchange(process.break_at, result);
      if (before == 0) break;
      if (result > before) {
        map(process, frames_end(before), frames_end(result),
            number_of({MemoryOrigin::kHeap, thread.process, {}, pending.callers}));
      } else {
        unmap(process, frames_end(result), frames_end(before));
      }
    }
  }
}

// What a file has is told by `is_mapped`; what follows it at a given place is of the file, too.
void MemoryOrigins::mapped(const ProgramThread& thread, const Pending& pending, std::uint64_t begin) {
  const std::uint64_t flags = pending.call.arguments[3];
  if ((flags & kOfNoFile) == 0) return;
  Process& process = processes_[thread.process];
  const std::uint64_t end = begin + frames_end(pending.call.arguments[1]);
  if ((flags & kAtOnePlace) != 0) {
    const auto next = process.ranges.upper_bound(begin);
    if (next != process.ranges.begin()) {
      const Range& before = std::prev(next)->second;
      if (before.end >= begin && origins_[before.origin].kind == MemoryOrigin::kFile)
        return map(process, begin, end, std::uint32_t{before.origin});
    }
  }
  map(process, begin, end,
      (flags & kForAStack) != 0 ? number_of({MemoryOrigin::kThreadStacks, thread.process, {}, {}})
                                : number_of({MemoryOrigin::kMapped, thread.process, {}, pending.callers}));
}

void MemoryOrigins::moved(Process& process, const SystemCall& call, std::uint64_t to) {
  const auto next = process.ranges.upper_bound(call.arguments[0]);
  const std::uint32_t origin = next == process.ranges.begin() ? 0 : std::prev(next)->second.origin;
  unmap(process, call.arguments[0], call.arguments[0] + frames_end(call.arguments[1]));
  map(process, to, to + frames_end(call.arguments[2]), origin);
}

std::uint32_t MemoryOrigins::page_tables_of(std::uint32_t process) {
  return number_of({.kind = MemoryOrigin::kPageTables, .process = process, .file = {}, .callers = {}});
}

std::uint32_t MemoryOrigins::origin_of(std::uint32_t process, std::uint64_t address) {
  Process& whose = processes_[process];
  const auto in = [&](const Ranges& ranges) {
    const auto next = ranges.upper_bound(address);
    if (next == ranges.begin() || address >= std::prev(next)->second.end) return ranges.end();
    return std::prev(next);
  };
  const auto found = in(whose.ranges);
  if (found != whose.ranges.end()) {
    whose.begun = true;
    return found->second.origin;
  }
  if (std::exchange(whose.begun, true)) return 0;
  // The first thing that a program does is to read its arguments.
  const auto stack = in(whose.nameless);
  if (stack == whose.nameless.end()) return 0;
  const std::uint32_t origin = number_of({MemoryOrigin::kStack, process, {}, {}});
  map(whose, stack->first, stack->second.end, origin);
  return origin;
}

std::uint32_t MemoryOrigins::number_of(MemoryOrigin origin) {
  const auto [place, is_new] = numbers_.try_emplace(origin, static_cast<std::uint32_t>(origins_.size()));
  if (is_new) origins_.push_back(std::move(origin));
  return place->second;
}

void MemoryOrigins::map(Process& process, std::uint64_t begin, std::uint64_t end, std::uint32_t origin) {
  if (begin >= end) return;
  unmap(process, begin, end);
  process.ranges[begin] = {end, origin};
}

void MemoryOrigins::unmap(Process& process, std::uint64_t begin, std::uint64_t end) {
  Ranges& ranges = process.ranges;
  auto at = ranges.lower_bound(begin);
  if (at != ranges.begin() && std::prev(at)->second.end > begin) {
    Range& before = std::prev(at)->second;
    if (before.end > end) ranges[end] = before;
    before.end = begin;
    at = ranges.lower_bound(begin);
  }
  while (at != ranges.end() && at->first < end) {
    if (at->second.end > end) ranges[end] = at->second;
    at = ranges.erase(at);
  }
}

}  // namespace cxloom
