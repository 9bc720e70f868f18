// Message classes and opcodes of CXL.cache, CXL.mem and CXL.io, by the specifications' names.
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

/// Opcodes in use: of CXL.mem and CXL.cache (CXL 3.x specification, chapter 3), and of CXL.io, which are
/// packets of PCIe (PCI Express Base Specification, section 2.2).
enum class Opcode : std::uint8_t {
  kMemRd,       ///< M2S Req: read a line
  kMemWr,       ///< M2S RwD: write a line
  kMemData,     ///< S2M DRS: the data of a read
  kCmp,         ///< S2M NDR: a write is complete
  kMemDataNxm,  ///< S2M DRS: the answer to a read that reached no memory

  // Memory whose coherence the device manages (HDM-DB).
  kMemRdData,   ///< M2S Req: read a line into the cache, shared or exclusive as the device chooses
  kMemInv,      ///< M2S Req: ownership of a line without its data
  kMemClnEvct,  ///< M2S Req: a clean line has left the cache
  kCmpS,        ///< S2M NDR: complete, the line is shared
  kCmpE,        ///< S2M NDR: complete, the line is exclusive

  // Memory whose coherence the device manages by bias (HDM-D).
  kMemRdFwd,  ///< M2S Req: the answer to a device that asked for a line of its own memory: the host keeps
              ///< MetaValue of it

  // Back-invalidation: a device asks the host about a line (Blk: two or four lines of an aligned 256 B)
  // before it changes its state.
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
  /// M2S RwD: the host has a request of its own to the line under way, and asks whether it was served
  /// already.
  kBIConflict,
  /// S2M NDR: the answer, behind the Cmp of whatever was served before.
  kBIConflictAck,

  // CXL.cache: of memory whose coherence a host manages.
  kRdCurr,           ///< D2H Req: the current value, for no copy; only data answer
  kRdShared,         ///< D2H Req: a shared copy
  kRdAny,            ///< D2H Req: a copy, shared or exclusive as the host chooses
  kRdOwn,            ///< D2H Req: an exclusive copy
  kRdOwnNoData,      ///< D2H Req: ownership of a line without its data
  kItoMWr,           ///< D2H Req: a write of a whole line, which leaves no copy
  kWrInv,            ///< D2H Req: a write of up to a line, which leaves no copy
  kCleanEvict,       ///< D2H Req: a clean line leaves the cache
  kDirtyEvict,       ///< D2H Req: a modified line leaves the cache
  kRspIHitI,         ///< D2H Rsp: it had no copy
  kRspIHitSE,        ///< D2H Rsp: it has given up a shared or exclusive copy
  kRspSHitSE,        ///< D2H Rsp: it has a shared copy
  kRspVHitV,         ///< D2H Rsp: its copy, which is clean, stays as it is
  kRspIFwdM,         ///< D2H Rsp: it has given up a modified copy, whose data follow
  kRspSFwdM,         ///< D2H Rsp: its modified copy is shared now, and the data follow
  kRspVFwdV,         ///< D2H Rsp: its modified copy stays as it is, and the data follow
  kD2HData,          ///< D2H Data: a line, or what a write changes of it
  kSnpData,          ///< H2D Req: for a shared copy
  kSnpInv,           ///< H2D Req: for an exclusive copy, the device's becomes invalid
  kSnpCur,           ///< H2D Req: for the current value, any state may stay
  kGoI,              ///< H2D Rsp: globally observed, the requester has no copy (GO with RspData invalid)
  kGoS,              ///< H2D Rsp: globally observed, its copy is shared
  kGoE,              ///< H2D Rsp: globally observed, its copy is exclusive
  kWritePull,        ///< H2D Rsp: the data of a write may come
  kGoWritePull,      ///< H2D Rsp: globally observed, and the data may come
  kGoWritePullDrop,  ///< H2D Rsp: globally observed, and the data are not wanted
  kH2DData,          ///< H2D Data: the data of a read

  kMRd,    ///< IO: memory read request
  kMWr,    ///< IO: memory write, posted: nothing answers it
  kCfgRd,  ///< IO: configuration read request
  kCplD,   ///< IO: completion with the data of a read

  // Atomic operations that a memory makes. CXL lists no opcodes for them: these are the model's own.
  kMemAtomic,  ///< M2S RwD: read a part of a line, change it and write it back; S2M DRS brings what was there
  kAtomic,     ///< D2H Req: an atomic operation; the operand is pulled, and H2D Data brings what was there
};

inline constexpr std::size_t kOpcodeCount = 58;
static_assert(kOpcodeCount <= 64, "a set of opcodes is a word");

