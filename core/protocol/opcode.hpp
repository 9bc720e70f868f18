// Message classes and opcodes of CXL.mem and CXL.io, by the specifications' names. CXL.cache has its classes here, so
// that every queue index has room for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cxloom {

/// A message class. Each has a virtual channel of its own, so that requests never block responses.
enum class Channel : std::uint8_t {
  kM2SReq,
  kM2SRwD,
  kM2SBIRsp,
  kS2MNDR,
  kS2MDRS,
  kS2MBISnp,
  kD2HReq,
  kD2HRsp,
  kD2HData,
  kH2DReq,
  kH2DRsp,
  kH2DData,
  kIo,
};

inline constexpr std::size_t kChannelCount = 13;

inline constexpr std::array<std::string_view, kChannelCount> kChannelNames{
    "M2S Req", "M2S RwD",  "M2S BIRsp", "S2M NDR", "S2M DRS",  "S2M BISnp", "D2H Req",
    "D2H Rsp", "D2H Data", "H2D Req",   "H2D Rsp", "H2D Data", "IO"};

/// Opcodes in use: of CXL.mem (CXL 3.x specification, chapter 3), and of CXL.io, which are packets of PCIe (PCI Express
/// Base Specification, section 2.2).
enum class Opcode : std::uint8_t {
  kMemRd,       ///< M2S Req: read a line
  kMemWr,       ///< M2S RwD: write a line
  kMemData,     ///< S2M DRS: the data of a read
  kCmp,         ///< S2M NDR: a write is complete
  kMemDataNxm,  ///< S2M DRS: the answer to a read that reached no memory

  // Of memory whose coherence the device manages (HDM-DB).
  kMemRdData,   ///< M2S Req: read a line into the cache, shared or exclusive as the device chooses
  kMemInv,      ///< M2S Req: ownership of a line without its data
  kMemClnEvct,  ///< M2S Req: a clean line has left the cache
  kCmpS,        ///< S2M NDR: complete, the line is shared
  kCmpE,        ///< S2M NDR: complete, the line is exclusive

  // Back-invalidation: a device asks the host about a line (Blk: two or four lines of an aligned 256 B) before it
  // changes its state.
  kBISnpCur,      ///< S2M BISnp: for the current value, any state may stay
  kBISnpData,     ///< S2M BISnp: for a shared or exclusive copy
  kBISnpInv,      ///< S2M BISnp: for an exclusive copy, the host's becomes invalid
  kBISnpCurBlk,   ///< S2M BISnp
  kBISnpDataBlk,  ///< S2M BISnp
  kBISnpInvBlk,   ///< S2M BISnp
  kBIRspI,        ///< M2S BIRsp: the host holds no copy
  kBIRspS,        ///< M2S BIRsp: it may hold a shared copy
  kBIRspE,        ///< M2S BIRsp: it may hold an exclusive copy
  kBIRspIBlk,     ///< M2S BIRsp
  kBIRspSBlk,     ///< M2S BIRsp
  kBIRspEBlk,     ///< M2S BIRsp
  /// M2S RwD: the host has a request of its own to the line under way, and asks whether it was served already.
  kBIConflict,
  /// S2M NDR: the answer, behind the Cmp of whatever was served before.
  kBIConflictAck,

  kMRd,    ///< IO: memory read request
  kMWr,    ///< IO: memory write, posted: nothing answers it
  kCfgRd,  ///< IO: configuration read request
  kCplD,   ///< IO: completion with the data of a read
};

inline constexpr std::size_t kOpcodeCount = 28;

inline constexpr std::array<std::string_view, kOpcodeCount> kOpcodeNames{
    "MemRd",        "MemWr",       "MemData",        "Cmp",      "MemData-NXM", "MemRdData", "MemInv",
    "MemClnEvct",   "Cmp-S",       "Cmp-E",          "BISnpCur", "BISnpData",   "BISnpInv",  "BISnpCurBlk",
    "BISnpDataBlk", "BISnpInvBlk", "BIRspI",         "BIRspS",   "BIRspE",      "BIRspIBlk", "BIRspSBlk",
    "BIRspEBlk",    "BIConflict",  "BI-ConflictAck", "MRd",      "MWr",         "CfgRd",     "CplD"};

/// What a request of CXL.mem asks of the other caches that hold its line (SnpType of M2S Req and RwD).
enum class SnpType : std::uint8_t {
  kNoOp,     ///< nothing: the memory is nobody else's, or the requester owns the line
  kSnpData,  ///< that the line be shared
  kSnpCur,   ///< the current value; they may keep the line as it is
  kSnpInv,   ///< that they give it up
};

/// What the requester's cache keeps of the line (MetaValue of M2S Req and RwD).
enum class MetaValue : std::uint8_t {
  kInvalid,  ///< nothing
  kAny,      ///< anything: it may be exclusive or modified
  kShared,   ///< a shared copy at most
};

constexpr Channel channel_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kMemRd:
    case Opcode::kMemRdData:
    case Opcode::kMemInv:
    case Opcode::kMemClnEvct: return Channel::kM2SReq;
    case Opcode::kMemWr:
    case Opcode::kBIConflict: return Channel::kM2SRwD;
    case Opcode::kMemData:
    case Opcode::kMemDataNxm: return Channel::kS2MDRS;
    case Opcode::kCmp:
    case Opcode::kCmpS:
    case Opcode::kCmpE:
    case Opcode::kBIConflictAck: return Channel::kS2MNDR;
    case Opcode::kBISnpCur:
    case Opcode::kBISnpData:
    case Opcode::kBISnpInv:
    case Opcode::kBISnpCurBlk:
    case Opcode::kBISnpDataBlk:
    case Opcode::kBISnpInvBlk: return Channel::kS2MBISnp;
    case Opcode::kBIRspI:
    case Opcode::kBIRspS:
    case Opcode::kBIRspE:
    case Opcode::kBIRspIBlk:
    case Opcode::kBIRspSBlk:
    case Opcode::kBIRspEBlk: return Channel::kM2SBIRsp;
    case Opcode::kMRd:
    case Opcode::kMWr:
    case Opcode::kCfgRd:
    case Opcode::kCplD: break;
  }
  return Channel::kIo;
}

/// Host to device or peer to peer (M2S, H2D), as opposed to the way back. Of CXL.io the class does not say: see
/// Fabric::goes_downstream.
constexpr bool is_downstream(Channel channel) {
  switch (channel) {
    case Channel::kM2SReq:
    case Channel::kM2SRwD:
    case Channel::kM2SBIRsp:
    case Channel::kH2DReq:
    case Channel::kH2DRsp:
    case Channel::kH2DData: return true;
    default: return false;
  }
}

/// A line or other payload follows the header. That of a BIConflict is reserved, and so none: docs/model/flit.md.
constexpr bool carries_data(Opcode opcode) {
  return opcode == Opcode::kMemWr || opcode == Opcode::kMemData || opcode == Opcode::kMWr ||
         opcode == Opcode::kCplD;
}

}  // namespace cxloom
