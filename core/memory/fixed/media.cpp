#include "memory/fixed/media.hpp"

#include <bit>

#include "base/measure_table.hpp"
#include "base/schema.hpp"
#include "component/component.hpp"
#include "component/resource.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

namespace {

struct FixedMediaMeasured {
  double queue_mean = 0;
  double queue_max = 0;
};

constexpr std::array kFixedMediaMeasures{
    measure<&FixedMediaMeasured::queue_mean>("media_queue_mean", "",
                                             "accesses waiting for a bank, mean over time"),
    measure<&FixedMediaMeasured::queue_max>("media_queue_max", "",
                                            "accesses waiting for a bank, largest number"),
};

}  // namespace

/// One access at a time; the others wait in line.
class FixedMedia::Bank final : public EventHandler, public Waiter {
 public:
  Bank(FixedMedia& media, Kernel& kernel, const Component& device)
      : media_(media), device_(device), turn_(kernel, "a bank of the media", device) {}
  const EventHandler& owner() const override { return device_; }

  /// An access to this bank is ready, or the one at work is done.
  void wake(std::uint8_t kind, std::uint64_t payload) override {
    auto& message = object_of<Message>(payload);
    if (kind == kReady) {
      take(message);
    } else {
      finish(message);
    }
  }

 private:
  void take(Message& message) {
    if (!busy_) {
      begin(message);
      return;
    }
    const Time now = media_.kernel_.now();
    if (queue_.empty()) turn_.join(*this, now);
    queue_.push(message);
    media_.waiting_.change(now, +1);
  }
  void begin(Message& message) {
    busy_ = true;
    const Time start = media_.data_path_.enter(media_.kernel_.now(), message.size);
    const Time done = start + media_.latency_of(message);
    message.charge(Segment::kMediaQueue, start, Segment::kMedia, done);
    media_.kernel_.schedule(done, media_.source_, *this, kDone, payload_of(message));
  }
  void finish(Message& message) {
    busy_ = false;
    media_.client_.media_done(message, media_.kernel_.now());
    if (queue_.empty()) return;
    media_.waiting_.change(media_.kernel_.now(), -1);
    begin(queue_.pop());
    if (queue_.empty()) turn_.leave(*this);
  }

  FixedMedia& media_;
  const Component& device_;
  WaitList turn_;
  MessageQueue queue_;
  bool busy_ = false;
};

void FixedMediaParams::describe(Schema<FixedMediaParams>& schema) {
  schema.doc("Media that answer every access after the same time.");
  schema.field("latency", &FixedMediaParams::latency).doc("Time from the start of an access to its data.");
  schema.field("write_latency", &FixedMediaParams::write_latency)
      .default_text("that of a read")
      .doc("Time from the start of a write to its end.");
  schema.field("bandwidth", &FixedMediaParams::bandwidth)
      .doc("Bytes per second that pass the data path: accesses start no faster.");
  schema.field("banks", &FixedMediaParams::banks)
      .min(1)
      .max(65536)
      .default_text("unlimited")
      .doc("Accesses at work at the same time: each holds its bank, chosen by address, for its latency.");
  schema.field("bank_interleave", &FixedMediaParams::bank_interleave)
      .where([](const Bytes& value) { return std::has_single_bit(value.count()); }, "a power of two")
      .doc("Consecutive bytes on one bank before the next one's turn. Only with `banks`.");
  schema.effective(
      "bank_interleave", [](const FixedMediaParams& params) { return params.banks.has_value(); },
      "unless there are banks: set banks");
}

void FixedMediaParams::estimate(const FixedMediaParams& params, MemoryEstimate& memory) {
  if (params.banks)
    memory.add("banks", std::to_string(*params.banks), *params.banks, sizeof(FixedMedia::Bank));
}

FixedMedia::FixedMedia(const FixedMediaParams& params, const MediaContext& context)
    : kernel_(context.kernel),
      client_(context.client),
      source_(context.kernel.new_source()),
      latencies_{params.latency, params.write_latency.value_or(params.latency)},
      bank_bits_(static_cast<unsigned>(std::countr_zero(params.bank_interleave.count()))),
      in_order_(latencies_[0] == latencies_[1]),
      data_path_(params.bandwidth) {
  for (std::uint32_t i = 0; i < params.banks.value_or(0); ++i) {
    banks_.push_back(std::make_unique<Bank>(*this, context.kernel, context.owner));
  }
  kernel_.measure(waiting_);
}

FixedMedia::~FixedMedia() = default;

void FixedMedia::access(Message& message, Address address, Time ready) {
  if (!banks_.empty()) {
    Bank& bank = *banks_[(address.value() >> bank_bits_) % banks_.size()];
    kernel_.schedule(ready, source_, bank, kReady, payload_of(message));
    return;
  }
  const Time start = data_path_.unlimited() ? ready : data_path_.enter(ready, message.size);
  const Time done = start + latency_of(message);
  message.charge(Segment::kMediaQueue, start, Segment::kMedia, done);
  if (in_order_) {
    client_.media_done(message, done);
  } else {
    kernel_.schedule(done, source_, *this, kDone, payload_of(message));
  }
}

// Reads and writes that take different times.
void FixedMedia::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  client_.media_done(object_of<Message>(payload), kernel_.now());
}

std::vector<MeasureInfo> FixedMedia::measures() { return infos_of(kFixedMediaMeasures); }

void FixedMedia::resources(ResourceSink& sink) const {
  Resource path{.name = "the data path of",
                .stage = Stage::kMedia,
                .capacity = std::nullopt,
                .occupancy = Occupancy::kBandwidth,
                .measures = {"bandwidth_gb_per_s"},
                .wait = Segment::kMediaQueue,
                .counts = Traffic::kBytes,
                .twice_text = "twice the bandwidth"};
  if (!data_path_.unlimited()) {
    path.capacity = data_path_.rate().per_second() / 1e9;
    path.twice = {{"bandwidth", to_text(Bandwidth{twice(data_path_.rate())})}};
  }
  sink.add(std::move(path));
  if (banks_.empty()) return;
  sink.add({.name = "the banks of",
            .stage = Stage::kMedia,
            .capacity = static_cast<double>(banks_.size()),
            .occupancy = Occupancy::kHeld,
            .measures = {"reads", "writes"},
            .wait = Segment::kMediaQueue,
            .counts = Traffic::kRequests,
            .twice = {doubled("banks", banks_.size())},
            .twice_text = std::to_string(2 * banks_.size()) + " banks",
            .full_from = 0.9});
}

void FixedMedia::report(MeasureSink& sink) const {
  if (banks_.empty()) return;
  report_all(kFixedMediaMeasures, {.queue_mean = waiting_.mean(), .queue_max = waiting_.maximum()}, sink);
}

}  // namespace cxloom
