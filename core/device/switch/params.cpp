#include "device/switch/params.hpp"

#include <string>

#include "base/memory_estimate.hpp"
#include "base/schema.hpp"

namespace cxloom {

void SwitchParams::estimate(const SwitchParams& params, MemoryEstimate& memory) {
  if (params.queueing != Queueing::kOutput) memory.queue_at_ports();
  if (params.persist_buffer) {
    memory.add("persist_buffer.entries", std::to_string(params.persist_buffer->entries),
               params.persist_buffer->entries, PersistBufferParams::kEntryBytes);
  }
}

void SwitchParams::describe(Schema<SwitchParams>& schema) {
  schema.doc("A switch with any number of ports.");
  describe_in(schema);
  schema.field("vcs", &SwitchParams::vcs)
      .default_text("none: all ports belong together")
      .doc(
          "Virtual CXL switches: each joins its upstream port and the devices that are bound to it. A "
          "request to any other device is answered with an error.");
  schema.rule(
      "virtual switches and a persist buffer: a message that the buffer answers is not looked at by the "
      "others",
      [](const SwitchParams& params) { return params.vcs.empty() || !params.persist_buffer; }, "vcs");
}

void SwitchParams::describe_in(Schema<SwitchParams> schema) {
  schema.field("port_bandwidth", &SwitchParams::port_bandwidth)
      .doc(
          "Bytes per second that a port moves in each direction; a link runs at the slowest of its own "
          "bandwidth and those of its ports.");
  schema.field("port_delay", &SwitchParams::port_delay)
      .doc("Time to cross a port, where the link does not say.")
      .source("ESF, Table III: PCIe port delay");
  schema.field("switching_time", &SwitchParams::switching_time)
      .doc("Time from a message's arrival (of its head, in cut-through) until it can leave.")
      .source("ESF, Table III");
  schema
      .choice("forwarding", &SwitchParams::forwarding,
              {{"cut-through", Forwarding::kCutThrough}, {"store-and-forward", Forwarding::kStoreAndForward}})
      .doc("Whether a message goes on when its head is in, or only when its last byte is.");
  schema
      .choice("queueing", &SwitchParams::queueing,
              {{"output", Queueing::kOutput}, {"voq", Queueing::kVirtualOutput}, {"fifo", Queueing::kFifo}})
      .doc(
          "output: ideal queues at the outputs, without limit. voq: virtual output queues at the inputs, "
          "which hold the link's credits. fifo: one queue at each input, whose head blocks the others.");
  schema.field("arbitration", &SwitchParams::arbitration)
      .category("arbitration")
      .doc("Which input a port serves next.");
  schema.field("persist_buffer", &SwitchParams::persist_buffer)
      .default_text("none")
      .doc(
          "A durable buffer, which answers writes to persistent memory (persistence of a region) on their "
          "way. All ways to a line must pass the same buffers.")
      .source("Hadi et al., The Case for Persistent CXL switches, arXiv:2503.04991");
  schema.rule(
      "arbitration other than round-robin needs queues at the inputs: set queueing: voq or fifo",
      [](const SwitchParams& params) {
        return params.arbitration.kind == "round-robin" || params.queueing != Queueing::kOutput;
      },
      "arbitration");
}

}  // namespace cxloom
