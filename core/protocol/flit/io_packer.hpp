// CXL.io in flits of its own: transaction layer packets (TLPs) one behind the other, over flits, as PCIe
// sends them.
#pragma once

#include <cstdint>
#include <span>

#include "protocol/flit/flit.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

/// Bytes of a TLP's header (PCI Express Base 5.0, section 2.2): memory requests with 64-bit addresses four
/// double words, configuration requests and completions three. Throws InternalError for other protocols than
/// CXL.io.
std::uint32_t io_header_bytes(Opcode opcode);

/// Bytes of a TLP on the wire: header and payload, rounded up to 4 B; with 68B flits, which carry PCIe's
/// non-flit framing, also the 4 B framing token with the sequence number and the 4 B link CRC.
std::uint32_t io_packet_bytes(FlitMode mode, Opcode opcode, std::uint32_t payload_bytes);
/// The bytes of a TLP before its payload.
std::uint32_t io_bytes_before_payload(FlitMode mode, Opcode opcode);

class IoPacker {
 public:
  explicit IoPacker(FlitMode mode) : mode_(mode) {}

  /// Fills the next flit with the packet under way and then with the packets that wait, whose bytes on the
  /// wire are `waiting`, oldest first. Takes as many of them as fit or begin: `flit.io_begun` of them are
  /// gone from the queue, and `flit.io_ended`, the oldest ones under way, are complete with this flit.
  /// Packets that follow at once share a flit; otherwise the rest of it is padding.
  void pack(std::span<const std::uint32_t> waiting, Flit& flit);

  /// A packet is under way, so that another flit must follow.
  bool must_continue() const { return bytes_left_ > 0; }

 private:
  FlitMode mode_;
  std::uint32_t bytes_left_ = 0;  // of the packet under way
};

}  // namespace cxloom
