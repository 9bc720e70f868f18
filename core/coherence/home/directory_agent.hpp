// The home of coherent lines: knows from an inclusive snoop filter who holds a line, takes the requests to a
// line one after the other, and snoops the caches that hold what a request needs, or whose entries must go.
// What it says to caches is up to the protocol: back-invalidate snoops (dcoh.hpp) or CXL.cache
// (home_agent.hpp). docs/model/coherence.md has the tables of what it does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "coherence/common/coherence_counts.hpp"
#include "coherence/common/coherence_home.hpp"
#include "coherence/common/snoop_for.hpp"
#include "coherence/home/directory_params.hpp"
#include "coherence/home/directory_peers.hpp"
#include "coherence/home/directory_places.hpp"
#include "coherence/home/directory_work.hpp"
#include "coherence/home/line_losses.hpp"
#include "coherence/home/snoop_filter.hpp"
#include "component/endpoint.hpp"
#include "component/memory_front.hpp"
#include "kernel/windowed.hpp"
#include "protocol/account.hpp"
#include "protocol/address_map.hpp"
#include "protocol/message_queue.hpp"
#include "tags/cache_array.hpp"

namespace cxloom {

class DirectoryAgent : public Agent, public CoherenceHome, public MemoryFront {
 public:
  using Transaction = DirectoryTransaction;

  CoherenceCounts coherence_counts() const override {
    CoherenceCounts counts = counts_.window();
    counts.filter_entries = entries_at_close_;
    counts.poisoned_lines = poisoned_at_close_;
    return counts;
  }
  std::optional<double> transactions_mean() const override { return places_.mean_taken(); }
  void expect(LineAddress line) const override { filter_->foresee(line); }

  Time answer_timeout() const override { return answer_timeout_.value_or(DirectoryParams::kAnswerTimeout); }
  bool sets_answer_timeout() const override { return answer_timeout_.has_value(); }
  bool awaits(const Message& snoop) override { return work_.snoops.at(snoop.tag).transaction != nullptr; }
  bool pulls(const Message& /*message*/) override { return false; }
  Time asked_at(const Message& snoop) override {
    return awaits(snoop) ? work_.snoops.at(snoop.tag).transaction->asked_at : Time{};
  }
  void snoop_lost(Message& snoop) override;
  void pull_lost(Message& /*message*/) override {}
  void failed() override;
  void work_again() { down_ = false; }
  bool is_down() const override { return down_; }
  void contents_cleared() override {
    if (losses_) losses_->cure_all();
  }
  void data_lost(LineAddress line, NodeId owner) override {
    if (owns(line, peers_.known(owner))) losses_->poison(line);
  }
  void cut_off(NodeId node) override {
    if (peers_.known(node) == DirectoryPeers::kNone) return;
    presume_dead(peers_.known(node));
    retry_waiting_for_room();
  }
  std::uint32_t answers_sent(NodeId node) const override {
    return node.index() < answers_.size() ? answers_[node.index()] : 0;
  }

  void start() override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void close_window(Time /*now*/) override {
    entries_at_close_ = filter_->occupied();
    if (losses_) poisoned_at_close_ = losses_->lines();
  }
  void resources(ResourceSink& sink) const override {
    filter_params_.resources(sink);
    places_.resources(sink);
  }
  std::string activity() const override;

  void memory_answered(Message& message) override;

  /// The state, the owners by their names, and what is under way.
  std::string line_state(LineAddress line) const override;
  bool acts_later() const override { return true; }
  const SnoopFilter& filter() const { return *filter_; }
  /// Null: nothing fails in this system.
  const LineLosses* losses() const { return losses_.get(); }
  /// Null: nothing is under way for the line.
  const Transaction* under_way(LineAddress line) const { return work_.lines.find(line); }
  const DirectoryPeers& peers() const { return peers_; }
  /// What waits for room in the filter, in the order in which it came.
  const std::vector<Transaction*>& want_room() const { return want_room_; }
  /// Requests that wait for a place among the transactions.
  const MessageQueue& outside() const { return places_.outside(); }

 protected:
  using Snoop = DirectorySnoop;
  using MemoryAccess = DirectoryAccess;

  /// What a request wants of its line.
  struct Wish {
    bool copy = false;       ///< to hold it
    bool exclusive = false;  ///< alone, if nobody else does
    bool own = false;        ///< that nobody else does
    bool current = false;    ///< that the others keep what they have
  };

  /// Joins the device as the home of lines. `memory` is the agent of the device's own memory, which gives its
  /// answers to `memory_answered`; null: the device has none, and the memory is that of other devices.
  DirectoryAgent(const DirectoryParams& params, const SnoopFilterParams& filter, Endpoint& endpoint,
                 const ComponentContext& context, const VictimRegistry& victims, Agent* memory);

