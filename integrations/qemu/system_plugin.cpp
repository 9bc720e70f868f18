// The plug-in that reports to cxloom what the processors of a machine do under QEMU's system emulation,
// kernel and programs alike: which blocks they enter, what they access, and where its pages are in memory. It
// fills rings as the plug-in of programs does, a thread for each processor.
//
// Nothing is told before a program begins, and code runs as fast as without the plug-in, but for pauses of
// several processors: at that mark QEMU is asked to translate all code anew.
#include <cxloom/program_feed.hpp>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <utility>

#include "control_page.hpp"
#include "decode.hpp"
#include "emulator_clock.hpp"
#include "guest_kernel.hpp"
#include "interrupt_command.hpp"
#include "marks.hpp"
#include "memory_access.hpp"
#include "memory_parts.hpp"
#include "option_value.hpp"
#include "page_walk.hpp"
#include "qemu_plugin_api.h"
#include "spinning.hpp"
#include "told_block.hpp"
#include "told_process.hpp"

extern "C" {
__attribute__((visibility("default"))) int qemu_plugin_version = CXLOOM_QEMU_PLUGIN_VERSION;
}

namespace cxloom::qemu {
namespace {

constexpr unsigned kMostProcessors = 256;
constexpr std::size_t kLongest = 15;  // bytes of an instruction
// The data of an access has the number of its block below what its record begins with.
constexpr std::uint64_t kBlockMask = 0xFFFF'FFFF;
constexpr unsigned kCountShift = 32;  // of a block: its instructions are above its number
constexpr std::uint64_t kOfKernel = std::uint64_t{1} << 63U;  // and whether it is of the kernel above them

// Words that are left in each ring: a processor that comes to rest cannot wait for room.
constexpr std::uint64_t kReserve = feed::kCallWords;

struct alignas(64) Processor {
  FeedWriter writer;
  std::uint32_t ring = 0;                     // the number of its ring, when it is open
  std::uint32_t block = ~std::uint32_t{0};    // that it entered last
  std::uint32_t entered = ~std::uint32_t{0};  // of those that are told when they begin
  std::uint32_t untimed = 0;                  // instructions that the clock does not know of yet
  KnownPages pages;
  PageWalk walk;
  GuestKernel kernel;
  bool in_kernel = true;  // as its last block was
  InterruptCommand command;
  bool rests = false;                    // as QEMU has said last
  bool rested = false;                   // since its last block
  std::atomic<bool> is_open{false};      // its ring is
  std::atomic<bool> told_rest{false};    // its ring says that it rests
  std::atomic<bool> sends{false};        // is in a block that sends interrupts, and has not told of it
  std::atomic<bool> interrupted{false};  // another has told that it interrupts the rest
  std::atomic<std::uint32_t> waker{0};   // the ring of who interrupted it, before it had a ring of its own
  std::atomic<std::uint64_t> woken{0};   // the order of that
};

FeedControl* control = nullptr;
const char* folder = nullptr;  // of the rings: the only option of the plug-in
MemoryParts memory;            // known when a program begins
KernelLayout layout;           // as well
bool knows_processes = false;  // the layout is known
qemu_plugin_id_t plugin = 0;
Processor processors[kMostProcessors];
FeedWriter blocks;          // what the blocks of the machine are
std::uint32_t machine = 0;  // number of its ring
std::uint32_t next_block = 0;
std::atomic<int> depth{0};  // programs that have begun and not ended
unsigned processor_count = 1;
// By number, of several one: blocks in which a processor has interrupted another.
constexpr std::size_t kSenders = std::size_t{1} << 16U;
std::atomic<std::uint8_t> senders[kSenders];
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

bool several() { return processor_count > 1; }
unsigned number_of(const Processor& processor) { return static_cast<unsigned>(&processor - processors); }

void open_processor(Processor& processor) {
  processor.ring = control->rings.fetch_add(1);
  const std::uint64_t woken = processor.woken.load(std::memory_order_acquire);
  char name[32];
  std::snprintf(name, sizeof name, "processor %u", number_of(processor));
  open_ring(folder, *control, processor.writer,
            {.number = processor.ring,
             .process = machine,
             .creator = woken == 0 ? processor.ring : processor.waker.load(std::memory_order_relaxed),
             .creation = woken,
             .name = name});
  if (!processor.writer.muted()) processor.writer.note_thread();
  processor.is_open.store(true, std::memory_order_release);
}

// Room for so many words besides the reserve.
__attribute__((noinline)) void make_room(Processor& processor, std::uint64_t words = 1) {
  FeedWriter& writer = processor.writer;
  if (!writer.is_open()) open_processor(processor);
  if (writer.muted() || writer.room() >= words + kReserve) return;
  if (!writer.wait_for(words + kReserve, *control)) writer.mute();
}

inline void put(Processor& processor, std::uint64_t record) {
  if (processor.writer.room() <= kReserve) [[unlikely]]
    make_room(processor);
  processor.writer.put(record);
}

void tell_page(Processor& processor, std::uint64_t address, std::uint64_t place) {
  FeedWriter& writer = processor.writer;
  make_room(processor, feed::kPageWords);
  if (writer.muted()) return;
  std::uint64_t entries[feed::kPageLevels];
  processor.walk.entries(address, memory, entries);
  writer.ahead(0) = feed::event(FeedEvent::kPage, (address & feed::kAddressMask) >> feed::kPageBits);
  writer.ahead(1) = place;
  for (unsigned level = 0; level < feed::kPageLevels; ++level) writer.ahead(2 + level) = entries[level];
  writer.publish(feed::kPageWords);
}

// --- processes -------------------------------------------------------------------------------------------

void tell_process(Processor& processor) {
  if (!processor.kernel.changes(layout, number_of(processor))) return;
  make_room(processor, feed::kProcessWords);
  if (!processor.writer.muted()) put_process(processor.writer, processor.kernel.process(layout));
}

void tell_mapping(Processor& processor, const GuestKernel::Mapping& mapping) {
  make_room(processor, feed::kMappingWords);
  if (!processor.writer.muted()) put_mapping(processor.writer, mapping);
}

void on_mapping(unsigned number, void*) {
  tell_mapping(processors[number], processors[number].kernel.mapping(layout));
}

void on_end_of_space(unsigned number, void*) {
  tell_mapping(processors[number], {.space = processors[number].kernel.argument()});
}

void on_pause(unsigned, void*) { let_others_run(processor_count); }

void watch_kernel(qemu_plugin_insn* instruction) {
  if (!knows_processes) return;
  const std::uint64_t address = qemu_plugin_insn_vaddr(instruction);
  if (address == layout.maps)
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mapping, QEMU_PLUGIN_CB_R_REGS, nullptr);
  else if (address == layout.unmaps_all)
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_end_of_space, QEMU_PLUGIN_CB_R_REGS, nullptr);
}

