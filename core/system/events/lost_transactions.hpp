// How a transaction ends of which a message is lost: who waits for it, until when, and what that one is told.
// docs/model/failures.md has the rules.
#pragma once

#include "base/units.hpp"
#include "component/roles.hpp"
#include "protocol/address_map.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class CacheAgent;
class CoherenceHome;

class LostTransactions {
 public:
  /// The requesters of a system, by node.
  class Requesters {
   public:
    /// Null: it has no cache.
    virtual CacheAgent* cache_of(NodeId node) = 0;
    /// None: no requester is at that node.
    virtual bool is_requester(NodeId node) const = 0;
    virtual Time completion_timeout_of(NodeId node) const = 0;

   protected:
    ~Requesters() = default;
  };

  LostTransactions(const Roles& roles, const AddressMap& map, Requesters& requesters)
      : roles_(roles), map_(map), requesters_(requesters) {}

  /// A request, which a device from which no way leads on answers with an error. All else is lost there.
  bool is_answered(const Message& message) const;
  /// It never comes, as it is lost or answered on its way. What it carried is gone at once: the latest data
  /// of a line, and its number among the answers of a home.
  void gone(const Message& message);
  /// What is lost with an answer that asks for data: the message that was to bring them. Null: nothing.
  static Message* pull_of(const Message& message) {
    return message.opcode == Opcode::kGoWritePull ? message.completion : nullptr;
  }
  /// When who waits for it gives up.
  Time end_of_wait(const Message& message, Time now) const;
  /// That time has come. True: the message is now the answer that its destination gives itself, and gets.
  /// False: a home has been told, and the message is gone.
  bool ends(Message& message, Time now);

 private:
  CoherenceHome* waiting_home(const Message& message) const;
  bool is_of_bias(const Message& message) const;
  bool is_of_home(const Message& message) const;
  bool is_of_cache(const Message& message) const;
  CoherenceHome* home_at(NodeId node) const;
  void end_in(CoherenceHome& home, Message& message);

  const Roles& roles_;
  const AddressMap& map_;
  Requesters& requesters_;
};

}  // namespace cxloom
