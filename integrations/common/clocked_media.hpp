// A cycle-level memory simulator as media: what is common to the adapters. The library has a clock of its own
// and is told of each cycle; here it is told only when it matters.
//
// Library is what an adapter makes of it:
//   static constexpr const char* kName;         what messages call it
//   static constexpr int kDoneCycle;            a completion in tick n belongs to cycle n + kDoneCycle
//   Period period() const;                      of its clock
//   std::uint64_t bytes() const;                of its transactions
//   std::uint64_t capacity() const;             bytes that it simulates
//   std::uint64_t idle_period() const;          cycles after which it repeats itself when idle; 0: not known
//   bool send(std::uint64_t address, bool write, std::uint64_t tag);    false: not now
//   void tick();                                may call `done` with the tags of what is complete
//   std::function<void(std::uint64_t tag)> done;
#pragma once

#include <cxloom/media.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cxloom::integrations {

/// The period of a clock: `numerator / denominator` picoseconds, exactly.
struct Period {
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;

  /// When a cycle begins, rounded up to whole picoseconds: the error does not grow.
  Time start_of(std::uint64_t cycle) const {
    return Time{static_cast<std::int64_t>((Wide{cycle} * numerator + denominator - 1) / denominator)};
  }
  /// The first cycle that begins at `time` or later, as `start_of` rounds.
  std::uint64_t first_from(Time time) const {
    if (time <= Time{}) return 0;
    const Wide before = Wide{static_cast<std::uint64_t>(time.ps() - 1)} * denominator;
    return static_cast<std::uint64_t>(before / numerator + 1);
  }
};

/// What all adapters have in common.
struct ClockedParams {
  std::string config;
  std::uint64_t watchdog = 100'000;
  std::optional<std::uint64_t> idle_period;

  template <class Params>
  static void describe_in(Schema<Params>& schema) {
    schema.field("config", &Params::config)
        .file()
        .required()
        .doc("The library's own configuration, relative to the spec's folder.");
    schema.field("watchdog", &Params::watchdog)
        .min(1000)
        .doc(
            "Cycles of the library without progress, while it has requests, after which the run is given "
            "up.");
    schema.field("idle_period", &Params::idle_period)
        .default_text("from the configuration, if the adapter can read it")
        .doc(
            "Cycles after which the library, when it has nothing to do, is in the same state again: its "
            "refresh "
            "interval. Of longer idle times it is spared multiples. 0: every cycle is passed on.");
  }
};

/// For libraries that say of a completion only its address: completions at one address are in the order of
/// the requests.
class TagsByAddress {
 public:
  void push(std::uint64_t address, std::uint64_t tag) { tags_[address].push_back(tag); }
  std::uint64_t pop(std::uint64_t address, const char* library) {
    const auto found = tags_.find(address);
    if (found == tags_.end())
      throw SimulationError(std::string(library) + " completed what it was not asked for");
    const std::uint64_t tag = found->second.front();
    found->second.erase(found->second.begin());
    if (found->second.empty()) tags_.erase(found);
    return tag;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> tags_;
};

template <class Library, class LibraryParams>
class ClockedMedia final : public Media {
 public:
  using Params = LibraryParams;

  ClockedMedia(const Params& params, const MediaContext& context)
      : kernel_(context.kernel),
        client_(context.client),
        source_(context.kernel.new_source()),
        watchdog_(params.watchdog),
        library_(make(params)),
        period_(library_->period()),
        idle_period_(params.idle_period.value_or(library_->idle_period())) {
    if (context.capacity && library_->capacity() < context.capacity->count()) {
      throw InputError({std::string("the memory is larger than what ") + Library::kName + " simulates",
                        to_text(*context.capacity),
                        "a `capacity` of at most " + to_text(Bytes{library_->capacity()}),
                        {}},
                       "config");
    }
    library_->done = [this](std::uint64_t tag) { completed(tag); };
  }

  std::optional<Bytes> capacity() const override { return Bytes{library_->capacity()}; }

  void access(Message& message, Address address, Time ready) override {
    const std::uint64_t tag = take_slot();
    Access& access = accesses_[tag];
    access.message = &message;
    access.address = address.value();
    kernel_.schedule(ready, source_, *this, kArrived, tag);
  }

  void wake(std::uint8_t kind, std::uint64_t payload) override {
    if (kind == kArrived) {
      arrive(payload);
    } else if (kind == kCycle) {
      kernel_.at_end_of_instant(*this);  // what arrives just when a cycle begins is taken in it
    } else {
      finish(payload);
    }
  }

  void settle() override { cycle(); }

  static std::vector<MeasureInfo> measures() { return {kTicks, kSkipped, kRefused}; }
  void report(MeasureSink& sink) const override {
    const Counts counts = counts_.window();
    sink.count(kTicks, counts.ticks);
    sink.count(kSkipped, counts.skipped);
    sink.count(kRefused, counts.refused);
  }

 private:
  static constexpr MeasureInfo kTicks{"library_cycles", "", "cycles of the library that were simulated"};
  static constexpr MeasureInfo kSkipped{"library_cycles_skipped", "",
                                        "idle cycles that the library was spared"};
  static constexpr MeasureInfo kRefused{"refused", "",
                                        "cycles in which the library did not take what was next"};
  enum Wake : std::uint8_t { kArrived, kCycle, kFinished };

  /// One message: as many transactions of the library as it covers, of which the last to be done counts.
  struct Access {
    Message* message = nullptr;
    std::uint64_t address = 0;
    std::uint64_t to_send = 0;  // transactions
    std::uint64_t to_finish = 0;
    Time accepted;  // the last one
  };
  struct Counts {
    std::uint64_t ticks = 0;
    std::uint64_t skipped = 0;
    std::uint64_t refused = 0;
  };

