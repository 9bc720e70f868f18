// The parameters of a DMA engine: its requests, how they are completed, and the memory of its device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/parameters.hpp"
#include "base/schema.hpp"
#include "base/units.hpp"

namespace cxloom {

/// The memory of a device at which copies begin and end.
struct DeviceMemoryParams {
  Bytes capacity{24ULL << 30U};
  Bandwidth bandwidth{Rate::per_time(600, 1000)};
  Time latency{300'000};

  static void describe(Schema<DeviceMemoryParams>& schema);
};

struct DmaParams {
  std::string host;
  bool peer_to_peer = false;
  std::uint32_t streams = 1;
  Time launch_time{5'800'000};
  Bytes max_payload{256};
  Bytes max_read_request{512};
  std::optional<Bytes> completion;
  std::uint32_t tags = 256;
  std::uint32_t posted = 127;
  std::uint32_t lines_at_completer = 512;
  DeviceMemoryParams hbm;

  /// Declares these in the schema of a device that has them.
  template <class Params>
  static void describe_in(Schema<Params>& schema);
};

/// The sizes of packets that are allowed.
inline constexpr const char* kPowerOfTwo = "a power of two";

template <class Params>
void DmaParams::describe_in(Schema<Params>& schema) {
  schema.field("host", &Params::host)
      .default_text("the only host")
      .doc("Name of the host whose root complex completes its requests.");
  schema.field("peer_to_peer", &Params::peer_to_peer)
      .doc(
          "Sends requests to a memory itself where a way leads there that passes no host, as CXL 3.x lets "
          "devices do. Otherwise all go to the host, which accesses the memory (CXL 1.1).")
      .source("CXL 3.x: direct peer-to-peer access to HDM by unordered I/O");
  schema.field("streams", &Params::streams)
      .min(1)
      .max(64)
      .doc(
          "Queues of copies. Those of one are made one after the other; streams share the engine in turns, a "
          "request each.");
  schema.field("launch_time", &Params::launch_time)
      .doc("Time from the call of a copy until its first request can be made; calls overlap.")
      .source(
          "a call of cudaMemcpy of a few bytes takes 6 to 7 us, its request included: gdrcopy fcec3ce (5 to "
          "7 us: arXiv 2602.21548). 6.5 us less 0.7 us of the request on PCIe 4.0");
  schema.field("max_payload", &Params::max_payload)
      .min(Bytes{128})
      .max(Bytes{4096})
      .where(kIsPowerOfTwo, kPowerOfTwo)
      .doc("Most bytes of a write (MPS).")
      .source("PCI Express Base Specification: 128 B to 4 KiB; root complexes commonly take 256 B");
  schema.field("max_read_request", &Params::max_read_request)
      .min(Bytes{128})
      .max(Bytes{4096})
      .where(kIsPowerOfTwo, kPowerOfTwo)
      .doc("Most bytes that a read asks for (MRRS).")
      .source("PCI Express Base Specification: 128 B to 4 KiB, by default 512 B");
  schema.field("completion", &Params::completion)
      .min(Bytes{64})
      .max(Bytes{4096})
      .where(kIsPowerOfTwo, kPowerOfTwo)
      .default_text("max_payload")
      .doc(
          "Most bytes of a completion: the data of a read come in pieces that end at multiples of it, in the "
          "order of their addresses.")
      .source("PCI Express Base Specification, 2.3.1.1: from the read completion boundary, 64 B, to MPS");
  schema.field("tags", &Params::tags)
      .min(1)
      .max(16384)
      .doc("Reads under way at the same time.")
      .source("PCI Express Base Specification: tags of 8 bits; 10 and 14 where both ends know them");
  schema.field("posted", &Params::posted)
      .min(1)
      .max(16384)
      .doc("Writes that their memory has not taken, at the same time.")
      .source("127 credits for headers of posted requests without scaled flow control (2.6.1)");
  schema.field("lines_at_completer", &Params::lines_at_completer)
      .min(1)
      .max(65536)
      .doc("Lines of its requests that a completer (the host, or a memory) accesses at the same time.")
      .source("assumed: enough for 64 GB/s at 500 ns");
  schema.field("hbm", &Params::hbm).doc("The memory of the device.");
  schema.rule(
      "a completion has at most the bytes of max_payload",
      [](const Params& params) { return !params.completion || *params.completion <= params.max_payload; },
      "completion");
}

}  // namespace cxloom
