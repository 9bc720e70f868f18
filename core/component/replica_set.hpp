// The copies of a region that is replicated: which are whole, and which lines a copy that comes back still
// lacks. docs/model/replication.md has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/units.hpp"
#include "component/roles.hpp"
#include "protocol/address_map.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class ReplicaSet;
class ReplicaSets;
class RequestObserver;

/// Takes the requests to a replicated region, at a host or at a switch.
class RequestTaker {
 public:
  /// It is at its sender, and ready to leave at `ready`.
  virtual void take(Message& message, Time ready) = 0;
  /// A write that has waited until its line was copied goes on.
  virtual void write_on(Message& message, ReplicaSet& set) = 0;
  /// Copies what the copy `to` lacks from `from`, from now on.
  virtual void resynchronise(ReplicaSet& set, std::size_t from, std::size_t to) = 0;

 protected:
  ~RequestTaker() = default;
};

/// A device that may have a RequestTaker.
class ReplicatorOwner {
 public:
  static constexpr RoleKind kRole = RoleKind::kReplicatorOwner;

  /// What it has that cannot be beside replicated regions; empty: nothing.
  virtual std::string why_no_replicator() const = 0;
  /// Makes it, or gives the one that it has. To be called before the run. `entries`: so many more writes it
  /// may have sent that not all copies have answered: a switch any, a host those that it answers before.
  virtual RequestTaker& begin_replicating(ReplicaSets& sets, std::uint32_t entries) = 0;

 protected:
  ~ReplicatorOwner() = default;
};

/// Copies a line of a set while nobody writes it.
class LineCopier {
 public:
  /// Nobody writes the line any more, and nobody will before `end_copy`.
  virtual void quiet(LineAddress line) = 0;

 protected:
  ~LineCopier() = default;
};

/// What became of a set, in the whole run.
struct ReplicaCounts {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t copies = 0;
  std::uint64_t met_failure = 0;
  std::uint64_t failed = 0;
  std::uint64_t left = 0;
  std::uint64_t resynced_bytes = 0;
  std::uint64_t resyncs = 0;
  std::uint64_t given_up = 0;
  std::uint64_t stale_reads = 0;
  std::uint64_t reversed_reads = 0;
  std::uint64_t lost_writes = 0;
  std::uint64_t early = 0;  ///< writes that were answered before all copies had them, and have them now
  Time lag;                 ///< what these took from then on, in all
};

/// What reads of a line that begin now must bring: no version that was answered, or had ended, before these.
struct VersionFloors {
  std::uint64_t answered = 0;  ///< the latest beginning of a write that was answered
  std::uint64_t seen = 0;      ///< that of a write whose data a read has brought
};

class ReplicaSet {
 public:
  enum class State : std::uint8_t {
    kWhole,  ///< it has every write that was answered
    kOut,    ///< it lacks writes, and gets none
    kBack,   ///< it lacks writes still, and gets new ones
  };

  /// `interleaved`: the first of `nodes` has a part of the region alone, and so have the others.
  ReplicaSet(std::string name, const AddressMap& map, const AddressMap::Extent& extent, bool interleaved,
             const ReplicasParams& params, std::vector<NodeId> nodes);

  const std::string& name() const { return name_; }
  const AddressMap::Extent& extent() const { return extent_; }
  const ReplicasParams& params() const { return params_; }
  std::size_t size() const { return nodes_.size(); }
  NodeId node(std::size_t copy) const { return nodes_[copy]; }
  State state(std::size_t copy) const { return copies_[copy].state; }
  bool holds(Address address) const {
    return address.value() - extent_.base.value() < extent_.bytes && (!interleaved_ || in_part(address));
  }
  /// A write is answered by fewer copies than there are.
  bool answers_early() const { return params_.acknowledge && *params_.acknowledge < size(); }
  bool gets_writes(std::size_t copy) const { return copies_[copy].state != State::kOut; }
  /// The copy that a read of the line goes to, of those that are whole and not in `tried`, bit by bit; none:
  /// there is no other.
  std::optional<std::size_t> reader(LineAddress line, std::uint64_t tried) const;
  std::optional<std::size_t> reader(LineAddress line, std::uint64_t tried, ReplicaReads reads) const;
  /// The first copy that is whole: there is always one.
  std::size_t first_whole() const { return *reader(LineAddress{0}, 0, ReplicaReads::kPrimary); }
  /// On whose behalf a switch copies lines: for timeouts and arbiters.
  NodeId requester() const { return requester_; }
  void set_requester(NodeId requester) { requester_ = requester; }
  ReplicaCounts& counts() { return counts_; }
  const ReplicaCounts& counts() const { return counts_; }

