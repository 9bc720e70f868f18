#include "memory/fixed_media.hpp"

#include <bit>

namespace cxloom {

namespace {

constexpr MeasureInfo kQueueMean{"media_queue_mean", "", "accesses waiting for a bank, mean over time"};
constexpr MeasureInfo kQueueMax{"media_queue_max", "", "accesses waiting for a bank, largest number"};

}  // namespace

/// One access at a time; the others wait in line.
struct FixedMedia::Bank final : public Waiter {
  Bank(Kernel& kernel, const Component& owner) : turn(kernel, "a bank of the media", owner) {
    set_owner(owner);
  }

  WaitList turn;
  MessageQueue queue;
  bool busy = false;
};

void FixedMediaParams::describe(Schema<FixedMediaParams>& schema) {
  schema.doc("Media that answer every access after the same time.");
  schema.field("latency", &FixedMediaParams::latency).doc("Time from the start of an access to its data.");
  schema.field("write_latency", &FixedMediaParams::write_latency)
      .default_text("that of a read")
      .doc("The same for a write.");
  schema.field("bandwidth", &FixedMediaParams::bandwidth)
      .doc("Bytes a second that pass the data path: accesses start no faster.");
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
      latency_(params.latency),
      write_latency_(params.write_latency.value_or(params.latency)),
      bank_bits_(static_cast<unsigned>(std::countr_zero(params.bank_interleave.count()))),
      in_order_(latency_ == write_latency_),
      data_path_(params.bandwidth) {
  for (std::uint32_t i = 0; i < params.banks.value_or(0); ++i) {
    banks_.push_back(std::make_unique<Bank>(context.kernel, context.owner));
  }
}

FixedMedia::~FixedMedia() = default;

void FixedMedia::access(Message& message, Address address, Time ready) {
  if (!banks_.empty()) {
    message.port = static_cast<std::uint16_t>((address.value() >> bank_bits_) % banks_.size());
    kernel_.schedule(ready, source_, *this, kReady, reinterpret_cast<std::uintptr_t>(&message));
    return;
  }
  const Time start = data_path_.enter(ready, message.size);
  const Time done = start + latency_of(message);
  message.charge(Segment::kMediaQueue, start);
  message.charge(Segment::kMedia, done);
  if (in_order_) {
    client_.media_done(message, done);
  } else {
    kernel_.schedule(done, source_, *this, kDone, reinterpret_cast<std::uintptr_t>(&message));
  }
}

void FixedMedia::begin(Bank& bank, Message& message) {
  bank.busy = true;
  const Time start = data_path_.enter(kernel_.now(), message.size);
  const Time done = start + latency_of(message);
  message.charge(Segment::kMediaQueue, start);
  message.charge(Segment::kMedia, done);
  kernel_.schedule(done, source_, *this, kBankFree, reinterpret_cast<std::uintptr_t>(&message));
}

void FixedMedia::wake(std::uint8_t kind, std::uint64_t payload) {
  auto& message = *reinterpret_cast<Message*>(payload);
  if (kind == kDone) {
    client_.media_done(message, kernel_.now());
    return;
  }
  Bank& bank = *banks_[message.port];
  if (kind == kReady) {
    if (!bank.busy) {
      begin(bank, message);
      return;
    }
    if (bank.queue.empty()) bank.turn.join(bank, kernel_.now());
    bank.queue.push(message);
    waiting_.change(kernel_.now(), +1);
    return;
  }
  bank.busy = false;
  client_.media_done(message, kernel_.now());
  if (bank.queue.empty()) return;
  waiting_.change(kernel_.now(), -1);
  begin(bank, bank.queue.pop());
  if (bank.queue.empty()) bank.turn.leave(bank);
}

void FixedMedia::report(MeasureSink& sink) const {
  if (banks_.empty()) return;
  sink.add(kQueueMean, waiting_.mean());
  sink.add(kQueueMax, waiting_.maximum());
}

}  // namespace cxloom
