// The plug-in that reports to cxloom what a program does under QEMU's user-mode emulation: which blocks it
// enters, and what it accesses. It fills rings in shared memory (core/program/feed/ring.hpp) and leaves
// everything else to their reader.
#include <cxloom/program_feed.hpp>

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "control_page.hpp"
#include "decode.hpp"
#include "emulator_options.hpp"
#include "flush_address.hpp"
#include "follow_exec.hpp"
#include "lacking.hpp"
#include "plugin_options.hpp"
#include "qemu_plugin_api.h"
#include "reader_watch.hpp"
#include "thread_clock.hpp"
#include "told_block.hpp"

extern "C" {
__attribute__((visibility("default"))) int qemu_plugin_version = 1;
}

namespace cxloom::qemu {
namespace {

constexpr unsigned kMostThreads = 1U << 16U;
constexpr long kMmap = 9;
constexpr long kExecve = 59;

// Each on a cache line of its own: threads write side by side.
struct alignas(64) Slot {
  FeedWriter writer;
  bool begun_by_another = false;
  std::uint32_t ring = 0;
  std::uint32_t creator = 0;   // ring of the thread that began it
  std::uint64_t creation = 0;  // order of the call that did
  std::uint64_t call = 0;      // order of the call that it is in
  std::uint64_t since = 0;     // when that began, in nanoseconds
  long switches = 0;           // how often it had given its processor up until then
  std::uint64_t expected = 0;  // address of the next access by the registers; 0: none is expected
  CodeMapping mapping;         // what its call maps of the library that has the region of interest
};

FeedControl* control = nullptr;
PluginOptions options;
bool replaces_another = false;  // with execve, and nothing was told of it yet
Slot threads[kMostThreads];     // by QEMU's index of the thread
std::atomic<unsigned> used{0};  // how many of them ever were
FeedWriter blocks;              // what the blocks of this process are
std::uint32_t process = 0;      // number of its ring
std::uint32_t next_block = 0;
thread_local unsigned caller =
    kMostThreads;          // QEMU's index of the thread that this is, once it has called the kernel
std::uint32_t parent = 0;  // after a fork, until the ring of this process is made
bool forked = false;
pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
Emulator emulator;
const char* own_name = "";  // of the program
bool has_offset = false;
std::uint64_t offset = 0;                       // from an address of the program to ours
std::atomic<std::uint64_t> found_addresses{0};  // that were as the registers said
std::atomic<bool> other_registers{false};       // one was not

void open_process() {
  if (blocks.is_open()) return;
  process = control->rings.fetch_add(1);
  open_ring(options.folder, *control, blocks,
            {.kind = FeedRingHead::kProcess,
             .number = process,
             .process = process,
             .parent = forked ? parent : process,
             .inherited = forked ? next_block : 0,
             .replaces = replaces_another ? options.replaced_process : process,
             .name = own_name});
  blocks.note_offset(offset);
  forked = replaces_another = false;
}

// The thread has no ring yet, or its ring has no room for so many words.
__attribute__((noinline)) void make_room(Slot& slot, std::uint64_t count) {
  FeedWriter& writer = slot.writer;
  if (!writer.is_open()) {
    pthread_mutex_lock(&opening);
    open_process();
    const std::uint32_t number = control->rings.fetch_add(1);
    if (blocks.muted()) {
      writer.mute();
    } else {
      open_ring(options.folder, *control, writer,
                {.number = number,
                 .process = process,
                 .creator = slot.begun_by_another ? slot.creator : number,
                 .creation = slot.creation});
      slot.ring = number;
    }
    pthread_mutex_unlock(&opening);
    return;
  }
  if (!writer.wait_for(count, *control)) writer.mute();
}

inline void put(unsigned thread, std::uint64_t record) {
  FeedWriter& writer = threads[thread].writer;
  if (writer.full()) [[unlikely]]
    make_room(threads[thread], 1);
  writer.put(record);
}

// Words of which the second is the next number in the order of calls. It is taken when nothing but writing is
// left to do: until it is written, all that comes after it is held.
template <std::size_t count>
std::uint64_t put_in_order(unsigned thread, const std::uint64_t (&words)[count]) {
  FeedWriter& writer = threads[thread].writer;
  if (writer.room() < count) make_room(threads[thread], count);
  writer.note_thread();
  for (std::size_t i = 0; i < count; ++i) writer.ahead(i) = words[i];
  const std::uint64_t order = FeedWriter::next_in_order(*control);
  writer.ahead(1) = order;
  writer.publish(count);
  return order;
}

// --- what happens ----------------------------------------------------------------------------------------

void on_block(unsigned thread, void* record) { put(thread, reinterpret_cast<std::uint64_t>(record)); }

// How QEMU 7.2 packs what it knows of an access. Asking its accessors takes a third of the time of a record.
constexpr unsigned log2_size(qemu_plugin_meminfo_t info) { return info >> 4U & 7U; }
constexpr unsigned directions(qemu_plugin_meminfo_t info) { return info >> 16U & 3U; }

void on_access(unsigned thread, qemu_plugin_meminfo_t info, std::uint64_t address, void* of) {
  put(thread, feed::access(reinterpret_cast<std::uint64_t>(of), address, log2_size(info), directions(info)));
}

// Where the code that QEMU 7.2 generates keeps the program's registers: it has their address in rbp, which
// whatever it calls saves first.
[[gnu::always_inline]] inline const std::uint64_t* registers_of_caller() {
  return static_cast<const std::uint64_t*>(*static_cast<void* const*>(__builtin_frame_address(0)));
}

// Before an access whose address the registers make, to find out whether they are there.
void on_expected_access(unsigned thread, void* data) {
  const auto* const access = static_cast<const FlushInstruction*>(data);
  threads[thread].expected = address_of(access->form, registers_of_caller(), access->behind);
}

void on_flush(unsigned thread, void* data) {
  const auto* const flush = static_cast<const FlushInstruction*>(data);
  const std::uint64_t* const registers = registers_of_caller();
  if (found_addresses.load(std::memory_order_relaxed) == 0 ||
      other_registers.load(std::memory_order_relaxed)) {
    fail(*control,
         "cannot read the address of a flush on this QEMU (7.2 is supported); mark flushes with "
         "<cxloom/persist.h> instead");
    control->stop.store(1);
    return;
  }
  put(thread, feed::access(flush->record, address_of(flush->form, registers, flush->behind), 0, 1));
}

// What a flush does whose address is not known.
void on_unknown_flush(unsigned /*thread*/, void* data) {
  fail(*control,
       "cannot read the address of the flush instruction before 0x%llx: QEMU has not stored its registers "
       "there; mark flushes with <cxloom/persist.h> instead",
       static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(data)));
  control->stop.store(1);
}

// In the first blocks the accessors are asked, so that another packing is found out, and other registers.
void on_checked_access(unsigned thread, qemu_plugin_meminfo_t info, std::uint64_t address, void* of) {
  if (const std::uint64_t expected = std::exchange(threads[thread].expected, 0); expected != 0) {
    if (expected == address) found_addresses.fetch_add(1);
    else other_registers.store(true);
  }
  if (qemu_plugin_mem_size_shift(info) != log2_size(info) || directions(info) == 0 ||
      qemu_plugin_mem_is_store(info) != ((directions(info) & 2U) != 0)) {
    fail(*control, "this version of QEMU describes accesses in another way than QEMU 7.2");
    control->stop.store(1);
    return;
  }
  on_access(thread, info, address, of);
}

constexpr std::uint32_t kCheckedBlocks = 256;

BlockInstruction decoded[feed::kMostInstructions];  // of the block that is translated: one at a time

// What a callback is given; as long as there are blocks.
FlushInstruction* callback_data(qemu_plugin_insn* instruction, std::uint32_t index) {
  const std::size_t size = qemu_plugin_insn_size(instruction);
  const auto form = address_form(qemu_plugin_insn_data(instruction), size);
  if (!form) return nullptr;
  return new FlushInstruction{*form, qemu_plugin_insn_vaddr(instruction) + size, feed::access_of(index)};
}

void expect_access(qemu_plugin_insn* instruction) {
  if (FlushInstruction* const data = callback_data(instruction, 0); data != nullptr)
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_expected_access, QEMU_PLUGIN_CB_NO_REGS, data);
}

