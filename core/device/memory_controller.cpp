#include "device/memory_controller.hpp"

namespace cxloom {

namespace {

constexpr MeasureInfo kQueueMean{"queue_mean", "", "requests in controller and media, mean over time"};
constexpr MeasureInfo kQueueP99{"queue_p99", "", "the same, 99th percentile over time"};
constexpr MeasureInfo kQueueMax{"queue_max", "", "the same, largest number"};

}  // namespace

MemoryController::MemoryController(const MemoryControllerParams& params, const MediaRegistry& media_kinds,
                                   Kernel& kernel, const Component& owner, Device& device, std::uint64_t seed)
    : kernel_(kernel),
      source_(kernel.new_source()),
      device_(device),
      controller_time_(params.controller_time),
      queue_limit_(params.queue),
      credit_release_(params.credit_release),
      slots_(kernel, "a queue slot of the memory controller", owner) {
  set_owner(owner);
  MediaContext context{kernel, owner, *this, params.capacity, seed};
  try {
    media_ = media_kinds.make(params.media, context);
  } catch (const InputError& error) {
    throw error.below("media");
  }
  capacity_ = params.capacity.value_or(media_->capacity().value_or(MemoryControllerParams::kCapacity));
}

void MemoryController::serve(Message& message) {
  if (queue_limit_ && admitted_ == *queue_limit_) {
    if (outside_.empty()) slots_.join(*this, kernel_.now());
    outside_.push(message);
    ++outside_count_;
    return;
  }
  admit(message);
}

void MemoryController::admit(Message& message) {
  const Time now = kernel_.now();
  if (queue_limit_) ++admitted_;
  if (credit_release_ == CreditRelease::kDrain) {
    device_.admitted(message, now);
  } else {
    message.blocked = Time{message.port};  // the media may use `port`
  }
  in_service_.join(now);
  message.charge(Segment::kMediaQueue, now);
  message.charge(Segment::kController, now + controller_time_);
  const auto place = map_->find(message.address);
  ensure(place.has_value(), "a request to an address that no region holds");
  media_->access(message, place->device_address, now + controller_time_);
}

void MemoryController::media_done(Message& message, Time at) {
  in_service_.leave_at(at, kernel_.now());
  if (queue_limit_) kernel_.schedule(at, source_, *this, 0);
  if (credit_release_ == CreditRelease::kCompletion) {
    message.port = static_cast<std::uint16_t>(message.blocked.ps());
    device_.admitted(message, at);
  }
  const bool write = message.opcode == Opcode::kMemWr;
  message.opcode = write ? Opcode::kCmp : Opcode::kMemData;
  message.channel = channel_of(message.opcode);
  std::swap(message.source, message.destination);
  device_.reply(message, at);
}

void MemoryController::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  --admitted_;
  if (outside_.empty()) return;
  --outside_count_;
  Message& next = outside_.pop();
  if (outside_.empty()) slots_.leave(*this);
  admit(next);
}

void MemoryController::open_window(Time now) {
  in_service_.open(now);
  media_->open_window(now);
}

void MemoryController::close_window(Time now) {
  in_service_.close(now);
  media_->close_window(now);
}

std::vector<MeasureInfo> MemoryController::measures() { return {kQueueMean, kQueueP99, kQueueMax}; }

void MemoryController::report(MeasureSink& sink) const {
  sink.add(kQueueMean, in_service_.monitor().mean());
  sink.add(kQueueP99, in_service_.monitor().quantile(0.99));
  sink.add(kQueueMax, in_service_.monitor().maximum());
  media_->report(sink);
}

std::string MemoryController::activity() const {
  const auto in_service = in_service_.monitor().level();
  if (in_service == 0 && outside_count_ == 0) return {};
  return std::to_string(in_service) + " requests in service, " + std::to_string(outside_count_) +
         " waiting outside";
}

}  // namespace cxloom
