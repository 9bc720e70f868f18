// The functions of a program in C that hear of answers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "c_caches.hpp"
#include "coherence/external/agent.hpp"
#include "cxloom/cxloom.h"
#include "protocol/account.hpp"
#include "workload/stream/tagged_answers.hpp"

namespace cxloom {

static_assert(sizeof(Time) == sizeof(std::int64_t), "a time is its picoseconds");

/// The segment that has that number for programs.
inline const SegmentInfo& segment_at(std::size_t number) {
  for (std::size_t i = 0; i < kSegmentCount; ++i)
    if (Account::order_of(static_cast<Segment>(i)) == number) return kSegments[i];
  throw InternalError("no segment of that number");
}

/// That of one device.
class CAnswer final : public TaggedAnswers {
 public:
  void set(cxloom_tell tell, void* user) {
    tell_ = tell;
    user_ = user;
  }
  /// The cache of the device is outside, and homes have granted it these lines.
  void tell_grants(const ExternalCache& cache) { cache_ = &cache; }
  void answered(std::uint64_t tag, const Request& request, Time now) override {
    // In the order in which they lie in an account.
    std::array<Time, kSegmentCount> segments;
    std::copy_n(request.account.common(), Account::kCommon, segments.begin());
    std::copy_n(request.account.rare(), kSegmentCount - Account::kCommon,
                segments.begin() + Account::kCommon);
    const cxloom_answer answer{tag,
                               now.ps(),
                               (now - request.created()).ps(),
                               reinterpret_cast<const std::int64_t*>(segments.data()),
                               static_cast<int>(request.target.index()),
                               request.failed ? 1 : 0,
                               granted(request)};
    tell_(user_, &answer);
  }

 private:
  int granted(const Request& request) const {
    const bool asked = cache_ && request.keeps && !request.failed;
    return asked ? number_of(cache_->granted(LineAddress::of(request.address))) : CXLOOM_INVALID;
  }

  const ExternalCache* cache_ = nullptr;  // null: it is not outside
  cxloom_tell tell_ = nullptr;
  void* user_ = nullptr;
};

/// The answers of all devices. Each stays where it is.
class CAnswers {
 public:
  CAnswer& of(int device, cxloom_tell tell, void* user) {
    CAnswer& answer = answers_[device];
    answer.set(tell, user);
    return answer;
  }
  void tell_grants(int device, const ExternalCache& cache) { answers_[device].tell_grants(cache); }

 private:
  std::map<int, CAnswer> answers_;
};

}  // namespace cxloom
