#include "protocol/flit/credit.hpp"

#include <array>

#include "base/error.hpp"

namespace cxloom {
namespace {

constexpr std::array<std::uint8_t, 8> kCounts68B{0, 1, 2, 4, 8, 16, 32, 64};
constexpr std::array<std::uint8_t, 6> kCounts256B{0, 1, 4, 8, 12, 16};

}  // namespace

CreditGroup credit_group(Channel channel) {
  switch (channel) {
    case Channel::kM2SReq:
    case Channel::kS2MBISnp:
    case Channel::kD2HReq:
    case Channel::kH2DReq: return CreditGroup::kRequest;
    case Channel::kM2SRwD:
    case Channel::kS2MDRS:
    case Channel::kD2HData:
    case Channel::kH2DData: return CreditGroup::kData;
    case Channel::kM2SBIRsp:
    case Channel::kS2MNDR:
    case Channel::kD2HRsp:
    case Channel::kH2DRsp: return CreditGroup::kResponse;
    case Channel::kIo: break;
  }
  throw InternalError("CXL.io has no credits in CXL.cache and CXL.mem flits");
}

std::span<const std::uint8_t> credit_return_counts(FlitMode mode) {
  if (mode == FlitMode::k68B) return kCounts68B;
  return kCounts256B;
}

unsigned largest_credit_return(FlitMode mode, unsigned pending) {
  unsigned largest = 0;
  for (const std::uint8_t count : credit_return_counts(mode)) {
    if (count <= pending) largest = count;
  }
  return largest;
}

}  // namespace cxloom
