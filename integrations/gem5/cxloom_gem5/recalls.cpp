#include "recalls.hpp"

#include <memory>

#include <base/logging.hh>

namespace gem5::cxl {

namespace {

// The protocol leaves the buffer of the read as it was, or clears it where the line was being fetched.
constexpr std::uint8_t kNotFetched = 1;

}  // namespace

Recalls::~Recalls() {
  for (PacketPtr packet : waiting_) delete packet;
}

void Recalls::take(std::uint64_t number, Addr line) {
  const bool first = recalls_.emplace(line, Recall{number, false}).second;
  panic_if(!first, "%s: the line %#x is taken twice at once.", name(), line);
  send(line);
}

bool Recalls::brings(Addr line) {
  const auto found = recalls_.find(line);
  if (found == recalls_.end()) return false;
  found->second.dirty = true;
  return true;
}

void Recalls::send(Addr line) {
  auto* const packet =
      new Packet(std::make_shared<Request>(line, line_bytes_, 0, requestor_), MemCmd::ReadReq, line_bytes_);
  packet->allocate();
  *packet->getPtr<std::uint8_t>() = kNotFetched;
  waiting_.push_back(packet);
  if (!waits_for_retry_) send_waiting();
}

void Recalls::send_waiting() {
  waits_for_retry_ = false;
  while (!waiting_.empty()) {
    if (!sendTimingReq(waiting_.front())) {
      waits_for_retry_ = true;
      return;
    }
    waiting_.pop_front();
  }
}

void Recalls::recvReqRetry() { send_waiting(); }

bool Recalls::recvTimingResp(PacketPtr packet) {
  const Addr line = packet->getAddr();
  const bool fetched = *packet->getPtr<std::uint8_t>() != kNotFetched;
  delete packet;
  // Ruby waited for the line when the recall came, and has been answered: the recall was faster than the
  // answer. Where it still waits it has no copy, whichever read of the line it waits for.
  if (fetched && !awaited_(line)) {
    send(line);
    return true;
  }
  const auto found = recalls_.find(line);
  panic_if(found == recalls_.end(), "%s: the line %#x has not been recalled.", name(), line);
  const Recall recall = found->second;
  recalls_.erase(found);
  ended_(recall.number, recall.dirty);
  return true;
}

}  // namespace gem5::cxl
