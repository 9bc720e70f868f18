// A home that takes lines back: from caches that are to have none any more, and of memory that it loses its
// way to. docs/model/virtual_switch.md.
#pragma once

#include <vector>

#include "coherence/home/directory_agent.hpp"

namespace cxloom {

class RecallingAgent : public DirectoryAgent {
 public:
  void recall(NodeId cache) override;
  void end_recall(NodeId cache) override;
  void leave(NodeId memory) override;
  void rejoin(NodeId memory) override;

 protected:
  using DirectoryAgent::DirectoryAgent;

  /// The cache is to have no lines.
  bool is_recalled(NodeId cache) const;
  /// The memory of that place is out of reach: requests to it are refused.
  bool has_left(const AddressMap::DecodedAddress& place) const {
    return !left_.empty() && has_left(place.target);
  }
  /// Answers a request that has just come with an error.
  void refuse_request(Message& message);
  void take_back(LineAddress line) override;
  /// Opens a transaction that takes a line back, and that no request waits for.
  Transaction& begin_take_back(LineAddress line) {
    Transaction& transaction = open_entry(line);
    transaction.asked_at = now();
    return transaction;
  }
  /// What a snoop that no request causes says of its cause.
  Message no_cause(NodeId requester) const {
    Message cause;
    cause.requester = requester;
    cause.age = now();
    return cause;
  }

 private:
  /// Takes back the lines of a cache, but for those with something under way: they are taken back behind
  /// that.
  void take_back_from(std::uint32_t peer);

  bool has_left(NodeId memory) const;

  std::vector<NodeId> recalled_;  // caches
  std::vector<NodeId> left_;      // memories
};

}  // namespace cxloom
