#include "component/endpoint.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "component/component_time.hpp"
#include "core/support/link_bench.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::FifoLink;
using test::kAllEvents;
using test::Messages;
using test::Probe;

/// Writes down what it gets.
class Taker final : public Agent {
 public:
  using Agent::Agent;
  void receive(Message& message) override {
    taken.push_back(&message);
    times.push_back(endpoint().now());
    endpoint().release(message, endpoint().now());
  }
  void open_window(Time /*now*/) override { ++windows; }
  std::string activity() const override { return doing; }

  std::vector<Message*> taken;
  std::vector<Time> times;
  int windows = 0;
  std::string doing;
};

/// A device of two agents, one for requests and one for answers.
class Device final : public Endpoint {
 public:
  Device(Kernel& kernel, SystemContext& system_context)
      : Endpoint(ComponentContext{kernel, "device", NodeId{0}, 1}, system_context),
        requests(*this),
        answers(*this) {
    add(requests);
    add(answers);
    bind(Channel::kM2SReq, requests);
    bind(Channel::kS2MDRS, answers);
  }

  Taker requests;
  Taker answers;
};

/// A device of one agent.
class Single final : public Endpoint {
 public:
  Single(Kernel& kernel, SystemContext& system_context)
      : Endpoint(ComponentContext{kernel, "single", NodeId{0}, 1}, system_context), agent(*this) {
    add(agent);
    bind(Channel::kM2SReq, agent);
  }

  Taker agent;
};

Message& to(NodeId destination, Message& message) {
  message.destination = destination;
  return message;
}

TEST(Endpoint, AMessageToItselfReachesTheAgentThatTakesItWhenItIsReady) {
  Kernel kernel;
  SystemContext system_context;
  Device device(kernel, system_context);
  Messages messages;
  Message& request = to(NodeId{0}, messages.make(Opcode::kMemRd));
  Message& answer = to(NodeId{0}, messages.make(Opcode::kMemData));
  device.answers.transmit(request, 7_ns);
  device.requests.transmit(answer, 5_ns);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(device.requests.taken, std::vector<Message*>{&request});
  EXPECT_EQ(device.requests.times, std::vector<Time>{7_ns});
  EXPECT_EQ(device.answers.taken, std::vector<Message*>{&answer});
  EXPECT_EQ(device.answers.times, std::vector<Time>{5_ns});
}

TEST(Endpoint, MessagesOfSeveralAgentsLeaveInTheOrderInWhichTheyAreReady) {
  Kernel kernel;
  SystemContext system_context;
  Device device(kernel, system_context);
  Probe far(kernel, "far", 1);
  FifoLink link(kernel, device, far, {.bandwidth = Bandwidth{Rate::per_time(1, 10)}});  // 16 B: 160 ps
  Messages messages;
  Message& late = to(NodeId{1}, messages.make(Opcode::kMemRd));
  Message& early = to(NodeId{1}, messages.make(Opcode::kCmp));
  device.start();
  device.requests.transmit(late, 9_ns);
  device.answers.transmit(early, 2_ns);
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(far.arrivals.size(), 2U);
  EXPECT_EQ(far.arrivals[0].message, &early);
  EXPECT_EQ(far.arrivals[0].time, 2_ns + 160_ps);
  EXPECT_EQ(far.arrivals[1].message, &late);
  EXPECT_EQ(far.arrivals[1].time, 9_ns + 160_ps);
}

TEST(Endpoint, ASingleAgentHandsItsMessagesOverAtOnce) {
  Kernel kernel;
  SystemContext system_context;
  Single device(kernel, system_context);
  Probe far(kernel, "far", 1);
  FifoLink link(kernel, device, far, {.bandwidth = Bandwidth{Rate::per_time(1, 10)}});
  Messages messages;
  device.agent.transmit(to(NodeId{1}, messages.make(Opcode::kMemRd)), 9_ns);
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(far.arrivals.size(), 1U);
  EXPECT_EQ(far.arrivals[0].time, 9_ns + 160_ps);
  EXPECT_EQ(kernel.events(), 1U);  // the arrival, and none for the wait
}

TEST(Endpoint, WhatNoAgentTakesIsAnErrorThatNamesDeviceAndClass) {
  Kernel kernel;
  SystemContext system_context;
  Device device(kernel, system_context);
  Messages messages;
  try {
    device.receive(to(NodeId{0}, messages.make(Opcode::kMemWr)));
    FAIL() << "taken";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("device has no agent for a message of class M2S RwD"),
              std::string::npos)
        << error.what();
  }
}