// The marks of <cxloom/persist.h> access their lines; the registers say where the processor's flushes go.
void follow_flushes(qemu_plugin_tb* block, std::uint32_t count) {
  static Increment increments[feed::kMostInstructions];
  for (std::uint32_t i = 0; i < count; ++i) {
    qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    increments[i] = increment(qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction));
  }
  std::size_t earliest = 0;  // in their order
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!decoded[i].has(BlockInstruction::kFlush) || decoded[i].kind == InstructionClass::kInteger) continue;
    qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    FlushInstruction* const data = callback_data(instruction, i);
    const auto point = data == nullptr
                           ? std::nullopt
                           : flush_point({decoded, count}, {increments, count}, i, data->form, earliest);
    if (point) {
      earliest = point->instruction;
      data->form.displacement -= point->moved;
      qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(block, earliest), on_flush,
                                             QEMU_PLUGIN_CB_NO_REGS, data);
    } else {
      const std::uint64_t behind = qemu_plugin_insn_vaddr(instruction) + qemu_plugin_insn_size(instruction);
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_unknown_flush, QEMU_PLUGIN_CB_NO_REGS,
                                             reinterpret_cast<void*>(behind));
    }
  }
}

// A thread that translates it comes to it: the emulator has nothing behind it in the block.
void note_if_lacking(qemu_plugin_insn* instruction) {
  char text[sizeof control->lacking];
  if (!is_lacking(qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction),
                  qemu_plugin_insn_haddr(instruction), qemu_plugin_insn_vaddr(instruction), text,
                  sizeof text) ||
      control->lacks.fetch_add(1) != 0)
    return;
  std::snprintf(control->lacking, sizeof control->lacking, "%s", text);
  control->lacked.store(1, std::memory_order_release);
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
  if (!blocks.is_open()) {
    pthread_mutex_lock(&opening);
    open_process();
    pthread_mutex_unlock(&opening);
  }
  const auto count = static_cast<std::uint32_t>(qemu_plugin_tb_n_insns(block));
  if (count == 0 || count > feed::kMostInstructions) return;
  make_room_for_block(blocks, count, *control);

  // Where the program is loaded is not known before it is.
  const std::uint64_t region_entry =
      options.region.is_wanted() ? options.region.entry(qemu_plugin_start_code()) : 0;
  const std::uint32_t number = next_block++;
  qemu_plugin_insn* const first = qemu_plugin_tb_get_insn(block, 0);
  const bool checked = number < kCheckedBlocks;
  const auto on = checked ? on_checked_access : on_access;
  bool flushes = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    BlockInstruction& what = decoded[i] =
        decode(qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction));
    flushes |= what.has(BlockInstruction::kFlush);
    // Not for all: what the kernel does for a system call, such as signal frames, QEMU would tell as accesses
    // of the instruction that was left for it.
    if (what.operand_bytes != 0) {
      qemu_plugin_register_vcpu_mem_cb(instruction, on, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                       reinterpret_cast<void*>(feed::access_of(i)));
    }
    const std::uint64_t address = qemu_plugin_insn_vaddr(instruction);
    if (region_entry != 0 && address == region_entry) what.flags |= BlockInstruction::kRegionEntry;
  }
  note_if_lacking(qemu_plugin_tb_get_insn(block, count - 1));
  tell_block(blocks, number, qemu_plugin_insn_vaddr(first), {decoded, count});
  if (checked && decoded[0].kind == InstructionClass::kMove && decoded[0].operand_bytes != 0)
    expect_access(first);
  if (flushes) follow_flushes(block, count);
  qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                       reinterpret_cast<void*>(feed::event(FeedEvent::kBlock, number)));
  if (!has_offset && qemu_plugin_insn_haddr(first) != nullptr) {
    offset = reinterpret_cast<std::uint64_t>(qemu_plugin_insn_haddr(first)) - qemu_plugin_insn_vaddr(first);
    blocks.note_offset(offset);
    has_offset = true;
  }
}

