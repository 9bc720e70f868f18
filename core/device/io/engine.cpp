#include "device/io/engine.hpp"

#include <algorithm>

#include "base/measure_table.hpp"
#include "base/schema.hpp"
#include "component/component_time.hpp"
#include "component/failures.hpp"
#include "component/io_roles.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom {

namespace {

struct IoEngineMeasured {
  std::uint64_t packets = 0;
  double bandwidth = 0;
  double in_flight = 0;
  std::optional<std::uint64_t> sent;
  std::optional<std::uint64_t> lost;
  std::optional<std::uint64_t> unfinished;
};

constexpr std::array kIoMeasures{
    measure<&IoEngineMeasured::packets>(
        "packets", "", "writes that reached the target, or reads that were completed, in the window"),
    measure<&IoEngineMeasured::bandwidth>(
        "bandwidth_gb_per_s", "GB/s", "their payload bytes / length of the window; 10^9 bytes per second"),
    measure<&IoEngineMeasured::in_flight>("in_flight_mean", "",
                                          "writes under way, or reads without a completion, mean over time"),
    measure<&IoEngineMeasured::sent>(
        "sent", "",
        "packets made in the window, and those that were under way when it opened: each is one of "
        "packets, lost and unfinished. Absent where nothing fails"),
    measure<&IoEngineMeasured::lost>(
        "lost", "",
        "writes that a failure lost in the window, or reads that ended in it with "
        "their completion timeout: they or their "
        "completions were lost. Absent where nothing fails"),
    measure<&IoEngineMeasured::unfinished>("unfinished", "",
                                           "writes under way when the window closed, or reads without a "
                                           "completion, lost ones before their timeout among "
                                           "them. Absent where nothing fails"),
};

constexpr Bytes kDefaultSize{256};
constexpr std::uint16_t kRegister = 4;  // bytes of a configuration read: one double word
constexpr std::uint32_t kDefaultTags = 32;
constexpr std::uint32_t kDefaultPosted = 127;
constexpr Time kReadTimeout{50'000'000};  // the least of PCIe's default range, 50 us to 50 ms (2.8)

}  // namespace

void IoEngineParams::describe(Schema<IoEngineParams>& schema) {
  schema.doc("An I/O engine: makes CXL.io traffic in the background of the workload.");
  schema.field("target", &IoEngineParams::target)
      .required()
      .doc("Name of the host, accelerator or memory that it sends to.");
  schema
      .choice("traffic", &IoEngineParams::traffic,
              {{"dma-write", IoTraffic::kDmaWrite},
               {"dma-read", IoTraffic::kDmaRead},
               {"config-read", IoTraffic::kConfigRead}})
      .doc(
          "dma-write: posted memory writes, which nothing answers. dma-read: memory reads, completed with "
          "their data. config-read: configuration reads of 4 bytes.");
  schema.field("rate", &IoEngineParams::rate)
      .doc(
          "Payload bytes per second, in packets at equal intervals; what the wire delays is made up for. "
          "unlimited: the next packet as soon as the wire takes it (dma-write) or a tag is free (reads). "
          "Without a rate a dma-write needs a link with a `bandwidth`.");
  schema.field("size", &IoEngineParams::size)
      .min(Bytes{1})
      .max(Bytes{4096})
      .default_text(to_text(kDefaultSize) + "; 4B for config-read")
      .doc("Payload bytes of a packet.")
      .source("PCI Express Base Specification: a payload is at most 4096 B; 256 B is common");
  schema.field("outstanding", &IoEngineParams::outstanding)
      .min(1)
      .max(16384)
      .default_text(std::to_string(kDefaultTags) + " (dma-read), 1 (config-read), " +
                    std::to_string(kDefaultPosted) + " (dma-write)")
      .doc(
          "Of reads: tags, that is, reads without a completion at the same time. Of writes: credits, that "
          "is, posted writes that the target has not taken, or whose credit is on its way back.")
      .source(
          "PCI Express Base Specification: tags of 5 bits, extended ones of up to 14; a receiver announces "
          "at most 127 credits for headers of posted requests, without scaled flow control (2.6.1)");
  schema.field("start", &IoEngineParams::start).doc("Simulated time of the first packet.");
  schema.field("stop", &IoEngineParams::stop)
      .default_text("never")
      .doc("Simulated time from which on it makes no more packets.");
  schema.rule(
      "a configuration read is of 4 bytes: leave out size",
      [](const IoEngineParams& params) { return params.traffic != IoTraffic::kConfigRead || !params.size; },
      "size");
  schema.rule(
      "it stops before it starts: stop must be later than start",
      [](const IoEngineParams& params) { return !params.stop || *params.stop > params.start; }, "stop");
}

IoEngine::IoEngine(const IoEngineParams& params, const DeviceContext& context)
    : Component(context),
      params_(params),
      size_(is_root() ? kRegister : static_cast<std::uint16_t>(params.size.value_or(kDefaultSize).count())),
      most_(params.outstanding.value_or(is_root() ? 1
                                        : posts() ? kDefaultPosted
                                                  : kDefaultTags)),
      pace_(params.rate.rate),
      due_(params.start),
      system_context_(context.system_context) {
  kernel().measure(sent_, lost_);
  completed_.measure_in(kernel());
  context.system_context.roles.declare<IoInitiator>(*this, id(), *this);
  if (is_root()) context.system_context.set_root(id());
}