// --- processors that rest, and interrupt each other --------------------------------------------------------
//
// A processor without anything to do waits as a thread waits for a futex, and whoever interrupts it wakes it:
// so it is told. Who waits for whom, and until when, is found as of threads.

// Nobody waits for one that waits for the reader: it has room for its block before.
constexpr std::uint64_t kRoomOfSender = 64;
constexpr std::uint64_t kTimedOut = static_cast<std::uint64_t>(-110);  // ETIMEDOUT: nobody woke it

std::uint64_t futex_of(unsigned number) { return 8 * (std::uint64_t{number} + 1); }

/// Tells words of which the second is their number in the order of all. There is room for them.
template <std::size_t kCount>
std::uint64_t put_in_order(Processor& processor, const std::uint64_t (&words)[kCount]) {
  FeedWriter& writer = processor.writer;
  if (writer.muted()) return 0;
  const std::uint64_t order = FeedWriter::next_in_order(*control);
  for (std::size_t i = 0; i < kCount; ++i) writer.ahead(i) = i == 1 ? order : words[i];
  writer.publish(kCount);
  return order;
}

std::uint64_t put_futex(Processor& processor, unsigned number, std::uint64_t operation) {
  return put_in_order<feed::kCallWords>(
      processor, {feed::event(FeedEvent::kSystemCall, system_call::kFutex), 0, futex_of(number),
                  operation | system_call::kFutexPrivate, 1, 0, 0, 0});
}

