// A coherency agent of a device (DCOH): keeps the caches coherent that hold lines of its memory, its own or that of other
// devices (HDM-DB). It knows from an inclusive snoop filter who holds a line, and takes lines back by back-invalidate snoops.
// docs/model/coherence.md has the table of what it does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "coherence/coherence_counts.hpp"
#include "coherence/dcoh_params.hpp"
#include "coherence/line_table.hpp"
#include "coherence/snoop_filter.hpp"
#include "component/endpoint.hpp"
#include "component/memory_front.hpp"
#include "kernel/pool.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/account.hpp"
#include "protocol/address_map.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class Dcoh final : public Agent, public CoherenceHome, public MemoryFront, private Waiter {
 public:
  /// Joins the device and takes what comes from caches. `memory` is the agent of the device's own memory, which gives its
  /// answers to `memory_answered`; null: the device has none, and the memory is that of other devices.
  Dcoh(const DcohParams& params, Endpoint& endpoint, const ComponentContext& context,
       const VictimRegistry& victims, Agent* memory);

  bool serves_own_memory() const override { return memory_ != nullptr; }
  const CoherenceCounts& coherence_counts() const override { return counts_; }

  void start() override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time now) override;
  void close_window(Time now) override;
  std::string activity() const override;

  void memory_answered(Message& message) override;

  /// What it knows of a line, for people: the state, the owners, and what is under way.
  std::string line_state(LineAddress line) const;
  const SnoopFilter& filter() const { return *filter_; }

 private:
  /// What is under way for a line: a request of a cache, the eviction of its entry, or a write-back.
  static constexpr std::uint32_t kNoPeer = ~std::uint32_t{0};

  struct Transaction {
    Transaction* next = nullptr;
    LineAddress line;
    std::uint32_t index = 0;
    Slot slot = kNoSlot;         ///< the entry of the line, which is pinned
    Message* request = nullptr;  ///< null: an eviction or a write-back
    Transaction* evicts_for =
        nullptr;  ///< of an eviction: who gets the entry; of its block the first one does it for all
    Transaction* block = nullptr;  ///< of an eviction: the next line of the block
    std::uint32_t snoops_left = 0;
    Time snooped_at;
    MessageQueue waiting;  ///< requests to the line that wait for its end
  };

  /// A back-invalidate snoop under way.
  struct Snoop {
    Snoop* next = nullptr;
    std::uint32_t index = 0;
    std::uint32_t peer = 0;
    Transaction* transaction = nullptr;
    Message message;
    Account account;
  };

  /// An access to the memory.
  struct Access {
    Access* next = nullptr;
    std::uint32_t index = 0;
    Message message;
    Message* answers = nullptr;          ///< the message of the cache that is answered by it
    Transaction* transaction = nullptr;  ///< null: a write-back that a snoop waits for
  };

  enum Wake : std::uint8_t { kLookedUp };

  const EventHandler& owner() const override { return endpoint(); }
  Time now() const;
  std::optional<AddressMap::Place> place(const Message& message) const;
  std::uint32_t peer_of(NodeId node);
  std::uint32_t known_peer(NodeId node) const;

  void admit(Message& message);
  void look_up(Message& message);
  void begin(Message& message);
  void proceed(Transaction& transaction);
  void take_entry(Transaction& transaction, Slot slot);
  void make_room(Transaction& transaction);
  void evict(const SnoopFilter::Victims& victims, Transaction& transaction);
  void finish_eviction(Transaction& first);
  void snoop_others(Transaction& transaction);
  void snoop(Transaction& transaction, std::uint32_t peer, Opcode opcode, std::uint8_t lines,
             const Message& cause);
  void snoop_answered(Message& message);
  void drop_owner(LineAddress line, std::uint32_t peer);
  void access_memory(Transaction& transaction);
  void send_to_memory(Access& access, Opcode opcode);
  void write_back(Message& message);
  void reply(Transaction& transaction, std::uint16_t hops, bool failed);
  void complete(Message& message, Opcode opcode);
  void close(Transaction& transaction);
  void retry_waiting_for_room();
  void note(const Message& message, LineAddress line, const std::string& before) const;
  std::string watched_state(LineAddress line) const;

  SnoopFilterParams filter_params_;
  const VictimRegistry& victims_;
  std::uint64_t seed_;
  Time lookup_time_;
  Time lookup_interval_;
  std::optional<std::uint32_t> limit_;
  Agent* memory_;
  std::unique_ptr<SnoopFilter> filter_;
  std::vector<std::uint32_t> peer_of_node_;
  std::vector<NodeId> peers_;
  Time next_lookup_;
  LineTable<Transaction> lines_;
  Pool<Transaction> transactions_;
  Pool<Snoop> snoops_;
  Pool<Access> accesses_;
  std::uint32_t admitted_ = 0;  // requests, from their admission to their answer
  MessageQueue outside_;
  std::size_t outside_count_ = 0;
  WaitList places_;
  std::vector<Transaction*> want_room_;  // in the order in which they came
  bool retrying_ = false;
  bool freed_again_ = false;  // an entry, during the retry

  // Measuring.
  bool window_open_ = false;
  CoherenceCounts counts_;
};

}  // namespace cxloom
