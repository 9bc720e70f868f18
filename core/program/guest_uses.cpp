#include "program/guest_uses.hpp"

#include <utility>

namespace cxloom {

namespace {

std::string name_of(const MemoryOrigin& origin) {
  switch (origin.kind) {
    case MemoryOrigin::kFile: return origin.file;
    case MemoryOrigin::kPageTables: return "[page tables]";
    default: return "[unknown]";
  }
}

// The origin of what no process has: lines that the kernel has written, and others write back.
constexpr std::uint32_t kOfNobody = ~std::uint32_t{0};

bool is_file(const std::string& name) { return !name.empty() && name.front() != '['; }

}  // namespace

void GuestUses::goes_on(const ProgramThread& thread, const GuestProcess& process) {
  const bool is_new = !spaces_.contains(process.space);
  const std::uint32_t number = process_of(process.space);
  if (const auto parent = spaces_.find(process.parent); is_new && parent != spaces_.end()) {
    origins_.begins(number, parent->second);  // a fork
    latest_[number] = latest_[parent->second];
  }
  Process& known = processes_[number];
  if (known.pid == 0) {
    known.pid = process.pid;
    known.name = process.name;
  }
  if (thread.number >= running_.size()) running_.resize(thread.number + 1, kNobody);
  running_[thread.number] = number;
}

void GuestUses::maps(const GuestMapping& mapping) {
  if (mapping.begin == mapping.end) {
    if (const auto gone = spaces_.find(mapping.space); gone != spaces_.end()) {
      origins_.is_over(gone->second);
      spaces_.erase(gone);
    }
    return;
  }
  const std::uint32_t process = process_of(mapping.space);
  Latest& latest = latest_[process];
  // Memory without bytes in a file that follows memory with some is of the file, too.
  const bool behind = mapping.name.empty() && is_file(latest.name) && latest.end == mapping.begin;
  const std::string name = behind ? latest.name : mapping.name.empty() ? "[anonymous]" : mapping.name;
  origins_.is_mapped(process, {.begin = mapping.begin, .end = mapping.end, .offset = 0, .path = name});
  latest = {mapping.end, name};
}

void GuestUses::ran(const ProgramThread& thread, std::uint64_t instructions, std::uint64_t records) {
  const std::uint32_t process = running(thread);
  if (process == kNobody) return;
  processes_[process].instructions += instructions;
  processes_[process].records += records;
}

void GuestUses::accessed(const ProgramThread& thread, const ProgramAccess& access, AccessRole role,
                         std::span<const Access> records) {
  const std::uint32_t process = running(thread);
  if (process == kNobody) return;
  const std::uint32_t origin = role == AccessRole::kPageWalk ? origins_.page_tables_of(process)
                                                             : origins_.origin_of(process, access.address);
  for (const Access& record : records) {
    if (!record.reaches_memory()) continue;
    const std::uint64_t page = record.address.value() >> feed::kPageBits;
    const bool own = page == access.place >> feed::kPageBits;
    const auto known = owners_.find(page);
    std::uint32_t owner = 0;
    if (!own && known != owners_.end()) owner = known->second;
    else if (!own && record.kind == AccessKind::kWrite) owner = mapping_of(process, kOfNobody);
    else owner = mapping_of(process, origin);
    if (own) owners_[page] = owner;
    ++mappings_[owner].pages[page];
  }
}

std::uint32_t GuestUses::process_of(std::uint64_t space) {
  const auto [place, is_new] = spaces_.try_emplace(space, static_cast<std::uint32_t>(processes_.size()));
  if (is_new) {
    processes_.emplace_back();
    latest_.emplace_back();
  }
  return place->second;
}

std::uint32_t GuestUses::mapping_of(std::uint32_t process, std::uint32_t origin) {
  const std::uint64_t key = std::uint64_t{process} << 32U | origin;
  const auto [place, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(mappings_.size()));
  if (is_new) {
    const bool others = origin == kOfNobody;
    mappings_.push_back({process, others ? "[written by others]" : name_of(origins_.origins()[origin]), {}});
  }
  return place->second;
}

}  // namespace cxloom
