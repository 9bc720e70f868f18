#include "guest_kernel.hpp"

#include <cstdio>
#include <utility>

namespace cxloom::qemu {

namespace {

constexpr std::uint64_t kGrowsDown = 0x100;  // VM_GROWSDOWN of Linux: a stack

}  // namespace

bool KernelLayout::read(const char* folder) {
  char path[4096 + 16];
  std::snprintf(path, sizeof path, "%s/kernel", folder);
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return false;
  std::uint64_t* const all[] = {
      &maps,        &unmaps_all,    &per_processor, &current,          &task_space,     &task_process,
      &task_leader, &task_parent,   &task_name,     &space_heap_begin, &space_heap_end, &mapping_begin,
      &mapping_end, &mapping_space, &mapping_flags, &mapping_file,     &file_entry,     &entry_name};
  bool found = true;
  for (std::uint64_t* const each : all) {
    unsigned long long value = 0;
    found = found && std::fscanf(file, "%llx", &value) == 1;
    *each = value;
  }
  std::fclose(file);
  if (!found) *this = {};
  return found;
}

bool GuestKernel::changes(const KernelLayout& layout, unsigned processor) {
  if (own_ == 0) own_ = memory_.word(layout.per_processor + 8 * std::uint64_t{processor});
  task_ = memory_.word(own_ + layout.current);
  const std::uint64_t space = memory_.word(task_ + layout.task_space);
  return std::exchange(space_, space) != space;
}

GuestKernel::Process GuestKernel::process(const KernelLayout& layout) {
  Process found{.space = space_};
  std::uint32_t number = 0;
  if (memory_.read(task_ + layout.task_process, &number, sizeof number)) found.pid = number;
  const std::uint64_t leader = memory_.word(task_ + layout.task_leader);
  memory_.read(leader + layout.task_name, found.name, sizeof found.name);
  found.parent = memory_.word(memory_.word(task_ + layout.task_parent) + layout.task_space);
  return found;
}

std::uint64_t GuestKernel::argument() {
  std::uint64_t value = 0;
  argument_.read(value);
  return value;
}

GuestKernel::Mapping GuestKernel::mapping(const KernelLayout& layout) {
  const std::uint64_t of = argument();
  Mapping found{.space = memory_.word(of + layout.mapping_space),
                .begin = memory_.word(of + layout.mapping_begin),
                .end = memory_.word(of + layout.mapping_end)};
  const auto is = [&](const char* name) { std::snprintf(found.name, sizeof found.name, "%s", name); };
  if (const std::uint64_t file = memory_.word(of + layout.mapping_file); file != 0) {
    const std::uint64_t name = memory_.word(memory_.word(file + layout.file_entry) + layout.entry_name);
    if (!memory_.read(name, found.name, sizeof found.name)) is("[a file]");
  } else if ((memory_.word(of + layout.mapping_flags) & kGrowsDown) != 0) {
    is("[stack]");
  } else if (const std::uint64_t heap = memory_.word(found.space + layout.space_heap_begin);
             heap != 0 && found.end > heap &&
             found.begin <= memory_.word(found.space + layout.space_heap_end)) {
    is("[heap]");
  }
  return found;
}

}  // namespace cxloom::qemu