  /// Something may fail: lines under way are known from now on. To be called before the run.
  void expect_failures() { tracks_ = true; }
  bool expects_failures() const { return tracks_; }

  /// `taker` takes its requests at a host, or at the switch that replicates it. To be called before the run.
  void give(NodeId node, RequestTaker& taker);
  /// Null: nobody at that node does.
  RequestTaker* taker_at(NodeId node) const {
    return node.index() < takers_by_node_.size() ? takers_by_node_[node.index()] : nullptr;
  }
  const std::vector<NodeId>& takers() const { return takers_; }

  // Lines that are written and copied.

  /// A write of the line begins. False: the line is being copied, and `taker` hears when the write goes on.
  bool begin_write(LineAddress line, Message& message, RequestTaker& taker);
  void end_write(LineAddress line);
  /// Some write of the line is under way, where these are known.
  bool is_written(LineAddress line) const {
    const auto found = lines_.find(line.number());
    return found != lines_.end() && found->second.writes > 0;
  }
  /// Takes out the writes that wait for the copying of their lines: who took them has failed.
  std::vector<Message*> abandon_waiting();
  /// The copier wants the line to itself. True: it has it; otherwise it hears of it.
  bool begin_copy(LineAddress line, LineCopier& copier);
  void end_copy(LineAddress line);

  // Copies that leave and come back.

  /// A write did not reach that copy, which has left before or leaves now. False: it is the last whole one,
  /// and stays: the write has failed.
  bool missed(std::size_t copy, LineAddress line, Time now);
  /// All that the copy held is gone; it leaves when that is known.
  void contents_lost(std::size_t copy) { copies_[copy].lost = true; }
  bool has_lost_contents(std::size_t copy) const { return copies_[copy].lost; }
  /// The copy gets no more writes, unless it is the last whole one.
  bool leave(std::size_t copy, Time now);
  /// The copy gets writes again, and what it lacks is copied to it.
  void come_back(std::size_t copy);
  /// The switch that replicates it has failed, and with it all that it knew of writes under way. Copies may
  /// differ now: all but one leave, and lack all lines.
  void switch_failed(Time now);
  /// A line that a copy which is back lacks; none: it lacks nothing more.
  std::optional<LineAddress> next_lacking(std::size_t copy);
  bool lacks(std::size_t copy) const {
    return !copies_[copy].lacking.empty() || copies_[copy].rest_from < end_line();
  }
  void still_lacks(std::size_t copy, LineAddress line) {
    Copy& lacks = copies_[copy];
    if (lacks.state != State::kWhole && line.number() < lacks.rest_from) lacks.lacking.insert(line.number());
  }
  bool is_busy(std::size_t copy) const { return copies_[copy].busy; }
  void set_busy(std::size_t copy, bool busy) { copies_[copy].busy = busy; }
  /// Nothing is lacking, and nothing is being copied.
  void become_whole(std::size_t copy, Time now);

  /// How long some copy was not whole, up to `now`.
  Time degraded(Time now) const { return degraded_ + (since_ ? now - *since_ : Time{}); }
  std::size_t whole() const;
  /// Which copies are whole, bit by bit.
  std::uint64_t whole_ones() const;

  // Versions of lines, where somebody asks for them.

  void keep_versions() {
    versions_ = std::make_unique<Versions>();
    tracks_ = true;  // a line that is being written when the run ends has no version yet
  }
  void begin_version(Message& write);
  void acknowledged(const Message& write);
  /// A write has ended everywhere, and was not answered with success.
  void write_failed(const Message& write);
  VersionFloors floors_of(LineAddress line) const;
  void was_read(const Message& read, const VersionFloors& floors);
  /// A memory has served it.
  void served(Message& message, NodeId node);
  void forget_versions(NodeId node);
  bool keeps_versions() const { return versions_ != nullptr; }
  /// Lines that nobody writes, and of which copies that are whole have different versions.
  std::uint64_t differing_lines() const;

 private:
  struct Copy {
    State state = State::kWhole;
    bool lost = false;                            // its contents, and it has not left for that
    bool sound = false;                           // it has left, and has every write that was answered
    bool busy = false;                            // a resynchronisation of it has messages under way
    std::uint64_t rest_from = ~std::uint64_t{0};  // all lines from this number on are lacking, too
    std::set<std::uint64_t> lacking;              // lines, by number
  };
  struct Waiting {
    Message* message;
    RequestTaker* taker;
  };
  struct Line {
    std::uint32_t writes = 0;
    LineCopier* copier = nullptr;
    std::vector<LineCopier*> next_copiers;
    std::vector<Waiting> waiting;
  };
  /// The writes of a line, by version: when each began and was answered, by the count of what has happened.
  /// Version 0 was there at first.
  struct Written {
    std::vector<std::uint64_t> began{0};
    std::vector<std::uint64_t> answered{0};
    VersionFloors floors;
  };
  struct Versions {
    std::uint64_t happened = 0;
    std::unordered_map<std::uint64_t, Written> lines;
    std::map<std::uint32_t, std::unordered_map<std::uint64_t, std::uint32_t>> in_memory;  // by node
  };

