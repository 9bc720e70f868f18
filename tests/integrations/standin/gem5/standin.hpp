// What the module in integrations/gem5 uses of gem5 24.0, in small: packets, ports, events, statistics. Names
// are gem5's. fatal() and panic() throw. Time is what `run` says.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gem5 {

using Tick = std::uint64_t;
using Addr = std::uint64_t;
using Counter = std::int64_t;
using RequestorID = std::uint16_t;
using PortID = std::int16_t;

// ---- Messages

struct Fatal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void print_to(std::ostream& out, const char* form) { out << form; }
template <typename First, typename... Rest>
void print_to(std::ostream& out, const char* form, const First& first, const Rest&... rest) {
  while (*form != '\0' && *form != '%') out << *form++;
  if (*form == '\0') return;
  out << first;
  print_to(out, form + 2, rest...);
}
template <typename... Args>
[[noreturn]] void fatal(const char* form, const Args&... args) {
  std::ostringstream text;
  print_to(text, form, args...);
  throw Fatal(text.str());
}
#define fatal_if(wrong, ...) ((wrong) ? ::gem5::fatal(__VA_ARGS__) : void())
#define panic_if(wrong, ...) ((wrong) ? ::gem5::fatal(__VA_ARGS__) : void())
template <typename... Args>
void print_nowhere(const char* /*form*/, const Args&... /*args*/) {}
#define DPRINTF(flag, ...) ::gem5::print_nowhere(__VA_ARGS__)

// ---- Time

class EventFunctionWrapper {
 public:
  EventFunctionWrapper(std::function<void()> act, const std::string& /*name*/) : act_(std::move(act)) {}
  bool scheduled() const { return scheduled_; }

 private:
  friend class EventQueue;
  std::function<void()> act_;
  bool scheduled_ = false;
  Tick when_ = 0;
};

class EventQueue {
 public:
  Tick now = 0;
  std::uint64_t woken = 0;

  void schedule(EventFunctionWrapper& event, Tick when) {
    if (event.scheduled_ || when < now) fatal("an event is scheduled twice, or in the past");
    event.scheduled_ = true;
    event.when_ = when;
    events_.emplace(when, &event);
  }
  void deschedule(EventFunctionWrapper& event) {
    for (auto it = events_.begin(); it != events_.end(); ++it) {
      if (it->second != &event) continue;
      events_.erase(it);
      break;
    }
    event.scheduled_ = false;
  }
  /// Lets everything happen up to this time.
  void run(Tick until) {
    while (!events_.empty() && events_.begin()->first <= until) {
      EventFunctionWrapper& event = *events_.begin()->second;
      now = event.when_;
      events_.erase(events_.begin());
      event.scheduled_ = false;
      ++woken;
      event.act_();
    }
    now = until;
  }
  void clear() { *this = EventQueue(); }

 private:
  std::multimap<Tick, EventFunctionWrapper*> events_;
};

inline EventQueue event_queue;
inline Tick curTick() { return event_queue.now; }

namespace sim_clock {
inline Tick Frequency = 1'000'000'000'000;
}

inline std::vector<std::function<void()>> exit_callbacks;
inline void registerExitCallback(const std::function<void()>& callback) {
  exit_callbacks.push_back(callback);
}

// ---- Statistics

namespace statistics {

namespace units {
struct Unit {};
struct Count : Unit {
  static const Unit* get() { return nullptr; }
};
struct Tick : Unit {
  static const Unit* get() { return nullptr; }
};
struct Unspecified : Unit {
  static const Unit* get() { return nullptr; }
};
template <typename, typename>
struct Rate : Unit {
  static const Unit* get() { return nullptr; }
};
}  // namespace units

class Group {
 public:
  explicit Group(Group* parent, const char* /*name*/ = nullptr) {
    if (parent) parent->children_.push_back(this);
  }
  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  virtual void resetStats() {
    for (const auto& reset : resets_) reset();
    for (Group* const child : children_) child->resetStats();
  }
  virtual void preDumpStats() {
    for (Group* const child : children_) child->preDumpStats();
  }
  void on_reset(std::function<void()> reset) { resets_.push_back(std::move(reset)); }

