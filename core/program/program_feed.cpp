#include "program/program_feed.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "program/feed/blocks.hpp"
#include "program/feed/calls.hpp"
#include "program/feed/current_block.hpp"
#include "program/feed/known_pages.hpp"
#include "program/feed/machine_records.hpp"
#include "program/feed/record.hpp"
#include "program/feed/reported_mappings.hpp"
#include "program/feed/room.hpp"
#include "program/feed/thread_place.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kTurn = 2048;  // records of a thread before the next one has its turn
// Records by which a processor of a machine is ahead of one that runs and tells nothing, at most. One that
// waits for a lock would else run round and round while this machine lets nobody run the one that has it.
constexpr std::uint64_t kMostAhead = 4 * kTurn;
constexpr std::uint32_t kAnybody = ~std::uint32_t{0};

}  // namespace

struct ProgramFeed::Process {
  Process(FeedDirectory::Ring ring, std::uint32_t number) : code(std::move(ring), number) {}

  FeedProcess code;
  ReportedMappings mappings;
};

// A read of the word that the end of another thread clears, whose exit is in its ring and was not told yet.
struct ProgramFeed::EndRead {
  std::uint64_t address = 0;
  std::uint32_t other = 0;  // whose end it may show
};

struct ProgramFeed::Thread {
  Thread(FeedDirectory::Ring its_ring, std::shared_ptr<Process> its_process)
      : ring(std::move(its_ring)), process(std::move(its_process)), who{0, process->code.number()} {}

  FeedDirectory::Ring ring;
  std::shared_ptr<Process> process;
  ProgramThread who;
  std::uint64_t at = 0;    // words read
  std::uint64_t even = 0;  // of these, when all processors that run had told something
  SyscallOrder::Ticket ticket;
  ThreadPlace place;
  SystemCall call;  // the latest one
  bool begun = false;
  CurrentBlock entered;
  KnownPages pages;                // of a processor
  std::vector<EndRead> end_reads;  // of which it is not known yet what they showed

  // The place of an access. Throws SimulationError if that of its page was not told.
  std::uint64_t placed(std::uint64_t record) const {
    std::uint64_t found = 0;
    if (!pages.place_of(feed::address(record), found)) refuse_feed("an access to a page that is nowhere");
    return found;
  }
  bool is_processor() const { return process->code.head().is_machine != 0; }
  // It has nothing to tell now, and goes on by itself.
  bool is_awaited() const { return begun && !is_held() && !place.waits(); }
  // It cannot go on without others. A processor that was woken may have to wait within the emulator first.
  bool is_asleep() const {
    return place.is_asleep(head(), at) || (is_processor() && ThreadPlace::sleeps(head(), at));
  }
  bool is_held() const { return ticket.is_held() || !end_reads.empty(); }
  FeedRingHead& head() const { return ring.head(); }
  const std::uint64_t* words() const {
    return static_cast<const std::uint64_t*>(ring.pages.at(kFeedHeadBytes));
  }
  // The number in the order of calls that it comes to next; 0: it has not written it yet.
  std::uint64_t next_in_order() const {
    const std::uint64_t written = head().written.load(std::memory_order_acquire);
    const std::uint64_t mask = head().words - 1;
    for (std::uint64_t i = at; i + 1 < written; ++i) {
      const std::uint64_t record = words()[i & mask];
      if (feed::is_event(record) && (feed::event_kind(record) == FeedEvent::kSystemCall ||
                                     feed::event_kind(record) == FeedEvent::kSystemCallEnd))
        return words()[(i + 1) & mask];
    }
    return 0;
  }
  // The number that it waits for, or comes to next; 0: it is not held, or not known to come to any.
  std::uint64_t held_before() const {
    if (ticket.is_held()) return ticket.held();
    return end_reads.empty() ? 0 : next_in_order();
  }
  // Its exit is in its ring, and was not read: the last of its records.
  bool has_written_exit() const {
    const std::uint64_t written = head().written.load(std::memory_order_acquire);
    return written - at >= feed::kCallWords && words()[(written - feed::kCallWords) & (head().words - 1)] ==
                                                   feed::event(FeedEvent::kSystemCall, system_call::kExit);
  }
};

ProgramFeed::ProgramFeed(std::string folder, const Sizes& sizes) : folder_(std::move(folder), sizes) {}

ProgramFeed::~ProgramFeed() { stop(); }