  bool in_part(Address address) const;
  std::uint64_t place_of(LineAddress line) const;
  void skip_others(Copy& copy) const;
  void lack_all(std::size_t copy);
  bool find_successor();
  std::uint64_t end_line() const {
    return LineAddress::of(Address{extent_.base.value() + extent_.bytes - 1}).number() + 1;
  }

  std::string name_;
  const AddressMap& map_;
  AddressMap::Extent extent_;
  bool interleaved_;
  ReplicasParams params_;
  std::vector<NodeId> nodes_;
  std::vector<Copy> copies_;
  NodeId requester_;
  std::vector<NodeId> takers_;
  std::vector<RequestTaker*> takers_by_node_;
  std::unordered_map<std::uint64_t, Line> lines_;  // by number; in no order that matters
  ReplicaCounts counts_;
  bool tracks_ = false;
  Time degraded_;
  std::optional<Time> since_;  // some copy is not whole
  std::unique_ptr<Versions> versions_;
};

/// All of a system.
class ReplicaSets {
 public:
  ReplicaSet& add(std::unique_ptr<ReplicaSet> set) { return *sets_.emplace_back(std::move(set)); }
  const std::vector<std::unique_ptr<ReplicaSet>>& all() const { return sets_; }
  bool named(const std::string& name) const;
  /// Something may fail. To be called before the run.
  void expect_failures() const {
    for (const auto& set : sets_) set->expect_failures();
  }
  /// Null: the address is not replicated.
  ReplicaSet* find(Address address) const;
  /// The taker of a request at the host that sends it; null: it goes its way.
  RequestTaker* at_host(const Message& message) const;
  /// These, if versions of their lines are kept, of all sets or of none; else null.
  static ReplicaSets* with_versions(ReplicaSets* sets) {
    return sets && sets->sets_.front()->keeps_versions() ? sets : nullptr;
  }
  /// A memory has served a message, and answers it.
  void served(Message& message, NodeId node);

  /// Whether a message finds a way from one device to another.
  using Reaches = std::function<bool(NodeId from, NodeId to)>;
  /// Routes have changed: copies that some host, or the switch, reaches no more leave, and those that can be
  /// reached again come back.
  void update(const Reaches& reaches, Time now) {
    reaches_ = reaches;
    update(now);
  }
  /// The memory fails, or is viral: what it holds is lost.
  void memory_fails(NodeId memory);
  /// The host at that node has crashed: it writes and copies nothing any more.
  void has_crashed(NodeId host) { crashed_.insert(host.index()); }
  /// The switch at that node has failed, or works again.
  void set_failed(NodeId by_switch, bool failed) {
    if (failed) {
      crashed_.insert(by_switch.index());
    } else {
      crashed_.erase(by_switch.index());
    }
  }
  /// It answers nothing but errors, or it does no more.
  void set_unusable(NodeId memory, bool unusable, Time now);
  /// A resynchronisation of that copy has nothing under way any more.
  void resync_ended(ReplicaSet& set, std::size_t copy);
  /// A copy has left because a write did not reach it.
  void has_left(ReplicaSet& set, std::size_t copy) { try_again(set, copy); }
  /// Hears of what is written to further copies; null: nobody.
  RequestObserver* observer = nullptr;
  /// Bytes of a line have been written to a further copy, by a device.
  void written(NodeId by, NodeId memory, std::uint64_t bytes) const;
  /// Bytes of a line have been read from a copy to make another one anew.
  void read_for_copy(NodeId memory, std::uint64_t bytes) const;
  /// Somebody still has work to do; otherwise nothing more is copied.
  std::function<bool()> at_work = [] { return true; };

 private:
  struct Attempt {
    std::uint32_t agent = 0;
    std::size_t from = 0;
    bool operator==(const Attempt&) const = default;
  };

  void update(Time now);
  bool usable(const ReplicaSet& set, std::size_t copy) const;
  void try_again(ReplicaSet& set, std::size_t copy);

  std::vector<std::unique_ptr<ReplicaSet>> sets_;
  std::map<std::pair<const ReplicaSet*, std::size_t>, Attempt> attempts_;  // since routes changed last
  std::set<std::uint32_t> unusable_;                                       // memories, by node
  std::set<std::uint32_t> crashed_;                                        // hosts and switches, by node
  Reaches reaches_ = [](NodeId, NodeId) { return true; };
};

}  // namespace cxloom
