#include "memory/flash/die.hpp"

#include "component/component.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

FlashDie::FlashDie(FlashWorks& works, EventSource& source, FlashChannel& channel,
                   const std::vector<Member>& planes, bool together)
    : works_(works),
      source_(source),
      channel_(channel),
      turn_(works.kernel, "a die of the flash", works.device),
      together_(together) {
  for (const Member& member : planes) planes_.push_back({member.plane, member.pages, {}, {}, {}});
  steps_.reserve(planes_.size());
}

const EventHandler& FlashDie::owner() const { return works_.device; }

void FlashDie::read(std::uint32_t member, FlashJob& job) {
  planes_[member].reads.push(job);
  works_.waiting.change(works_.kernel.now(), +1);
  if (waiting_++ == 0) turn_.join(*this, works_.kernel.now());
  start();
}

void FlashDie::write(std::uint32_t member, FlashJob& job) {
  planes_[member].writes.push(job);
  start();
}

// --- what comes next -------------------------------------------------------------------------------------

FlashDie::Step FlashDie::next_read(PlaneWork& work) {
  if (work.reads.empty()) return {};
  FlashJob& job = work.reads.front();
  return {&work, &job, Kind::kRead, work.pages->place(job.logical), job.bytes};
}

FlashDie::Step FlashDie::of_write(PlaneWork& work) {
  FlashJob& job = work.writes.front();
  const std::uint32_t before = work.pages->place(job.logical);
  const std::uint32_t missing =
      before == FlashPlane::kNowhere || job.fetched ? 0 : works_.client.missing(job);
  if (missing > 0) return {&work, &job, Kind::kRead, before, missing};
  return {&work, &job, Kind::kProgram, 0, works_.page};
}

FlashDie::Step FlashDie::of_collection(PlaneWork& work) {
  Collection& collection = work.collection;
  const std::uint32_t bytes = works_.copyback ? 0 : works_.page;
  const std::uint32_t held = collection.held;
  // A page that was overwritten meanwhile need not be moved any more.
  if (held != FlashPlane::kNowhere && work.pages->owner(held) != FlashPlane::kNowhere)
    return {&work, nullptr, Kind::kProgram, held, bytes};
  collection.held = FlashPlane::kNowhere;
  collection.next = work.pages->next_current(collection.victim, collection.next);
  const std::uint32_t first = collection.victim * work.pages->pages();
  if (collection.next < work.pages->pages())
    return {&work, nullptr, Kind::kRead, first + collection.next, bytes};
  return {&work, nullptr, Kind::kErase, first, 0};
}

FlashDie::Step FlashDie::next_other(PlaneWork& work) {
  const bool writes = !work.writes.empty() && work.pages->has_room();
  const Collection& collection = work.collection;
  if (collection.active && (!writes || !collection.took_turn)) return of_collection(work);
  return writes ? of_write(work) : Step{};
}

FlashDie::Step FlashDie::first_of(Next next_of) {
  for (std::size_t i = 1; i <= planes_.size(); ++i) {
    const Step step = (this->*next_of)(planes_[(last_ + i) % planes_.size()]);
    if (step.kind != Kind::kNone) return step;
  }
  return {};
}

void FlashDie::start() {
  if (!steps_.empty()) return;
  if (idle_so_far_) [[unlikely]] {  // its past may have left too few free blocks
    idle_so_far_ = false;
    for (PlaneWork& work : planes_) look_after(work);
  }
  Step chosen = first_of(&FlashDie::next_read);
  bool reads = chosen.kind != Kind::kNone;
  if (!reads || (read_last_ && works_.client.writes_are_waited_for())) {
    const Step other = first_of(&FlashDie::next_other);
    if (other.kind != Kind::kNone) {
      chosen = other;
      reads = false;
    }
  }
  if (chosen.kind == Kind::kNone) return;
  read_last_ = reads;
  const auto from = static_cast<std::size_t>(chosen.work - planes_.data());
  for (std::size_t i = 0; i < (together_ ? planes_.size() : 1); ++i)
    take(planes_[(from + i) % planes_.size()], chosen, reads);
  last_ = from;
  begin();
}

