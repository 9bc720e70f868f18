#include "device/switch/persist_measures.hpp"

#include <string>
#include <utility>

#include "component/resource.hpp"
#include "device/switch/persist_entries.hpp"
#include "device/switch/persist_params.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

void PersistMeasures::count(const PersistEntries& entries) {
  const Time now = kernel_.now();
  const auto set = [now](LevelMonitor& monitor, std::uint32_t level) {
    monitor.change(now, static_cast<std::int32_t>(level) - static_cast<std::int32_t>(monitor.level()));
  };
  set(full_, entries.dirty() + entries.draining());
  set(dirty_, entries.dirty());
  set(drain_, entries.draining());
}

void PersistMeasures::queued(std::int32_t more) { queue_.change(kernel_.now(), more); }

void PersistMeasures::open(Time /*at*/, const PersistEntries& entries) {
  resident_before_ = entries.dirty() + entries.draining();
}

void PersistMeasures::close(Time /*at*/, const PersistEntries& entries) {
  resident_ = entries.dirty() + entries.draining();
}

void PersistMeasures::resources(const PersistBufferParams& params, ResourceSink& sink) {
  const auto places = [&](std::string name, const char* parameter, std::uint32_t count, const char* measure) {
    sink.add({.name = std::move(name),
              .stage = Stage::kWay,
              .capacity = count,
              .occupancy = Occupancy::kLevel,
              .measures = {std::string("per_switch.*.persist_buffer.") + measure},
              .wait = Segment::kPersistQueue,
              .counts = Traffic::kWrites,
              .part = "switch",
              .twice = {doubled(std::string("persist_buffer.") + parameter, count)},
              .twice_text = std::to_string(2 * std::uint64_t{count}) + " places"});
  };
  places("the persist buffer of", "entries", params.entries, "entries_mean");
  if (params.queue) places("the input queue of the persist buffer of", "queue", *params.queue, "queue_mean");
}

Value PersistMeasures::report(std::uint64_t lost) const {
  PersistMeasured measured{counts_.window()};
  measured.resident_before = resident_before_;
  measured.resident = resident_;
  measured.lost_acknowledged = lost;
  measured.full_mean = full_.mean();
  measured.dirty_mean = dirty_.mean();
  measured.drain_mean = drain_.mean();
  measured.queue_mean = queue_.mean();
  measured.queue_max = queue_.maximum();
  return map_of(kPersistMeasures, measured);
}

}  // namespace cxloom
