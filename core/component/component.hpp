// A component: a named node of the system that sends and receives messages over its ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "component/port.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"

namespace cxloom {

class Kernel;
class MeasureSink;
class ResourceSink;
struct KindSpec;

/// What a component finds around itself when it is made.
struct ComponentContext {
  Kernel& kernel;
  std::string name;
  NodeId id;
  std::uint64_t seed;
};

class alignas(64) Component : public EventHandler {
 public:
  explicit Component(const ComponentContext& context);
  ~Component() override;

  std::string name() const final { return *name_; }
  NodeId id() const { return id_; }

  // How the builder treats it. Fixed for the life of the component.

  /// It passes on messages for others: routes may lead through it.
  virtual bool forwards() const { return false; }
  /// It is a switch: its ports to other things than switches are edge ports, with PBR identities.
  virtual bool is_switch() const { return false; }
  /// Its ports take messages from its queues when they can (a switch with virtual output queues), instead of
  /// being handed them.
  virtual bool arbitrates() const { return false; }
  /// The kind of arbitration among the queues that want a port; null: they take turns.
  virtual const KindSpec* arbitration() const { return nullptr; }
  /// It works on a message as soon as its head is in (cut-through), instead of waiting for the last byte.
  virtual bool takes_heads() const { return false; }
  /// Time from a message's arrival until `receive` is called for it (a pipeline that delays but never
  /// blocks); the component charges it.
  virtual Time pipeline() const { return Time{}; }
  /// What a message spends here on its way through when nobody else is about: for routes by latency.
  virtual Time transit_time() const { return Time{}; }
  /// What a line of data takes, from its head to its last byte, on a medium that the component has besides
  /// its links: for routes by latency.
  virtual Time line_time() const { return Time{}; }
  /// Properties of its ports, for links that do not say otherwise.
  virtual Time port_delay() const { return Time{}; }
  virtual Bandwidth port_bandwidth() const { return {}; }
  /// Ports at most; 0: any number.
  virtual std::size_t max_ports() const { return 1; }
  /// The parameter that gives it more ports, for the error of too many links; empty: there is none.
  virtual std::string_view ports_key() const { return {}; }
  /// Whether several links may be one port of it (`bundle`).
  virtual bool takes_bundles() const { return true; }

  /// Takes a port when it is connected; the index is the order of the links.
  virtual void attach(Port& port);
  /// Everything is connected and routed: the last chance to prepare.
  virtual void start() {}

  // In a system parts of which fail (docs/model/failures.md).

  /// It finds new ways for messages: links at it may fail.
  virtual bool reroutes() const { return false; }
  /// The routes have changed. `failed`: it has failed itself; it loses what it holds, and what comes.
  virtual void routes_changed(bool /*failed*/) {}
  /// A message that it sent by a port, charged up to now, cannot leave by it: the link there has failed.
  virtual void take_back(Message& message);
  /// A link of it that had been closed works again.
  virtual void link_repaired() {}
  /// A message of a stream to it (delivery_order.hpp) is lost: it may have kept later ones.
  virtual void take_kept(std::uint64_t /*stream*/) {}

  // Measuring.

  /// The measured window opens or closes now; `settle` the counters first.
  virtual void open_window(Time /*now*/) {}
  virtual void close_window(Time /*now*/) {}
  /// Gives its measures by name, those aside that its roles give (roles.hpp).
  virtual void report(MeasureSink&) const {}
  /// Gives what of it can fill up (resource.hpp).
  virtual void resources(ResourceSink&) const {}
  /// Somebody begins, or ends, to watch the messages of its agents: `SystemContext::observer`.
  virtual void watch_protocol(bool /*begins*/) {}
  /// One line on what it is doing, for the diagnosis of a run that cannot finish; empty if idle.
  virtual std::string activity() const { return {}; }

  // For its own parts. What looks into the kernel is inline, in component_time.hpp.

  Kernel& kernel() { return kernel_; }
  const Kernel& kernel() const { return kernel_; }
  inline Time now() const;
  EventSource& source() { return source_; }
  Port& port(std::size_t index) { return *ports_[index]; }
  std::size_t port_count() const { return ports_.size(); }

 protected:
  /// Calls `wake(kind, payload)` at `at`.
  inline void wake_at(Time at, std::uint8_t kind, std::uint64_t payload = 0);

 private:
  // What every message touches is one cache line; what a derived class adds begins with the next one.
  Kernel& kernel_;
  NodeId id_;
  EventSource source_;
  std::vector<Port*> ports_;
  std::unique_ptr<const std::string> name_;
};

}  // namespace cxloom
