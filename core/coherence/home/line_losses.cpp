#include "coherence/home/line_losses.hpp"

#include <vector>

namespace cxloom {

void LineLosses::poison(LineAddress line) {
  if (poisoned(line)) return;
  lines_.place(key_of(line)) = {key_of(line)};
  ++counts_->lines_poisoned;
}

void LineLosses::cure(LineAddress line) {
  if (!poisoned(line)) return;
  lines_.erase(key_of(line));
  ++counts_->lines_cured;
}

void LineLosses::cure_all() {
  counts_->lines_cured += lines_.used();
  lines_ = {};
}

bool LineLosses::owns(LineAddress line, std::uint32_t peer) const {
  const Slot slot = filter_.find(line);
  return slot != kNoSlot && peer < filter_.peers() && filter_.has_owner(slot, peer) &&
         filter_.state(slot) == FilterState::kExclusive;
}

void LineLosses::forget(std::uint32_t peer, std::uint32_t answers) {
  if (has_forgotten(peer, answers)) return;
  if (forgotten_.size() <= peer) forgotten_.resize(peer + 1);
  forgotten_[peer] = answers;
  for (const Slot slot : filter_.owned_by(peer)) {
    if (filter_.state(slot) == FilterState::kExclusive) {
      poison(filter_.line(slot));
    } else {
      ++counts_->lines_reclaimed;
    }
    filter_.remove_owner(slot, peer);
    if (!filter_.has_owners(slot) && !filter_.pinned(slot)) filter_.erase(slot);
  }
}

void LineLosses::answers(Message& request) {
  const LineAddress line = LineAddress::of(request.address);
  switch (request.opcode) {
    case Opcode::kMemWr:
      if (request.size == kLineBytes) cure(line);
      return;
    case Opcode::kMemInv:
    case Opcode::kRdOwnNoData:
    case Opcode::kWrInv: return;
    default: break;
  }
  if (!poisoned(line)) return;
  request.failed = request.poisoned = true;
  ++counts_->poison_delivered;
}

}  // namespace cxloom
