// The parameters of a switch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/memory_estimate.hpp"
#include "base/schema.hpp"
#include "base/units.hpp"
#include "device/switch/persist_params.hpp"
#include "device/switch/virtual_switches.hpp"

namespace cxloom {

enum class Queueing : std::uint8_t {
  kOutput,         ///< a queue at each output, without limit: ideal output queueing
  kVirtualOutput,  ///< at each input a queue per output and class
  kFifo,           ///< at each input a queue per class: its head blocks what is behind it
};

enum class Forwarding : std::uint8_t { kCutThrough, kStoreAndForward };

struct SwitchParams {
  Bandwidth port_bandwidth;
  Time port_delay{25'000};
  Time switching_time{20'000};
  Forwarding forwarding = Forwarding::kCutThrough;
  Queueing queueing = Queueing::kOutput;
  KindSpec arbitration{"round-robin", Value(Value::Map{})};
  std::optional<PersistBufferParams> persist_buffer;
  std::vector<VcsParams> vcs;  ///< of a switch that has them

  static void estimate(const SwitchParams& params, MemoryEstimate& memory) {
    if (params.queueing != Queueing::kOutput) memory.queue_at_ports();
    if (params.persist_buffer) {
      memory.add("persist_buffer.entries", std::to_string(params.persist_buffer->entries),
                 params.persist_buffer->entries, PersistBufferParams::kEntryBytes);
    }
  }
  static void describe(Schema<SwitchParams>& schema) {
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
  /// Declares these in the schema of a device that derives from them.
  template <class Params>
  static void describe_in(Schema<Params>& schema) {
    schema.field("port_bandwidth", &Params::port_bandwidth)
        .doc(
            "Bytes per second that a port moves in each direction; a link runs at the slowest of its own "
            "bandwidth and those of its ports.");
    schema.field("port_delay", &Params::port_delay)
        .doc("Time to cross a port, where the link does not say.")
        .source("ESF, Table III: PCIe port delay");
    schema.field("switching_time", &Params::switching_time)
        .doc("Time from a message's arrival (of its head, in cut-through) until it can leave.")
        .source("ESF, Table III");
    schema
        .choice(
            "forwarding", &Params::forwarding,
            {{"cut-through", Forwarding::kCutThrough}, {"store-and-forward", Forwarding::kStoreAndForward}})
        .doc("Whether a message goes on when its head is in, or only when its last byte is.");
    schema
        .choice("queueing", &Params::queueing,
                {{"output", Queueing::kOutput}, {"voq", Queueing::kVirtualOutput}, {"fifo", Queueing::kFifo}})
        .doc(
            "output: ideal queues at the outputs, without limit. voq: virtual output queues at the inputs, "
            "which hold the link's credits. fifo: one queue at each input, whose head blocks the others.");
    schema.field("arbitration", &Params::arbitration)
        .category("arbitration")
        .doc("Which input a port serves next.");
    schema.field("persist_buffer", &Params::persist_buffer)
        .default_text("none")
        .doc(
            "A durable buffer, which answers writes to persistent memory (persistence of a region) on their "
            "way. All ways to a line must pass the same buffers.")
        .source("Hadi et al., The Case for Persistent CXL switches, arXiv:2503.04991");
    schema.rule(
        "arbitration other than round-robin needs queues at the inputs: set queueing: voq or fifo",
        [](const Params& params) {
          return params.arbitration.kind == "round-robin" || params.queueing != Queueing::kOutput;
        },
        "arbitration");
  }
};

}  // namespace cxloom
