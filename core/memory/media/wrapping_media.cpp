#include "memory/media/wrapping_media.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/measure_table.hpp"
#include "base/schema.hpp"
#include "component/resource.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/registry.hpp"
#include "protocol/message.hpp"

namespace cxloom {

namespace {

struct TimeMeasured {
  Value media_queue = {};
  Value media = {};
};

constexpr std::array kAccessTimes{
    measure<&TimeMeasured::media_queue>("media_queue", "ns", "waiting in these media"),
    measure<&TimeMeasured::media>("media", "ns", "the access itself"),
};

struct AccessesMeasured {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  double bandwidth = 0;
  Value breakdown = {};
};

// By the names that a memory has for them: what media declare to fill up goes by these.
constexpr std::array kAccesses{
    measure<&AccessesMeasured::reads>("reads", "", "reads of these media"),
    measure<&AccessesMeasured::writes>("writes", "", "writes of these media"),
    measure<&AccessesMeasured::bandwidth>("bandwidth_gb_per_s", "GB/s",
                                          "bytes that these moved / length of the window"),
    measure<&AccessesMeasured::breakdown>(
        "breakdown_ns", "ns",
        "where the time of those went for which a request waited, means; null if there were none",
        parts_of<kAccessTimes>()),
};

constexpr MeasureInfo accesses_of(std::string_view name) {
  return {name, "", "accesses to the media under this key, by the names of those to a memory",
          parts_of<kAccesses>()};
}

/// Puts in what the accesses to held media were, in place of what those to the whole memory were.
class ByOwnAccesses final : public ResourceSink {
 public:
  explicit ByOwnAccesses(ResourceSink& sink) : sink_(sink) {}

  void add(Resource resource) override {
    for (std::string& measure : resource.measures) {
      const bool known =
          std::ranges::any_of(kAccesses, [&](const auto& each) { return each.info.name == measure; });
      if (known) measure.insert(0, "accesses.");
    }
    sink_.add(std::move(resource));
  }

 private:
  ResourceSink& sink_;
};

}  // namespace

WrappingMedia::Held::Held(WrappingMedia& holder, const char* key, const KindSpec& kind,
                          std::optional<Bytes> capacity, const MediaContext& context, std::uint8_t done)
    : holder_(holder), key_(key), done_(done), counts_(context.kernel) {
  MediaContext inside{context.kernel,     context.owner, *this,        context.kinds,
                      context.victims,    capacity,      context.seed, context.path + key_ + ".",
                      context.prefetchers};
  media_ = with_path(key, [&] { return context.kinds.make(kind, inside); });
  holder.held_.push_back(this);
}

void WrappingMedia::Held::send(Message& message, Opcode opcode, Address address, std::uint64_t bytes) {
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.size = static_cast<std::uint16_t>(bytes);
  message.address = address;
  // It waits in these media from here on.
  message.since = holder_.kernel_.now();
  message.blocked = message.account ? message.account->of(Segment::kMediaQueue) : Time{};
  media_->access(message, address, message.since);
}

void WrappingMedia::Held::media_done(Message& message, Time at) {
  holder_.kernel_.schedule(at, holder_.source_, *this, done_, payload_of(message));
}

void WrappingMedia::Held::wake(std::uint8_t kind, std::uint64_t payload) {
  const auto& message = object_of<Message>(payload);
  count(message);
  holder_.wake(kind, message.tag);
}

void WrappingMedia::Held::count(const Message& message) {
  ++(message.opcode == Opcode::kMemWr ? counts_->writes : counts_->reads);
  counts_->bytes += message.size;
  if (!message.account) return;
  const Time queued = message.account->of(Segment::kMediaQueue) - message.blocked;
  ++counts_->waited_for;
  counts_->queued += queued;
  counts_->served += holder_.kernel_.now() - message.since - queued;
}

Value WrappingMedia::Held::measured() const {
  const Counts counts = counts_.window();
  const auto mean = [&](Time sum) { return mean_value(sum.ns(), static_cast<double>(counts.waited_for)); };
  return map_of(kAccesses, {.reads = counts.reads,
                            .writes = counts.writes,
                            .bandwidth = counts_.measured().per_ns(static_cast<double>(counts.bytes)),
                            .breakdown = map_of(kAccessTimes, {.media_queue = mean(counts.queued),
                                                               .media = mean(counts.served)})});
}

bool WrappingMedia::Served::writes() const { return message->opcode == Opcode::kMemWr; }

std::uint64_t WrappingMedia::Served::end() const {
  return address.value() + std::max<std::uint64_t>(message->size, 1);
}

WrappingMedia::WrappingMedia(const MediaContext& context)
    : kernel_(context.kernel), source_(context.kernel.new_source()), client_(context.client) {}

void WrappingMedia::take(Message& message, Address address, Time ready, Time at, std::uint8_t begins) {
  Served& access = accesses_.take();
  access.message = &message;
  access.address = address;
  message.charge(Segment::kMediaQueue, ready);
  kernel_.schedule(at, source_, *this, begins, payload_of(access));
}

void WrappingMedia::serve_by(const Served& access, Message& by, Account& account) {
  by.account = &account;
  by.requester = access.message->requester;
  by.age = access.message->age;
}

void WrappingMedia::done(Served& access, const Account& account) {
  if (--access.left > 0) return;
  Message& message = *access.message;
  accesses_.give_back(access);
  if (message.account) message.account->join(account);
  client_.media_done(message, kernel_.now());
}

DramMedia* WrappingMedia::dram() { return only() ? only()->media_->dram() : nullptr; }

std::string WrappingMedia::answers_early() const {
  return only() && !only()->media_->answers_early().empty() ? only()->key_ : std::string();
}

std::string WrappingMedia::described() const { return only() ? only()->media_->described() : std::string(); }

std::vector<Media*> WrappingMedia::parts() {
  std::vector<Media*> parts;
  for (const Held* held : held_) parts.push_back(held->media_.get());
  return parts;
}

void WrappingMedia::open_window(Time now) {
  for (const Held* held : held_) held->media_->open_window(now);
}

void WrappingMedia::close_window(Time now) {
  for (const Held* held : held_) held->media_->close_window(now);
}

MeasureInfo WrappingMedia::accesses_of_cache() { return accesses_of("cache_accesses"); }

MeasureInfo WrappingMedia::accesses_of_backing() { return accesses_of("backing_accesses"); }

void WrappingMedia::report(MeasureSink& sink) const {
  for (const Held* held : held_) {
    const std::string name = held->key_ + "_accesses";
    sink.give(accesses_of(name), held->measured());
  }
  for (const Held* held : held_) {
    const std::string prefix = held->key_ + "_";
    PrefixedSink within(prefix, sink);
    held->media_->report(within);
  }
}

void WrappingMedia::resources(ResourceSink& sink) const {
  for (const Held* held : held_) {
    const std::string measures = held->key_ + "_";
    const std::string parameters = held->key_ + ".";
    const std::string owner = " the " + held->key_ + " of";
    ResourcesWithin within(measures, parameters, sink);
    within.owned_by(owner);
    ByOwnAccesses own(within);
    held->media_->resources(own);
  }
}

}  // namespace cxloom
