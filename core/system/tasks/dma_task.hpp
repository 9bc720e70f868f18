// A copy between an object and a device, as pieces for the device's DMA engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "component/dma_initiator.hpp"
#include "component/transfer_engine.hpp"
#include "kernel/kernel.hpp"
#include "system/tasks/activity.hpp"
#include "system/tasks/task_graph.hpp"
#include "system/tasks/task_stream.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// The work of a device whose DMA engine makes copies of tasks. It has no accesses: tasks give the engine its
/// transfers themselves. A device with it has work, and so counts the requests of its engine as those of any
/// other.
class EngineWork final : public AccessStream {
 public:
  /// There will be no more tasks.
  void close() { open_ = false; }

  bool next(Access& /*access*/) override { return false; }
  bool open() const override { return open_; }

 private:
  bool open_ = true;
};

class DmaTask final : public Transfer, public Activity {
 public:
  /// All outlive it.
  DmaTask(const Task& task, const TaskLane& lane, const TaskObjects& objects, const Kernel& kernel,
          LaneObserver& observer)
      : object_(objects.at(task.ranges.front().object)),
        at_(task.ranges.front().offset),
        end_(at_ + task.ranges.front().bytes),
        lane_(lane),
        number_(task.lane),
        writes_(task.ranges.front().writes),
        kernel_(kernel),
        observer_(observer) {}

  /// Throws InputError if the engine may not move all of it. Turns of pages in several nodes are looked at
  /// once.
  void check(const DmaInitiator& engine) const {
    for (std::uint64_t from = at_; from < end_; from = object_.even_until(from)) {
      const std::uint64_t even = std::min(object_.even_until(from), end_);
      const std::uint64_t turn = object_.turn(from) > 1 ? std::min(from + object_.turn(from), even) : even;
      for (std::uint64_t next = from; next < turn;) {
        const PlacedObject::Place place = object_.place(next);
        const std::uint64_t bytes = std::min(place.room, turn - next);
        engine.check(place.at, bytes);
        next += bytes;
      }
    }
  }

  Way way() const { return writes_ ? Way::kOut : Way::kIn; }

  std::optional<Extent> next() override {
    if (at_ == end_) return std::nullopt;
    const PlacedObject::Place place = object_.place(at_);
    const std::uint64_t to_boundary = kPiece - at_ % kPiece;
    const std::uint64_t bytes = std::min({place.room, to_boundary, end_ - at_});
    at_ += bytes;
    moved_ += bytes;
    progress_.step(moved_ / kLineBytes - progress_.done, kernel_.now());
    return Extent{place.at, Bytes{bytes}};
  }
  void done(Time /*at*/) override { observer_.lane_done(number_, false); }
  void failed(Time /*at*/) override { observer_.lane_done(number_, true); }

  ActivityProgress progress() override { return progress_.asked(); }
  std::uint64_t ahead() const override {
    return (std::min(object_.even_until(at_), end_) - at_) / kLineBytes;
  }
  /// Whole pieces, so that those behind begin where they would.
  std::uint64_t skip(std::uint64_t lines, Time /*time*/) override {
    const std::uint64_t bytes = std::min(lines, ahead()) * kLineBytes / kPiece * kPiece;
    at_ += bytes;
    return bytes / kLineBytes;
  }
  std::uint64_t turn() const override {
    return std::max<std::uint64_t>(object_.turn(std::min(at_, end_ - 1)) / kLineBytes, 1);
  }
  std::string sort() const override {
    return "dma " + lane_.name() + (writes_ ? " out " : " in ") + object_.mix(std::min(at_, end_ - 1));
  }

 private:
  /// The largest read request of PCIe; an engine begins no piece across its end.
  static constexpr std::uint64_t kPiece = 4096;

  const PlacedObject& object_;
  std::uint64_t at_;
  std::uint64_t end_;
  const TaskLane& lane_;
  std::uint32_t number_;
  bool writes_;
  const Kernel& kernel_;
  LaneObserver& observer_;
  std::uint64_t moved_ = 0;
  ActivityProgress progress_;
};

}  // namespace cxloom