inline constexpr std::array<std::string_view, kOpcodeCount> kOpcodeNames{"MemRd",
                                                                         "MemWr",
                                                                         "MemData",
                                                                         "Cmp",
                                                                         "MemData-NXM",
                                                                         "MemRdData",
                                                                         "MemInv",
                                                                         "MemClnEvct",
                                                                         "Cmp-S",
                                                                         "Cmp-E",
                                                                         "MemRdFwd",
                                                                         "BISnpCur",
                                                                         "BISnpData",
                                                                         "BISnpInv",
                                                                         "BISnpCurBlk",
                                                                         "BISnpDataBlk",
                                                                         "BISnpInvBlk",
                                                                         "BIRspI",
                                                                         "BIRspS",
                                                                         "BIRspE",
                                                                         "BIRspIBlk",
                                                                         "BIRspSBlk",
                                                                         "BIRspEBlk",
                                                                         "BIConflict",
                                                                         "BI-ConflictAck",
                                                                         "RdCurr",
                                                                         "RdShared",
                                                                         "RdAny",
                                                                         "RdOwn",
                                                                         "RdOwnNoData",
                                                                         "ItoMWr",
                                                                         "WrInv",
                                                                         "CleanEvict",
                                                                         "DirtyEvict",
                                                                         "RspIHitI",
                                                                         "RspIHitSE",
                                                                         "RspSHitSE",
                                                                         "RspVHitV",
                                                                         "RspIFwdM",
                                                                         "RspSFwdM",
                                                                         "RspVFwdV",
                                                                         "D2H-Data",
                                                                         "SnpData",
                                                                         "SnpInv",
                                                                         "SnpCur",
                                                                         "GO-I",
                                                                         "GO-S",
                                                                         "GO-E",
                                                                         "WritePull",
                                                                         "GO_WritePull",
                                                                         "GO_WritePull_Drop",
                                                                         "H2D-Data",
                                                                         "MRd",
                                                                         "MWr",
                                                                         "CfgRd",
                                                                         "CplD",
                                                                         "MemAtomic",
                                                                         "Atomic"};

/// The demand of a CXL.mem request on other caches with its line (SnpType of M2S Req and RwD).
enum class SnpType : std::uint8_t {
  kNoOp,     ///< nothing: the memory is nobody else's, or the requester owns the line
  kSnpData,  ///< that the line be shared
  kSnpCur,   ///< the current value; they may keep the line as it is
  kSnpInv,   ///< that they give it up
};

/// The state of the line that the requester's cache keeps (MetaValue of M2S Req and RwD).
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
    case Opcode::kMemClnEvct:
    case Opcode::kMemRdFwd: return Channel::kM2SReq;
    case Opcode::kMemWr:
    case Opcode::kMemAtomic:
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
    case Opcode::kRdCurr:
    case Opcode::kRdShared:
    case Opcode::kRdAny:
    case Opcode::kRdOwn:
    case Opcode::kRdOwnNoData:
    case Opcode::kItoMWr:
    case Opcode::kWrInv:
    case Opcode::kAtomic:
    case Opcode::kCleanEvict:
    case Opcode::kDirtyEvict: return Channel::kD2HReq;
    case Opcode::kRspIHitI:
    case Opcode::kRspIHitSE:
    case Opcode::kRspSHitSE:
    case Opcode::kRspVHitV:
    case Opcode::kRspIFwdM:
    case Opcode::kRspSFwdM:
    case Opcode::kRspVFwdV: return Channel::kD2HRsp;
    case Opcode::kD2HData: return Channel::kD2HData;
    case Opcode::kSnpData:
    case Opcode::kSnpInv:
    case Opcode::kSnpCur: return Channel::kH2DReq;
    case Opcode::kGoI:
    case Opcode::kGoS:
    case Opcode::kGoE:
    case Opcode::kWritePull:
    case Opcode::kGoWritePull:
    case Opcode::kGoWritePullDrop: return Channel::kH2DRsp;
    case Opcode::kH2DData: return Channel::kH2DData;
    case Opcode::kMRd:
    case Opcode::kMWr:
    case Opcode::kCfgRd:
    case Opcode::kCplD: break;
  }
  return Channel::kIo;
}

/// Whether a value is one of these, by a bit of a word: who works on messages of both kinds in turn cannot
/// foresee it, so that a jump would be wrong half of the time.
template <class Value, class... Values>
constexpr std::uint64_t bit_among(Value value, Values... values) {
  const auto bit = [](Value one) { return std::uint64_t{1} << static_cast<unsigned>(one); };
  return (bit(values) | ...) >> static_cast<unsigned>(value) & 1U;
}
template <class Value, class... Values>
constexpr bool is_among(Value value, Values... values) {
  return bit_among(value, values...) != 0;
}

/// Host to device or peer to peer (M2S, H2D), as opposed to the way back. Of CXL.io the class does not say:
/// see SystemContext::goes_downstream.
constexpr bool is_downstream(Channel channel) {
  return is_among(channel, Channel::kM2SReq, Channel::kM2SRwD, Channel::kM2SBIRsp, Channel::kH2DReq,
                  Channel::kH2DRsp, Channel::kH2DData);
}

/// The answer to a read of memory, with its data.
constexpr bool answers_read(Opcode opcode) { return is_among(opcode, Opcode::kMemData, Opcode::kH2DData); }

/// One if a line or other payload follows the header, else zero. That of a BIConflict is reserved, and so
/// none: docs/model/flit.md.
constexpr std::uint64_t payloads_of(Opcode opcode) {
  return bit_among(opcode, Opcode::kMemWr, Opcode::kMemData, Opcode::kD2HData, Opcode::kH2DData, Opcode::kMWr,
                   Opcode::kCplD, Opcode::kMemAtomic);
}
constexpr bool carries_data(Opcode opcode) { return payloads_of(opcode) != 0; }

}  // namespace cxloom
