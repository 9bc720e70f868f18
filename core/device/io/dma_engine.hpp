// A DMA engine: moves blocks between the memory of its device and system memory by reads and posted writes of
// CXL.io, for streams that share it in turns.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "component/dma_initiator.hpp"
#include "component/endpoint.hpp"
#include "component/transfer_engine.hpp"
#include "device/io/dma_params.hpp"
#include "kernel/distribution.hpp"
#include "kernel/pool.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class ResourceSink;

class DmaEngine final : public Agent, public TransferEngine, private DmaInitiator {
 public:
  /// Hears of its requests.
  class Client {
   public:
    virtual void request_made(const Request& request) = 0;
    /// Its account is charged up to now; it goes back to the pool behind this call.
    virtual void request_ended(Request& request) = 0;
    /// A transfer that was begun at `since` has ended; whoever has begun it hears of it behind this call.
    virtual void transfer_ended(Time since, bool failed) = 0;

   protected:
    ~Client() = default;
  };

  /// Joins the device and declares the role.
  DmaEngine(const DmaParams& params, Endpoint& endpoint, Client& client);

  std::uint32_t streams() const override { return static_cast<std::uint32_t>(streams_.size()); }
  void begin(std::uint32_t stream, Transfer::Way way, Transfer& transfer) override;
  std::uint64_t transfers() const override { return transfers_; }
  Bytes memory() const override { return params_.hbm.capacity; }
  DmaInitiator* dma() override { return this; }

  void check(Address at, std::uint64_t bytes) const override;
  /// Requests without an end.
  std::uint64_t live_requests() const { return requests_.live(); }

  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void resources(ResourceSink& sink) const override;
  /// Gives how many of its tags and credits were in use.
  void report_use(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();
  std::string activity() const override;

 private:
  enum Wake : std::uint8_t { kMemoryHasIt = kTaken, kLaunched, kArrived };

  struct Job {
    Transfer* transfer;
    Transfer::Way way;
    Time since;               // it was begun
    Time ready;               // its launch has ended
    Transfer::Extent rest{};  // of the piece at hand
    bool all_given = false;
    bool failed = false;
    std::uint64_t under_way = 0;  // requests
  };
  /// What it knows of a request, by its index.
  struct UnderWay {
    std::uint32_t stream = 0;
    std::uint32_t left = 0;  // bytes that completions have yet to bring
  };
  struct Use {
    Time start;
    Time end;
  };

  const std::string& host() const override { return params_.host; }
  bool peer_to_peer() const override { return params_.peer_to_peer; }
  void aim(NodeId host, const std::vector<NodeId>& peers) override;
  NodeId host_node() const override { return host_; }
  const std::vector<NodeId>& peer_nodes() const override { return peer_nodes_; }
  Completion completion() const override;
  EventHandler& taken() override { return *this; }
  std::uint64_t ended_requests() const override { return ended_requests_; }
  Kernel& its_kernel() override { return endpoint().kernel(); }

  Time now() const;
  void go_on();
  bool has_room(const Job& job) const {
    return job.way == Transfer::Way::kIn ? tags_.level() < params_.tags : posted_.level() < params_.posted;
  }
  bool make_request(std::uint32_t stream);
  bool has_piece(Job& job);
  void make_request(std::uint32_t stream, Job& job, std::uint16_t bytes);
  std::uint16_t bytes_at_once(const Job& job) const;
  NodeId destination_of(Address at) const;
  Use use_memory(std::uint64_t bytes);
  void finish(Request& request);
  bool end_if_done(std::uint32_t stream);

  DmaParams params_;
  Client& client_;
  NodeId host_;
  std::vector<NodeId> peer_nodes_;
  std::vector<bool> peers_;  // which nodes are peers
  std::vector<std::deque<Job>> streams_;
  std::uint32_t turn_ = 0;  // of a stream
  LevelMonitor tags_;       // of reads whose last data have not come
  LevelMonitor posted_;     // writes that their memory has not taken
  std::uint64_t made_ = 0;
  std::uint64_t transfers_ = 0;
  std::uint64_t ended_requests_ = 0;
  Pool<Request> requests_;
  std::vector<UnderWay> under_way_;
  RateMeter memory_rate_;
  Time memory_free_;
  bool working_ = false;
};

}  // namespace cxloom
