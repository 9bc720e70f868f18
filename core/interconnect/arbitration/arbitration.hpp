// The interface of arbitration: whose turn it is at a port that several queues want. A kind is a file of its
// own and a line in `register_arbitration`, or in the `CXLOOM_PLUGIN` of a plug-in. Each port has an arbiter
// of its own.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/random.hpp"
#include "interconnect/wire/cost.hpp"
#include "interconnect/wire/virtual_channel.hpp"

namespace cxloom {

class Component;
template <class Product, class Context>
class KindRegistry;

/// How an arbiter finds devices that its parameters name. Both throw InputError.
class ArbitrationNames {
 public:
  /// A device that makes requests.
  virtual NodeId requester(const std::string& name) const = 0;
  /// The owner's ports to that device, of which there is one.
  virtual std::vector<std::uint16_t> inputs(const std::string& name) const = 0;

 protected:
  ~ArbitrationNames() = default;
};

/// The surroundings of an arbiter when it is made.
struct ArbitrationContext {
  const Component& owner;  ///< whose port it is
  std::uint16_t port;      ///< of the owner's ports
  RandomStream random;     ///< a stream of the port's own
  WireCost cost{0, 0};     ///< what a message takes of its wire
  const ArbitrationNames* names = nullptr;
};

/// A queue whose head may leave now.
class Contender {
 public:
  explicit Contender(Feeder& queue) : queue_(queue) {}

  const Message& message() const { return queue_.head(); }
  /// The port by which it came; kOwnMessages: it is the component's own.
  std::uint16_t input() const { return queue_.input(); }
  /// When its request was made. If nobody waits for it, when it came here; behind others of a `fifo`, when it
  /// became the head.
  Time age() const {
    const Message& message = queue_.head();
    return message.account ? message.age : message.since;
  }

 private:
  Feeder& queue_;
};

/// The queues that can go, by virtual channel and within a virtual channel in the order in which they asked.
/// Each asks anew after its turn.
class Contenders {
 public:
  class Iterator {
   public:
    Iterator(VirtualChannel* channels, std::uint64_t vcs) : channels_(channels), vcs_(vcs) { skip_empty(); }
    Contender operator*() const { return Contender(queue()); }
    Iterator& operator++() {
      at_ = at_->next();
      if (!at_) skip_empty();
      return *this;
    }
    bool operator==(std::default_sentinel_t /*end*/) const { return at_ == nullptr; }
    Feeder& queue() const { return static_cast<Feeder&>(*at_); }

   private:
    void skip_empty() {
      while (!at_ && vcs_ != 0) {
        at_ = channels_[std::countr_zero(vcs_)].waits.first();
        vcs_ &= vcs_ - 1;
      }
    }

    VirtualChannel* channels_;  // by virtual channel
    std::uint64_t vcs_;         // the ones behind that of `at_`, a bit each
    Waiter* at_ = nullptr;
  };

  Contenders(VirtualChannel* channels, std::uint64_t vcs, bool after_idle = false)
      : channels_(channels), vcs_(vcs), after_idle_(after_idle) {}
  Iterator begin() const { return {channels_, vcs_}; }
  std::default_sentinel_t end() const { return {}; }
  /// When the first of them asked, nothing waited and nothing was on the wire.
  bool after_idle() const { return after_idle_; }

 private:
  VirtualChannel* channels_;
  std::uint64_t vcs_;
  bool after_idle_;
};

class Arbiter {
 public:
  virtual ~Arbiter() = default;

  /// The place among `waiting`, of which there is at least one, of the queue whose head leaves. It is asked
  /// once for each message that leaves, when the wire is free; on a link of flits, where classes share a
  /// flit, among the queues of a class.
  virtual std::size_t choose(const Contenders& waiting, Time now) = 0;

  /// Its choice depends on nothing but `waiting`: it need not be asked about a message that finds everything
  /// idle.
  virtual bool memoryless() const { return false; }
  /// It does what every port does by itself, in fewer steps: classes take
  /// turns, and within a class the first to ask goes. Then it is not asked.
  virtual bool takes_turns() const { return false; }
  /// On a wire of flits it chooses among the queues of all classes but CXL.io: flits take all that is staged.
  virtual bool shares_bytes() const { return false; }
};

using ArbitrationRegistry = KindRegistry<Arbiter, ArbitrationContext>;

/// Registers the kinds that come with cxloom.
void register_arbitration(ArbitrationRegistry& registry);

}  // namespace cxloom
