// The part of a device that takes its memory's answers, in place of the requester.
#pragma once

namespace cxloom {

struct Message;

class MemoryFront {
 public:
  /// The answer to a message that the memory took is ready now.
  virtual void memory_answered(Message& message) = 0;

 protected:
  ~MemoryFront() = default;
};

}  // namespace cxloom
