// `kind: simplessd`: media simulated by an installed SimpleSSD. The library knows events and times, not
// cycles: it is called when it has something to do, and when an access comes.
#pragma once

#include <cxloom/media.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simplessd.hpp"

namespace cxloom::integrations {

struct SimpleSsdParams {
  std::string config;
  std::uint64_t watchdog = 100'000;

  static void describe(Schema<SimpleSsdParams>& schema) {
    schema.doc("Media simulated by SimpleSSD: firmware, cache, translation layer and flash.");
    schema.field("config", &SimpleSsdParams::config)
        .file()
        .required()
        .doc("The library's own configuration, relative to the spec's folder.");
    schema.field("watchdog", &SimpleSsdParams::watchdog)
        .min(1000)
        .doc(
            "Events of the library without a completion, while it has accesses, after which the run is given "
            "up.");
  }
};

class SimpleSsdMedia final : public Media {
 public:
  using Params = SimpleSsdParams;

  SimpleSsdMedia(const Params& params, const MediaContext& context)
      : kernel_(context.kernel),
        client_(context.client),
        source_(context.kernel.new_source()),
        watchdog_(params.watchdog),
        library_(params.config) {
    if (context.capacity && library_.capacity() < context.capacity->count()) {
      throw InputError({"the memory is larger than what SimpleSSD simulates",
                        to_text(*context.capacity),
                        "a `capacity` of at most " + to_text(Bytes{library_.capacity()}),
                        {}},
                       "config");
    }
    library_.done = [this](std::uint64_t tag) { completed_.push_back(tag); };
  }

  std::optional<Bytes> capacity() const override { return Bytes{library_.capacity()}; }

  void access(Message& message, Address address, Time ready) override {
    const std::uint64_t tag = take_slot();
    accesses_[tag] = {&message, address.value()};
    kernel_.schedule(ready, source_, *this, kArrived, tag);
  }

  void wake(std::uint8_t kind, std::uint64_t payload) override {
    advance();
    if (kind == kArrived) {
      const Access& access = accesses_[payload];
      access.message->charge(Segment::kMediaQueue, kernel_.now());
      ++outstanding_;
      library_.send(access.address, std::max<std::uint64_t>(access.message->size, 1),
                    access.message->opcode == Opcode::kMemWr, payload);
    } else if (expected_ <= kernel_.now()) {
      expected_ = Time::max();  // later ones may be scheduled, which were once the earliest
    }
    // What takes no time is done on the spot.
    advance();
    expect();
  }

  void open_window(Time now) override { counts_.open(now, library_.counts()); }
  void close_window(Time now) override { counts_.close(now, library_.counts()); }
  static std::vector<MeasureInfo> measures() { return infos_of(kMeasures); }
  void report(MeasureSink& sink) const override { report_all(kMeasures, counts_.closed_window(), sink); }

 private:
  using Counts = SimpleSsd::Counts;
  static constexpr std::array kMeasures{
      measure<&Counts::reads>("page_reads", "", "reads of the flash, of all planes of a die together"),
      measure<&Counts::programs>("page_programs", "",
                                 "programs of the flash, of all planes of a die together"),
      measure<&Counts::erases>("block_erases", "", "erases of the flash, of all planes of a die together"),
      measure<&Counts::moved>("pages_moved", "", "programs that garbage collection asked for"),
      measure<&Counts::events>("library_events", "", "events of the library that were simulated"),
  };
  enum Wake : std::uint8_t { kArrived, kEvent };
  struct Access {
    Message* message = nullptr;
    std::uint64_t address = 0;
  };

  std::uint64_t take_slot() {
    if (free_.empty()) {
      accesses_.emplace_back();
      return accesses_.size() - 1;
    }
    const std::uint64_t tag = free_.back();
    free_.pop_back();
    return tag;
  }

  void advance() {
    library_.advance(kernel_.now());
    ++quiet_;
    for (const std::uint64_t tag : completed_) {
      quiet_ = 0;
      --outstanding_;
      Message& message = *accesses_[tag].message;
      free_.push_back(tag);
      message.charge(Segment::kMedia, kernel_.now());
      client_.media_done(message, kernel_.now());
    }
    completed_.clear();
  }

  /// Waits for the library's next event. What it does with nothing to answer (refresh) can wait for the next
  /// access.
  void expect() {
    if (outstanding_ == 0) {
      quiet_ = 0;
      return;
    }
    const Time next = library_.next();
    if (quiet_ > watchdog_ || next == Time::max()) {
      throw SimulationError("SimpleSSD hangs: it has completed nothing in " + counted(quiet_, "event") +
                            ", with " + counted(outstanding_, "request") +
                            " in it (`watchdog` sets the limit)");
    }
    if (next >= expected_) return;
    expected_ = next;
    kernel_.schedule(next, source_, *this, kEvent);
  }

  Kernel& kernel_;
  MediaClient& client_;
  EventSource source_;
  std::uint64_t watchdog_;
  SimpleSsd library_;
  std::uint64_t outstanding_ = 0;
  std::uint64_t quiet_ = 0;       // times that it was woken since its last completion
  Time expected_ = Time::max();   // the earliest event that is scheduled for it
  std::vector<Access> accesses_;  // by tag
  std::vector<std::uint64_t> free_;
  std::vector<std::uint64_t> completed_;  // tags
  CountsInWindow<Counts> counts_;
};

}  // namespace cxloom::integrations
