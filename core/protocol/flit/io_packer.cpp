#include "protocol/flit/io_packer.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace cxloom {
namespace {

constexpr std::uint32_t kFramingToken = 4;
constexpr std::uint32_t kLinkCrc = 4;

}  // namespace

std::uint32_t io_header_bytes(Opcode opcode) {
  constexpr std::uint32_t kDoubleWord = 4;
  switch (opcode) {
    case Opcode::kMRd:
    case Opcode::kMWr: return 4 * kDoubleWord;
    case Opcode::kCfgRd:
    case Opcode::kCplD: return 3 * kDoubleWord;
    default: throw InternalError("a packet of CXL.io that is none");
  }
}

std::uint32_t io_packet_bytes(FlitMode mode, Opcode opcode, std::uint32_t payload_bytes) {
  const std::uint32_t packet = (io_header_bytes(opcode) + payload_bytes + 3) / 4 * 4;
  return mode == FlitMode::k68B ? kFramingToken + packet + kLinkCrc : packet;
}

std::uint32_t io_bytes_before_payload(FlitMode mode, Opcode opcode) {
  return io_header_bytes(opcode) + (mode == FlitMode::k68B ? kFramingToken : 0);
}

void IoPacker::pack(std::span<const std::uint32_t> waiting, Flit& flit) {
  flit.mode = mode_;
  flit.kind = FlitKind::kIo;
  flit.slots = flit.message_count = flit.end_count = 0;
  flit.slots_of = {};
  flit.io_begun = flit.io_ended = 0;
  std::uint32_t room = geometry(mode_).io_bytes;
  std::size_t next = 0;
  while (room > 0) {
    if (bytes_left_ == 0) {
      if (next == waiting.size()) break;
      bytes_left_ = waiting[next++];
      ensure(bytes_left_ > 0, "a CXL.io packet without bytes");
      ++flit.io_begun;
    }
    const std::uint32_t take = std::min(bytes_left_, room);
    bytes_left_ -= take;
    room -= take;
    if (bytes_left_ == 0) ++flit.io_ended;
  }
  flit.io_bytes = static_cast<std::uint16_t>(geometry(mode_).io_bytes - room);
}

}  // namespace cxloom
