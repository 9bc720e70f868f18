#include "system/work/share_groups.hpp"

#include <string>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "workload/pattern/share.hpp"

namespace cxloom {

namespace {

void check_alike(const Spec::Workload& first, const Spec::Workload& other) {
  const auto one = read_params<ShareParams>(first.pattern);
  const auto two = read_params<ShareParams>(other.pattern);
  const char* const key = one.protocol != two.protocol                     ? "protocol"
                          : one.size != two.size                           ? "size"
                          : first.params.requests != other.params.requests ? "requests"
                                                                           : nullptr;
  if (!key) return;
  throw InputError({"hosts that share an object agree on its protocol, size and requests",
                    "another " + std::string(key) + " than workload." + first.device,
                    "the same, or another base",
                    {},
                    InputError::Kind::kBetween},
                   key);
}

}  // namespace

bool shares(const Spec::Workload& workload) {
  return workload.params.pattern && *workload.params.pattern == Share::kName;
}

void join_share(const Spec::Workload& workload, const std::vector<Spec::Workload>& all,
                PatternContext& context) {
  const Address base = read_params<ShareParams>(workload.pattern).base;
  const Spec::Workload* first = nullptr;
  context.members = 0;
  for (const Spec::Workload& each : all) {
    if (!shares(each) || read_params<ShareParams>(each.pattern).base != base) continue;
    if (!first) first = &each;
    if (each.device == workload.device) {
      context.member = context.members;
      check_alike(*first, workload);
    }
    ++context.members;
  }
  context.accesses = workload.params.requests;
}

}  // namespace cxloom
