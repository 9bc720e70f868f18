// Store buffering: two hosts write a line each and then read the other's. Without fences both may read what
// was there before either write; with a fence between write and read at least one sees the other's write.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "component/component.hpp"
#include "core/support/system.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom {
namespace {

constexpr std::uint64_t kRounds = 200;

Access to_line(std::uint64_t line, AccessKind kind, bool fence) {
  Access access = test::access_to(line * kLineBytes, kind);
  if (fence) access.dependence = kAllBefore;
  return access;
}

/// The order in which reads and writes take effect in the caches.
class Order final : public ProtocolObserver {
 public:
  void performed(NodeId node, LineAddress line, AccessKind kind, Time /*now*/) override {
    auto& places = places_[{node.index(), line.number()}];
    (kind == AccessKind::kRead ? places.last_read : places.write) = ++count_;
  }
  /// Whether the node's last read of the line took effect before the other's write of it.
  bool read_before_write(NodeId reader, NodeId writer, std::uint64_t line) {
    return places_[{reader.index(), line}].last_read < places_[{writer.index(), line}].write;
  }

 private:
  struct Places {
    std::uint64_t last_read = 0;
    std::uint64_t write = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, Places> places_;
  std::uint64_t count_ = 0;
};

/// Rounds in which both read the old values. Each round has two lines of its own, of which both hosts have
/// copies before it.
std::uint64_t relaxed_rounds(bool fenced, const std::string& lag) {
  test::SpecBuilder system;
  system.device("sw", "switch").device("mem", "memory", {{"capacity", "1MiB"}, {"dcoh", Value::Map{}}});
  system.link("sw", "mem");
  for (const std::uint64_t host : {0U, 1U}) {
    const std::string name = "h" + std::to_string(host);
    system.device(name, "host",
                  {{"queue", 8},
                   {"process_time", host == 0 ? "10ns" : lag},
                   {"cache", Value::Map{{"size", "64KiB"}, {"read_state", "shared"}}}});
    system.link(name, "sw");
    std::vector<Access> program;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t own = 2 * round + host;
      const std::uint64_t others = 2 * round + 1 - host;
      program.push_back(to_line(own, AccessKind::kRead, true));
      program.push_back(to_line(others, AccessKind::kRead, false));
      program.push_back(to_line(own, AccessKind::kWrite, true));
      program.push_back(to_line(others, AccessKind::kRead, fenced));
    }
    system.replay(name, program);
  }
  system.region({"mem"}, {{"coherence", "hdm-db"}});
  test::Running run(system);
  Order order;
  run.simulation().watch(static_cast<ProtocolObserver*>(&order));
  run.to_end();
  const NodeId h0 = run.simulation().system().component("h0").id();
  const NodeId h1 = run.simulation().system().component("h1").id();
  std::uint64_t relaxed = 0;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const bool first = order.read_before_write(h0, h1, 2 * round + 1);
    const bool second = order.read_before_write(h1, h0, 2 * round);
    relaxed += first && second ? 1 : 0;
  }
  return relaxed;
}

TEST(FenceLitmus, BetweenAWriteAndAReadItForbidsThatBothReadOldValues) {
  for (const char* const lag : {"10ns", "11ns", "37ns"}) {
    EXPECT_GT(relaxed_rounds(false, lag), 0U) << lag;
    EXPECT_EQ(relaxed_rounds(true, lag), 0U) << lag;
  }
}

}  // namespace
}  // namespace cxloom