std::vector<std::uint32_t> ProgramFeed::living() const {
  std::vector<std::uint32_t> result;
  for (const auto& process : processes_) {
    if (!process->code.is_over()) result.push_back(process->code.head().pid);
  }
  return result;
}

std::uint64_t ProgramFeed::read(ProgramSink& sink, std::uint64_t most, std::uint32_t wanted) {
  std::uint64_t count = 0;
  std::uint64_t before = 0;
  do {
    before = count;
    discover();
    count += read_wanted(wanted, sink);
    // A writer of blocks may wait for room, and holds up all threads of its process.
    for (const auto& process : processes_) process->code.read_blocks();
    drop_ended(sink);
  } while (count != before && count < most && !sink.complete());
  words_ += count;
  if (count != 0 || (hold_.ends() && skip_lost())) hold_.begin_anew();
  return count;
}

std::uint64_t ProgramFeed::read_wanted(std::uint32_t wanted, ProgramSink& sink) {
  const auto found = std::find_if(threads_.begin(), threads_.end(), [&](const auto& thread) {
    return thread->begun && thread->who.number == wanted;
  });
  if (found == threads_.end()) return read_all(sink);
  const std::uint64_t count = read_thread(**found, kTurn, sink);
  StallTimer& silence = (*found)->is_processor() ? starved_ : silence_;
  if (count != 0) {
    silence.begin_anew();
    return count;
  }
  // What holds it is settled by what others tell. If it sleeps outside of calls that may wait, it does so
  // within the emulator, until another goes on.
  if ((*found)->is_held() || (*found)->is_asleep()) return read_all(sink);
  return silence.ends(wanted) ? read_all(sink) : 0;
}

std::uint64_t ProgramFeed::read_all(ProgramSink& sink) {
  std::uint64_t count = 0;
  bool even = true;
  bool starves = false;
  for (const auto& thread : threads_) {
    if (sink.complete()) break;
    if (thread->is_processor() && thread->at - thread->even >= kMostAhead) continue;
    const std::uint64_t told = read_thread(*thread, kTurn, sink);
    count += told;
    if (told != 0 || !thread->is_processor() || !thread->is_awaited()) continue;
    even = false;
    starves |= !thread->is_asleep();
  }
  if (count != 0 || even) starved_.begin_anew();
  if (even || (starves ? starved_.ends(kAnybody) : blocked_.ends(kAnybody))) {
    for (const auto& thread : threads_) thread->even = thread->at;
    blocked_.begin_anew();
  }
  return count;
}

void ProgramFeed::finish(ProgramSink& sink) {
  discover();
  // Running threads would tell more and more: each is read up to here.
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
  } while (!sink.complete() && (count != 0 || skip_lost()));
  for (const auto& thread : threads_) {
    if (!thread->begun) continue;
    deliver(*thread, sink);
    sink.thread_ends(thread->who);
  }
  threads_.clear();
}

void ProgramFeed::discover() {
  if (folder_.has_all()) return;
  for (FeedDirectory::Ring& ring : folder_.open_rings()) {
    if (ring.head().kind == FeedRingHead::kProcess) begin_process(std::move(ring));
    else find_thread(std::move(ring));
  }
}

void ProgramFeed::begin_process(FeedDirectory::Ring ring) {
  auto process = std::make_shared<Process>(std::move(ring), next_process_++);
  FeedProcess& code = process->code;
  const FeedRingHead& head = code.head();
  if (head.parent != code.ring()) {
    Process* const parent = process_of_ring(head.parent);
    if (parent == nullptr) refuse_feed("a fork of no process");
    code.inherit(parent->code);
  }
  if (head.replaces != code.ring()) {
    if (Process* const before = process_of_ring(head.replaces)) before->code.replace();
  }
  processes_.push_back(std::move(process));
}

void ProgramFeed::find_thread(FeedDirectory::Ring ring) {
  const auto process = std::find_if(processes_.begin(), processes_.end(), [&](const auto& candidate) {
    return candidate->code.ring() == ring.head().process;
  });
  if (process == processes_.end()) refuse_feed("thread " + std::to_string(ring.number) + " of no process");
  threads_.push_back(std::make_unique<Thread>(std::move(ring), *process));
}

