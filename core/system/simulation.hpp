// A running system: components, links, routes and work, driven from outside in slices. It is an object like any other;
// a thousand can live in one process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/requester.hpp"
#include "interconnect/link_end.hpp"
#include "interconnect/topology.hpp"
#include "kernel/kernel.hpp"
#include "memory/byte_store.hpp"
#include "protocol/request_observer.hpp"
#include "system/command_recorder.hpp"
#include "system/sampler.hpp"
#include "system/spec.hpp"
#include "workload/external_feed.hpp"
#include "workload/page_map.hpp"
#include "workload/trace_stream.hpp"

namespace cxloom {

class IoEngine;
class QueuedLinkEnd;
class MemoryOwner;

/// A trace opened by the outside.
struct TraceFeed {
  TraceStream::Refill refill;
  std::optional<std::uint64_t> length;
};

/// Opens the trace of a workload, by the name of its device.
using TraceOpener = std::function<TraceFeed(const std::string& device)>;

class Simulation final : private RequestObserver {
 public:
  struct LinkView {
    std::string name;  ///< "host-bus"
    LinkEnd* forward;
    LinkEnd* backward;
    bool shared;  ///< half duplex
  };
  struct Progress {
    std::uint64_t completed = 0;  ///< requests, warm-up included
    std::optional<std::uint64_t> expected;
    Time now;
    std::uint64_t events = 0;
  };
  enum class State : std::uint8_t { kRunning, kFinished, kStopped };

  /// Builds the system and checks it. Throws InputError with the path of what is wrong. `observer` is told of the
  /// requests that complete inside the measured window.
  Simulation(const Registry& registry, const Spec& spec, const TraceOpener& open_trace,
             RequestObserver& observer);
  ~Simulation() override;

  /// Runs events up to and including `limit`, at most `max_events`; true when the simulation is over. Throws
  /// SimulationError with a diagnosis if it cannot finish.
  bool advance(Time limit, std::uint64_t max_events);
  /// Runs everything that happens up to and including `limit`.
  bool run_until(Time limit) { return advance(limit, ~std::uint64_t{0}); }
  Time next_event_time() { return kernel_.next_event_time(); }

  /// Lets the outside give accesses to a host or accelerator that has no workload; to be called before it runs. Throws
  /// InputError if there is no such device or it has work already.
  ExternalFeed& drive(const std::string& device);
  /// Gives one access to a device that is driven from outside, now; `answered` is called at its completion.
  void inject(const std::string& device, const Access& access, ExternalFeed::Answered answered);
  /// No more accesses will come from outside.
  void close_feeds();
  /// Reads or writes bytes at once, without time passing: for those who need values.
  ByteStore& bytes() { return bytes_; }

  /// Ends it now; `reason` completes "stopped: ...". Closes the window with what there is.
  void stop(const std::string& reason);

  State state() const { return state_; }
  const std::string& stop_reason() const { return stop_reason_; }
  /// What the user should know of the run, a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }
  Progress progress() const;

  /// Shows every event from now on to `watcher`; null ends it.
  void watch(EventWatcher* watcher) { kernel_.watch(watcher); }

  // What there is to look at.
  const Kernel& kernel() const { return kernel_; }
  const Topology& topology() const { return topology_; }
  const RouteTable& routes() const { return fabric_.router->table(); }
  const Router& router() const { return *fabric_.router; }
  const AddressMap& address_map() const { return fabric_.map; }
  const std::vector<std::unique_ptr<Component>>& components() const { return components_; }
  const std::vector<Requester*>& requesters() const { return requesters_; }
  const std::vector<IoEngine*>& io_engines() const { return io_engines_; }
  const std::vector<LinkView>& links() const { return links_; }
  const Spec& spec() const { return spec_; }
  bool window_opened() const { return window_ != Window::kBefore; }
  Time window_start() const { return window_start_; }
  Time window_end() const { return window_end_; }
  std::size_t pbr_ids() const { return pbr_ids_; }
  Sampler* sampler() { return sampler_.get(); }
  /// Null unless the outputs ask for commands.
  CommandRecorder* commands() { return commands_.get(); }

 private:
  enum class Window : std::uint8_t { kBefore, kOpen, kAfter };

  void make_components();
  void aim_io_engines();
  void make_address_map();
  void make_links();
  void make_link(std::size_t index);
  std::unique_ptr<LinkEnd> make_flit_end(const LinkParams& params, const LinkEndSetup& link,
                                         Time credit_delay);
  void check_reachability() const;
  void record_commands();
  void give_work(const TraceOpener& open_trace);
  std::unique_ptr<AccessStream> make_stream(const Spec::Workload& workload, const TraceOpener& open_trace,
                                            Work& work);
  std::unique_ptr<AccessStream> make_pattern(const std::string& device, const std::string& kind,
                                             const Value& params) const;
  Component& component(const std::string& name) const;
  NodeId find_device(const std::string& name) const;

  void measuring_begins(Time now) override;
  void work_ends(Time now) override;
  void completed(const Request& request, Time now) override;
  void written_back(NodeId requester, NodeId target, std::uint64_t bytes) override;

  void open_window(Time now);
  void close_window(Time now);
  void end_io_with_work();
  void cease_io();
  void look_for_livelock();
  void finish();
  std::string diagnosis(const std::string& problem) const;

  const Registry& registry_;
  Spec spec_;
  RequestObserver& observer_;
  Kernel kernel_;
  Fabric fabric_;
  Topology topology_;
  std::map<std::string, NodeId> ids_;
  std::map<std::string, int> link_names_;  // links that would have this name
  std::vector<std::unique_ptr<Component>> components_;
  std::vector<Requester*> requesters_;
  std::vector<IoEngine*> io_engines_;
  std::vector<std::unique_ptr<LinkEnd>> link_ends_;
  std::vector<LinkView> links_;
  PageMap pages_;
  ByteStore bytes_;
  std::map<std::string, std::pair<Requester*, ExternalFeed*>> driven_;
  std::size_t pbr_ids_ = 0;
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<CommandRecorder> commands_;

  State state_ = State::kRunning;
  std::string stop_reason_;
  std::vector<std::string> notes_;
  Window window_ = Window::kBefore;
  Time window_start_;
  Time window_end_;
  std::uint64_t completed_ = 0;
  std::uint64_t events_at_progress_ = 0;  // when the last request completed
};

}  // namespace cxloom