  // What the protocol says.

  /// Requests that need a place among `transactions` come in this class.
  virtual Channel request_channel() const = 0;
  virtual Wish wish_of(const Message& request) const = 0;
  /// It is the turn of a request that says that a line leaves a cache. False: it says something else.
  virtual bool take_notice(Transaction& transaction) = 0;
  /// It is the turn of a request. True: what it needs first has been asked for, by `send_snoop` with `asks`
  /// set, or it waits for something else, and `go_on` is to be called.
  virtual bool ask_first(Transaction& /*transaction*/) { return false; }
  /// All that `ask_first` asked for is there.
  virtual void asked(Transaction& transaction) { go_on(transaction); }
  /// Nothing is under way for a line, and requests to it may wait: `take_back_lines` was called before.
  virtual void take_back(LineAddress /*line*/) {}
  /// No cache has a line any more that was taken back.
  virtual void taken_back(Transaction& transaction) { close(transaction); }
  /// What was under way for a line, with `in_page` set, is over.
  virtual void closed(LineAddress /*line*/) {}
  /// A message has been looked up: takes it out of turn. False: it is a request and waits for its turn.
  virtual bool take_out_of_turn(Message& message) = 0;
  /// Makes `snoop.message` a snoop, of a block if `lines` is not zero.
  virtual void address_snoop(Snoop& snoop, SnoopFor purpose, std::uint8_t lines) = 0;
  /// All snoops are answered, and the line has an entry if the request wants a copy: gives the request what
  /// it wants.
  virtual void serve(Transaction& transaction) = 0;
  /// The entry of a line has left the filter, and no cache has the line.
  virtual void evicted(Transaction& transaction) = 0;
  /// An access to memory is done. It is given back after this.
  virtual void memory_done(const MemoryAccess& access, const Message& answer) = 0;

  // In a system parts of which fail.

  /// Nobody but the cache may have the line, and it may have written it.
  virtual bool owns(LineAddress line, std::uint32_t peer) const { return losses_->owns(line, peer); }
  /// The cache is presumed dead, and owns nothing any more.
  virtual void presume_dead(std::uint32_t peer) { losses_->forget(peer, answers_sent(peers_.node(peer))); }

  /// Whether `take_back` is to be called.
  void take_back_lines(bool on) { takes_back_ = on; }

  Time now() const;
  /// Where an address is that some region holds.
  AddressMap::DecodedAddress place_of(Address address) const {
    const auto* const region = endpoint().system_context().map->region_of(address);
    ensure(region != nullptr, "a request to an address that no region holds");
    return AddressMap::decode_in(*region, address);
  }
  /// It keeps the lines of that place coherent.
  bool keeps(const AddressMap::DecodedAddress& place) const {
    return place.coherent() && place.home == endpoint().id();
  }
  /// Its device has failed.
  bool down() const { return down_; }
  /// Its device has failed, and had the message.
  void lose(Message& message);
  /// It has come in since.
  void lose_late(Message& message) {
    endpoint().release(message, now());
    lose(message);
  }
  /// Calls with the transaction of each line that has something under way.
  void for_each_under_way(const std::function<void(const Transaction&)>& visit) {
    for (std::uint32_t i = 0; const Transaction* const each = work_.transactions.find(i); ++i) {
      if (each->open) visit(*each);
    }
  }
  bool has_memory() const { return memory_ != nullptr; }
  Agent& memory() { return *memory_; }
  SnoopFilter& filter() { return *filter_; }
  LineLosses* losses() { return losses_.get(); }
  Transaction* under_way(LineAddress line) { return work_.lines.find(line); }
  /// The number of a cache that asks for a copy.
  std::uint32_t peer_of(NodeId node) { return peers_.number(node); }
  CoherenceCounts& counts() { return *counts_; }
  Snoop& snoop(std::uint32_t tag) { return work_.snoops.at(tag); }

