// An agent acts on a message: the observer (SystemContext) sees its view of the lines before and after.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.hpp"
#include "component/endpoint.hpp"

namespace cxloom {

/// From when it is made to its end the agent acts on the message; others may be acted on meanwhile.
class ObservedScope {
 public:
  ObservedScope(const Agent& agent, const Message& message)
      : observer_(agent.endpoint().system_context().observer) {
    if (observer_) [[unlikely]]
      begin(agent, message);
  }
  ~ObservedScope() {
    if (observer_) [[unlikely]]
      end();
  }
  ObservedScope(const ObservedScope&) = delete;
  ObservedScope& operator=(const ObservedScope&) = delete;

 private:
  void begin(const Agent& agent, const Message& message);
  void end() const;
  std::string state() const;

  ProtocolObserver* observer_;
  // The message may be another, or gone, when it has been acted on.
  const Agent* agent_ = nullptr;
  LineAddress first_;
  std::uint32_t lines_ = 1;
};

}  // namespace cxloom