void on_system_call(qemu_plugin_id_t, unsigned thread, std::int64_t call, std::uint64_t a1, std::uint64_t a2,
                    std::uint64_t a3, std::uint64_t a4, std::uint64_t a5, std::uint64_t a6, std::uint64_t,
                    std::uint64_t) {
  Slot& slot = threads[thread];
  caller = thread;
  slot.call = put_in_order(thread, {feed::event(FeedEvent::kSystemCall, static_cast<std::uint32_t>(call)), 0,
                                    a1, a2, a3, a4, a5, a6});
  if (call == kMmap && options.region.is_wanted()) slot.mapping = options.region.maps(a2, a3, a4, a5, a6);
  slot.switches = switches();
  slot.since = nanoseconds();
  if (call != kExecve || !has_offset || control->stop.load() != 0) return;
  Emulator here = emulator;
  char plugin[kLongestPlugin];
  std::snprintf(plugin, sizeof plugin, "%s,after=%u:%u:%llu", emulator.plugin, process, slot.ring,
                static_cast<unsigned long long>(slot.call));
  here.plugin = plugin;
  if (follow_exec(here, offset, a1, a2, a3) == Exec::kEscapes) {
    control->escaped.fetch_add(1);
  }
}

void on_system_call_end(qemu_plugin_id_t, unsigned thread, std::int64_t call, std::int64_t result) {
  Slot& slot = threads[thread];
  const std::uint64_t passed = nanoseconds() - slot.since;
  const std::uint64_t slept = switches() != slot.switches ? feed::kSlept : 0;
  put_in_order(thread, {feed::event(FeedEvent::kSystemCallEnd, static_cast<std::uint32_t>(call) | slept), 0,
                        static_cast<std::uint64_t>(result), passed});
  if (const CodeMapping mapping = std::exchange(slot.mapping, {}); mapping.bytes != 0 && result > 0)
    options.region.is_mapped(mapping, static_cast<std::uint64_t>(result));
}

