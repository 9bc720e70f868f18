// The agent that completes DMA requests: it makes accesses of lines of them, at the memories of the address
// map, with a bounded number under way. At a host it is the root complex; at a memory it serves what is homed
// there.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "component/dma_initiator.hpp"
#include "component/endpoint.hpp"
#include "kernel/pool.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class DmaCompleter final : public Agent {
 public:
  /// Joins the device, in front of who takes CXL.io and answers of memory there. `io_time`: from the arrival
  /// of a request until its memory is accessed, in a pipeline.
  DmaCompleter(Time io_time, Endpoint& endpoint);

  /// Requests of that node will come: to be called before the simulation starts.
  void expect(NodeId initiator, DmaInitiator& engine);
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  bool acts_later() const override { return true; }
  std::string activity() const override;

 private:
  /// Lines that a request of 4 KiB touches at most.
  static constexpr std::size_t kMostLines = 65;
  /// The tags of its accesses, among those of other agents of the device.
  static constexpr std::uint32_t kOwn = 1U << 31U;
  struct Sender;

  /// A DMA request.
  struct Job {
    Job* next = nullptr;
    Message* message = nullptr;  // its requester's
    Sender* sender = nullptr;
    Time flight;               // of the way here
    std::uint32_t lines = 0;   // of which
    std::uint32_t begun = 0;   // have been accessed,
    std::uint32_t undone = 0;  // are not answered,
    std::uint32_t sent = 0;    // of a read: have left in a completion
    std::bitset<kMostLines> answered;
    std::bitset<kMostLines> failed;
  };
  /// A line under way.
  struct Line {
    Job* job = nullptr;
    std::uint32_t number = 0;
  };
  /// An engine that sends here. Its requests are worked on in the order in which they come.
  struct Sender {
    NodeId node;
    DmaInitiator* engine = nullptr;
    DmaInitiator::Completion completion;
    Job* first = nullptr;  // with lines that are not begun
    Job* last = nullptr;
    std::uint32_t under_way = 0;  // lines
  };

  Time now() const;
  Sender* sender_of(const Message& message) const {
    const std::size_t node = message.source.index();
    return node < senders_.size() ? senders_[node].get() : nullptr;
  }
  void take(Message& message, Sender& sender);
  void access_lines(Sender& sender);
  void access(Job& job);
  void send(Request& line, const Sender& sender);
  void answered(Message& message);
  void complete_in_order(Job& job, const Request& latest);
  void complete_part(const Job& job, std::uint32_t end, const Request& latest);
  void end_write(Job& job, const Request& latest);
  /// The bytes of a job's line: from where, how many.
  static Address begin_of(const Message& message, std::uint32_t line);
  static std::uint16_t bytes_of(const Message& message, std::uint32_t line);

  Time io_time_;
  std::array<Agent*, kChannelCount> behind_{};    // agents of what is not its own
  std::vector<std::unique_ptr<Sender>> senders_;  // by node; of most none
  Pool<Job> jobs_;
  Pool<Request> lines_;
  std::vector<Line> line_of_;  // by the index of its request
};

}  // namespace cxloom