bool ProgramFeed::begin_thread(Thread& thread, ProgramSink& sink) {
  const FeedRingHead& head = thread.head();
  if (!calls_.is_next(thread.ticket, head.begun)) return false;
  thread.begun = true;
  thread.who.number = next_thread_++;
  const std::uint32_t ring = thread.ring.number;
  if (ring >= numbers_.size()) numbers_.resize(ring + 1);
  numbers_[ring] = thread.who.number;
  Release by;
  if (head.creator != ring) by = {thread_of_ring(head.creator), head.creation};
  const std::string own(head.name, strnlen(head.name, sizeof head.name));
  names_.push_back({thread.who, own.empty() ? thread.process->code.name() : own});
  order_.begins(thread.who, by);
  sink.thread_begins(thread.who, by);
  thread.process->mappings.thread_begins(thread.who, thread.process->code.head(), sink);
  return true;
}

std::uint32_t ProgramFeed::thread_of_ring(std::uint32_t ring) const {
  return ring < numbers_.size() ? numbers_[ring] : 0;
}

ProgramFeed::Thread* ProgramFeed::thread_of(std::uint32_t number) const {
  for (const auto& thread : threads_) {
    if (thread->who.number == number && number != 0) return thread.get();
  }
  return nullptr;
}

ProgramFeed::Process* ProgramFeed::process_of_ring(std::uint32_t ring) {
  for (const auto& process : processes_) {
    if (process->code.ring() == ring) return process.get();
  }
  return nullptr;
}