  static std::unique_ptr<Library> make(const Params& params) {
    try {
      return std::make_unique<Library>(params);
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      throw InputError({std::string(Library::kName) + " refuses its configuration: " + error.what(),
                        params.config,
                        {},
                        {}},
                       "config");
    }
  }

  std::uint64_t take_slot() {
    if (free_.empty()) {
      accesses_.emplace_back();
      return accesses_.size() - 1;
    }
    const std::uint64_t tag = free_.back();
    free_.pop_back();
    accesses_[tag] = {};
    return tag;
  }

  void arrive(std::uint64_t tag) {
    Access& access = accesses_[tag];
    const std::uint64_t last = (access.address + access.message->size - 1) / library_->bytes();
    access.address = access.address / library_->bytes() * library_->bytes();
    access.to_send = access.to_finish = last - access.address / library_->bytes() + 1;
    waiting_.push_back(tag);
    if (!running_) {
      running_ = true;
      quiet_ = 0;
      // A cycle that the library was told of already cannot take it.
      next_cycle_ = std::max(period_.first_from(kernel_.now()), cycles_);
      kernel_.schedule(period_.start_of(next_cycle_), source_, *this, kCycle);
    }
  }

  /// A cycle of the library begins: it is given what waits, in order, as far as it takes it.
  void cycle() {
    catch_up(next_cycle_);
    bool refused = false;
    while (next_waiting_ < waiting_.size() && !refused) {
      Access& access = accesses_[waiting_[next_waiting_]];
      const bool write = access.message->opcode == Opcode::kMemWr;
      // Accounted before: the library may complete it on the spot.
      access.accepted = kernel_.now();
      ++outstanding_;
      --access.to_send;
      const bool sent =
          guarded([&] { return library_->send(access.address, write, waiting_[next_waiting_]); });
      if (sent) {
        quiet_ = 0;
        access.address += library_->bytes();
        if (access.to_send == 0) ++next_waiting_;
      } else {
        ++access.to_send;
        --outstanding_;
        refused = true;
        ++counts_->refused;
      }
    }
    if (next_waiting_ == waiting_.size()) waiting_.clear(), next_waiting_ = 0;
    tick();
    running_ = outstanding_ > 0 || !waiting_.empty();
    if (!running_) return;
    if (++quiet_ > watchdog_) give_up();
    next_cycle_ = cycles_;
    kernel_.schedule(period_.start_of(next_cycle_), source_, *this, kCycle);
  }

  /// Brings the library to the beginning of `cycle`, after it had nothing to do. It is told of the idle
  /// cycles now; of a long time it is spared multiples of the period after which it repeats itself, once it
  /// has settled for two of them.
  void catch_up(std::uint64_t cycle) {
    if (idle_period_ > 0 && cycle - cycles_ > 3 * idle_period_) {
      const std::uint64_t spared = ((cycle - cycles_) / idle_period_ - 2) * idle_period_;
      cycles_ += spared;
      counts_->skipped += spared;
    }
    while (cycles_ < cycle) tick();
  }

  void tick() {
    guarded([&] { return library_->tick(), true; });
    ++cycles_;
    ++counts_->ticks;
  }

  /// Calls the library; what it throws is not a bug of ours.
  template <class Call>
  bool guarded(Call call) {
    try {
      return call();
    } catch (const SimulationError&) {
      throw;
    } catch (const InternalError&) {
      throw;
    } catch (const std::exception& error) {
      throw SimulationError(std::string(Library::kName) + " failed in its cycle " + std::to_string(cycles_) +
                            ": " + error.what());
    }
  }

  void completed(std::uint64_t tag) {
    quiet_ = 0;
    --outstanding_;
    Access& access = accesses_[tag];
    if (--access.to_finish > 0) return;
    const Time at = std::max(kernel_.now(), period_.start_of(cycles_ + Library::kDoneCycle));
    access.message->charge(Segment::kMediaQueue, access.accepted);
    access.message->charge(Segment::kMedia, at);
    kernel_.schedule(at, source_, *this, kFinished, tag);  // never from within the library
  }

  void finish(std::uint64_t tag) {
    Message& message = *accesses_[tag].message;
    free_.push_back(tag);
    client_.media_done(message, kernel_.now());
  }

  [[noreturn]] void give_up() const {
    throw SimulationError(
        std::string(Library::kName) + " hangs: it has completed nothing and taken nothing for " +
        std::to_string(watchdog_) + " of its cycles, with " + counted(outstanding_, "transaction") +
        " in it and " + counted(waiting_.size() - next_waiting_, "request") +
        " before it (`watchdog` sets the limit)");
  }

  Kernel& kernel_;
  MediaClient& client_;
  EventSource source_;
  std::uint64_t watchdog_;
  std::unique_ptr<Library> library_;
  Period period_;
  std::uint64_t idle_period_;

  std::uint64_t cycles_ = 0;       // that the library was told of, or spared
  std::uint64_t next_cycle_ = 0;   // that is scheduled
  std::uint64_t outstanding_ = 0;  // transactions in the library
  std::uint64_t quiet_ = 0;        // cycles since it last took or completed something
  bool running_ = false;           // its next cycle is scheduled
  std::vector<Access> accesses_;   // by tag
  std::vector<std::uint64_t> free_;
  std::vector<std::uint64_t> waiting_;  // tags, in order, from next_waiting_ on
  std::size_t next_waiting_ = 0;
  Windowed<Counts> counts_{kernel_};
};

}  // namespace cxloom::integrations
