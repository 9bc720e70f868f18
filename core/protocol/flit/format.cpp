#include "protocol/flit/format.hpp"

namespace cxloom {
namespace {

using enum Channel;

// --- slot formats ---------------------------------------------------------------------------------
// Down (H2D, M2S) and up (D2H, S2M) together: the direction of a wire says whose formats a code means, and
// peer-to-peer traffic brings each class into either.

constexpr SlotFormat k68BHeader[] = {
    {"H0", {{{kH2DReq, 1}, {kH2DRsp, 1}}}},
    {"H1", {{{kH2DData, 1}, {kH2DRsp, 2}}}},
    {"H2", {{{kH2DReq, 1}, {kH2DData, 1}}}},
    {"H3", {{{kH2DData, 4}}}},
    {"H4", {{{kM2SRwD, 1}}}},
    {"H5", {{{kM2SReq, 1}}}},
    {"H0", {{{kD2HData, 1}, {kD2HRsp, 2}, {kS2MNDR, 1}}}},
    {"H1", {{{kD2HReq, 1}, {kD2HData, 1}}}},
    {"H2", {{{kD2HData, 4}, {kD2HRsp, 1}}}},
    {"H3", {{{kS2MDRS, 1}, {kS2MNDR, 1}}}},
    {"H4", {{{kS2MNDR, 2}}}},
    {"H5", {{{kS2MDRS, 2}}}},
};

constexpr SlotFormat k68BGeneric[] = {
    {"G1", {{{kH2DRsp, 4}}}},
    {"G2", {{{kH2DReq, 1}, {kH2DData, 1}, {kH2DRsp, 1}}}},
    {"G3", {{{kH2DData, 4}, {kH2DRsp, 1}}}},
    {"G4", {{{kM2SReq, 1}, {kH2DData, 1}}}},
    {"G5", {{{kM2SRwD, 1}, {kH2DRsp, 1}}}},
    {"G1", {{{kD2HReq, 1}, {kD2HRsp, 2}}}},
    {"G2", {{{kD2HReq, 1}, {kD2HData, 1}, {kD2HRsp, 1}}}},
    {"G3", {{{kD2HData, 4}}}},
    {"G4", {{{kS2MDRS, 1}, {kS2MNDR, 2}}}},
    {"G5", {{{kS2MNDR, 2}}}},
    {"G6", {{{kS2MDRS, 3}}}},
};

constexpr SlotFormat k256BHeader[] = {
    {"H0", {{{kH2DReq, 1}}}},   {"H1", {{{kH2DRsp, 2}}}},  {"H2", {{{kD2HReq, 1}, {kD2HRsp, 1}}}},
    {"H3", {{{kD2HRsp, 4}}}},   {"H4", {{{kM2SReq, 1}}}},  {"H5", {{{kM2SBIRsp, 2}}}},
    {"H6", {{{kS2MBISnp, 1}}}}, {"H7", {{{kS2MNDR, 2}}}},  {"H12", {{{kH2DData, 3}}}},
    {"H13", {{{kD2HData, 4}}}}, {"H14", {{{kM2SRwD, 1}}}}, {"H15", {{{kS2MDRS, 2}}}},
};

constexpr SlotFormat k256BSecondHeader[] = {
    {"HS0", {{{kH2DReq, 1}}}},   {"HS1", {{{kH2DRsp, 2}}}},        {"HS2", {{{kD2HReq, 1}}}},
    {"HS3", {{{kD2HRsp, 3}}}},   {"HS4", {{{kM2SReq, 1}}}, true},  {"HS5", {{{kM2SBIRsp, 2}}}},
    {"HS6", {{{kS2MBISnp, 1}}}}, {"HS7", {{{kS2MNDR, 2}}}},        {"HS12", {{{kH2DData, 3}}}},
    {"HS13", {{{kD2HData, 3}}}}, {"HS14", {{{kM2SRwD, 1}}}, true}, {"HS15", {{{kS2MDRS, 2}}}},
};

constexpr SlotFormat k256BGeneric[] = {
    {"G0", {{{kH2DReq, 1}, {kH2DRsp, 1}}}},
    {"G1", {{{kH2DRsp, 3}}}},
    {"G2", {{{kD2HReq, 1}, {kD2HRsp, 2}}}},
    {"G3", {{{kD2HRsp, 4}}}},
    {"G4", {{{kM2SReq, 1}}}},
    {"G5", {{{kM2SBIRsp, 3}}}},
    {"G6", {{{kS2MBISnp, 1}, {kS2MNDR, 1}}}},
    {"G7", {{{kS2MNDR, 3}}}},
    {"G12", {{{kH2DData, 4}}}},
    {"G13", {{{kD2HData, 4}}}},
    {"G14", {{{kM2SRwD, 1}}}},
    {"G15", {{{kS2MDRS, 3}}}},
};

constexpr SlotFormat kPbrHeader[] = {
    {"H0", {{{kH2DReq, 1}}}},   {"H1", {{{kH2DRsp, 2}}}},        {"H2", {{{kD2HReq, 1}}}},
    {"H3", {{{kD2HRsp, 3}}}},   {"H4", {{{kM2SReq, 1}}}, true},  {"H5", {{{kM2SBIRsp, 2}}}},
    {"H6", {{{kS2MBISnp, 1}}}}, {"H7", {{{kS2MNDR, 2}}}},        {"H12", {{{kH2DData, 3}}}},
    {"H13", {{{kD2HData, 3}}}}, {"H14", {{{kM2SRwD, 1}}}, true}, {"H15", {{{kS2MDRS, 2}}}},
};

constexpr SlotFormat kPbrGeneric[] = {
    {"G0", {{{kH2DReq, 1}}}},   {"G1", {{{kH2DRsp, 2}}}},  {"G2", {{{kD2HReq, 1}}}},
    {"G3", {{{kD2HRsp, 3}}}},   {"G4", {{{kM2SReq, 1}}}},  {"G5", {{{kM2SBIRsp, 2}}}},
    {"G6", {{{kS2MBISnp, 1}}}}, {"G7", {{{kS2MNDR, 2}}}},  {"G12", {{{kH2DData, 3}}}},
    {"G13", {{{kD2HData, 3}}}}, {"G14", {{{kM2SRwD, 1}}}}, {"G15", {{{kS2MDRS, 2}}}},
};

// --- counts and sizes ------------------------------------------------------------------------------
// In the order of Channel: M2S Req, RwD, BIRsp; S2M NDR, DRS, BISnp; D2H Req, Rsp, Data; H2D Req, Rsp,
// Data; IO.

using ByChannel = std::array<std::uint8_t, kChannelCount>;
constexpr ByChannel kLargest68B{2, 1, 0, 2, 3, 0, 4, 2, 4, 2, 4, 4, 0};
constexpr ByChannel kLargest256B{4, 2, 3, 6, 3, 2, 4, 4, 4, 2, 6, 4, 0};
constexpr ByChannel kBits68B{87, 87, 0, 30, 40, 0, 79, 20, 17, 64, 32, 24, 0};
constexpr ByChannel kBits256B{100, 104, 40, 40, 40, 84, 76, 24, 24, 72, 40, 28, 0};
constexpr ByChannel kBitsPbr{120, 124, 52, 48, 48, 96, 96, 36, 36, 92, 48, 36, 0};

}  // namespace

std::span<const SlotFormat> slot_formats(FlitMode mode, SlotType type) {
  if (mode == FlitMode::k68B) {
    if (type == SlotType::kGeneric) return k68BGeneric;
    if (type == SlotType::kHeader) return k68BHeader;
    return {};
  }
  const bool pbr = mode == FlitMode::k256BPbr;
  switch (type) {
    case SlotType::kHeader: return pbr ? std::span<const SlotFormat>(kPbrHeader) : k256BHeader;
    case SlotType::kGeneric: return pbr ? std::span<const SlotFormat>(kPbrGeneric) : k256BGeneric;
    case SlotType::kSecondHeader: break;
  }
  return mode == FlitMode::k256BLo ? std::span<const SlotFormat>(k256BSecondHeader)
                                   : std::span<const SlotFormat>();
}

unsigned largest_count(FlitMode mode, Channel channel) {
  return (mode == FlitMode::k68B ? kLargest68B : kLargest256B)[static_cast<std::size_t>(channel)];
}

unsigned message_bits(FlitMode mode, Channel channel) {
  const auto index = static_cast<std::size_t>(channel);
  if (mode == FlitMode::k68B) return kBits68B[index];
  return mode == FlitMode::k256BPbr ? kBitsPbr[index] : kBits256B[index];
}

}  // namespace cxloom