void IoEngine::start() {
  const Port& end = port(0);
  wire_ = VirtualChannels::of(end);
  ensure(wire_ != nullptr, "an I/O engine needs a port that takes messages when it can");
  if (params_.traffic == IoTraffic::kDmaWrite && pace_.rate().unlimited() && end.unlimited()) {
    throw InputError({"nothing limits these writes", {}, "a rate, or a link with a bandwidth", {}},
                     "devices." + name() + ".rate");
  }
  offer();
}

// Offers the next packet to the wire if it is due, the one before has left, and it has a tag or a credit.
void IoEngine::offer() {
  const bool posted = posts();
  if (ceased_ || offered_ || wire_->closed() || (posted ? posted_ : reads_.live()) == most_) return;
  if (due_ > now()) {
    if (wake_pending_) return;
    wake_pending_ = true;
    kernel().schedule_background(due_, source(), *this, kDue);
    return;
  }
  if (params_.stop && now() >= *params_.stop) return;
  if (posted) ++posted_;
  Request& packet = posted ? system_context_.posted.take(kernel()) : reads_.take();
  packet.begin(id(), now());
  packet.target = destination_;
  packet.kind = posted ? AccessKind::kWrite : AccessKind::kRead;
  packet.size = size_;
  Message& message = packet.message;
  message.opcode = posted ? Opcode::kMWr : is_root() ? Opcode::kCfgRd : Opcode::kMRd;
  message.channel = channel_of(message.opcode);
  message.size = size_;
  message.account = &packet.account;
  if (!posted) message.tag = packet.index;
  message.source = id();
  message.destination = destination_;
  sent_.count(now());
  due_ += pace_.advance(size_);
  offered_ = &message;
  wire_->stamp(message);
  wire_->ask(*this, message.channel);
}

void IoEngine::taken(Time /*end*/) {
  if (system_context_.observer) [[unlikely]]
    system_context_.observer->sent(*offered_, now());
  offered_ = nullptr;
  offer();
}

// No other link leads away.
void IoEngine::turn_back() {
  Message& message = *offered_;
  offered_ = nullptr;
  wire_->withdraw(message);
  take_back(message);
}

void IoEngine::take_back(Message& message) { system_context_.failures->lose(message, now()); }

void IoEngine::wake(std::uint8_t kind, std::uint64_t /*payload*/) {
  if (kind == kCreditBack) {
    --posted_;
  } else {
    wake_pending_ = false;
    // Late only if the simulation slept, with nobody there to interfere with: nothing to make up for.
    due_ = now();
  }
  offer();
}

void IoEngine::receive(Message& message) {
  port(0).release(message, now());
  if (system_context_.observer) [[unlikely]] {
    system_context_.observer->handling(message, id(), now(), {});
    system_context_.observer->handled({});
  }
  Request& packet = reads_.at(message.tag);
  completed_.add(packet.account, packet.created(), now());
  reads_.give_back(packet);
  offer();
}

// The credit of a write is back with the receivers' buffers. A read's completion timeout says so.
Time IoEngine::hears_of_loss(const Message& message, Time now) {
  return posts() ? now : std::max(now, reads_.at(message.tag).created() + kReadTimeout);
}

void IoEngine::lose(Message& message) {
  lost_.count(now());
  if (posts()) {
    system_context_.posted.give_back(kernel(), *system_context_.posted.of(message));
    --posted_;
  } else {
    reads_.give_back(reads_.at(message.tag));
  }
  offer();
}

std::vector<MeasureInfo> IoEngine::measures() { return infos_of(kIoMeasures); }

void IoEngine::report_io(MeasureSink& sink) const {
  const Time length = sent_.measured().length();
  const double payload = static_cast<double>(latency().count()) * static_cast<double>(size_);
  const Wide under_way = sent_.integral() - ended().ended().integral() - lost_.integral();
  const auto over_window = [&](double value, double by) { return length > Time{} ? value / by : 0.0; };
  IoEngineMeasured measured{
      .packets = latency().count(),
      .bandwidth = over_window(payload, length.ns()),
      .in_flight = over_window(static_cast<double>(under_way), static_cast<double>(length.ps())),
      .sent = {},
      .lost = {},
      .unfinished = {}};
  if (system_context_.failures) {
    const ExactLevel& completed = ended().ended();
    measured.sent = sent_.at_close() - completed.at_opening() - lost_.at_opening();
    measured.lost = lost_.at_close() - lost_.at_opening();
    measured.unfinished = sent_.at_close() - completed.at_close() - lost_.at_close();
  }
  report_all(kIoMeasures, measured, sink);
}

std::string IoEngine::activity() const {
  return outstanding() == 0 ? std::string() : counted(outstanding(), "CXL.io packet") + " under way";
}

}  // namespace cxloom
