#include "system/record/sampler.hpp"

#include <limits>
#include <string>
#include <utility>

#include "component/component.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/wire/shared_medium.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/memory_owner.hpp"
#include "system/model/system.hpp"
#include "system/model/way_name.hpp"

namespace cxloom {

namespace {

Sampler::Probe::Level level_of(WireMonitor& monitor, Time now) {
  const Time busy = monitor.totals(now).busy;
  monitor.queue().advance(now);
  return {busy, monitor.queue().integral()};
}

class LinkProbe final : public Sampler::Probe {
 public:
  LinkProbe(const System::LinkView& link, LinkEnd& end) : end_(end), name_(way_name(link, end)) {}
  std::string name() const override { return name_; }
  Level read(Time now) override {
    end_.catch_up(now);
    return level_of(end_.monitor(), now);
  }

 private:
  LinkEnd& end_;
  std::string name_;
};

class BusProbe final : public Sampler::Probe {
 public:
  BusProbe(const Component& bus, SharedMedium& medium, SharedMedium::Direction direction)
      : bus_(bus), medium_(medium), direction_(direction) {}
  std::string name() const override {
    return bus_.name() + (direction_ == SharedMedium::kDownstream ? " downstream" : " upstream");
  }
  Level read(Time now) override { return level_of(medium_.monitor(direction_), now); }

 private:
  const Component& bus_;
  SharedMedium& medium_;
  SharedMedium::Direction direction_;
};

class MemoryProbe final : public Sampler::Probe {
 public:
  MemoryProbe(const Component& component, MemoryOwner& owner) : component_(component), owner_(owner) {}
  std::string name() const override { return component_.name(); }
  bool has_wire() const override { return false; }
  Level read(Time now) override { return {Time{}, owner_.memory_queue_integral(now)}; }

 private:
  const Component& component_;
  MemoryOwner& owner_;
};

}  // namespace

Sampler::Sampler(Kernel& kernel, const System& system, Time interval)
    : kernel_(kernel), source_(kernel.new_source()), interval_(interval) {
  for (const auto& link : system.links()) {
    for (LinkEnd* const end : {link.forward, link.backward})
      probes_.push_back(std::make_unique<LinkProbe>(link, *end));
  }
  for (const auto& component : system.components()) {
    if (SharedMedium* medium = system.roles().of<SharedMedium>(component->id())) {
      for (const auto direction : {SharedMedium::kDownstream, SharedMedium::kUpstream})
        probes_.push_back(std::make_unique<BusProbe>(*component, *medium, direction));
    }
    MemoryOwner* const owner = system.roles().of<MemoryOwner>(component->id());
    if (owner && owner->memory_capacity() > Bytes{})
      probes_.push_back(std::make_unique<MemoryProbe>(*component, *owner));
  }
}

Sampler::~Sampler() = default;

void Sampler::open_window(Time now) {
  open_ = true;
  opened_ = now;
  before_.assign(probes_.size(), {});
  kernel_.schedule_background(now + interval_, source_, *this, 0);
}

void Sampler::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  if (!open_) return;
  const Time now = kernel_.now();
  const auto interval = static_cast<double>(interval_.ps());
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    const Probe::Level level = probes_[i]->read(now);
    const auto busy = static_cast<double>((level.busy - before_[i].busy).ps());
    table_.time_ps.push_back((now - opened_).ps());
    table_.probe.push_back(static_cast<std::uint32_t>(i));
    table_.utilization.push_back(probes_[i]->has_wire() ? static_cast<float>(busy / interval)
                                                        : std::numeric_limits<float>::quiet_NaN());
    table_.queue.push_back(static_cast<float>((level.queue_integral - before_[i].queue_integral) / interval));
    before_[i] = level;
  }
  kernel_.schedule_background(now + interval_, source_, *this, 0);
}

SeriesTable Sampler::take() { return std::exchange(table_, {}); }

}  // namespace cxloom
