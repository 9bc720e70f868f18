#include "coherence/home/recalling_agent.hpp"

#include <algorithm>

#include "component/memory_access.hpp"
#include "component/observed_scope.hpp"
#include "protocol/address_map.hpp"
#include "protocol/error_answer.hpp"

namespace cxloom {

namespace {

bool is_among(NodeId node, const std::vector<NodeId>& nodes) {
  return std::ranges::find(nodes, node) != nodes.end();
}

}  // namespace

bool RecallingAgent::is_recalled(NodeId cache) const { return is_among(cache, recalled_); }

bool RecallingAgent::has_left(NodeId memory) const { return is_among(memory, left_); }

void RecallingAgent::recall(NodeId cache) {
  if (is_recalled(cache)) return;
  recalled_.push_back(cache);
  take_back_lines(true);
  const std::uint32_t peer = peers().known(cache);
  if (peer != DirectoryPeers::kNone) take_back_from(peer);
}

void RecallingAgent::end_recall(NodeId cache) {
  std::erase(recalled_, cache);
  take_back_lines(!recalled_.empty() || !left_.empty());
}

void RecallingAgent::leave(NodeId memory) {
  if (is_among(memory, left_)) return;
  left_.push_back(memory);
  take_back_lines(true);
  for (std::uint32_t peer = 0; peer < peers().count(); ++peer) take_back_from(peer);
}

void RecallingAgent::rejoin(NodeId memory) {
  std::erase(left_, memory);
  take_back_lines(!recalled_.empty() || !left_.empty());
}

void RecallingAgent::take_back_from(std::uint32_t peer) {
  for (const Slot slot : filter().owned_by(peer)) {
    const LineAddress line = filter().line(slot);
    if (!under_way(line)) take_back(line);
  }
}

// Nobody waits for it but requests to the line.
void RecallingAgent::take_back(LineAddress line) {
  const Slot slot = filter().find(line);
  if (slot == kNoSlot) return;
  const auto place = endpoint().system_context().map->find(line.address());
  const bool from_all = has_left(*place);
  Transaction* taken = nullptr;
  for (std::uint32_t peer = 0; peer < peers().count(); ++peer) {
    const NodeId node = peers().node(peer);
    if (!filter().has_owner(slot, peer) || (!from_all && !is_recalled(node))) continue;
    if (!taken) taken = &begin_take_back(line);
    ++taken->snoops_left;
    ++counts().lines_invalidated;
    send_snoop(*taken, line, peer, SnoopFor::kInvalidate, 0, no_cause(node));
  }
}

void RecallingAgent::refuse_request(Message& message) {
  endpoint().release(message, now());
  const ObservedScope handling(*this, message);
  make_error_answer(message, endpoint().id());
  transmit(message, now());
}

}  // namespace cxloom
