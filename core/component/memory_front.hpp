// Who stands before the memory of a device and takes its answers, instead of whoever asked.
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