/// Takes what comes next in a plane along, if it is of the kind that was chosen.
void FlashDie::take(PlaneWork& work, const Step& chosen, bool reads) {
  Step step = reads ? next_read(work) : next_other(work);
  if (step.kind != chosen.kind) return;
  FlashPlane& pages = *work.pages;
  if (!reads) work.collection.took_turn = step.job == nullptr;
  if (reads) {
    work.reads.pop();
    works_.waiting.change(works_.kernel.now(), -1);
    if (--waiting_ == 0) turn_.leave(*this);
  } else if (step.kind == Kind::kProgram) {
    const std::uint32_t from = step.job ? FlashPlane::kNowhere : step.physical;
    if (step.job) {
      work.writes.pop();
      works_.client.write_begins(*step.job);
      step.physical = pages.write(step.job->logical);
    } else {
      step.physical = pages.move(from);
      work.collection.held = FlashPlane::kNowhere;
      ++work.collection.next;
    }
    if (works_.observer) works_.observer->programs(work.plane, step.physical, step.job, from);
    look_after(work);
  }
  steps_.push_back(step);
}

/// Begins to collect if there is need.
void FlashDie::look_after(PlaneWork& work) {
  if (work.collection.active || !work.pages->must_collect()) return;
  work.collection = {
      .active = true, .took_turn = work.collection.took_turn, .victim = work.pages->choose_victim()};
}

// --- at work ---------------------------------------------------------------------------------------------

void FlashDie::begin() {
  left_ = steps_.size();
  in_ = {.user = this, .commands = works_.command_time * static_cast<std::int64_t>(left_)};
  if (steps_.front().kind == Kind::kProgram) {
    for (const Step& step : steps_) in_.bytes += step.bytes;
  }
  works_.busy.change(works_.kernel.now(), +1);
  channel_.ask(in_);
}

void FlashDie::granted(const FlashBusUse& use, Time end) {
  const Time now = works_.kernel.now();
  if (&use != &in_) {
    if (FlashJob* job = steps_[use.index].job) job->work += end - now;
    works_.kernel.schedule(end, source_, *this, kBytesOut, use.index);
    return;
  }
  const Time done = end + array_time(steps_.front().kind);
  for (const Step& step : steps_) {
    if (step.job) step.job->work += done - now;
  }
  works_.kernel.schedule(done, source_, *this, kArrayDone);
}

Time FlashDie::array_time(Kind kind) const {
  if (kind == Kind::kRead) return works_.read_time;
  return kind == Kind::kProgram ? works_.program_time : works_.erase_time;
}

void FlashDie::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kArrayDone) {
    array_done();
  } else {
    finish(steps_[payload]);
  }
}

/// A read's data pass the bus, if they do; everything else is done.
void FlashDie::array_done() {
  const bool reads = steps_.front().kind == Kind::kRead;
  const std::size_t count = steps_.size();  // the last one that is finished clears them
  for (std::size_t i = 0; i < count; ++i) {
    Step& step = steps_[i];
    if (reads && step.job && !step.job->writes) {
      works_.client.data_leave(*step.job);
      step.bytes = step.job->bytes;
    }
    if (!reads || step.bytes == 0) {
      finish(step);
    } else {
      step.out = {.user = this, .bytes = step.bytes, .index = static_cast<std::uint32_t>(i)};
      channel_.ask(step.out);
    }
  }
}

void FlashDie::finish(Step& step) {
  PlaneWork& work = *step.work;
  FlashJob* const job = step.job;
  FlashCounts& counts = *works_.counts;
  switch (step.kind) {
    case Kind::kRead:
      ++counts.page_reads;
      if (works_.observer) works_.observer->read(work.plane, step.physical, job);
      if (!job) work.collection.held = step.physical;
      else if (job->writes) job->fetched = true;
      break;
    case Kind::kProgram:
      ++counts.page_programs;
      counts.pages_moved += !job;
      break;
    case Kind::kErase:
      ++counts.block_erases;
      if (works_.observer) works_.observer->erased(work.plane, work.collection.victim);
      work.pages->erase(work.collection.victim);
      work.collection.active = false;
      look_after(work);
      break;
    case Kind::kNone: break;
  }
  const Kind kind = step.kind;
  const bool last = --left_ == 0;
  if (last) {
    steps_.clear();
    works_.busy.change(works_.kernel.now(), -1);
  }
  if (job && kind == Kind::kRead && !job->writes) works_.client.read_done(*job);
  if (job && kind == Kind::kProgram) works_.client.write_done(*job);
  if (last) start();
}

}  // namespace cxloom
