// The plug-in that reports to cxloom what the processors of a machine do under QEMU's system emulation,
// kernel and programs alike: which blocks they enter, what they access, and where its pages are in memory. It
// fills rings as the plug-in of programs does, a thread for each processor.
//
// Nothing is told before a program begins, and code runs as fast as without the plug-in: at that mark QEMU is
// asked to translate all code anew.
#include <cxloom/program_feed.hpp>

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

#include "control_page.hpp"
#include "decode.hpp"
#include "marks.hpp"
#include "memory_parts.hpp"
#include "option_value.hpp"
#include "page_walk.hpp"
#include "qemu_plugin_api.h"
#include "told_block.hpp"

extern "C" {
__attribute__((visibility("default"))) int qemu_plugin_version = CXLOOM_QEMU_PLUGIN_VERSION;
}

namespace cxloom::qemu {
namespace {

constexpr unsigned kMostProcessors = 256;
constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kLongest = 15;  // bytes of an instruction
// The data of an access has the number of its block below what its record begins with.
constexpr std::uint64_t kBlockMask = 0xFFFF'FFFF;

struct alignas(64) Processor {
  FeedWriter writer;
  std::uint32_t block = ~std::uint32_t{0};  // that it entered last
  KnownPages pages;
  PageWalk walk;
};

FeedControl* control = nullptr;
const char* folder = nullptr;  // of the rings: the only option of the plug-in
MemoryParts memory;            // known when a program begins
qemu_plugin_id_t plugin = 0;
Processor processors[kMostProcessors];
FeedWriter blocks;          // what the blocks of the machine are
std::uint32_t machine = 0;  // number of its ring
std::uint32_t next_block = 0;
std::atomic<int> depth{0};  // programs that have begun and not ended
pthread_mutex_t translating = PTHREAD_MUTEX_INITIALIZER;
BlockInstruction decoded[feed::kMostInstructions];  // of the block that is translated: one at a time

void open_machine() {
  machine = control->rings.fetch_add(1);
  open_ring(folder, *control, blocks,
            {.kind = FeedRingHead::kProcess,
             .number = machine,
             .process = machine,
             .parent = machine,
             .replaces = machine,
             .is_machine = true,
             .name = "machine"});
}

__attribute__((noinline)) void make_room(Processor& processor) {
  FeedWriter& writer = processor.writer;
  if (writer.is_open()) {
    if (!writer.wait_for(1, *control)) writer.mute();
    return;
  }
  const std::uint32_t number = control->rings.fetch_add(1);
  open_ring(folder, *control, writer, {.number = number, .process = machine, .creator = number});
}

inline void put(Processor& processor, std::uint64_t record) {
  if (processor.writer.full()) [[unlikely]]
    make_room(processor);
  processor.writer.put(record);
}

void tell_page(Processor& processor, std::uint64_t address, std::uint64_t place) {
  FeedWriter& writer = processor.writer;
  if (writer.full()) make_room(processor);
  if (!writer.muted() && writer.room() < feed::kPageWords && !writer.wait_for(feed::kPageWords, *control))
    writer.mute();
  if (writer.muted()) return;
  std::uint64_t entries[feed::kPageLevels];
  processor.walk.entries(address, memory, entries);
  writer.ahead(0) = feed::event(FeedEvent::kPage, (address & feed::kAddressMask) >> feed::kPageBits);
  writer.ahead(1) = place;
  for (unsigned level = 0; level < feed::kPageLevels; ++level) writer.ahead(2 + level) = entries[level];
  writer.publish(feed::kPageWords);
}

// --- what happens ----------------------------------------------------------------------------------------

void on_block(unsigned number, void* data) {
  Processor& processor = processors[number];
  processor.block = static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(data));
  put(processor, feed::event(FeedEvent::kBlock, processor.block));
}

// How QEMU 10 packs what it knows of an access.
constexpr unsigned log2_size(qemu_plugin_meminfo_t info) { return info >> 4U & 7U; }
constexpr unsigned directions(qemu_plugin_meminfo_t info) { return info >> 16U & 3U; }

// An access that goes on in the next page is cut there: where that page is, is not said.
unsigned log2_within_page(unsigned log2, std::uint64_t address) {
  const std::uint64_t left = kPage - address % kPage;
  return std::min(log2, static_cast<unsigned>(std::bit_width(left)) - 1);
}

void on_access(unsigned number, qemu_plugin_meminfo_t info, std::uint64_t address, void* data) {
  Processor& processor = processors[number];
  const auto of = reinterpret_cast<std::uint64_t>(data);
  if (const auto block = static_cast<std::uint32_t>(of & kBlockMask); block != processor.block) [[unlikely]] {
    // Memory on CXL and registers of devices are accessed as the last thing in a block: QEMU has left the
    // block at hand before this instruction, and does it in a block of its own, whose begin it does not tell.
    processor.block = block;
    put(processor, feed::event(FeedEvent::kAgain, block));
  }
  const qemu_plugin_hwaddr* const where = qemu_plugin_get_hwaddr(info, address);
  if (where == nullptr) return;
  const std::uint64_t physical = qemu_plugin_hwaddr_phys_addr(where);
  std::uint64_t place = 0;
  if (!memory.place_of(physical, place)) return;
  const std::uint64_t own = address & feed::kAddressMask;
  if (processor.pages.note(own >> feed::kPageBits, place & ~KnownPages::kPageMask)) [[unlikely]]
    tell_page(processor, address, place & ~KnownPages::kPageMask);
  put(processor,
      feed::access(of & ~kBlockMask, own, log2_within_page(log2_size(info), address), directions(info)));
}

// In the first blocks QEMU is asked how large an access is, so that another packing is found out.
void on_checked_access(unsigned number, qemu_plugin_meminfo_t info, std::uint64_t address, void* data) {
  if (qemu_plugin_mem_size_shift(info) != log2_size(info) || directions(info) == 0 ||
      qemu_plugin_mem_is_store(info) != ((directions(info) & 2U) != 0)) {
    fail(*control, "this version of QEMU describes accesses in another way than QEMU 10");
    control->stop.store(1);
    return;
  }
  on_access(number, info, address, data);
}

constexpr std::uint32_t kCheckedBlocks = 256;

// --- programs --------------------------------------------------------------------------------------------

void install(qemu_plugin_id_t id);

void on_begin(unsigned, void*) {
  if (depth.fetch_add(1) > 0) return;
  if (!memory.read(folder)) fail(*control, "the guest's memory is not described");
  qemu_plugin_reset(plugin, install);
}

void on_end(unsigned, void*) {
  int before = depth.load();
  while (before > 0 && !depth.compare_exchange_weak(before, before - 1)) {
  }
  if (before == 1) qemu_plugin_reset(plugin, install);
}

void watch_for_mark(qemu_plugin_insn* instruction, const void* data, std::size_t size) {
  const std::uint8_t mark = mark_of(data, size);
  if (mark == kProgramBegins)
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_begin, QEMU_PLUGIN_CB_NO_REGS, nullptr);
  else if (mark == kProgramEnds)
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_end, QEMU_PLUGIN_CB_NO_REGS, nullptr);
}