void put_futex_end(Processor& processor, std::uint64_t result, std::uint64_t slept) {
  make_room(processor, feed::kCallEndWords);
  put_in_order<feed::kCallEndWords>(
      processor, {feed::event(FeedEvent::kSystemCallEnd, system_call::kFutex) | slept, 0, result, 0});
}

// QEMU holds the lock of all devices here, which others may need before the reader comes to them: nothing is
// waited for, and the call goes into the reserve.
void on_rest(qemu_plugin_id_t, unsigned number) {
  Processor& processor = processors[number];
  if (!std::exchange(processor.rests, true)) busy_processors.rest();
  processor.rested = true;
  if (!several() || !processor.writer.is_open() || processor.told_rest.load(std::memory_order_relaxed))
    return;
  processor.interrupted.store(false, std::memory_order_relaxed);
  put_futex(processor, number, system_call::kFutexWait);
  processor.told_rest.store(true, std::memory_order_release);
}

void on_go_on(qemu_plugin_id_t, unsigned number) {
  if (std::exchange(processors[number].rests, false)) busy_processors.go_on();
}

// The processor that interrupts tells of it when it has done so; the other may have gone on by then.
void wait_for_senders(const Processor& processor) {
  constexpr unsigned kMost = 10'000;  // most of a second: it is not waited for what never comes
  unsigned turns = 0;
  for (unsigned i = 0; i < processor_count; ++i) {
    if (&processors[i] == &processor) continue;
    while (processors[i].sends.load(std::memory_order_acquire) && ++turns < kMost) let_others_run();
  }
}

__attribute__((noinline)) void end_rest(Processor& processor) {
  processor.rested = false;
  on_go_on(plugin, number_of(processor));
  if (!several()) return;
  wait_for_senders(processor);
  if (!processor.told_rest.load(std::memory_order_relaxed)) return;
  const bool interrupted = processor.interrupted.load(std::memory_order_acquire);
  put_futex_end(processor, interrupted ? 0 : kTimedOut, feed::kSlept);
  processor.told_rest.store(false, std::memory_order_release);
}

// The processor has sent an interrupt.
void interrupt(Processor& processor) {
  const unsigned own = number_of(processor);
  for (unsigned i = 0; i < processor_count; ++i) {
    Processor& other = processors[i];
    if (i == own || !processor.command.is_for(i, own)) continue;
    const bool rests = other.told_rest.load(std::memory_order_acquire);
    if (!rests && other.is_open.load(std::memory_order_acquire)) continue;
    make_room(processor, feed::kCallWords);
    const std::uint64_t order = put_futex(processor, i, system_call::kFutexWake);
    if (rests) {
      other.interrupted.store(true, std::memory_order_release);
    } else {
      other.waker.store(processor.ring, std::memory_order_relaxed);
      other.woken.store(order, std::memory_order_release);
    }
    put_futex_end(processor, rests ? 1 : 0, 0);
  }
}

void write_register(Processor& processor, qemu_plugin_meminfo_t info, std::uint64_t physical) {
  if (processor.command.write(physical, qemu_plugin_mem_get_value(info).data.u32)) {
    senders[processor.entered % kSenders].store(1, std::memory_order_relaxed);
    interrupt(processor);
  }
  processor.sends.store(false, std::memory_order_release);
}

// --- what happens ----------------------------------------------------------------------------------------

// Instructions after which the clock is told of them.
constexpr std::uint32_t kTimed = 1024;

