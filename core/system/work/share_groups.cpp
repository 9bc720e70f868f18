#include "system/work/share_groups.hpp"

#include <algorithm>
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

void check_apart(const Spec::Workload& workload, const AddressRange& range,
                 const std::vector<Spec::Workload>& all) {
  for (const Spec::Workload& each : all) {
    if (!shares(each) || each.device == workload.device) continue;
    const auto params = read_params<ShareParams>(each.pattern);
    if (shares(workload) && range.base == params.base) continue;  // they share it
    PatternContext group;
    join_share(each, all, group);
    const std::uint64_t bytes = params.bytes(group.members);
    if (range.base.value() >= params.base.value() + bytes ||
        params.base.value() >= range.base.value() + range.bytes) {
      continue;
    }
    throw InputError({"addresses that hosts share by a protocol, whose flags count all stores to them",
                      to_text(range.base) + " + " + to_text(Bytes{range.bytes}),
                      "addresses outside of those of workload." + each.device + ": it has " +
                          to_text(params.base) + " + " + to_text(Bytes{bytes}),
                      {},
                      InputError::Kind::kBetween},
                     std::string(range.key));
  }
}

void check_nothing_is_lost(const Spec& spec) {
  const auto sharing = std::ranges::find_if(spec.workloads, shares);
  if (sharing == spec.workloads.end()) return;
  const auto refuse = [&](const std::string& found, const std::string& path) {
    throw InputError(
        {"a host of workload." + sharing->device + " waits for ever for a store or a ticket that is lost",
         found,
         "another pattern, or nothing that fails, is unbound or is released",
         {},
         InputError::Kind::kBetween},
        path);
  };
  for (std::size_t i = 0; i < spec.events.size(); ++i) {
    const EventParams& event = spec.events[i];
    if (event.fail || event.unbind || event.release_extent)
      refuse(event.described(), "events[" + std::to_string(i) + "]");
  }
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    const OutageParams& outage = spec.links[i].params->outage;
    if (outage.at && outage.fail) refuse("outage.fail", indexed("links", i));
  }
}

}  // namespace cxloom
