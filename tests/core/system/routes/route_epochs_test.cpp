#include "system/routes/route_epochs.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace cxloom {
namespace {

using namespace literals;

EventParams fails(Time at, Time reroute_time) {
  EventParams event;
  event.at = at;
  event.fail.emplace();
  event.fail->device = "sw";
  event.fail->reroute_time = reroute_time;
  return event;
}

EventParams repaired(Time at) {
  EventParams event;
  event.at = at;
  event.repair.emplace();
  event.repair->device = "sw";
  return event;
}

/// Devices 0, 1 and 2 in a row: link 0 joins the first two, link 1 the last two.
LinkFailures row() { return {std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 2}}, 3}; }
FailingPart part_of(std::vector<std::size_t> links, std::size_t device = FailingPart::kNone) {
  FailingPart part;
  part.links = std::move(links);
  part.device = device;
  return part;
}
FailingPart first() { return part_of({0}); }
FailingPart middle() { return part_of({0, 1}, 1); }

using Avoided = std::vector<bool>;

TEST(RouteEpochs, RoutesChangeWhenAFailureIsKnownAndWithTheRepair) {
  const auto epochs = route_epochs({fails(10_ns, 5_ns), repaired(40_ns)}, {first(), first()}, row(), {});
  ASSERT_EQ(epochs.size(), 3U);
  EXPECT_EQ(epochs[0].avoided, (Avoided{false, false}));
  EXPECT_EQ(epochs[1].at, 15_ns);
  EXPECT_EQ(epochs[1].cause, "fail device sw");
  EXPECT_EQ(epochs[1].avoided, (Avoided{true, false}));
  EXPECT_EQ(epochs[2].at, 40_ns);
  EXPECT_EQ(epochs[2].avoided, (Avoided{false, false}));
}

TEST(RouteEpochs, ARepairThatComesFirstLeavesNothingToDiscover) {
  const auto epochs = route_epochs({fails(10_ns, 50_ns), repaired(40_ns)}, {first(), first()}, row(), {});
  ASSERT_EQ(epochs.size(), 2U);
  EXPECT_EQ(epochs[1].at, 40_ns);
  EXPECT_EQ(epochs[1].avoided, (Avoided{false, false}));
}

// The link stays down with its device, and is on routes when both are repaired.
TEST(RouteEpochs, ALinkIsUpWhenItAndItsDevicesAre) {
  const auto epochs = route_epochs({fails(10_ns, 0_ns), fails(20_ns, 0_ns), repaired(30_ns), repaired(40_ns)},
                                   {first(), middle(), first(), middle()}, row(), {});
  ASSERT_EQ(epochs.size(), 5U);
  EXPECT_EQ(epochs[1].avoided, (Avoided{true, false}));
  EXPECT_EQ(epochs[2].avoided, (Avoided{true, true}));
  EXPECT_EQ(epochs[3].avoided, (Avoided{true, true}));
  EXPECT_EQ(epochs[4].avoided, (Avoided{false, false}));
}

// At one instant what fails and is repaired comes before what is found out.
TEST(RouteEpochs, OfOneInstantDiscoveriesComeLast) {
  const auto epochs =
      route_epochs({fails(10_ns, 10_ns), fails(20_ns, 0_ns)}, {first(), part_of({1})}, row(), {});
  ASSERT_EQ(epochs.size(), 3U);
  EXPECT_EQ(epochs[1].at, 20_ns);
  EXPECT_EQ(epochs[1].avoided, (Avoided{true, false}));
  EXPECT_EQ(epochs[2].avoided, (Avoided{true, true}));
}

}  // namespace
}  // namespace cxloom
