#include "embed/idle_twin.hpp"

#include <utility>

#include "coherence/external/agent.hpp"
#include "component/component.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

namespace {

constexpr Time kStep{1'000'000};
constexpr int kMost = 100'000;
constexpr int kMostBehind = 64;

TraceFeed no_work(const std::string& /*device*/) { throw InternalError("a twin that has work"); }

Spec without_work(Spec spec) {
  spec.workloads.clear();
  spec.tasks = {};
  put_off_failures(spec.events);
  spec.outputs = {};
  spec.run.warmup_time.reset();
  spec.run.threads = {};
  return spec;
}

}  // namespace

class IdleTwin::EmptyCache final : public OutsideCache {
 public:
  EmptyCache(OutsideParts& parts, NodeId device) : cache_(parts.put_cache(device, *this)) {}
  void snooped(std::uint64_t number, LineAddress /*line*/, SnoopFor /*purpose*/) override {
    cache_.snoop_answered(number, LineState::kInvalid);
  }

 private:
  ExternalCache& cache_;
};

IdleTwin::IdleTwin(const Registry& registry, Spec spec)
    : simulation_(registry, without_work(std::move(spec)), no_work, collector_) {
  for (const auto& [component, requester] : simulation_.system().roles().all<Requester>()) {
    if (requester->external_cache())
      caches_.push_back(std::make_unique<EmptyCache>(simulation_.outside(), component->id()));
  }
}

IdleTwin::~IdleTwin() = default;

// A cache outside has what it is to give up or to upgrade, before, and nothing behind: the next access finds
// the filters of homes as this one has.
Time IdleTwin::latency(NodeId device, const Access& access) {
  if (!simulation_.driven(device))
    simulation_.drive(simulation_.system().components()[device.index()]->name());
  DrivenRequester& driven = *simulation_.driven(device);
  driven.tell_answers(*this);
  if (!driven.has_external_cache()) return make(driven, access);
  ExternalCache& cache = *simulation_.system().roles().of<Requester>(device)->external_cache();
  const bool upgrades = access.kind == AccessKind::kWrite && access.brings;
  if (upgrades || access.kind == AccessKind::kFlush) {
    Access before = access;
    before.kind = AccessKind::kRead;
    before.keeps = true;
    before.brings = false;
    make(driven, before);
    if (upgrades) cache.keep_shared(LineAddress::of(access.address));
  }
  const Time taken = make(driven, access);
  if (access.keeps) {
    Access behind = access;
    behind.kind = AccessKind::kFlush;
    behind.keeps = behind.brings = false;
    make(driven, behind);
  }
  return taken;
}

// Behind its answer it goes on until nothing is left of it, write-backs of a cache for example. Something may
// go on for ever, such as an I/O engine.
Time IdleTwin::make(DrivenRequester& driven, const Access& access) {
  latency_.reset();
  driven.give(access, 0, Time{});
  const auto step = [this] { simulation_.run_until(simulation_.now() + kStep); };
  for (int i = 0; i < kMost && !latency_; ++i) step();
  if (!latency_) throw SimulationError("an access alone has no answer after " + to_text(kStep * kMost));
  if (failed_)
    throw SimulationError(
        "an access alone is answered without data: its memory is bound to another host or to none, say");
  const Time taken = *latency_;
  for (int i = 0; i < kMostBehind && !simulation_.kernel().idle(); ++i) step();
  return taken;
}

void IdleTwin::answered(std::uint64_t /*tag*/, const Request& request, Time now) {
  latency_ = now - request.created();
  failed_ = request.failed;
}

}  // namespace cxloom
