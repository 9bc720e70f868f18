#include "device/memory/failing_memory.hpp"

#include "protocol/opcode.hpp"

namespace cxloom {

void FailingMemory::fail() {
  ++failures_;
  down_ = lost_ = true;
  written_ = {};
}

void FailingMemory::begin_viral() {
  viral_ = lost_ = true;
  written_ = {};
}

bool FailingMemory::ends(const Message& request) {
  const bool still_there = present_.at(key_of(request)).failures == failures_;
  present_.erase(key_of(request));
  return still_there;
}

void FailingMemory::serve(Message& request, std::uint64_t& viral_errors, std::uint64_t& poison_delivered) {
  if (viral_) {
    ++viral_errors;
    request.failed = true;
    request.poisoned = request.opcode != Opcode::kMemWr;
  } else if (!request.failed && serves_poison(request)) {
    request.failed = request.poisoned = true;
    ++poison_delivered;
  }
}

bool FailingMemory::serves_poison(const Message& request) {
  if (!lost_ || request.persistent || request.size == 0) return false;
  const bool write = request.opcode == Opcode::kMemWr;
  const std::uint64_t end = request.address.value() + request.size;
  bool poison = false;
  for (LineAddress line = LineAddress::of(request.address); line.address().value() < end;
       line = line.next()) {
    const bool whole = line.address() >= request.address && line.next().address().value() <= end;
    if (!write) {
      poison |= lost(line);
    } else if (whole && lost(line)) {
      written_.place(line.number() + 1) = {line.number() + 1};
    }
  }
  return poison;
}

}  // namespace cxloom
