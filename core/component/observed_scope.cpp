#include "component/observed_scope.hpp"

#include <algorithm>

#include "component/component_time.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom {

void ObservedScope::begin(const Agent& agent, const Message& message) {
  agent_ = &agent;
  first_ = LineAddress::of(message.address);
  lines_ = std::max<std::uint32_t>(message.lines, 1);
  observer_->handling(message, agent.endpoint().id(), agent.endpoint().now(), state());
}

void ObservedScope::end() const { observer_->handled(state()); }

std::string ObservedScope::state() const {
  std::string text = agent_->line_state(first_);
  LineAddress line = first_;
  for (std::uint32_t i = 1; i < lines_; ++i) {
    line = line.next();
    text += '|' + agent_->line_state(line);
  }
  return text;
}

}  // namespace cxloom
