// The agent that answers CXL.io, a completer in PCIe's words: it takes posted writes and completes reads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.hpp"
#include "component/endpoint.hpp"
#include "component/io_record.hpp"
#include "component/io_roles.hpp"
#include "device/io/dma_completer.hpp"

namespace cxloom {

class IoCompleter final : public Agent, public IoTarget {
 public:
  IoCompleter(Time io_time, Endpoint& endpoint) : Agent(endpoint), io_time_(io_time) {
    endpoint.system_context().roles.declare<IoTarget>(endpoint, endpoint.id(), *this);
  }

  const IoRecord& expect_io(NodeId initiator) override;
  void expect_dma(NodeId initiator, DmaInitiator& engine) override;
  /// Throws InternalError for a posted write that is not of `SystemContext::posted`.
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  struct Events {
    explicit Events(Kernel& kernel);
    EventSource source;
  };

  /// An initiator that sends here.
  struct Sender {
    IoRecord posted;
    Kernel* kernel = nullptr;
    EventHandler* credits = nullptr;  // none: it counts none
  };

  void take_posted(Message& message);

  Time io_time_;
  std::vector<std::unique_ptr<Sender>> senders_;  // by node; of most none
  std::unique_ptr<Events> events_;                // none: no CXL.io comes here
  std::unique_ptr<DmaCompleter> dma_;             // none: no DMA does
};

}  // namespace cxloom
