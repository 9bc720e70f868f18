#include "device/memory/sparing_unit.hpp"

#include <algorithm>
#include <utility>

#include "base/measure_table.hpp"
#include "device/memory/error_monitor.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

namespace {

struct SparingMeasured : SparingCounts {
  double copy_ns = 0;
  double wait_ns = 0;
};

constexpr std::array kSparingMeasures{
    measure<SparingMeasured, &SparingMeasured::spared>(
        "spared", "",
        "parts that spare ones have taken the place of. This and the next three where some may"),
    measure<&SparingMeasured::copy_ns>("spare_copy_ns", "ns", "time in which these were copied"),
    measure<SparingMeasured, &SparingMeasured::waits>(
        "spare_waits", "", "accesses that waited for that, as they were to the part that was copied"),
    measure<&SparingMeasured::wait_ns>("spare_wait_ns", "ns", "time that they waited, in all"),
};

}  // namespace

SparingUnit::SparingUnit(Kernel& kernel, EventSource& source, const Component& owner,
                         SparedController& controller, std::uint32_t spares)
    : kernel_(kernel),
      source_(source),
      owner_(owner),
      controller_(controller),
      counts_(kernel),
      spares_(spares) {}

SparingUnit::~SparingUnit() = default;

void SparingUnit::watch(const CorrectedErrorsParams& errors, Bytes capacity, std::uint64_t seed) {
  const auto spare = [this](const SparedPart& part) {
    if (spares_ == 0) return false;
    --spares_;
    begin(part);
    return true;
  };
  errors_ = std::make_unique<ErrorMonitor>(errors, kernel_, owner_, capacity, seed, spare);
}

void SparingUnit::begin(const SparedPart& part) {
  parts_.push_back(part);
  if (parts_.size() == 1) begin_next();
}

void SparingUnit::begin_next() {
  began_ = kernel_.now();
  writing_ = false;
  first_ = 0;
  copy_lines();
}

// The accesses of one direction, all at once: they wait in the media as any others do.
void SparingUnit::copy_lines() {
  const SparedPart& part = parts_.front();
  const std::uint64_t end = std::min(first_ + part.lines_at_once, part.bytes / kLineBytes);
  left_ = end - first_;
  for (std::uint64_t line = first_; line < end; ++line)
    send(line, writing_ ? Opcode::kMemWr : Opcode::kMemRd);
}

void SparingUnit::send(std::uint64_t line, Opcode opcode) {
  Copy& copy = copies_.take();
  const Address address{parts_.front().base.value() + line * kLineBytes};
  Message& own = copy.own;
  own.address = address;
  own.opcode = opcode;
  own.channel = channel_of(opcode);
  own.source = own.destination = own.requester = owner_.id();
  own.size = kLineBytes;
  own.tag = copy.index;
  controller_.copy_access(own, address);
}

bool SparingUnit::media_done(const Message& message, Time at) {
  const Copy* const copy = copies_.find(message.tag);
  if (!copy || &copy->own != &message) return false;
  kernel_.schedule(at, source_, *this, kCopied, copy->index);
  return true;
}

void SparingUnit::wake(std::uint8_t kind, std::uint64_t payload) {
  const auto index = static_cast<std::uint32_t>(payload);
  if (kind == kReady) {
    PartAccess& access = accesses_.at(index);
    access.came = kernel_.now();
    counts_->waits += arrive(access) ? 0 : 1;
  } else {
    line_copied(index);
  }
}

void SparingUnit::access(Message& message, Address address, Time ready) {
  PartAccess& access = accesses_.take();
  access.message = &message;
  access.address = address;
  kernel_.schedule(ready, source_, *this, kReady, access.index);
}

bool SparingUnit::arrive(PartAccess& access) {
  if (!parts_.empty() && parts_.front().overlaps(access.address, access.message->size)) {
    held_.push(access);
    return false;
  }
  counts_->wait += kernel_.now() - access.came;
  go_on(access);
  return true;
}

void SparingUnit::go_on(PartAccess& access) {
  Message& message = *access.message;
  const Address address = access.address;
  accesses_.give_back(access);
  controller_.goes_on(message, address, kernel_.now());
}

void SparingUnit::line_copied(std::uint32_t copy) {
  copies_.give_back(copies_.at(copy));
  if (--left_ > 0) return;
  const SparedPart& part = parts_.front();
  if (writing_) first_ = std::min(first_ + part.lines_at_once, part.bytes / kLineBytes);
  writing_ = !writing_;
  if (first_ * kLineBytes < part.bytes) {
    copy_lines();
  } else {
    copied();
  }
}

std::vector<MeasureInfo> SparingUnit::measures() {
  return joined(infos_of(kSparingMeasures), ErrorMonitor::measures());
}

void SparingUnit::report(MeasureSink& sink) const {
  SparingMeasured measured{counts_.window()};
  measured.copy_ns = measured.copies.ns();
  measured.wait_ns = measured.wait.ns();
  report_all(kSparingMeasures, measured, sink);
  if (errors_) errors_->report(sink);
}

// An access that waited may have to wait for the next part, too.
void SparingUnit::copied() {
  const Time now = kernel_.now();
  parts_.pop_front();
  ++counts_->spared;
  counts_->copies += now - began_;
  IntrusiveQueue<PartAccess> held = std::exchange(held_, {});
  if (!parts_.empty()) begin_next();
  while (!held.empty()) {
    PartAccess& access = held.pop();
    access.message->charge(Segment::kMediaQueue, now);
    arrive(access);
  }
}

}  // namespace cxloom
