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
#define DPRINTF(...) ((void)0)

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

struct SimObjectParams {
  std::string name = "system.object";
};

class SimObject : public statistics::Group {
 public:
  explicit SimObject(const SimObjectParams& params) : Group(nullptr), name_(params.name) {}

  const std::string& name() const { return name_; }
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
  DrainState drain_state_ = DrainState::Running;
};

class System {
 public:
  unsigned line_bytes = 64;
  RequestorID getRequestorId(const SimObject* /*object*/) { return next_++; }
  unsigned cacheLineSize() const { return line_bytes; }

 private:
  RequestorID next_ = 1;
};

// ---- Packets

class MemCmd {
 public:
  enum Command {
    ReadReq,
    WriteReq,
    WritebackDirty,
    WritebackClean,
    WriteClean,
    CleanEvict,
    UpgradeReq,
    ReadExReq,
    ReadSharedReq,
    CleanSharedReq,
    Response,
  };
  MemCmd(Command command) : command_(command) {}
  bool operator==(MemCmd other) const { return command_ == other.command_; }
  bool in(std::initializer_list<Command> commands) const {
    for (const Command each : commands)
      if (each == command_) return true;
    return false;
  }

 private:
  Command command_;
};

class Request {
 public:
  Request(Addr address, unsigned bytes, int /*flags*/, RequestorID /*requestor*/)
      : address_(address), bytes_(bytes) {}
  bool uncacheable = false;
  bool isUncacheable() const { return uncacheable; }
  Addr address() const { return address_; }
  unsigned bytes() const { return bytes_; }

 private:
  Addr address_;
  unsigned bytes_;
};
using RequestPtr = std::shared_ptr<Request>;

class Packet {
 public:
  struct SenderState {
    virtual ~SenderState() = default;
    SenderState* before = nullptr;
  };

  Packet(const RequestPtr& request, MemCmd command) : cmd(command), req(request) {}
  Packet(const RequestPtr& request, MemCmd command, unsigned /*bytes*/) : Packet(request, command) {}

  MemCmd cmd;
  RequestPtr req;
  Tick headerDelay = 0;
  Tick payloadDelay = 0;
  SenderState* senderState = nullptr;
  bool pending_below = false;  // as caches above are told by an MSHR below

  Addr getAddr() const { return req->address(); }
  unsigned getSize() const { return req->bytes(); }
  Addr getBlockAddr(unsigned bytes) const { return getAddr() / bytes * bytes; }
  std::string print() const { return "a packet"; }

  bool isResponse() const { return cmd == MemCmd::Response; }
  bool isRead() const { return cmd.in({MemCmd::ReadReq, MemCmd::ReadExReq, MemCmd::ReadSharedReq}); }
  bool isWrite() const {
    return cmd.in({MemCmd::WriteReq, MemCmd::WritebackDirty, MemCmd::WritebackClean, MemCmd::WriteClean});
  }
  bool isEviction() const {
    return cmd.in({MemCmd::WritebackDirty, MemCmd::WritebackClean, MemCmd::CleanEvict});
  }
  bool isUpgrade() const { return cmd == MemCmd::UpgradeReq; }
  bool isClean() const { return cmd == MemCmd::CleanSharedReq; }
  bool needsWritable() const { return cmd.in({MemCmd::WriteReq, MemCmd::UpgradeReq, MemCmd::ReadExReq}); }
  bool needsResponse() const { return !isResponse() && !isEviction() && !(cmd == MemCmd::WriteClean); }
  bool fromCache() const { return !cmd.in({MemCmd::ReadReq, MemCmd::WriteReq}); }
  void makeResponse() { cmd = MemCmd::Response; }

  bool cacheResponding() const { return responding_; }
  void setCacheResponding() { responding_ = true; }
  bool isExpressSnoop() const { return express_; }
  void setExpressSnoop() { express_ = true; }
  bool hasSharers() const { return sharers_; }
  void setHasSharers() { sharers_ = true; }
  bool isBlockCached() const { return cached_; }
  void setBlockCached() { cached_ = true; }

  void allocate() { own_.resize(getSize()); }
  void dataStatic(std::uint8_t* data) { data_ = data; }
  template <typename T>
  T* getPtr() {
    if (own_.empty() && !data_) allocate();
    return data_ ? data_ : own_.data();
  }
  bool trySatisfyFunctional(Packet* /*other*/) { return false; }
  void pushLabel(const std::string& /*label*/) {}
  void popLabel() {}

  void pushSenderState(SenderState* state) {
    state->before = senderState;
    senderState = state;
  }
  SenderState* popSenderState() { return std::exchange(senderState, senderState->before); }

 private:
  bool responding_ = false;
  bool express_ = false;
  bool sharers_ = false;
  bool cached_ = false;
  std::vector<std::uint8_t> own_;
  std::uint8_t* data_ = nullptr;
};
using PacketPtr = Packet*;

// ---- Ports

struct AddrRange {
  Addr start = 0;
  Addr size = 0;
};
using AddrRangeList = std::vector<AddrRange>;

class ResponsePort;

class RequestPort : public Port {
 public:
  explicit RequestPort(const std::string& /*name*/) {}
  void bind(ResponsePort& peer);
  bool isConnected() const { return peer_ != nullptr; }
  bool sendTimingReq(PacketPtr packet);
  void sendRetryResp();