 private:
  std::vector<Group*> children_;
  std::vector<std::function<void()>> resets_;
};

inline std::map<std::string, double*> scalars;  // by name, of all groups

class Scalar {
 public:
  Scalar(Group* group, const char* name, const units::Unit* /*unit*/, const char* /*description*/) {
    group->on_reset([this] { value_ = 0; });
    scalars[name] = &value_;
  }
  Scalar& operator++() {
    ++value_;
    return *this;
  }
  template <typename T>
  void operator+=(T more) {
    value_ += static_cast<double>(more);
  }
  void operator=(double value) { value_ = value; }
  double value() const { return value_; }

 private:
  double value_ = 0;
};

struct Ratio {};
inline Ratio operator/(const Scalar& /*of*/, const Scalar& /*by*/) { return {}; }
class Formula {
 public:
  Formula(Group* /*group*/, const char* /*name*/, const units::Unit* /*unit*/, const char* /*description*/,
          Ratio /*ratio*/) {}
};

inline constexpr int nozero = 1;
class Vector {
 public:
  Vector(Group* group, const char* /*name*/, const units::Unit* /*unit*/, const char* /*description*/) {
    group->on_reset([this] { values_.assign(values_.size(), 0.0); });
  }
  void init(std::size_t size) { values_.resize(size); }
  void subname(std::size_t /*i*/, const std::string& /*name*/) {}
  void flags(int /*flags*/) {}
  std::size_t size() const { return values_.size(); }
  double& operator[](std::size_t i) { return values_[i]; }

 private:
  std::vector<double> values_;
};

}  // namespace statistics

#define ADD_STAT(name, ...) name(this, #name, __VA_ARGS__)

// ---- Objects

enum class DrainState { Running, Draining, Drained };
struct CheckpointOut {};

class Port {
 public:
  virtual ~Port() = default;
};

using ProbeManager = std::map<std::string, int>;  // how often each point has told

struct SimObjectParams {
  std::string name = "system.object";
};

class SimObject : public statistics::Group {
 public:
  explicit SimObject(const SimObjectParams& params) : Group(nullptr), name_(params.name) {}

  const std::string& name() const { return name_; }
  ProbeManager* getProbeManager() { return &probes_; }
  virtual void init() {}
  virtual void startup() {}
  virtual Port& getPort(const std::string& port, PortID /*index*/) {
    fatal("%s has no port %s", name_, port);
  }
  virtual DrainState drain() { return DrainState::Drained; }
  virtual void drainResume() { drain_state_ = DrainState::Running; }
  virtual void serialize(CheckpointOut& /*checkpoint*/) const {}

  /// What gem5 does of a drain. Whether it is drained.
  bool begin_drain() {
    drain_state_ = drain();
    return drain_state_ == DrainState::Drained;
  }
  DrainState drainState() const { return drain_state_; }
  void signalDrainDone() { drain_state_ = DrainState::Drained; }

 protected:
  void schedule(EventFunctionWrapper& event, Tick when) { event_queue.schedule(event, when); }
  void deschedule(EventFunctionWrapper& event) { event_queue.deschedule(event); }
  void reschedule(EventFunctionWrapper& event, Tick when, bool /*always*/) {
    if (event.scheduled()) event_queue.deschedule(event);
    event_queue.schedule(event, when);
  }

 private:
  std::string name_;
  ProbeManager probes_;
  DrainState drain_state_ = DrainState::Running;
};

class System {
 public:
  unsigned line_bytes = 64;
  bool timing = true;
  RequestorID getRequestorId(const SimObject* /*object*/) { return next_++; }
  unsigned cacheLineSize() const { return line_bytes; }
  bool isTimingMode() const { return timing; }

 private:
  RequestorID next_ = 1;
};

// ---- Output

class OutputStream {
 public:
  std::ostream* stream() { return &text_; }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};
class OutputDirectory {
 public:
  OutputStream* create(const std::string& name) { return &files[name]; }
  void close(OutputStream* /*file*/) {}
  std::string resolve(const std::string& name) const { return name[0] == '/' ? name : folder + name; }
  std::string folder;  // with a / at its end
  std::map<std::string, OutputStream> files;
};
inline OutputDirectory simout;

}  // namespace gem5