TEST(Endpoint, AnUndeclaredSenderIsAnErrorThatNamesTheDeviceAndWhatDeclaresIt) {
  Kernel kernel;
  SystemContext system_context;
  Single device(kernel, system_context);
  Taker sender(device);
  Messages messages;
  try {
    sender.transmit(to(NodeId{1}, messages.make(Opcode::kMemRd)), 2_ns);
    FAIL() << "sent";
  } catch (const InternalError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find(device.name() + " has an agent that sends"), std::string::npos) << what;
    EXPECT_NE(what.find("add_sender"), std::string::npos) << what;
  }
}

TEST(Endpoint, AnAgentThatOnlySendsKeepsTheOrderToo) {
  Kernel kernel;
  SystemContext system_context;
  Single device(kernel, system_context);
  Taker sender(device);
  device.add_sender(sender);
  Probe far(kernel, "far", 1);
  FifoLink link(kernel, device, far, {.bandwidth = Bandwidth{Rate::per_time(1, 10)}});
  Messages messages;
  Message& late = to(NodeId{1}, messages.make(Opcode::kMemRd));
  Message& early = to(NodeId{1}, messages.make(Opcode::kMemRd));
  device.start();
  device.agent.transmit(late, 9_ns);
  sender.transmit(early, 2_ns);
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(far.arrivals.size(), 2U);
  EXPECT_EQ(far.arrivals[0].message, &early);
  EXPECT_EQ(far.arrivals[0].time, 2_ns + 160_ps);
}

/// Leads to the second port, and counts how often it is asked.
class CountedRoutes final : public Routes {
 public:
  std::uint16_t port(Message& /*message*/, NodeId /*node*/) override {
    ++asked;
    return 1;
  }
  std::vector<std::uint16_t> fixed_ports(NodeId /*node*/) override { return {}; }

  int asked = 0;
};

TEST(Endpoint, AsksForAWayOnce) {
  Kernel kernel;
  SystemContext system_context;
  auto owned = std::make_unique<CountedRoutes>();
  const CountedRoutes& routes = *owned;
  system_context.routes = std::move(owned);
  Device device(kernel, system_context);
  Probe other(kernel, "other", 1);
  Probe far(kernel, "far", 2);
  FifoLink unused(kernel, device, other, {});
  FifoLink link(kernel, device, far, {.bandwidth = Bandwidth{Rate::per_time(1, 10)}});
  Messages messages;
  device.requests.transmit(to(NodeId{2}, messages.make(Opcode::kMemRd)), 9_ns);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(far.arrivals.size(), 1U);
  EXPECT_EQ(routes.asked, 1);
}

TEST(Endpoint, AnAgentThatIsNoSenderCannotSend) {
  Kernel kernel;
  SystemContext system_context;
  Single device(kernel, system_context);
  Taker silent(device);
  Messages messages;
  EXPECT_THROW(silent.transmit(to(NodeId{0}, messages.make(Opcode::kMemRd)), 1_ns), InternalError);
}

TEST(Endpoint, AMessageForAnotherDeviceReachesNoAgent) {
  Kernel kernel;
  SystemContext system_context;
  Single device(kernel, system_context);
  Messages messages;
  EXPECT_THROW(device.receive(to(NodeId{1}, messages.make(Opcode::kMemRd))), InternalError);
  EXPECT_TRUE(device.agent.taken.empty());
}

TEST(Endpoint, AClassHasOneTaker) {
  Kernel kernel;
  SystemContext system_context;
  Device device(kernel, system_context);
  device.bind(Channel::kM2SReq, device.requests);  // the same again
  EXPECT_THROW(device.bind(Channel::kM2SReq, device.answers), InternalError);
}

TEST(Endpoint, WindowsAndActivityAreThoseOfItsAgents) {
  Kernel kernel;
  SystemContext system_context;
  Device device(kernel, system_context);
  device.open_window(1_ns);
  EXPECT_EQ(device.requests.windows, 1);
  EXPECT_EQ(device.answers.windows, 1);
  EXPECT_EQ(device.activity(), "");
  device.answers.doing = "answers";
  EXPECT_EQ(device.activity(), "answers");
  device.requests.doing = "requests";
  EXPECT_EQ(device.activity(), "requests; answers");
  EXPECT_EQ(device.requests.name(), "device");
}

}  // namespace
}  // namespace cxloom