// --- translation -----------------------------------------------------------------------------------------

void on_waiting_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
  const std::size_t count = qemu_plugin_tb_n_insns(block);
  for (std::size_t i = 0; i < count; ++i) {
    qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    unsigned char data[kLongest];
    watch_for_mark(instruction, data, qemu_plugin_insn_data(instruction, data, sizeof data));
  }
}

void tell_translation(qemu_plugin_tb* block, std::uint32_t count) {
  const std::uint32_t number = next_block++;
  const auto on = number < kCheckedBlocks ? on_checked_access : on_access;
  make_room_for_block(blocks, count, *control);
  for (std::uint32_t i = 0; i < count; ++i) {
    qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    unsigned char data[kLongest];
    const std::size_t size = qemu_plugin_insn_data(instruction, data, sizeof data);
    decoded[i] = decode(data, size);
    watch_for_mark(instruction, data, size);
    if (decoded[i].operand_bytes == 0) continue;
    qemu_plugin_register_vcpu_mem_cb(instruction, on, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                     reinterpret_cast<void*>(feed::access_of(i) | number));
  }
  tell_block(blocks, number, qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0)), {decoded, count});
  qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                       reinterpret_cast<void*>(std::uint64_t{number}));
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
  const std::size_t count = qemu_plugin_tb_n_insns(block);
  if (count == 0 || count > feed::kMostInstructions) return;
  pthread_mutex_lock(&translating);  // each processor translates for itself
  tell_translation(block, static_cast<std::uint32_t>(count));
  pthread_mutex_unlock(&translating);
}

void on_exit(qemu_plugin_id_t, void*) {
  for (Processor& processor : processors) processor.writer.mark_closed();
  blocks.mark_closed();
}

void install(qemu_plugin_id_t id) {
  qemu_plugin_register_vcpu_tb_trans_cb(id, depth.load() > 0 ? on_translation : on_waiting_translation);
  qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
}

}  // namespace
}  // namespace cxloom::qemu

extern "C" __attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                                          const qemu_info_t* info, int count,
                                                                          char** arguments) {
  using namespace cxloom::qemu;
  if (!info->system_emulation || info->system.max_vcpus > static_cast<int>(kMostProcessors) || count != 1)
    return -1;
  const char* const given = value_of(arguments[0], "folder");
  folder = given == nullptr ? nullptr : strdup(given);
  if (folder == nullptr) return -1;
  control = map_control(folder);
  if (control == nullptr) return -1;
  plugin = id;
  open_machine();
  install(id);
  return 0;
}
