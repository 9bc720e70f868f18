#include "protocol/flit/io_packer.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"

namespace cxloom {
namespace {

TEST(IoPacker, PacketsHaveTheirBytesOnTheWire) {
  // Four double words of header with a 64-bit address, three without; non-flit framing costs 8 B, flit mode
  // none.
  EXPECT_EQ(io_packet_bytes(FlitMode::k68B, Opcode::kMWr, 64), 88U);
  EXPECT_EQ(io_packet_bytes(FlitMode::k256B, Opcode::kMWr, 64), 80U);
  EXPECT_EQ(io_packet_bytes(FlitMode::k256B, Opcode::kMRd, 0), 16U);
  EXPECT_EQ(io_packet_bytes(FlitMode::k68B, Opcode::kCfgRd, 0), 20U);
  EXPECT_EQ(io_packet_bytes(FlitMode::k256B, Opcode::kCfgRd, 0), 12U);
  EXPECT_EQ(io_packet_bytes(FlitMode::k256B, Opcode::kCplD, 64), 76U);
  EXPECT_EQ(io_packet_bytes(FlitMode::k256B, Opcode::kCplD, 1), 16U);  // whole double words
  EXPECT_THROW(io_packet_bytes(FlitMode::k256B, Opcode::kMemRd, 0), InternalError);
}

TEST(IoPacker, PacketsRunOnOverFlits) {
  Flit flit;
  IoPacker packer(FlitMode::k68B);
  const std::vector<std::uint32_t> packets{88, 20, 20};
  packer.pack(packets, flit);  // 64 of 88
  EXPECT_EQ(flit.io_bytes, 64);
  EXPECT_EQ(flit.io_begun, 1);
  EXPECT_EQ(flit.io_ended, 0);
  EXPECT_TRUE(packer.must_continue());
  packer.pack(std::span(packets).subspan(1), flit);  // 24, 20, 20
  EXPECT_EQ(flit.io_bytes, 64);
  EXPECT_EQ(flit.io_begun, 2);
  EXPECT_EQ(flit.io_ended, 3);
  EXPECT_FALSE(packer.must_continue());
  EXPECT_FALSE(flit.carries_credits());
}

TEST(IoPacker, ALonePacketGoesAtOnce) {
  for (const auto& [mode, room] : {std::pair{FlitMode::k68B, 64},
                                   {FlitMode::k256B, 236},
                                   {FlitMode::k256BLo, 232},
                                   {FlitMode::k256BPbr, 236}}) {
    Flit flit;
    IoPacker packer(mode);
    const std::vector<std::uint32_t> one{20};
    packer.pack(one, flit);
    EXPECT_EQ(flit.io_bytes, 20);
    EXPECT_EQ(flit.io_ended, 1);
    const std::vector<std::uint32_t> large{1040};  // saturated: every byte of the flit
    packer.pack(large, flit);
    EXPECT_EQ(flit.io_bytes, room);
  }
}

TEST(IoPacker, NoByteIsLost) {
  for (const FlitMode mode : {FlitMode::k68B, FlitMode::k256B, FlitMode::k256BLo}) {
    RandomStream random(7, "io", "sizes");
    IoPacker packer(mode);
    std::deque<std::uint32_t> queue;
    std::uint64_t bytes = 0;
    std::uint64_t sent = 0;
    std::uint64_t begun = 0;
    std::uint64_t ended = 0;
    for (unsigned i = 0; i < 5000 || !queue.empty() || packer.must_continue(); ++i) {
      if (i < 5000 && random.below(2) == 0) {
        queue.push_back(static_cast<std::uint32_t>(4 * (3 + random.below(260))));
        bytes += queue.back();
      }
      const std::vector<std::uint32_t> waiting(queue.begin(), queue.end());
      Flit flit;
      packer.pack(waiting, flit);
      queue.erase(queue.begin(), queue.begin() + flit.io_begun);
      sent += flit.io_bytes;
      begun += flit.io_begun;
      ended += flit.io_ended;
      ASSERT_LE(ended, begun);
      ASSERT_EQ(packer.must_continue(), begun > ended);
    }
    EXPECT_EQ(sent, bytes);
    EXPECT_EQ(begun, ended);
  }
}

TEST(IoPacker, RefusesAPacketWithoutBytes) {
  Flit flit;
  const std::vector<std::uint32_t> none{0};
  EXPECT_THROW(IoPacker(FlitMode::k68B).pack(none, flit), InternalError);
}

}  // namespace
}  // namespace cxloom
