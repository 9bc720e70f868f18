#include "program/program_feed.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "program/feed_blocks.hpp"
#include "program/feed_record.hpp"
#include "program/program_mappings.hpp"
#include "program/thread_state.hpp"

namespace cxloom {

namespace {

constexpr std::uint32_t kMostLooks = 10'000;      // at the mappings of a process
constexpr std::uint64_t kTurn = 2048;             // records of a thread before the next one has its turn
constexpr std::size_t kMostAccesses = 1U << 16U;  // of one run through a block: XSAVE has some hundred
// A thread that was killed between taking its number in the order of calls and telling the call holds up the others so long.
constexpr auto kPatience = std::chrono::seconds(2);
// A thread that tells nothing and does not sleep may have to wait for a processor of this machine. After so long it is taken to wait
// within the emulator for another, whose ring is full.
constexpr auto kSilence = std::chrono::milliseconds(250);

}  // namespace

struct ProgramFeed::Process {
  SharedPages pages;
  std::uint32_t ring = 0;
  std::uint32_t number = 0;
  std::uint32_t forks_seen = 0;
  bool replaced = false;  // by execve: nothing will follow
  bool mapped = false;    // what it begins with is told
  std::uint32_t looks = 0;
  std::vector<std::shared_ptr<const ProgramBlock>> blocks;

  FeedRingHead& head() const { return *static_cast<FeedRingHead*>(pages.at(0)); }
  const std::uint64_t* words() const { return static_cast<const std::uint64_t*>(pages.at(kFeedHeadBytes)); }
};

struct ProgramFeed::Thread {
  SharedPages pages;
  std::shared_ptr<Process> process;
  std::uint32_t ring = 0;
  ProgramThread who;
  std::uint64_t at = 0;    // words read
  std::uint64_t held = 0;  // the number in the order of calls that it waits for; 0: none
  /// Where it is, as far as that matters to whoever waits for it.
  enum Place : std::uint8_t { kOutside, kMayWait, kSleeps, kWoken };  // the others: in a call that may wait
  Place place = kOutside;
  SystemCall call;  // the latest one
  bool begun = false;
  const ProgramBlock* block = nullptr;
  bool continued = false;
  std::size_t strays = 0;               // in a row
  std::vector<ProgramAccess> accesses;  // of the block at hand