  /// Takes a request when there is a place for it.
  void admit_request(Message& message) {
    if (places_.enter(message, now())) admit(message);
  }
  /// Looks a message up at once: it needs no place.
  void look_up(Message& message);
  /// Snoops a cache for a line, and for a block if `lines` is not zero; `cause` is the request that waits for
  /// it.
  void send_snoop(Transaction& transaction, LineAddress line, std::uint32_t peer, SnoopFor purpose,
                  std::uint8_t lines, const Message& cause);
  /// What a request asked for first is there: its turn goes on.
  void go_on(Transaction& transaction);
  /// All of the answer to a snoop is in; `account` is that of the part that came last.
  void snoop_answered(Snoop& snoop, const Account& account);
  /// The cache holds the line no more. A pinned entry goes with the transaction that pins it.
  void drop_owner(LineAddress line, std::uint32_t peer) { drop_owner_of(filter_->find(line), peer); }
  /// It does the same for an entry, if there is one, and returns the entry that is left.
  Slot drop_owner_of(Slot slot, std::uint32_t peer) {
    if (slot == kNoSlot || peer == DirectoryPeers::kNone) return slot;
    filter_->remove_owner(slot, peer);
    if (filter_->has_owners(slot) || filter_->pinned(slot)) return slot;
    filter_->erase(slot);
    retry_waiting_for_room();
    return kNoSlot;
  }
  /// Writes down that the requester holds what it wished for, and says what that is. Nothing changes if the
  /// memory `failed`.
  virtual LineState grant(Transaction& transaction, bool failed);
  /// Something is under way for a line that had nothing.
  Transaction& open(LineAddress line);
  /// Opens a transaction for a line whose entry, if it has one, stays where it is.
  Transaction& open_entry(LineAddress line) { return open_entry(line, filter_->find(line)); }
  Transaction& open_entry(LineAddress line, Slot slot) {
    Transaction& transaction = open(line);
    if (slot != kNoSlot) take_entry(transaction, slot);
    return transaction;
  }
  /// Sends the second message of an answer of two parts, if the requester has given one.
  void send_completion(Message& request, Opcode opcode);
  /// A read or write of the message's place; the time goes to its account.
  void access_memory(Opcode opcode, Message& answers, Transaction* transaction,
                     Transaction* behind = nullptr);
  /// Writes the line to memory, for `cause`. Null account: nobody waits for it.
  void write_line(Transaction& transaction, const Message& cause, Account* account);
  /// Sends the message back to where it came from, as this answer. A request whose data it calls for keeps
  /// its place until memory has them.
  void complete(Message& message, Opcode opcode);
  /// One of its requests has its place no more.
  void leave_place();
  void close(Transaction& transaction);
  /// How many messages of the class that snoops must not overtake (H2D Rsp, S2M NDR) it has sent there.
  std::uint32_t& answers_to(NodeId node) {
    if (answers_.size() <= node.index()) answers_.resize(node.index() + 1);
    return answers_[node.index()];
  }
  /// One of these is about to be sent. Those to a root complex are none of the cache beside it.
  void number_answer(Message& answer) {
    if (answer.requester == answer.destination) answer.pushes = ++answers_to(answer.destination);
  }

 private:
  enum Wake : std::uint8_t { kLookedUp };

  /// It has its place.
  void admit(Message& message) {
    endpoint().release(message, now());
    look_up(message);
  }
  void begin(Message& message);
  void proceed(Transaction& transaction);
  void take_entry(Transaction& transaction, Slot slot) {
    transaction.slot = slot;
    filter_->pin(slot);
  }
  void make_room(Transaction& transaction);
  void evict(const SnoopFilter::Victims& victims, Transaction& transaction);
  void finish_eviction(Transaction& first);
  void snoop_others(Transaction& transaction, Wish wish);
  void send_to_memory(MemoryAccess& access, Opcode opcode, Address address, std::uint16_t size,
                      const Message& cause);
  void retry_waiting_for_room() {
    freed_again_ = true;
    if (!retrying_ && !want_room_.empty()) [[unlikely]]
      make_room_for_waiting();
  }
  void make_room_for_waiting();

  SnoopFilterParams filter_params_;
  const VictimRegistry& victims_;
  std::uint64_t seed_;
  Time lookup_time_;
  Time lookup_interval_;
  Agent* memory_;
  std::optional<Time> answer_timeout_;
  std::unique_ptr<SnoopFilter> filter_;
  std::unique_ptr<LineLosses> losses_;  // null: nothing fails
  DirectoryPeers peers_;
  std::vector<std::uint32_t> answers_;  // by node
  Time next_lookup_;
  DirectoryWork work_;
  bool down_ = false;
  bool takes_back_ = false;
  std::uint32_t lookups_ = 0;       // under way; they end in the order in which they begin
  std::uint32_t lookups_gone_ = 0;  // of these the first, which the device had when it failed
  DirectoryPlaces places_;
  std::vector<Transaction*> want_room_;
  bool retrying_ = false;
  bool freed_again_ = false;  // an entry, during the retry

  Windowed<CoherenceCounts> counts_;
  std::uint64_t entries_at_close_ = 0;   // of the filter
  std::uint64_t poisoned_at_close_ = 0;  // lines
};

}  // namespace cxloom