 protected:
  friend class ResponsePort;
  virtual bool recvTimingResp(PacketPtr packet) = 0;
  virtual void recvReqRetry() = 0;
  virtual void recvTimingSnoopReq(PacketPtr /*packet*/) {}
  virtual Tick recvAtomicSnoop(PacketPtr /*packet*/) { return 0; }
  virtual void recvFunctionalSnoop(PacketPtr /*packet*/) {}
  ResponsePort* peer_ = nullptr;
};

class ResponsePort : public Port {
 public:
  explicit ResponsePort(const std::string& /*name*/) {}
  bool isConnected() const { return peer_ != nullptr; }
  void sendRangeChange() {}
  bool sendTimingResp(PacketPtr packet) { return peer_->recvTimingResp(packet); }
  void sendTimingSnoopReq(PacketPtr packet) { peer_->recvTimingSnoopReq(packet); }
  Tick sendAtomicSnoop(PacketPtr packet) { return peer_->recvAtomicSnoop(packet); }
  void sendFunctionalSnoop(PacketPtr packet) { peer_->recvFunctionalSnoop(packet); }
  void sendRetryReq() { peer_->recvReqRetry(); }

  virtual AddrRangeList getAddrRanges() const = 0;
  virtual bool recvTimingReq(PacketPtr packet) = 0;
  virtual bool recvTimingSnoopResp(PacketPtr /*packet*/) { return true; }
  virtual void recvRespRetry() = 0;
  virtual Tick recvAtomic(PacketPtr packet) = 0;
  virtual void recvFunctional(PacketPtr packet) = 0;
  virtual bool tryTiming(PacketPtr /*packet*/) { return true; }

 private:
  friend class RequestPort;
  RequestPort* peer_ = nullptr;
};

inline void RequestPort::bind(ResponsePort& peer) {
  peer_ = &peer;
  peer.peer_ = this;
}
inline bool RequestPort::sendTimingReq(PacketPtr packet) { return peer_->recvTimingReq(packet); }
inline void RequestPort::sendRetryResp() { peer_->recvRespRetry(); }

// ---- Memory

namespace memory {

class AbstractMemory : public SimObject {
 public:
  struct Params : SimObjectParams {
    AddrRange range;
  };
  explicit AbstractMemory(const Params& params)
      : SimObject(params), range_(params.range), bytes_(params.range.size) {}

  Addr start() const { return range_.start; }
  Addr size() const { return range_.size; }
  AddrRange getAddrRange() const { return range_; }
  std::uint8_t* at(Addr address) { return &bytes_.at(address - range_.start); }

  void access(PacketPtr packet) {
    if (packet->cmd.in({MemCmd::CleanEvict, MemCmd::WritebackClean})) return;
    copy(packet);
    if (packet->needsResponse()) packet->makeResponse();
  }
  void functionalAccess(PacketPtr packet) {
    copy(packet);
    packet->makeResponse();
  }

 private:
  void copy(PacketPtr packet) {
    if (packet->isWrite())
      std::memcpy(at(packet->getAddr()), packet->getPtr<std::uint8_t>(), packet->getSize());
    if (packet->isRead())
      std::memcpy(packet->getPtr<std::uint8_t>(), at(packet->getAddr()), packet->getSize());
  }

  AddrRange range_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace memory

/// A request that waits below: the caches above are told, and its upgrade becomes a read where a snoop takes
/// the copy.
class MSHR {
 public:
  explicit MSHR(const std::string& /*name*/) {}
  void allocate(Addr /*line*/, unsigned /*bytes*/, PacketPtr packet, Tick /*when*/, Counter /*order*/,
                bool /*fill*/) {
    if (packet_) fatal("an MSHR is taken twice");
    packet_ = packet;
    packet_->pending_below = true;
  }
  bool handleSnoop(PacketPtr snoop, Counter /*order*/) {
    if (snoop->needsWritable() && packet_->cmd == MemCmd::UpgradeReq) packet_->cmd = MemCmd::ReadExReq;
    return false;
  }
  void markInService(bool /*pending_modified*/) { packet_->pending_below = false; }
  void popTarget() {}
  void deallocate() { packet_ = nullptr; }

 private:
  PacketPtr packet_ = nullptr;
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
  std::map<std::string, OutputStream> files;
};
inline OutputDirectory simout;

// ---- Parameters, as gem5 makes them from CxlPath.py

namespace cxl {
class Path;
class Fabric;
class BackingMemory;
}  // namespace cxl

struct CxlPathParams : SimObjectParams {};
struct CxlDelayParams : CxlPathParams {
  Tick shortest = 100'000;
  Tick longest = 100'000;
  Tick snoop_interval = 0;
  unsigned snooped_lines = 64;
};
struct CxlFabricParams : CxlPathParams {
  std::string spec;
  std::vector<std::string> plugins;
  std::vector<std::string> measures;
  std::string summary = "cxl.json";
};
using CxlMemoryParams = memory::AbstractMemory::Params;
struct CxlHostParams : SimObjectParams {
  cxl::Path* fabric = nullptr;
  cxl::BackingMemory* memory = nullptr;
  System* system = nullptr;
  std::string device = "host";
  Addr offset = 0;
  bool shares = false;
};
struct CxlMediumParams : SimObjectParams {
  cxl::Fabric* fabric = nullptr;
  std::string device = "mem";
  System* system = nullptr;
};

}  // namespace gem5
