// The part of a requester that has to do with pages of its program that move while it runs.
#include "device/requester/sequencer.hpp"
#include "workload/tiering/tiering.hpp"

namespace cxloom {

// With cores other threads go on while an access waits for its page, so that accesses are placed when they are made.
MovablePages* Sequencer::expect_moves() {
  if (pages_ && !mover_) {
    mover_ = std::make_unique<PageMover>(endpoint().kernel(), endpoint().source(), endpoint(), *pages_,
                                         static_cast<PageMover::Requester&>(*this));
    if (cores_) place_later();
  }
  return pages_;
}

void Sequencer::place_later() {
  pages_->place_later();
  places_ = true;
}

void Sequencer::begin_tiering() {
  expect_moves();
  if (!places_) place_later();
  pages_->number_touched();
  tiering_ = std::make_unique<TieringAgent>(endpoint().kernel(), endpoint(), std::move(work_.tiering),
                                            *pages_, *mover_, static_cast<TieringAgent::Requester&>(*this));
}

// A line of a page takes the way of the program's accesses, through the cache if there is one; it is none of them.
void Sequencer::copy(Address line, AccessKind kind, std::uint64_t number) {
  Request& request = requests_.take();
  request.id = number;
  request.lines = Request::kCopy;
  request.address = line;
  request.kind = kind;
  request.size = kLineBytes;
  request.target = endpoint().id();
  request.begin(endpoint().id(), now());
  request.charge(Segment::kProcess, now() + process_time_);
  access_memory(request);
}

void Sequencer::copied(Request& line) {
  const std::uint64_t number = line.id;
  const AccessKind kind = line.kind;
  const bool failed = line.failed;
  if (line.target != endpoint().id() && !failed) {
    // Bytes that nobody waits for, as those of a prefetch or a write-back. A write through a cache may have read its line.
    if (kind == AccessKind::kWrite && !carries_data(line.message.opcode)) {
      written_back(line.target, line.message.size);
    } else {
      prefetched(line.target, line.message.size);
    }
  }
  requests_.give_back(line);
  mover_->answered(number, kind, failed);
}

// The next access was taken from its stream when the page was at its old place.
void Sequencer::page_settled(const PageMove& move, bool moved) {
  if (moved && has_next_) next_.address = move.moved(next_.address, next_.size);
  if (tiering_) tiering_->settled(move, moved);
  issue_what_can_be_issued();
  end_if_out_of_work();
}

// A write-back has the address that its line was read by, and faults no more than a walk does.
bool Sequencer::stops(Request& access) {
  const bool translated = next_.role != AccessRole::kWriteBack && !next_.is_page_walk();
  bool stops = tiering_ && translated && tiering_->faults(access, next_page_);
  if (!stops && mover_->holds(access.address, access.size)) {
    mover_->hold(access);
    stops = true;
  }
  stopped_ += stops ? 1 : 0;
  return stops;
}

// What the kernel does for it is its own processing.
void Sequencer::goes_on(Request& access) {
  --stopped_;
  mover_->goes_on(access.id);
  access.charge(Segment::kProcess, now() + process_time_);
  this->access(access);
  if (!cores_) issue_what_can_be_issued();
}

void Sequencer::shot_down() {
  if (tiering_) tiering_->shot_down();
}

std::uint64_t Sequencer::running() const { return cores_ ? cores_->running() : exhausted_ ? 0 : 1; }

Time Sequencer::interrupt(std::optional<std::uint32_t> thread, Time time) {
  if (cores_) return cores_->interrupt(thread, time);
  if (exhausted_) return {};
  kernel_until_ = std::max(kernel_until_, now()) + time;
  return time;
}

}  // namespace cxloom