  FeedRingHead& head() const { return *static_cast<FeedRingHead*>(pages.at(0)); }
  const std::uint64_t* words() const { return static_cast<const std::uint64_t*>(pages.at(kFeedHeadBytes)); }
};

ProgramFeed::ProgramFeed(std::string folder, const Sizes& sizes) : folder_(std::move(folder)), sizes_(sizes) {
  ensure(std::has_single_bit(sizes.thread_words) && std::has_single_bit(sizes.process_words) &&
             sizes.process_words >=
                 block_form::kHeadWords + block_form::kInstructionWords * feed::kMostInstructions,
         "rings of another size than a power of two, or too small for a block");
  const std::string name = folder_ + "/control";
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int error = file < 0 ? errno : posix_fallocate(file, 0, kFeedControlBytes);
  if (file >= 0) ::close(file);
  if (error == 0) {
    control_ = SharedPages::of_file(name);
    if (control_.bytes() < kFeedControlBytes) error = errno;
  }
  if (error != 0) {
    throw InputError({"no memory to share with the program",
                      std::string(std::strerror(error)),
                      "a temporary folder with some room",
                      {}},
                     name);
  }
  auto* const control = new (control_.at(0)) FeedControl;
  control->mark = FeedControl::kMark;
  control->version = kFeedVersion;
  control->reader = static_cast<std::uint32_t>(getpid());
  control->thread_words = sizes.thread_words;
  control->process_words = sizes.process_words;
}

ProgramFeed::~ProgramFeed() { stop(); }

void ProgramFeed::stop() { control().stop.store(1); }

std::string ProgramFeed::failure() const {
  if (control().failed.load(std::memory_order_acquire) == 0) return {};
  const char* const text = control().failure;
  return {text, strnlen(text, sizeof(FeedControl::failure))};
}

std::vector<std::uint32_t> ProgramFeed::living() const {
  std::vector<std::uint32_t> result;
  for (const auto& process : processes_) {
    if (process->head().closed.load() == 0 && !process->replaced) result.push_back(process->head().pid);
  }
  return result;
}

std::string ProgramFeed::name_of(std::uint32_t ring) const { return folder_ + "/" + std::to_string(ring); }

std::uint64_t ProgramFeed::read(ProgramSink& sink, std::uint64_t most, std::uint32_t wanted) {
  std::uint64_t count = 0;
  std::uint64_t before = 0;
  do {
    before = count;
    discover();
    count += read_wanted(wanted, sink);
    // A writer of blocks may wait for room, and holds up all threads of its process.
    for (const auto& process : processes_) read_blocks(process->head(), process->words(), process->blocks);
    drop_ended(sink);
  } while (count != before && count < most && !sink.complete());
  words_ += count;
  if (count != 0) {
    waits_ = false;
    return count;
  }
  // Whoever reads may have been away for long: what counts is how long there is nothing to read.
  const auto now = std::chrono::steady_clock::now();
  if (!std::exchange(waits_, true)) waits_since_ = now;
  if (now - waits_since_ > kPatience && skip_lost()) waits_ = false;
  return count;
}

std::uint64_t ProgramFeed::read_wanted(std::uint32_t wanted, ProgramSink& sink) {
  const auto found = std::find_if(threads_.begin(), threads_.end(), [&](const auto& thread) {
    return thread->begun && thread->who.number == wanted;
  });
  if (found == threads_.end()) return read_all(sink);
  const std::uint64_t count = read_thread(**found, kTurn, sink);
  if (count != 0) {
    silent_ = 0;
    return count;
  }
  // Its turn in the order of calls comes with what others tell. If it sleeps outside of calls that may wait, it does so within the emulator,
  // until another goes on.
  const Thread::Place place = (*found)->place;
  if ((*found)->held != 0 || place == Thread::kSleeps || (place == Thread::kOutside && sleeps(**found)))
    return read_all(sink);
  const auto now = std::chrono::steady_clock::now();
  if (std::exchange(silent_, wanted) != wanted) silent_since_ = now;
  return now - silent_since_ < kSilence ? 0 : read_all(sink);
}

std::uint64_t ProgramFeed::read_all(ProgramSink& sink) {
  std::uint64_t count = 0;
  for (const auto& thread : threads_) {
    if (sink.complete()) break;
    count += read_thread(*thread, kTurn, sink);
  }
  return count;
}

void ProgramFeed::finish(ProgramSink& sink) {
  discover();
  // Those that still run would tell more and more.
  std::vector<std::uint64_t> ends;
  for (const auto& thread : threads_) ends.push_back(thread->head().written.load(std::memory_order_acquire));
  std::uint64_t count = 0;
  do {
    count = 0;
    for (std::size_t i = 0; i < threads_.size() && !sink.complete(); ++i) {
      const std::uint64_t left = ends[i] - std::min(ends[i], threads_[i]->at);
      count += read_thread(*threads_[i], std::min(kTurn, left), sink);
    }
    words_ += count;
  } while (count != 0 || skip_lost());
  for (const auto& thread : threads_) {
    if (!thread->begun) continue;
    deliver(*thread, sink);
    sink.thread_ends(thread->who);
  }
  threads_.clear();
}

void ProgramFeed::discover() {
  const std::uint32_t rings = control().rings.load(std::memory_order_acquire);
  if (rings == announced_ && unopened_.empty()) return;
  for (; announced_ < rings; ++announced_) unopened_.push_back(announced_);
  for (const std::uint32_t number : std::exchange(unopened_, {})) {
    if (!open_ring(number)) unopened_.push_back(number);
  }
}

bool ProgramFeed::open_ring(std::uint32_t number) {
  SharedPages pages = SharedPages::of_file(name_of(number));
  if (pages.bytes() < kFeedHeadBytes) return false;
  const auto& head = *static_cast<const FeedRingHead*>(pages.at(0));
  if (head.mark.load(std::memory_order_acquire) != FeedRingHead::kMark) return false;
  const bool process = head.kind == FeedRingHead::kProcess;
  if ((!process && head.kind != FeedRingHead::kThread) ||
      head.words != (process ? sizes_.process_words : sizes_.thread_words) ||
      pages.bytes() < kFeedHeadBytes + std::size_t{head.words} * sizeof(std::uint64_t)) {
    refuse_feed("a ring of another size or kind");
  }
  // Its process, or that one's parent, was announced before it, and may not have been there yet when it was looked for.
  const std::uint32_t needed = process ? head.parent : head.process;
  if (needed != number && std::ranges::find(unopened_, needed) != unopened_.end()) return false;
  ::unlink(name_of(number).c_str());  // both have it mapped: nobody needs its name
  if (process) {
    begin_process(number, std::move(pages));
  } else {
    find_thread(number, std::move(pages));
  }
  return true;
}

void ProgramFeed::begin_process(std::uint32_t number, SharedPages pages) {
  auto process = std::make_shared<Process>();
  process->pages = std::move(pages);
  process->ring = number;
  process->number = next_process_++;
  const FeedRingHead& head = process->head();
  if (head.parent != number) {
    Process* const parent = process_of_ring(head.parent);
    if (parent == nullptr) refuse_feed("a fork of no process");
    read_blocks(parent->head(), parent->words(), parent->blocks);
    if (head.inherited > parent->blocks.size()) refuse_feed("a fork that knows more blocks than its parent");
    process->blocks.assign(parent->blocks.begin(), parent->blocks.begin() + head.inherited);
    ++parent->forks_seen;
  }
  if (head.replaces != number) {
    if (Process* const before = process_of_ring(head.replaces)) before->replaced = true;
  }
  processes_.push_back(std::move(process));
}

void ProgramFeed::find_thread(std::uint32_t number, SharedPages pages) {
  auto thread = std::make_unique<Thread>();
  thread->pages = std::move(pages);
  const std::uint32_t ring = thread->head().process;
  const auto process = std::find_if(processes_.begin(), processes_.end(),
                                    [&](const auto& candidate) { return candidate->ring == ring; });
  if (process == processes_.end()) refuse_feed("thread " + std::to_string(number) + " of no process");
  thread->process = *process;
  thread->ring = number;
  thread->who.process = (*process)->number;
  threads_.push_back(std::move(thread));
}

bool ProgramFeed::begin_thread(Thread& thread, ProgramSink& sink) {
  const FeedRingHead& head = thread.head();
  if (!is_next(thread, head.begun)) return false;
  thread.begun = true;
  thread.who.number = next_thread_++;
  if (thread.ring >= numbers_.size()) numbers_.resize(thread.ring + 1);
  numbers_[thread.ring] = thread.who.number;
  Release by;
  if (head.creator != thread.ring) by = {thread_of_ring(head.creator), head.creation};
  order_.begins(thread.who, by);
  sink.thread_begins(thread.who, by);
  if (!std::exchange(thread.process->mapped, true)) tell_mappings(thread, 0, ~std::uint64_t{0}, sink);
  return true;
}

std::uint32_t ProgramFeed::thread_of_ring(std::uint32_t ring) const {
  return ring < numbers_.size() ? numbers_[ring] : 0;
}

ProgramFeed::Process* ProgramFeed::process_of_ring(std::uint32_t ring) {
  for (const auto& process : processes_) {
    if (process->ring == ring) return process.get();
  }
  return nullptr;
}

inline void ProgramFeed::access(Thread& thread, std::uint64_t record) {
  const std::uint32_t instruction = feed::instruction(record);
  if (!feed::reads(record) && !feed::writes(record)) refuse_feed("an access that neither reads nor writes");
  // QEMU 7.2 tells what it stores for a signal (the registers on the stack) as accesses of whatever instruction last had some.
  if (thread.block == nullptr || instruction >= thread.block->instructions.size() ||
      (!thread.accesses.empty() && instruction < thread.accesses.back().instruction)) {
    ++strays_;
    if (++thread.strays > kMostAccesses) refuse_feed("accesses of no instruction without end");
    return;
  }
  thread.strays = 0;
  const std::uint64_t address = feed::address(record);
  const std::uint32_t size = feed::size(record);
  if (!thread.accesses.empty()) {
    ProgramAccess& last = thread.accesses.back();
    // The emulator accesses what is wider than eight bytes piece by piece.
    if (instruction == last.instruction && address == last.address + last.size &&
        feed::reads(record) == last.reads && feed::writes(record) == last.writes &&
        last.size + size <= thread.block->instructions[instruction].operand_bytes) {
      last.size = static_cast<std::uint16_t>(last.size + size);
      return;
    }
    if (thread.accesses.size() >= kMostAccesses) refuse_feed("an instruction without end");
  }
  thread.accesses.push_back({address, static_cast<std::uint16_t>(size),
                             static_cast<std::uint16_t>(instruction), feed::reads(record),
                             feed::writes(record)});
}

std::uint64_t ProgramFeed::read_thread(Thread& thread, std::uint64_t most, ProgramSink& sink) {
  if (!thread.begun && !begin_thread(thread, sink)) return 0;
  FeedRingHead& head = thread.head();
  const std::uint64_t written = head.written.load(std::memory_order_acquire);
  const std::uint64_t mask = head.words - 1;
  if (written - thread.at > head.words) refuse_feed("more records than there is room for");
  const std::uint64_t begin = thread.at;
  if (written == begin) {
    if (thread.place == Thread::kMayWait && falls_asleep(thread)) {
      thread.place = Thread::kSleeps;
      sink.thread_sleeps(thread.who);
    }
    return 0;
  }
  const std::uint64_t end = begin + std::min(most, written - begin);
  const std::uint64_t* const words = thread.words();
  std::uint64_t at = begin;
  std::uint64_t several[feed::kCallWords];
  // Of a call all words are written at once; the last of a turn may go beyond its end. False if its turn is yet to come.
  auto gather = [&](std::uint64_t count) {
    if (count > written - at) refuse_feed("a system call that is cut off");
    for (std::uint64_t i = 0; i < count; ++i) several[i] = words[(at + i) & mask];
    if (!is_next(thread, several[1])) return false;
    deliver(thread, sink);
    at += count;
    return true;
  };
  while (at < end) {
    const std::uint64_t record = words[at & mask];
    if (!feed::is_event(record)) {
      access(thread, record);
      ++at;
      continue;
    }
    const FeedEvent kind = feed::event_kind(record);
    if (kind == FeedEvent::kBlock) {
      enter(thread, feed::payload(record), sink);
      ++at;
    } else if (kind == FeedEvent::kSystemCall) {
      if (!gather(feed::kCallWords)) break;
      call(thread, several, sink);
    } else if (kind == FeedEvent::kSystemCallEnd) {
      if (!gather(feed::kCallEndWords)) break;
      call_ends(thread, several, sink);
    } else {
      refuse_feed("a record of no known kind");
    }
  }
  thread.at = at;
  head.read.store(at, std::memory_order_release);
  return at - begin;
}

bool ProgramFeed::is_next(Thread& thread, std::uint64_t order) {
  thread.held = order > next_in_order_ ? order : 0;
  if (order == next_in_order_) ++next_in_order_;
  return thread.held == 0;
}

// Whatever has the next number is lost: goes on with the first one that is there.
bool ProgramFeed::skip_lost() {
  std::uint64_t first = 0;
  for (const auto& thread : threads_) {
    if (thread->held != 0 && (first == 0 || thread->held < first)) first = thread->held;
  }
  if (first != 0) next_in_order_ = first;
  return first != 0;
}

// The kernel says of a thread that sleeps neither why, nor whether it will have gone on by the time that its ring is looked at again.
bool ProgramFeed::sleeps(const Thread& thread) {
  const FeedRingHead& head = thread.head();
  const std::uint32_t rests = head.rests.load(std::memory_order_acquire);
  if (rests % 2 != 0) return false;  // for room, which there is
  if (state_of_thread(head.pid, head.tid.load(std::memory_order_relaxed)) != ThreadState::kSleeps)
    return false;
  return head.rests.load(std::memory_order_acquire) == rests &&
         head.written.load(std::memory_order_acquire) == thread.at;
}

// One that nobody knows is taken to sleep: so are those of writers that do not say which thread they are.
bool ProgramFeed::falls_asleep(const Thread& thread) {
  const FeedRingHead& head = thread.head();
  return state_of_thread(head.pid, head.tid.load(std::memory_order_relaxed)) == ThreadState::kUnknown ||
         sleeps(thread);
}

void ProgramFeed::call(Thread& thread, const std::uint64_t* words, ProgramSink& sink) {
  SystemCall call;
  call.number = static_cast<std::uint32_t>(feed::payload(words[0]));
  call.order = words[1];
  for (std::size_t i = 0; i < SystemCall::kArguments; ++i) call.arguments[i] = words[2 + i];
  for (Release by; (by = order_.joined_before(thread.who, call)).thread != 0;)
    sink.thread_joins(thread.who, by);
  thread.place = system_call::may_wait(call) ? Thread::kMayWait : Thread::kOutside;
  order_.calls(thread.who, thread.process->head().pid, call);
  sink.system_call(thread.who, call);
  thread.call = call;
  tell_turns(sink);
}

// What the process has mapped by now; a few moments later than the call, if it was one that asks.
void ProgramFeed::tell_mappings(Thread& thread, std::uint64_t begin, std::uint64_t end, ProgramSink& sink) {
  if (++thread.process->looks > kMostLooks) return;
  const FeedRingHead& head = thread.process->head();
  for (const ProgramMapping& mapping : mappings_of(head.pid, head.offset.load(std::memory_order_relaxed))) {
    if (mapping.begin < end && begin < mapping.end) sink.memory_mapped(thread.who, mapping);
  }
}

void ProgramFeed::tell_turns(ProgramSink& sink) {
  if (!order_.has_turns()) [[likely]]
    return;
  for (const ThreadOrder::Turn& turn : order_.take_turns()) {
    // Who is woken may sleep for a moment yet, as the call that wakes it has only begun.
    for (const auto& thread : threads_) {
      if (thread->who.number == turn.thread.number && thread->place != Thread::kOutside)
        thread->place = turn.by.thread == 0 ? Thread::kMayWait : Thread::kWoken;
    }
    sink.thread_turns(turn.thread, turn.by);
  }
}

void ProgramFeed::call_ends(Thread& thread, const std::uint64_t* words, ProgramSink& sink) {
  SystemCallEnd end;
  end.number = static_cast<std::uint32_t>(feed::payload(words[0]));
  end.slept = (words[0] & feed::kSlept) != 0;
  end.order = words[1];
  end.result = static_cast<std::int64_t>(words[2]);
  end.nanoseconds = words[3];
  thread.place = Thread::kOutside;
  end.by = order_.ends(thread.who, end);
  sink.system_call_ends(thread.who, end);
  const auto& arguments = thread.call.arguments;
  const bool of_a_file = static_cast<std::int32_t>(arguments[4]) >= 0;
  if (end.number == system_call::kMmap && of_a_file && end.result > 0) {
    const auto begin = static_cast<std::uint64_t>(end.result);
    tell_mappings(thread, begin, begin + arguments[1], sink);
  }
  tell_turns(sink);
}

void ProgramFeed::enter(Thread& thread, std::uint64_t number, ProgramSink& sink) {
  const ProgramBlock* const before = thread.block;
  deliver(thread, sink);
  Process& process = *thread.process;
  if (number >= process.blocks.size()) {
    read_blocks(process.head(), process.words(), process.blocks);  // it was told before it was entered
    if (number >= process.blocks.size()) refuse_feed("a block that was never described");
  }
  thread.block = process.blocks[number].get();
  // A repeated instruction is entered again for each element, as a block that begins with it.
  thread.continued = thread.block->repeats && before != nullptr && before->last == thread.block->address;
}

void ProgramFeed::deliver(Thread& thread, ProgramSink& sink) {
  if (thread.block == nullptr) return;
  sink.block(thread.who, *thread.block, thread.accesses, thread.continued);
  for (const ProgramAccess& access : thread.accesses) {
    if (!order_.may_join(access.address) || !access.reads) [[likely]]
      continue;
    const Release by = order_.joins(thread.who, access.address);
    if (by.thread != 0) sink.thread_joins(thread.who, by);
  }
  thread.accesses.clear();
  thread.block = nullptr;
}

void ProgramFeed::drop_ended(ProgramSink& sink) {
  std::erase_if(threads_, [&](const std::unique_ptr<Thread>& thread) {
    const bool over = thread->process->replaced || thread->head().closed.load(std::memory_order_acquire) != 0;
    if (!over || !thread->begun || thread->head().written.load(std::memory_order_acquire) != thread->at) {
      return false;
    }
    deliver(*thread, sink);
    order_.gone(thread->who);
    sink.thread_ends(thread->who);
    return true;
  });
  std::erase_if(processes_, [this](const std::shared_ptr<Process>& process) {
    const bool over = process->replaced || process->head().closed.load(std::memory_order_acquire) != 0;
    if (process.use_count() > 1 || !over) return false;
    // Its threads may have come and gone since rings were looked for.
    if (control().rings.load(std::memory_order_acquire) != announced_ || !unopened_.empty()) return false;
    return process->head().forks.load(std::memory_order_acquire) <= process->forks_seen;
  });
}

}  // namespace cxloom