// An instruction takes a nanosecond. What several processors do at the same time takes the time of one.
void pass_time(Processor& processor) {
  const std::uint32_t busy = std::max(1U, busy_processors.count());
  pass_guest_time(std::exchange(processor.untimed, 0) / busy);
}

void on_block(unsigned number, void* data) {
  Processor& processor = processors[number];
  const auto of = reinterpret_cast<std::uint64_t>(data);
  if (processor.sends.load(std::memory_order_relaxed))
    processor.sends.store(false, std::memory_order_release);
  if (processor.rested) [[unlikely]]
    end_rest(processor);
  const bool in_kernel = (of & kOfKernel) != 0;
  if (std::exchange(processor.in_kernel, in_kernel) && !in_kernel && knows_processes) tell_process(processor);
  processor.block = processor.entered = static_cast<std::uint32_t>(of & kBlockMask);
  put(processor, feed::event(FeedEvent::kBlock, processor.block));
  if (!several()) return;
  if (senders[processor.entered % kSenders].load(std::memory_order_relaxed) != 0) {
    make_room(processor, kRoomOfSender);
    processor.sends.store(true, std::memory_order_release);
  }
  processor.untimed += static_cast<std::uint32_t>((of & ~kOfKernel) >> kCountShift);
  if (processor.untimed >= kTimed) pass_time(processor);
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
  const std::uint64_t physical = where == nullptr ? 0 : qemu_plugin_hwaddr_phys_addr(where);
  std::uint64_t place = 0;
  if (where == nullptr || !memory.place_of(physical, place)) {
    put(processor, feed::event(FeedEvent::kRegister, 0));
    if (several() && InterruptCommand::has(physical) && (directions(info) & 2U) != 0)
      write_register(processor, info, physical);
    return;
  }
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
  if (several()) drive_guest_clock();
  knows_processes = layout.read(folder);
  if (!memory.read(folder)) fail(*control, "the guest's memory is not described");
  qemu_plugin_reset(plugin, install);
}

void on_end(unsigned, void*) {
  int before = depth.load();
  while (before > 0 && !depth.compare_exchange_weak(before, before - 1)) {
  }
  if (before != 1) return;
  if (several()) release_guest_clock();
  qemu_plugin_reset(plugin, install);
}

void watch_for_marks_and_pauses(qemu_plugin_insn* instruction, const void* data, std::size_t size) {
  const std::uint8_t mark = mark_of(data, size);
  if (mark == kProgramBegins)
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_begin, QEMU_PLUGIN_CB_NO_REGS, nullptr);
  else if (mark == kProgramEnds)
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_end, QEMU_PLUGIN_CB_NO_REGS, nullptr);
  else if (several() && is_pause(data, size))
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_pause, QEMU_PLUGIN_CB_NO_REGS, nullptr);
}

// --- translation -----------------------------------------------------------------------------------------

void on_waiting_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
  const std::size_t count = qemu_plugin_tb_n_insns(block);
  for (std::size_t i = 0; i < count; ++i) {
    qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    unsigned char data[kLongest];
    watch_for_marks_and_pauses(instruction, data, qemu_plugin_insn_data(instruction, data, sizeof data));
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
    watch_for_marks_and_pauses(instruction, data, size);
    watch_kernel(instruction);
    if (decoded[i].operand_bytes == 0) continue;
    qemu_plugin_register_vcpu_mem_cb(instruction, on, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                     reinterpret_cast<void*>(feed::access_of(i) | number));
  }
  const std::uint64_t address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));
  tell_block(blocks, number, address, {decoded, count});
  const std::uint64_t of = (address & kOfKernel) | std::uint64_t{count} << kCountShift | number;
  qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS, reinterpret_cast<void*>(of));
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
  qemu_plugin_register_vcpu_idle_cb(id, on_rest);
  qemu_plugin_register_vcpu_resume_cb(id, on_go_on);
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
  processor_count = static_cast<unsigned>(info->system.smp_vcpus);
  busy_processors.begin(processor_count);
  open_machine();
  install(id);
  return 0;
}