std::uint64_t ProgramFeed::read_thread(Thread& thread, std::uint64_t most, ProgramSink& sink) {
  if (!thread.begun && !begin_thread(thread, sink)) return 0;
  if (!settle_joins(thread, sink)) return 0;
  FeedRingHead& head = thread.head();
  const std::uint64_t written = head.written.load(std::memory_order_acquire);
  const std::uint64_t mask = head.words - 1;
  if (written - thread.at > head.words) refuse_feed("more records than there is room for");
  const std::uint64_t begin = thread.at;
  if (written == begin) {
    if (thread.place.falls_asleep(head, begin)) sink.thread_sleeps(thread.who);
    return 0;
  }
  const std::uint64_t end = begin + std::min(most, written - begin);
  const std::uint64_t* const words = thread.words();
  const bool is_machine = thread.is_processor();
  std::uint64_t at = begin;
  std::uint64_t several[feed::kCallWords];
  // All words of a call are written at once, even beyond the turn's end. False: its turn is yet to come.
  auto gather = [&](std::uint64_t count) {
    if (count > written - at) refuse_feed("a system call that is cut off");
    for (std::uint64_t i = 0; i < count; ++i) several[i] = words[(at + i) & mask];
    if (!calls_.is_next(thread.ticket, several[1])) return false;
    deliver(thread, sink);
    thread.end_reads.clear();  // all that ended before this call was told
    at += count;
    return true;
  };
  while (at < end) {
    const std::uint64_t record = words[at & mask];
    if (!feed::is_event(record)) {
      if (!thread.entered.access(record, is_machine ? thread.placed(record) : ProgramAccess::kByAddress))
          [[unlikely]]
        ++strays_;
      ++at;
      continue;
    }
    const FeedEvent kind = feed::event_kind(record);
    if (kind == FeedEvent::kBlock) {
      enter(thread, feed::payload(record), sink);
      ++at;
      if (!thread.end_reads.empty()) [[unlikely]]
        break;
    } else if (kind == FeedEvent::kAgain) {
      enter_again(thread, feed::payload(record), sink);
      ++at;
    } else if (const std::uint32_t count = feed::words_of_machine(kind); count != 0) {
      if (count > written - at) refuse_feed("a record of a machine that is cut off");
      for (std::uint32_t i = 0; i < count; ++i) several[i] = words[(at + i) & mask];
      of_machine(thread, kind, several, sink);
      at += count;
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
  note_read(head, at);
  return at - begin;
}

// Whatever has the next number is lost: goes on with the first one that is there.
bool ProgramFeed::skip_lost() {
  std::uint64_t first = 0;
  for (const auto& thread : threads_) {
    const std::uint64_t number = thread->held_before();
    if (number != 0 && (first == 0 || number < first)) first = number;
  }
  if (first != 0) calls_.skip_to(first);
  return first != 0;
}

void ProgramFeed::call(Thread& thread, const std::uint64_t* words, ProgramSink& sink) {
  const SystemCall call = system_call_of(words);
  thread.place.call(call);
  order_.calls(thread.who, thread.process->code.head().pid, call);
  sink.system_call(thread.who, call);
  thread.call = call;
  tell_turns(sink);
}

void ProgramFeed::call_ends(Thread& thread, const std::uint64_t* words, ProgramSink& sink) {
  SystemCallEnd end = system_call_end_of(words);
  thread.place.end();
  end.by = order_.ends(thread.who, end);
  sink.system_call_ends(thread.who, end);
  thread.process->mappings.call_ends(thread.who, thread.process->code.head(), thread.call, end, sink);
  tell_turns(sink);
}

void ProgramFeed::tell_turns(ProgramSink& sink) {
  if (!order_.has_resumptions()) [[likely]]
    return;
  for (const FutexTracker::Resumption& resumed : order_.take_resumptions()) {
    // A woken thread may sleep for a moment yet, as the call that wakes it has only begun.
    if (Thread* const thread = thread_of(resumed.thread.number)) thread->place.turn(resumed.by);
    sink.thread_turns(resumed.thread, resumed.by);
  }
}

void ProgramFeed::enter(Thread& thread, std::uint64_t number, ProgramSink& sink) {
  const ProgramBlock* const before = thread.entered.block();
  deliver(thread, sink);
  thread.entered.enter(thread.process->code.block(number), before);
}

void ProgramFeed::of_machine(Thread& thread, FeedEvent kind, const std::uint64_t* words, ProgramSink& sink) {
  switch (kind) {
    case FeedEvent::kPage:
      thread.pages.note(feed::payload(words[0]), words[1]);
      return sink.page_placed(thread.who, tabled_page_of(words));
    case FeedEvent::kProcess: return sink.process_goes_on(thread.who, guest_process_of(words));
    case FeedEvent::kMapping: return sink.space_mapped(guest_mapping_of(words));
    default: return sink.register_accessed(thread.who);
  }
}

void ProgramFeed::enter_again(Thread& thread, std::uint64_t number, ProgramSink& sink) {
  const ProgramBlock& block = thread.process->code.block(number);
  CurrentBlock& entered = thread.entered;
  if (entered.block() == nullptr || entered.leave_before(block)) enter(thread, number, sink);
  else entered.replace(block);
}

void ProgramFeed::deliver(Thread& thread, ProgramSink& sink) {
  CurrentBlock& entered = thread.entered;
  if (entered.block() == nullptr) return;
  sink.block(thread.who, *entered.block(), entered.accesses(), entered.is_continued());
  for (const ProgramAccess& access : entered.accesses()) {
    if (!order_.may_join(access.address) || !access.reads) [[likely]]
      continue;
    const Release by = order_.joins(thread.who, access.address);
    if (by.thread != 0) sink.thread_joins(thread.who, by);
    else note_end_read(thread, access.address);
  }
  entered.leave();
}

// A thread that ended before the read wrote its exit before it. With no exit even now, it was alive.
void ProgramFeed::note_end_read(Thread& thread, std::uint64_t address) {
  const Thread* const other = thread_of(order_.living_at(thread.who, address));
  if (other != nullptr && other->has_written_exit()) thread.end_reads.push_back({address, other->who.number});
}

// A thread that has ended made its last call before the next call of the thread that noticed it.
bool ProgramFeed::is_undecided(const Thread& thread, const EndRead& read) const {
  const Thread* const other = thread_of(read.other);
  if (other == nullptr || !other->has_written_exit()) return false;
  const std::uint64_t next = thread.next_in_order();
  return next == 0 || !calls_.is_reached(next);
}

bool ProgramFeed::settle_joins(Thread& thread, ProgramSink& sink) {
  std::erase_if(thread.end_reads, [&](const EndRead& read) {
    const Release by = order_.joins(thread.who, read.address);
    if (by.thread != 0) sink.thread_joins(thread.who, by);
    return by.thread != 0 || !is_undecided(thread, read);
  });
  return thread.end_reads.empty();
}

void ProgramFeed::drop_ended(ProgramSink& sink) {
  std::erase_if(threads_, [&](const std::unique_ptr<Thread>& thread) {
    const bool over =
        thread->process->code.is_replaced() || thread->head().closed.load(std::memory_order_acquire) != 0;
    if (!over || !thread->begun || thread->head().written.load(std::memory_order_acquire) != thread->at) {
      return false;
    }
    deliver(*thread, sink);
    order_.gone(thread->who);
    sink.thread_ends(thread->who);
    return true;
  });
  std::erase_if(processes_, [this](const std::shared_ptr<Process>& process) {
    if (process.use_count() > 1 || !process->code.is_over()) return false;
    // Its threads may have come and gone since rings were looked for.
    return folder_.has_all() && process->code.has_all_forks();
  });
}

}  // namespace cxloom
