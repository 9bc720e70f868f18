// Messages in a system whose parts fail: docs/model/failures.md.
#pragma once

#include <cstdint>

#include "base/units.hpp"

namespace cxloom {

struct Message;

class Failures {
 public:
  /// The device at `node` has a message, charged up to now, and no way to where it goes. A request becomes
  /// its own answer, an error, which the device is to send back: true. Any other message, and all of CXL.io,
  /// is lost, and gone: false.
  virtual bool answers(Message& message, NodeId node, Time now) = 0;
  /// A switch is to make an error of a message that may not go on: what it carried is gone. False: no error
  /// stands for it, and it is lost, as by `lose`.
  virtual bool refuses(Message& message, Time now) = 0;
  /// A message, charged up to now, was in something that failed: it is gone. Who waits for it hears of it
  /// after its timeout.
  virtual void lose(Message& message, Time now) = 0;
  /// A message that its destination had taken is lost with that, as by `lose`.
  virtual void lose_inside(Message& message, Time now) = 0;
  /// A request that is its own again, of which a message was lost before: its requester hears of it after its
  /// timeout.
  virtual void ends_later(Message& request, Time now) = 0;
  /// The cache at `node` has given up the latest data of a line, which it kept until its home asked for them.
  virtual void gives_up(LineAddress line, NodeId node) = 0;
  /// A message that waited for a link that failed leaves by another way. Alone of all these it may be called
  /// while parts of a divided system run side by side.
  virtual void rerouted(Time now) = 0;

 protected:
  ~Failures() = default;
};

}  // namespace cxloom
