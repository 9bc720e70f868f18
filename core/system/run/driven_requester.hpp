// A requester that the outside gives its accesses, and the way by which it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "protocol/address_map.hpp"
#include "workload/stream/external_feed.hpp"

namespace cxloom {

class Kernel;
class Requester;
class System;
class TimeLeft;
class TransferEngine;

class DrivenRequester final : public EventHandler {
 public:
  /// `engine` moves its blocks; null: it has none.
  DrivenRequester(std::string device, NodeId node, Requester& requester, ExternalFeed& feed,
                  const TransferEngine* engine, Kernel& kernel, const AddressMap& map);

  std::string name() const override { return device_; }

  /// Gives it an access now. Throws InputError, with everything as it was, for one that nobody can serve.
  void inject(const Access& access, ExternalFeed::Answered answered);
  /// Gives it an access at `ready`, now or later; Time{} is now. What `tell_answers` was told of hears of the
  /// answer, by its tag.
  void give(const Access& access, std::uint64_t tag, Time ready);
  /// Its cache is outside: an access may ask for a line to keep, or say that one leaves.
  bool has_external_cache() const { return has_external_cache_; }
  /// Gives it a block to move, now. Throws InputError, with everything as it was, for one that it cannot
  /// move.
  void transfer(const System& system, const BlockOrder& order, FedBlock::Moved moved);
  /// `answers` hears of the answers to accesses with a tag.
  void tell_answers(TaggedAnswers& answers) { feed_.tell_answers(&answers); }
  /// No more will come, but for those of answers to others and those that are not ready yet.
  void close();

  /// None of its answers comes before; it may say less than it could.
  Time earliest_answer(TimeLeft& left) const;
  /// The tag that an access was given with, by the message that carries it to memory; none: it was given
  /// without, or others carry it.
  std::optional<std::uint64_t> tag_of(const Message& message) const;

  /// An access has become ready.
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  /// An access that is not ready yet.
  struct Late {
    Late* next = nullptr;
    Access access;
    std::uint64_t tag = 0;
  };

  void check(const Access& access);
  void check_line(const Access& access) const;
  void give_up(const Access& access);
  void check_anew(const Access& access);

  std::string device_;
  NodeId node_;
  Requester& requester_;
  ExternalFeed& feed_;
  const TransferEngine* engine_;
  bool has_external_cache_;
  Kernel& kernel_;
  const AddressMap& map_;
  EventSource source_;
  Pool<Late> late_;
  std::vector<Time> ready_;    // of these, a heap: the earliest first
  AddressMap::Extent served_;  // addresses that memories hold, those of the last access among them
};

}  // namespace cxloom
