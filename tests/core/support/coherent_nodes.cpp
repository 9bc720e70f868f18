#include "core/support/coherent_nodes.hpp"

namespace cxloom::test {

void CoherentNodes::add(NodeId node, const CacheAgent& cache, CleanEvictions clean_evictions) {
  if (cache_of_node_.size() <= node.index()) cache_of_node_.resize(node.index() + 1, kNone);
  cache_of_node_[node.index()] = static_cast<std::uint32_t>(caches_.size());
  caches_.push_back({node, &cache, clean_evictions == CleanEvictions::kNotified});
}

void CoherentNodes::add(NodeId node, DirectoryAgent& home) {
  if (home_of_node_.size() <= node.index()) home_of_node_.resize(node.index() + 1, nullptr);
  home_of_node_[node.index()] = &home;
}

Coherence CoherentNodes::mode(LineAddress line) const {
  const auto place = map_.find(line.address());
  return place ? place->coherence : Coherence::kNone;
}

// A device that keeps its memory coherent by bias asks the host by requests of CXL.cache.
bool CoherentNodes::is_snoop(const Message& message) const {
  if (message.channel == Channel::kD2HReq) return mode(LineAddress::of(message.address)) == Coherence::kHdmD;
  return message.channel == Channel::kS2MBISnp || message.channel == Channel::kH2DReq;
}

// The home of a line as CXL.cache sees it sends downstream; as CXL.mem sees it, upstream.
bool CoherentNodes::from_home(const Message& message) const {
  if (mode(LineAddress::of(message.address)) == Coherence::kHdmH) {
    return message.channel == Channel::kH2DReq || message.channel == Channel::kH2DRsp ||
           message.channel == Channel::kH2DData;
  }
  return !is_downstream(message.channel);
}

bool CoherentNodes::to_home(const Message& message) const {
  if (mode(LineAddress::of(message.address)) == Coherence::kHdmH) {
    return message.channel == Channel::kD2HReq || message.channel == Channel::kD2HRsp ||
           message.channel == Channel::kD2HData;
  }
  return is_downstream(message.channel);
}

bool CoherentNodes::follows(LineAddress line, NodeId cache) const {
  const auto place = map_.find(line.address());
  return place->coherence != Coherence::kHdmD || place->home == cache;
}

std::uint32_t CoherentNodes::cache_at(NodeId node) const {
  return node.index() < cache_of_node_.size() ? cache_of_node_[node.index()] : kNone;
}

DirectoryAgent* CoherentNodes::home_at(NodeId node) const {
  return node.index() < home_of_node_.size() ? home_of_node_[node.index()] : nullptr;
}

bool CoherentNodes::is_home(NodeId node, LineAddress line) const {
  const auto place = map_.find(line.address());
  return place && place->home == node && home_at(node);
}

const DirectoryAgent* CoherentNodes::home_of(LineAddress line) const {
  return home_at(map_.find(line.address())->home);
}

bool CoherentNodes::awaits(const Message& answer) const {
  DirectoryAgent* const home = home_at(map_.find(LineAddress::of(answer.address).address())->home);
  return home && home->awaits(answer);
}

std::string CoherentNodes::owners_of(LineAddress address) const {
  const DirectoryAgent* const home = home_of(address);
  const std::string state = home ? home->line_state(address) : std::string();
  const std::size_t open = state.find('{');
  return open == std::string::npos ? "{}" : state.substr(open, state.find('}') - open + 1);
}

bool CoherentNodes::lists(const std::string& owners, NodeId node) const {
  const std::string name = caches_[cache_at(node)].agent->name();
  for (const char before : {'{', ','}) {
    for (const char after : {',', '}'}) {
      if (owners.find(before + name + after) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace cxloom::test
