// The role of what manages the coherence of memory.
#pragma once

#include <optional>

#include "base/units.hpp"
#include "component/roles.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

struct CoherenceCounts;
struct Message;

/// Manages the coherence of memory, its own or that of other devices: regions may have it as their home.
class CoherenceHome {
 public:
  static constexpr RoleKind kRole = RoleKind::kCoherenceHome;

  /// The coherence of the regions whose home it may be.
  virtual Coherence coherence() const = 0;
  /// It may keep memory of other devices coherent, too.
  virtual bool serves_others() const = 0;
  /// A cache sends something about the line, which will be looked up: a hint, from any thread.
  virtual void expect(LineAddress /*line*/) const {}
  /// The one device beside its own that may cache its memory, known before any asks for a copy.
  virtual void expect_host(NodeId /*host*/) {}
  /// What it counted in the window.
  virtual CoherenceCounts coherence_counts() const = 0;
  /// Requests in it, the mean over the window; none: it takes as many as come.
  virtual std::optional<double> transactions_mean() const = 0;

  // A virtual switch that it, a cache or its memory leaves: docs/model/virtual_switch.md.

  /// The cache at that node is to have no lines of it: takes back what it has, and what it is granted from
  /// now on.
  virtual void recall(NodeId /*node*/) {}
  /// The cache may have lines again.
  virtual void end_recall(NodeId /*node*/) {}
  /// It has no way to memory that it keeps coherent any more but to end what it has begun: takes back all
  /// lines of it, and refuses requests to them.
  virtual void leave(NodeId /*memory*/) {}
  /// It has a way to that memory.
  virtual void rejoin(NodeId /*memory*/) {}
  /// The cache has lost what it had, and cannot be asked any more.
  virtual void cut_off(NodeId /*node*/) {}

  // In a system parts of which fail (docs/model/failures.md).

  /// It bears that its device crashes, and has memory of others or none.
  virtual bool may_crash() const { return false; }
  /// Its device has failed, and nobody is there who could wait for anything.
  virtual bool is_down() const = 0;
  /// So long it waits for an answer that was lost.
  virtual Time answer_timeout() const = 0;
  /// Somebody set that.
  virtual bool sets_answer_timeout() const = 0;
  /// It waits for the end of a snoop, or of a call for data, of which, or of whose answer, this message is a
  /// part; not if it has given that up, or its device has failed since.
  virtual bool awaits(const Message& snoop) = 0;
  /// The message is a call for data that a cache keeps until then, or brings these.
  virtual bool pulls(const Message& message) = 0;
  /// When that snoop, or that call, began.
  virtual Time asked_at(const Message& message) = 0;
  /// A snoop ends without an answer: its cache is presumed dead.
  virtual void snoop_lost(Message& snoop) = 0;
  /// The data that it has called for do not come.
  virtual void pull_lost(Message& message) = 0;
  /// Its device has failed: what it holds is lost, and it knows of no copy in a cache any more.
  virtual void failed() = 0;
  /// A reset has cleared its memory: no line is poisoned.
  virtual void contents_cleared() = 0;
  /// The data that the cache at `owner` had of a line are gone.
  virtual void data_lost(LineAddress line, NodeId owner) = 0;
  /// How many answers it has sent to that cache.
  virtual std::uint32_t answers_sent(NodeId node) const = 0;

 protected:
  ~CoherenceHome() = default;
};

}  // namespace cxloom