// The creator of this thread is still within its call: the thread is known before that call is back. The
// index may have been that of a thread that ended.
void on_thread_begin(qemu_plugin_id_t, unsigned thread) {
  if (thread >= kMostThreads) {
    fail(*control, "more than %u threads", kMostThreads);
    std::abort();
  }
  unsigned before = used.load();
  while (before <= thread && !used.compare_exchange_weak(before, thread + 1)) {
  }
  Slot& slot = threads[thread];
  slot.writer.close();
  if (caller == kMostThreads) return;
  slot.begun_by_another = true;
  slot.creator = threads[caller].ring;
  slot.creation = threads[caller].call;
  make_room(slot, 1);
}

void on_thread_end(qemu_plugin_id_t, unsigned thread) { threads[thread].writer.close(); }

// Other threads may still be writing: their rings stay, and are read to their ends.
void on_exit(qemu_plugin_id_t, void*) {
  for (unsigned i = 0; i < used.load(); ++i) threads[i].writer.mark_closed();
  blocks.mark_closed();
}

// --- fork ------------------------------------------------------------------------------------------------

void before_fork() { blocks.count_fork(); }

// The child has the parent's rings mapped and must not write into them: it gets its own when it has something
// to tell.
void in_child() {
  for (unsigned i = 0; i < used.load(); ++i) threads[i].writer.forget();
  if (!blocks.muted()) blocks.forget();
  // A fork of a fork that has told nothing yet has the same parent's blocks.
  if (!forked) parent = process;
  forked = true;
  if (caller != kMostThreads) {
    Slot& slot = threads[caller];
    slot.begun_by_another = true;
    slot.creator = slot.ring;
    slot.creation = slot.call;
  }
  pthread_mutex_init(&opening, nullptr);
  watch_reader(*control);
}

// --- start -----------------------------------------------------------------------------------------------

}  // namespace
}  // namespace cxloom::qemu

extern "C" __attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                                          const qemu_info_t* info, int count,
                                                                          char** arguments) {
  using namespace cxloom::qemu;
  if (info->system_emulation || !options.parse(count, arguments)) return -1;
  control = map_control(options.folder);
  if (control == nullptr || !describe_emulator(options.cpu, options.folder, emulator) ||
      pthread_atfork(before_fork, nullptr, in_child) != 0)
    return -1;
  threads[0].creator = options.replaced_thread;
  threads[0].creation = options.replacing_call;
  threads[0].begun_by_another = replaces_another = options.replaces_another;
  if (is_reader_gone(*control)) _exit(127);
  own_name = name_of_program();
  watch_reader(*control);
  open_process();
  qemu_plugin_register_vcpu_init_cb(id, on_thread_begin);
  qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
  qemu_plugin_register_vcpu_syscall_ret_cb(id, on_system_call_end);
  qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
  return 0;
}
