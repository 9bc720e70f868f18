// SimpleSSD as a library: its device from the interface layer of the host down (firmware, cache, translation,
// flash), and the clock that it asks for. One tick of it is a picosecond.
#pragma once

#include <hil/hil.hh>
#include <sim/log.hh>
#include <util/simplessd.hh>

#include <cxloom/media.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "simplessd_config.hpp"

namespace SimpleSSD {
// The processor of the firmware: the library has one for the process, and no accessor.
extern CPU::CPU* cpu;
}  // namespace SimpleSSD

namespace cxloom::integrations {

class SimpleSsd final : private SimpleSSD::Simulator {
 public:
  /// What the library counts of itself, since it was made.
  struct Counts {
    std::uint64_t reads = 0;
    std::uint64_t programs = 0;
    std::uint64_t erases = 0;
    std::uint64_t moved = 0;
    std::uint64_t events = 0;
  };

  explicit SimpleSsd(const std::string& path) {
    const SimpleSsdConfig checked(path);
    const Turn turn(*this, nullptr);
    take_configuration(path);
    SimpleSSD::initCPU(config_);
    cpu_ = SimpleSSD::cpu;
    device_ = std::make_unique<SimpleSSD::HIL::HIL>(config_);
    device_->getLPNInfo(pages_, page_);
  }
  ~SimpleSsd() {
    const Turn turn(*this, cpu_);
    device_.reset();
    SimpleSSD::deInitCPU();
  }
  SimpleSsd(const SimpleSsd&) = delete;
  SimpleSsd& operator=(const SimpleSsd&) = delete;

  std::uint64_t capacity() const { return pages_ * page_; }

  /// Brings it to `now`, with all that happens until then.
  void advance(Time now) {
    const Turn turn(*this, cpu_);
    const std::uint64_t until = tick_of(now);
    while (!pending_.empty() && std::get<0>(*pending_.begin()) <= until) {
      const auto [tick, order, event] = *pending_.begin();
      pending_.erase(pending_.begin());
      tick_ = tick;
      places_.erase(event);
      ++events_;
      const SimpleSSD::EventFunction function = functions_.at(event);  // which may make further events
      function(tick);
    }
    tick_ = until;
  }
  /// Takes an access now; `done(tag)` is called from within `advance`.
  void send(std::uint64_t address, std::uint64_t bytes, bool write, std::uint64_t tag) {
    const Turn turn(*this, cpu_);
    SimpleSSD::HIL::Request request;
    request.range.slpn = address / page_;
    request.range.nlp = (address + bytes - 1) / page_ - request.range.slpn + 1;
    request.offset = address % page_;
    request.length = bytes;
    request.function = [this, tag](std::uint64_t, void*) { done(tag); };
    if (write) {
      device_->write(request);
    } else {
      device_->read(request);
    }
  }
  /// When it next has something to do.
  Time next() const {
    if (pending_.empty()) return Time::max();
    return Time{static_cast<std::int64_t>(std::get<0>(*pending_.begin()) - kBegin)};
  }

  Counts counts() {
    const Turn turn(*this, cpu_);
    std::vector<SimpleSSD::Stats> names;
    std::vector<double> values;
    device_->getStatList(names, "");
    device_->getStatValues(values);
    std::map<std::string, double> found;
    for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) found[names[i].name] = values[i];
    const auto count = [&](const char* name) { return static_cast<std::uint64_t>(found[name]); };
    return {count("pal.read.count"), count("pal.program.count"), count("pal.erase.count"),
            count("ftl.page_mapping.gc.page_copies"), events_};
  }

  std::function<void(std::uint64_t tag)> done;

 private:
  /// The library takes tick 0 for the time before the run, in which accesses take no time.
  static constexpr std::uint64_t kBegin = 1;
  static std::uint64_t tick_of(Time time) { return static_cast<std::uint64_t>(time.ps()) + kBegin; }

  /// The library keeps clock, processor and configuration in variables of the process. So each call has them
  /// for itself.
  class Turn {
   public:
    Turn(SimpleSsd& mine, SimpleSSD::CPU::CPU* cpu) : lock_(mutex()) {
      SimpleSSD::setSimulator(&mine);
      SimpleSSD::cpu = cpu;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { SimpleSSD::setSimulator(nullptr); }

   private:
    static std::mutex& mutex() {
      static std::mutex only;
      return only;
    }
    std::lock_guard<std::mutex> lock_;
  };

  /// Some of the configuration stays as the first device of the process had it, so that a second one must not
  /// differ.
  void take_configuration(const std::string& path) {
    std::ostringstream warnings;
    SimpleSSD::initLogSystem(nullptr, &warnings);
    const bool read = config_.init(path);
    SimpleSSD::initLogSystem(nullptr, nullptr);  // what it says before it ends the process goes to stderr
    if (!read) {
      throw InputError({path + ": SimpleSSD cannot read it", {}, "a file in INI format", {}}, "config");
    }
    const std::string said = warnings.str();
    if (said.find("not handled") != std::string::npos) {
      const std::size_t from = said.find("Config");
      throw InputError({path + ": an entry that SimpleSSD does not know",
                        said.substr(from, said.find('\n', from) - from),
                        "its own names, as config/sample.cfg of SimpleSSD has them",
                        {}},
                       "config");
    }
    static std::string first;
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!first.empty() && text != first) {
      throw InputError({path + ": another configuration of SimpleSSD is in use in this process, and the "
                               "library keeps the first one",
                        {},
                        "one configuration in a process: run the others by themselves",
                        {}},
                       "config");
    }
    first = text;
  }

  // --- the clock that the library asks for ---
  std::uint64_t getCurrentTick() override { return tick_; }
  SimpleSSD::Event allocateEvent(SimpleSSD::EventFunction function) override {
    functions_.push_back(std::move(function));
    return functions_.size() - 1;
  }
  void scheduleEvent(SimpleSSD::Event event, std::uint64_t tick) override {
    descheduleEvent(event);
    const auto at = pending_.emplace(std::max(tick, tick_), ++order_, event).first;
    places_[event] = at;
  }
  void descheduleEvent(SimpleSSD::Event event) override {
    const auto found = places_.find(event);
    if (found == places_.end()) return;
    pending_.erase(found->second);
    places_.erase(found);
  }
  bool isScheduled(SimpleSSD::Event event, std::uint64_t* tick) override {
    const auto found = places_.find(event);
    if (found == places_.end()) return false;
    if (tick) *tick = std::get<0>(*found->second);
    return true;
  }
  void deallocateEvent(SimpleSSD::Event event) override {
    descheduleEvent(event);
    functions_.at(event) = nullptr;
  }

  using Pending = std::set<std::tuple<std::uint64_t, std::uint64_t, SimpleSSD::Event>>;  // tick, order, which
  std::uint64_t tick_ = kBegin;
  std::uint64_t order_ = 0;
  std::uint64_t events_ = 0;
  std::vector<SimpleSSD::EventFunction> functions_;
  Pending pending_;
  std::map<SimpleSSD::Event, Pending::iterator> places_;

  SimpleSSD::ConfigReader config_;
  SimpleSSD::CPU::CPU* cpu_ = nullptr;
  std::unique_ptr<SimpleSSD::HIL::HIL> device_;
  std::uint64_t pages_ = 0;
  std::uint32_t page_ = 0;
};

}  // namespace cxloom::integrations
