// One part of a system on a bench that fails, once: what becomes of the messages then, by the rules of the
// simulator (system/events/lost_transactions.hpp), and in which order all of that may happen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coherence/home/directory_agent.hpp"
#include "component/failures.hpp"
#include "core/support/message_bench.hpp"
#include "system/events/lost_transactions.hpp"

namespace cxloom::test {

class StateText;

/// The part that may fail, at any moment.
struct FailureSetup {
  std::size_t host = 0;    ///< the link of this requester,
  bool crashes = false;    ///< or the requester itself, which stays so
  bool in_switch = false;  ///< what is on its way over the link may be lost: a switch fails with it
  bool home = false;    ///< or the device of the home: a memory, or the first requester, which then crashes
  bool repairs = true;  ///< a link, or the device of the home, may be repaired, at any moment

  // Faults that the explorer is to find.
  bool keeps_lines = false;       ///< a cache that is cut off, or presumed dead, goes on with what it has
  bool never_times_out = false;   ///< nobody gives up what is lost
  bool trusts_poison = false;     ///< data are taken for good though they are marked as poisoned
  bool trusts_lost_data = false;  ///< a home does not hear of modified lines that are lost with their cache
};

/// The link begins to fail: what is in a queue to the requester, or from it, may have crossed it, up to some
/// message, or not. What has not waits. When the failure is known requests are answered with an error, and
/// all else is lost; who waits for it gives up at any time after that.
class CoherenceLosses final : public Failures, private LostTransactions::Requesters {
 public:
  CoherenceLosses(MessageBench& bench, const FailureSetup& setup);

  /// A requester; null: without a cache.
  void add(CacheAgent* cache) { caches_.push_back(cache); }
  /// The home, and what is to be called when its memory loses its contents.
  void add(DirectoryAgent& home, std::function<void()> memory_lost) {
    home_ = &home;
    memory_lost_ = std::move(memory_lost);
  }

  enum class Happening : std::uint8_t { kArrives, kIsAnswered, kIsLost, kTimesOut, kIsKnown };
  struct Choice {
    Happening what;
    QueueKey queue;          // of the first three
    std::size_t number = 0;  // of what times out
  };
  /// What may happen next, and will.
  std::vector<Choice> choices() const;
  void take(const Choice& choice);
  std::string describe(const Choice& choice) const;

  /// What need not happen: it fails, or is repaired. Whether it may be next.
  bool may_turn() const { return !turned_ || (link_ != Link::kUp && setup_.repairs && !setup_.crashes); }
  void turn();
  std::string describe_turn() const;
  /// The requester makes no more requests.
  bool crashed(std::size_t host) const {
    if (setup_.home) return link_ != Link::kUp && node().index() == host;
    return turned_ && setup_.crashes && setup_.host == host;
  }
  /// Nothing is left that somebody has to give up.
  bool idle() const { return lost_.empty(); }

  void write(StateText& text) const;
  void write(const QueueKey& key, StateText& text) const;

  bool answers(Message& message, NodeId node, Time now) override;
  bool refuses(Message& /*message*/, Time /*now*/) override { return true; }  // nobody asks: it has no switch
  void lose(Message& message, Time now) override;
  void lose_inside(Message& message, Time now) override { lose(message, now); }
  void ends_later(Message& /*request*/, Time /*now*/) override {}  // of a switch that replicates
  void gives_up(LineAddress line, NodeId node) override;
  void rerouted(Time /*now*/) override {}

 private:
  enum class Link : std::uint8_t { kUp, kDown, kKnown };

  CacheAgent* cache_of(NodeId node) override {
    return is_requester(node) && !setup_.keeps_lines ? caches_[node.index()] : nullptr;
  }
  bool is_requester(NodeId node) const override { return node.index() < caches_.size(); }
  Time completion_timeout_of(NodeId /*node*/) const override { return Time{}; }

  /// The device that fails, or at the link that does.
  NodeId node() const {
    return setup_.home ? home_->endpoint().id() : NodeId{static_cast<std::uint32_t>(setup_.host)};
  }
  CacheAgent* cache() const { return is_requester(node()) ? caches_[node().index()] : nullptr; }
  bool over_link(const QueueKey& key) const {
    return key.source != key.destination && (key.source == node() || key.destination == node());
  }
  void fail();
  void fail_home();
  void lines_lost(const std::vector<LineAddress>& lines, NodeId at);
  void keep(Message& message);
  bool given_up(const Message& message) const;
  void time_out(std::size_t number);

  MessageBench& bench_;
  FailureSetup setup_;
  LostTransactions transactions_;
  /// What the home had sent when its device failed: it has crossed the link, up to some message, or is lost.
  struct Sent {
    std::size_t left = 0;
    bool cut = false;  // a message before them is lost, and so are they
  };

  std::vector<CacheAgent*> caches_;  // by node
  DirectoryAgent* home_ = nullptr;
  std::function<void()> memory_lost_;
  std::map<QueueKey, Sent> sent_;
  bool turned_ = false;  // it has failed
  Link link_ = Link::kUp;
  std::map<QueueKey, std::size_t> may_have_crossed_;  // of each queue that many of the first messages
  std::vector<Message*> lost_;                        // that somebody waits for, in the order of their texts
};

}  // namespace cxloom::test
