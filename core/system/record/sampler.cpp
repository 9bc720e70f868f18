#include "system/record/sampler.hpp"

#include <limits>
#include <string>
#include <utility>

#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "device/requester/tiering_agent.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/wire/shared_medium.hpp"
#include "kernel/kernel.hpp"
#include "kernel/windowed.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

// What a wire measures up to now; `turns`, of half duplex, is null where it takes no time to turn.
Sampler::Probe::Level level_of(WireMonitor& monitor, WireMonitor* turns, Time now) {
  const Time busy = monitor.totals(now).busy;
  monitor.queue().advance(now);
  return {busy, turns ? turns->totals(now).busy : Time{}, monitor.queue().integral()};
}

class LinkProbe final : public Sampler::Probe {
 public:
  LinkProbe(const System::LinkView& link, LinkEnd& end)
      : end_(end), name_(link.way(end)), shared_(link.shared) {}
  std::string name() const override { return name_; }
  bool has_turns() const override { return shared_; }
  Level read(Time now) override {
    end_.catch_up(now);
    return level_of(end_.monitor(), end_.path().turns(), now);
  }

 private:
  LinkEnd& end_;
  std::string name_;
  bool shared_;
};

class BusProbe final : public Sampler::Probe {
 public:
  BusProbe(const Component& bus, SharedMedium& medium, SharedMedium::Direction direction)
      : bus_(bus), medium_(medium), direction_(direction) {}
  std::string name() const override {
    return bus_.name() + (direction_ == SharedMedium::kDownstream ? " downstream" : " upstream");
  }
  bool has_turns() const override { return medium_.turns() != nullptr; }
  Level read(Time now) override { return level_of(medium_.monitor(direction_), medium_.turns(), now); }

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
  Level read(Time now) override { return {.queue_integral = owner_.memory_queue_integral(now)}; }

 private:
  const Component& component_;
  MemoryOwner& owner_;
};

class NearestNodeProbe final : public Sampler::Probe {
 public:
  NearestNodeProbe(const Component& component, TieringAgent& tiering)
      : component_(component), tiering_(tiering) {
    tiering_.count_answers();
  }
  std::string name() const override { return component_.name() + ": nearest node"; }
  bool has_wire() const override { return false; }
  bool has_queue() const override { return false; }
  void open(Time at) override { in_window_.open(at, tiering_.answers()); }
  Level read(Time /*now*/) override {
    const TieringAgent::Answers answers = in_window_.window(tiering_.answers());
    return {.part = answers.nearest, .whole = answers.all};
  }

 private:
  const Component& component_;
  TieringAgent& tiering_;
  CountsInWindow<TieringAgent::Answers> in_window_;
};

constexpr float kNoSample = std::numeric_limits<float>::quiet_NaN();

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
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (TieringAgent* const tiering = requester->tiering())
      probes_.push_back(std::make_unique<NearestNodeProbe>(*component, *tiering));
  }
}

Sampler::~Sampler() = default;

void Sampler::open_window(Time now) {
  open_ = true;
  opened_ = now;
  before_.assign(probes_.size(), {});
  for (const auto& probe : probes_) probe->open(now);
  kernel_.schedule_background(now + interval_, source_, *this, 0);
}

void Sampler::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  if (!open_) return;
  const Time now = kernel_.now();
  const auto interval = static_cast<double>(interval_.ps());
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    const Probe::Level level = probes_[i]->read(now);
    const auto busy = static_cast<double>((level.busy - before_[i].busy).ps());
    const auto turned = static_cast<double>((level.turned - before_[i].turned).ps());
    const auto part = static_cast<double>(level.part - before_[i].part);
    const std::uint64_t whole = level.whole - before_[i].whole;
    table_.time_ps.push_back((now - opened_).ps());
    table_.probe.push_back(static_cast<std::uint32_t>(i));
    table_.utilization.push_back(probes_[i]->has_wire() ? static_cast<float>(busy / interval)
                                 : whole > 0 ? static_cast<float>(part / static_cast<double>(whole))
                                             : kNoSample);
    table_.turnaround.push_back(probes_[i]->has_turns() ? static_cast<float>(turned / interval) : kNoSample);
    const double waiting = (level.queue_integral - before_[i].queue_integral) / interval;
    table_.queue.push_back(probes_[i]->has_queue() ? static_cast<float>(waiting) : kNoSample);
    before_[i] = level;
  }
  kernel_.schedule_background(now + interval_, source_, *this, 0);
}

SeriesTable Sampler::take() { return std::exchange(table_, {}); }

}  // namespace cxloom
